"""Generators written out, against the exact null space, which knows nothing of axes."""

from __future__ import annotations

import random

import pytest

from invman.architecture import read_architecture
from invman.symmetry.continuous import continuous_group
from invman.symmetry.explicit import explicit_generators, span_dimension
from invman.symmetry.infinitesimal import affine_generators, independent, quadratic_laws

EXPLAINED = {
    "transformer(vocab=2,d=2,heads=1,dk=2,ff=1,layers=1,seq=2,norm=rms,gain=no,readout=logits)": 9,
    "transformer(vocab=2,d=2,heads=1,dk=1,ff=1,layers=1,seq=2,norm=rms,gain=yes,gated=yes,readout=logits)": 9,
    "transformer(vocab=3,d=2,heads=1,dk=1,ff=2,layers=1,seq=2,norm=none,act=relu,pos=yes,readout=logits)": 8,
    "1-2identity-1": 6,
    "2-2identity-2": 4,
    "2-3identity-2": 9,
    "2-4identity-2": 16,
    "3-3identity-3": 9,
    "1-2identity-1+bias": 8,
    "2-2identity-2+bias": 6,
    "2-2identity-2identity-2": 8,
    "1-2identity-2identity-1+bias": 15,
    "2-3relu-2": 3,
    "2-3relu-2+bias": 3,
    "2-4relu-2+bias": 4,
    "2-2relu-2relu-2": 4,
    "1-2relu-2relu-1+bias": 4,
    "2-3square-1": 3,
    "2-3square-1+bias": 3,
    "1-2square-2identity-1": 8,
    "2-3cube-2": 3,
    "1-2cube-1+bias": 2,
    "2-2abs-2": 2,
    "2-3tanh-1": 0,
    "2-3tanh-2+bias": 0,
    "1-2tanh-2identity-1": 6,
    "1-2tanh-2identity-2tanh-1+bias": 6,
    "1-2sigmoid-2sigmoid-1": 0,
    "1-2exp-1": 0,
    "1-2exp-1+bias": 2,
    "2-3exp-2+bias": 3,
    "1-2exp-2exp-1+bias": 4,
    "1-2exp-2square-1+bias": 4,
    "2-2cos-1+bias": 0,
    "2-2gelu-2gelu-1+bias": 0,
    "1-2relu-2relu": 2,
    "2-2square-2square+bias": 2,
    "attention(d=3,heads=1,dk=2)": 8,
    "attention(d=3,heads=2,dk=1)": 4,
    "attention(d=3,heads=1,dk=2,output=no)": 4,
    "attention(d=2,heads=1,dk=2,bias=yes)": 60,
    "attention(d=2,heads=1,dk=2,causal=yes,bias=yes)": 60,
    "attention(d=2,heads=2,dk=1,dv=2,seq=3)": 10,
    "resmlp(d=3,ff=2)": 0,
    "resmlp(d=3,ff=2,act=relu,bias=yes)": 2,
    "resmlp(d=3,ff=2,norm=layer,bias=yes,layers=1)": 6,
    "resmlp(d=2,ff=3,act=identity,bias=yes)": 12,
    "moe(d=2,experts=2,ff=2)": 34,
    "moe(d=2,experts=2,ff=2,act=relu)": 38,
    "conv1d(length=4,kernel=2,channels=2)": 0,
    "conv1d(length=4,kernel=2,channels=2,act=relu,bias=yes,pool=none)": 2,
    "conv1d(length=3,kernel=2,channels=2,act=exp,bias=yes)": 2,
    "rnn(input=2,hidden=2,steps=2)": 0,
    "rnn(input=2,hidden=3,steps=2,act=relu,bias=yes)": 3,
    "rnn(input=2,hidden=2,steps=1,act=identity)": 6,
    "rnn(input=1,hidden=2,steps=2,act=exp,bias=yes)": 2,
    "input x[i]; f[o] = a[o,k]*tanh(w[k,i]*x[i])*(v[k,i]*x[i]); size i=2,k=2,o=2": 2,
    "input x[i]; f = a[k]*(w[k,i]*x[i])*(v[k,i]*x[i]); size i=2,k=3": 9,
    "input x[i]; f[o] = a[o,k]*(w[k,i]*x[i])*(v[k,i]*x[i]); size i=2,k=2,o=2": 6,
    "input x[i]; f[o] = softmax[o](a[o,k]*tanh(w[k,i]*x[i])); size i=2,k=2,o=3": 22,
    "input x[i]; f[o] = softmax[o](a[o,k]*tanh(w[k,i]*x[i])+c[o]); size i=2,k=2,o=3": 42,
    "input x[i]; f[o] = softmax[o](a[o,i]*x[i]); size i=2,o=3": 14,
    "input x[i]; f[o] = softmax[o](a[o,k]*(w[k,i]*x[i]) + c[o]); size i=2,o=3,k=2": 46,
    "input x[t,i]; h[t,k] = tanh(w[t,k,i]*x[t,i]); f[t] = a[t,k]*h[t,k]; size t=2,i=2,k=2": 0,
    "input x[t,i]; h[t,k] = w[t,k,i]*x[t,i]; f[t] = a[t,k]*h[t,k]; size t=2,i=2,k=2": 12,
    "input x[t,i]; h[t,k] = w[k,i]*x[t,i]; f[t] = a[t,k]*h[t,k]; size t=2,i=2,k=2": 4,
    "input x[t,i]; h[t,k] = w[k,i]*x[t,i]; f[t] = a[k]*h[t,k]; size t=2,i=2,k=3": 15,
    "input x[i]; h[p,k] = w[p,k,i]*x[i]; f[o] = a[o,p,k]*h[p,k]; size i=1,p=2,k=2,o=2": 28,
    "input x[t,i]; h[t,p,k] = w[p,k,i]*x[t,i]; f[t] = a[p,k]*h[t,p,k]; size i=2,p=2,k=2,t=2": 28,
    "input x[t,i]; h[t,p,k] = w[t,p,k,i]*x[t,i]; f[t] = a[t,p,k]*h[t,p,k]; size i=1,p=2,k=2,t=2": 56,
    "input x[i]; h[p,k] = tanh(w[p,k,i]*x[i]); f = a[p,k]*h[p,k]; size i=2,p=2,k=2": 0,
    "input x[i]; h[p,k] = relu(w[p,k,i]*x[i]); f = a[p,k]*h[p,k]; size i=2,p=2,k=2": 4,
    "input x[i]; f = (w[p,k,i]*x[i])*(w[p,k,j]*x[j]); size i=2,j=2,p=2,k=2": 6,
    "input x[i]; f = a[p,k,q]*w[p,k,q,i]*x[i]; size i=1,p=2,k=2,q=2": 120,
    "input x[i]; f = a[p]*b[p,k]*(w[k,i]*x[i]); size i=2,p=2,k=2": 10,
    "input x[i]; f = a[p,q]*b[q,r]*c[r,p]*x[i]*d[i]; size i=1,p=2,q=2,r=2": 12,
    "input x[i]; f[o] = (a[o]*b[o,i])*x[i]; size i=2,o=2": 2,
    "input x[i]; f = a*b*c*(w[i]*x[i]); size i=2": 3,
    "input x[i]; h[k] = w[k,i]*x[i]; f = 1/(1+sum[k](h[k]^2)); size i=2,k=3": 3,
    "input x[i]; h[k] = w[k,i]*x[i]; f[o] = a[o,k]*h[k]/(1+sum[l](h[l]^2)); size i=2,k=3,o=1,l=3": 3,
    "input x[t,i]; h[t,k] = w[k,i]*x[t,i]; g[k] = mean[t](h[t,k]); f = a[k]*g[k]; size t=2,i=2,k=2": 6,
    (
        "input x[i]; h[k] = w[k,i]*x[i]; c[k] = h[k] - mean[l](h[l]); f = a[k]*c[k]/(1+mean[m](c[m]^2)); "
        "size i=2,k=3,l=3,m=3"
    ): 31,
    "input x[i]; f = tanh(w[i]*x[i] + b + c); size i=2": 5,
    "input x[i]; f[o] = a[o,k]*tanh(w[k,i]*x[i] + v[k,i]*x[i] + b[k]); size i=2,k=2,o=1": 52,
    "input x[i]; f = tanh((w[i]+v[i])*x[i]); size i=2": 10,
    "input x[i]; h[k] = w[k,i]*x[i] + b[k]; f = a[k]*tanh(h[k] + c[k]); size i=2,k=2": 22,
    "input x[i]; h[k] = tanh(w[k,i]*x[i] + b[k] + c); f = a[k]*h[k]; size i=2,k=2": 10,
    "input x[t,i]; h[t,k] = tanh(w[k,i]*x[t,i] + b[k] + p[t,k]); f[t] = a[k]*h[t,k]; size i=1,k=2,t=2": 22,
    "input x[s,c]; e[s,d] = E[c,d]*x[s,c] + P[s,d] + b[d]; f[s] = a[d]*tanh(e[s,d]); size s=2,c=2,d=2": 26,
    "input x[i]; f = w[i]*x[i] + sum[k](a[k]) + b; size i=2,k=2": 12,
    "input x[i]; f = w[i]*x[i] - v[i]*x[i] + 2*u[i]*x[i]; size i=2": 28,
    "input x[i]; h[k] = w[k,i]*x[i]; f[i] = w[k,i]*h[k]; size i=2,k=2": 1,
    "input x[i]; h[k] = tanh(w[k,i]*x[i]); f[i] = w[k,i]*h[k]; size i=2,k=2": 0,
    "input x[i]; h[k] = w[k,i]*x[i]; g[l]=v[l,k]*h[k]; m[k]=v[l,k]*g[l]; f[i] = w[k,i]*m[k]; size i=2,k=2,l=2": 5,
    "input x[i]; f = a[k]*exp(-(w[k,i]*x[i])^2 + b[k]); size i=2,k=2": 2,
    "input x[i]; f = exp(w[i]*x[i] + b)*c; size i=2": 1,
    "input x[t,i]; s[t] = softmax[t](q[i]*x[t,i]); f = s[t]*(v[i]*x[t,i]+b); size t=3,i=2": 0,
    "input x[t,i]; f[o] = a[o,k]*softmax[k](w[k,i]*x[t,i]*u[t] + b[k]); size t=2,i=2,k=2,o=1": 34,
    "input x[i]; f[o] = a[o,k]*softmax[k](w[k,i]*x[i]); size i=2,k=3,o=2": 26,
    "input x[i]; f[o] = a[o,k]*softmax[k](w[k,i]*x[i]+b[k]); size i=2,k=2,o=2": 33,
    (
        "input x[s,d]; Q[s,k]=WQ[k,d]*x[s,d]; K[s,k]=WK[k,d]*x[s,d]; V[s,v]=WV[v,d]*x[s,d]; "
        "f[s,e]=WO[e,v]*(Q[s,k]*K[t,k]*V[t,v]); size s=2,t=2,d=2,e=2,k=2,v=2"
    ): 9,
    "input x[i]; f = w[i]*x[i] + 0*b; size i=2": 4,
    "input x[i]; constant C[k]=[1,2]; f = a[k]*tanh(w[i]*x[i]+C[k]); size i=2,k=2": 0,
    "input x[i]; f = (w[i]*x[i])*(v[i]*x[i]); size i=2": 2,
    "input x[i]; f = (w[i]*x[i])/(v[i]*x[i] + c); size i=2": 1,
    "input x[i]; f = a*(w[i]*x[i])/sqrt(mean[i]((g[i]*x[i])^2)); size i=2": 2,
    "input x[i]; f[o] = (W[o,i] + B[o,r]*A[r,i])*x[i]; size i=2,o=2,r=2": 12,
    "input x[i]; f[o] = W[o,i]*x[i] + B[o,r]*A[r,i]*x[i]; size i=2,o=2,r=1": 5,
    "input x[i]; f[o] = W[o,i]*x[i] + B[o,r]*(A[r,i]*x[i]); size i=2,o=2,r=1": 5,
    "input x[i]; n[k]=1/sqrt(sum[i](w[k,i]^2)); f = a[k]*tanh(g[k]*n[k]*(w[k,i]*x[i])); size i=2,k=2": 2,
    (
        "input x[t,i]; h[t,k]=w[k,i]*x[t,i]; n[t,k]=(h[t,k]-mean[u](h[u,k]))/sqrt(mean[u](h[u,k]^2)); "
        "f[t] = a[k]*n[t,k]; size i=2,k=2,t=2,u=2"
    ): 2,
    (
        "input x[t,i]; h[t,k]=w[k,i]*x[t,i]+b[k]; n[t,k]=h[t,k]-mean[u](h[u,k]); f[t] = a[k]*tanh(n[t,k]); "
        "size i=2,k=2,t=2,u=2"
    ): 18,
    "transformer(vocab=3,d=2,heads=1,dk=1,ff=1,layers=1,seq=2,norm=none)": 56,
    "transformer(vocab=2,d=3,heads=1,dk=1,ff=1,layers=1,seq=2,gain=no,tied=yes,readout=logits)": 203,
    "input x[i]; h[k] = w[k,i]*x[i]; c[k] = h[k] - mean[l](h[l]); f[o] = a[o,k]*c[k]; size i=3,k=3,l=3,o=3": 118,
    (
        "input x[i]; h[k] = w[k,i]*x[i]; c[k] = h[k] - mean[l](h[l]); "
        "f[o] = a[o,k]*c[k]/(1+mean[m](c[m]^2)); size i=3,k=4,l=4,m=4,o=2"
    ): 108,
    "input x[i]; f[o] = W[o,i]*x[i] + B[o,r]*(A[r,i]*x[i]); size i=3,o=3,r=2": 16,
    "rnn(input=2,hidden=2,steps=3,act=identity,output=2)": 4,
    "conv1d(length=4,kernel=2,channels=2,input=2,output=2,act=identity,pool=none)": 4,
    "input x[s,c]; e[s,d] = E[c,d]*x[s,c]; f[s,c] = E[c,d]*e[s,d]; size s=1,c=3,d=3": 3,
}
PARTLY = {
    "transformer(vocab=2,d=2,heads=1,dk=1,ff=2,layers=1,seq=2,norm=none,bias=yes)": (111, 114),
    "attention(d=2,heads=1,dk=2,rotary=yes)": (5, 6),
    "attention(d=2,heads=1,dk=4,dv=1,rotary=yes)": (2, 5),
    "attention(d=2,heads=1,dk=2,rotary=yes,bias=yes)": (7, 8),
    "transformer(vocab=2,d=2,heads=1,dk=1,ff=2,layers=1,seq=2,norm=none)": (56, 58),
    "transformer(vocab=2,d=3,heads=1,dk=1,ff=1,layers=1,seq=2,norm=none,tied=yes)": (5, 8),
    "conv1d(length=4,kernel=2,channels=2,act=identity,layers=2)": (12, 14),
    "rnn(input=2,hidden=2,steps=2,act=identity)": (4, 6),
    "input x[i]; h[k] = w[k,i]*x[i]; f = mean[k](h[k]) + a[k]*h[k]; size i=2,k=3": (4, 15),
    "input x[i]; h[k] = w[k,i]*x[i]; f = sum[k](h[k]); size i=2,k=3": (4, 28),
    "input x[i]; h[k] = w[k,i]*x[i] + b; f = a[k]*h[k]; size i=2,k=3": (5, 13),
    "input x[i]; h[k] = w[k,i]*x[i] + b; f = a[k]*h[k] + mean[k](h[k]); size i=2,k=3": (4, 13),
    "input x[i]; h[k] = w[k,i]*x[i]; c[k] = h[k] - mean[l](h[l]); f = a[k]*c[k]; size i=2,k=3,l=3": (34, 36),
    "input x[i]; h[k] = w[k,i]*x[i]; c[k] = h[k] - mean[l](h[l]); f = a[k]*c[k]; size i=2,k=4,l=4": (48, 54),
    "input x[i]; h[k] = w[k,i]*x[i]; c[k] = h[k] - mean[l](h[l]); f = a[k]*c[k]/(1+mean[m](c[m]^2)); "
    "size i=1,k=4,l=4,m=4": (
        21,
        24,
    ),
    "input x[i]; r[d] = w[d,i]*x[i] + b[d]; y[d] = r[d] + c[d] + V[d,m]*tanh(U[m,d]*r[d]); f = a[d]*y[d]; "
    "size i=1,d=2,m=2": (
        2,
        3,
    ),
    "input x[i]; h[k] = exp(w[k,i]*x[i] + b[k])*exp(v[k,i]*x[i] + c[k]); f = a[k]*h[k]; size i=1,k=2": (2, 46),
    "input x[i]; h[k] = exp(w[k,i]*x[i] + b[k]); f[o] = a[o,k]*h[k]/(sum[l](h[l])); size i=1,k=2,o=2,l=2": (0, 18),
    "input x[i]; h[k] = exp(w[k,i]*x[i] + b[k]); f[k] = h[k]/(sum[l](h[l])); size i=1,k=2,l=2": (0, 10),
    "input x[i]; constant C[k]=[1,1]; h[k] = w[k,i]*x[i]; f = C[k]*h[k]; size i=2,k=2": (1, 10),
    "input x[i]; constant C[k]=[1,2]; h[k] = w[k,i]*x[i]; f = C[k]*h[k]; size i=2,k=2": (0, 10),
    "input x[i]; h[k] = w[k,i]*x[i]; f[o] = a[o,k]*h[k]*mean[l](h[l]); size i=2,k=3,l=3,o=3": (5, 7),
    "input x[i]; h[k] = w[k,i]*x[i] + b; f[o] = a[o,k]*h[k]; size i=2,k=3,o=3": (5, 7),
}


def both(text):
    program = read_architecture(text, one_region=True)
    group = continuous_group(program)
    found, explicit = affine_generators(program), explicit_generators(group)
    assert span_dimension([*found, *explicit]) == len(found), "a field that is no symmetry"
    constant = [field for field in explicit if not field.linear]
    multiples = list(multiples_of(constant, program.parameter_count))
    assert span_dimension(explicit) >= group.dimension
    assert span_dimension(explicit) <= group.dimension + span_dimension(multiples)
    return span_dimension(explicit), len(found)


def multiples_of(constant, count):
    """The fields ``theta_j b`` of the translations b."""
    for field in constant:
        for column in range(count):
            yield type(field)({(row, column): value for row, value in field.shift.items()}, {})


@pytest.mark.parametrize(("text", "dimension"), EXPLAINED.items())
def test_axes_explain_the_null_space(text, dimension):
    assert both(text) == (dimension, dimension)


@pytest.mark.parametrize(("text", "dimensions"), PARTLY.items())
def test_what_axes_leave_to_the_null_space(text, dimensions):
    assert both(text) == dimensions


CENTRED = "input x[i]; h[k] = w[k,i]*x[i]; c[k] = h[k] - mean[l](h[l]); "


@pytest.mark.parametrize(
    ("text", "matrices"),
    [
        (CENTRED + "f[o] = a[o,k]*c[k]; size i=3,k=3,l=3,o=3", 4),
        (CENTRED + "f[o] = a[o,k]*c[k]/(1 + mean[m](c[m]^2)); size i=3,k=4,l=4,m=4,o=2", 3),
    ],
)
def test_matrices_that_fix_the_ones(text, matrices):
    program = read_architecture(text)
    group = continuous_group(program)
    (factor,) = group.linear
    assert (factor.ones, factor.dimension) == (True, matrices)
    assert both(text)[0] == both(text)[1]


# widths, number of independent laws: linear nets n-r-m have r(r+1)/2, or (n+m)r - (n+m)(n+m-1)/2 where r >= n+m
LAWS = {
    "1-2identity-1": 3, "2-2identity-2": 3, "2-3identity-2": 6, "3-3identity-3": 6, "2-4identity-2": 10,
    "4-4identity-4": 10, "2-2identity-2identity-2": 6, "3-3identity-3identity-3": 12,
    "2-3relu-2": 3, "2-4relu-2+bias": 4, "2-2relu-2relu-2": 4, "3-3relu-3relu-3": 6,
    "attention(d=3,heads=1,dk=2)": 6, "attention(d=3,heads=2,dk=1)": 4, "attention(d=4,heads=1,dk=2)": 6,
    "attention(d=4,heads=2,dk=2)": 12, "1-1exp-1+bias": 1, "2-3square-2": 3, "2-3cube-2": 3, "2-3tanh-1": 0,
}  # fmt: skip


@pytest.mark.parametrize(("text", "count"), LAWS.items())
def test_independent_laws(text, count):
    program = read_architecture(text, one_region=True)
    laws = quadratic_laws(explicit_generators(continuous_group(program)))
    assert independent(laws, program) == count


def random_program(seed):
    """A random chain of layers over axes of two values, with everything a layer may have."""
    rng = random.Random(seed)  # noqa: S311 - a test
    lines, below, axis, sizes = ["input x[t,i]"], "x", "i", {"t": 2, "i": rng.choice([1, 2])}
    for n in range(1, rng.choice([2, 3]) + 1):
        k, h = f"k{n}", f"h{n}"
        sizes[k] = 2
        weight = rng.choice(
            [f"W{n}[{k},{axis}]"] * 4 + [f"W{n}[t,{k},{axis}]", f"(W{n}[{k},{axis}] + V{n}[{k},{axis}])"]
        )
        inner = f"{weight}*{below}[t,{axis}]"
        inner += rng.choice(
            [
                "",
                f" + b{n}[{k}]",
                f" + b{n}[{k}] + c{n}",
                f" + b{n}[t,{k}]",
                f" - b{n}[{k}] + 2*p{n}[t]",
                f" + g{n}[{k}]*d{n}[t]",
            ]
        )
        act = rng.choice(["identity", "identity", "tanh", "exp", "square", "cube"])
        lines.append(f"{h}[t,{k}] = {act}({inner})")
        below, axis = h, k
        kind = rng.choice(["", "", "centre", "norm", "softmax", "gain", "skip", "mix"])
        other = f"l{n}"
        if kind in ("centre", "norm"):
            sizes[other] = 2
            lines.append(
                f"c{h}[t,{k}] = {h}[t,{k}] - mean[{other}]({h}[t,{other}])"
                if kind == "centre"
                else f"c{h}[t,{k}] = {h}[t,{k}]/(1 + mean[{other}]({h}[t,{other}]^2))"
            )
        elif kind == "softmax":
            lines.append(f"c{h}[t,{k}] = softmax[{k}]({h}[t,{k}])")
        elif kind == "gain":
            lines.append(f"c{h}[t,{k}] = g{h}[{k}]*{h}[t,{k}] + q{h}[{k}]")
        elif kind == "skip":
            sizes[other] = 2
            lines.append(f"c{h}[t,{k}] = {h}[t,{k}] + U{h}[{k},{other}]*tanh({h}[t,{other}])")
        elif kind == "mix":
            sizes["s"] = 2
            lines += [f"a{h}[t,s] = softmax[s]({h}[t,{k}]*{h}[s,{k}])", f"c{h}[t,{k}] = a{h}[t,s]*{h}[s,{k}]"]
        below = f"c{h}" if kind else h
    out = rng.choice(
        [
            "f[t,o] = a[o,{k}]*{b}[t,{k}]",
            "f[t] = a[{k}]*{b}[t,{k}] + e",
            "f[t,o] = softmax[o](a[o,{k}]*{b}[t,{k}] + e[o])",
            "f[o] = a[o,{k}]*mean[t]({b}[t,{k}])",
        ]
    )
    lines.append(out.format(k=axis, b=below))
    if "o]" in out:
        sizes["o"] = 2
    return "\n".join([*lines, "size " + ", ".join(f"{a}={n}" for a, n in sizes.items())])


@pytest.mark.parametrize("seed", range(60))
def test_never_more_than_is_true(seed):
    program = read_architecture(random_program(seed))
    if program.parameter_count <= 22:
        found, explicit = affine_generators(program), explicit_generators(continuous_group(program))
        assert span_dimension([*found, *explicit]) == len(found)
        assert continuous_group(program).dimension <= span_dimension(explicit)
