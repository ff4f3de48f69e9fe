"""The reduced net: the same function on the manifold, and the same motion in the metric of its learning rates."""

from __future__ import annotations

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from invman.architecture import parse_program, read_architecture
from invman.architecture.evaluate import jax_map
from invman.lattice import build_lattice
from invman.manifold import CondensedSpace
from invman.manifold.partition import Kind

NETS = [
    "2-4tanh-1", "2-3cos-2", "2-3square-1+bias", "2-3silu-1+bias", "2-3sigmoid-1", "1-2tanh-2tanh-1",
    "1-2silu-2square-2tanh-1", "1-2tanh-2cos-2square-1+bias", "1-3identity-2tanh-1",
    "input x[i]; h[k]=tanh(w[k,i]*x[i]); f=tanh(sum[k](h[k])); size i=2,k=3",
    "input x[i]; h[k]=cos(w[k,i]*x[i]); f=sum[k](h[k]); size i=2,k=3",
    "input x[i]; h[k]=square(w[k,i]*x[i]); f=sum[k](h[k]); size i=2,k=3",
    "input x[i]; h[k]=tanh(w[k,i]*x[i]); f=mean[k](a[k]*h[k]); size i=2,k=4",
    "input x[i]; h[k]=cos(w[k,i]*x[i]+b[k]); f=mean[k](h[k]); size i=2,k=3",
    "input x[i]; h[k]=w[k,i]*x[i]; n[k]=h[k]/sqrt(1+mean[l](h[l]^2)); f=a[k]*n[k]; size i=2,k=3,l=3",
    "input x[i]; h[k]=tanh(w[k,i]*x[i]); g=a[k]*h[k]; p[k]=cos(v[k,i]*x[i]); f=g+c[k]*p[k]; size i=2,k=3",
    "input x[k]; z=b[k]*x[k]; h[l]=tanh(w[l,k]*x[k]); g[k]=sigmoid(h[k]*v[k]); f=z+a[k]*g[k]; size k=3,l=3",
    "input x[i]; h[k]=tanh(w[k,i]*x[i]); f=a[k]*h[k]+sum[k](c*x[0]); size i=2,k=3",
    "input x[i]; constant m[k,i]=[[1,2],[1,2],[1,2]]; h[k]=cos(m[k,i]*w[k,i]*x[i]); f=a[k]*h[k]; size i=2,k=3",
    "input x[i]; g[e]=softmax[e](v[e,i]*x[i]); f=g[e]*u[e]*tanh(w[e,i]*x[i]); size i=2,e=3",
    "input x[i]; g[e]=softmax[e](v[e,i]*x[i]); y[e]=u[e,k]*cos(w[e,k,i]*x[i]); f=g[e]*y[e]; size i=1,e=3,k=2",
    "input x[i]; h[k]=(u[k,i]*x[i])*sigmoid(v[k,i]*x[i]); f=a[k]*h[k]; size i=2,k=3",
    "input x[i]; h[k]=w[k,i]*x[i]; g[k]=h[k]+u[k,m]*tanh(v[m,l]*h[l]); f=a[k]*g[k]; size i=2,k=2,l=2,m=2",
    "input x[i]; constant n_k=2; h[k]=cos(w[k,i]*x[i]); w_k0=a[k]*h[k]*k0; f=w_k0*n_k; size i=1,k=2",
    "input x[i]; h[k]=cos(w[k,i]*x[i]); s=sum[k](h[k]); f=s*n_k*h_k0*a[k0]*tanh(v[k0]*x[0]); size i=1,k=2,k0=2",
]  # fmt: skip


def effective(manifold):
    """Return the matrix E of the effective parameters E theta, and the learning rates, from the blocks alone.

    A reduced tensor is named after its tensor, with the axes added on which it runs over zero blocks. An entry of it is
    the entry of theta at the first neurons of its blocks, times n for every position that takes up the multiplicity.
    """
    program, reduction = manifold.space.program, manifold.reduction
    by_position = {}
    for rule, blocks in zip(manifold.space.rules, manifold.blocks, strict=True):
        for carrier in rule.carriers:
            by_position[carrier.tensor, carrier.position] = rule, blocks
    rows, rates = [], []
    for tensor in reduction.program.parameters:
        base = max((t for t in program.parameters if tensor.name.startswith(t.name)), key=lambda t: len(t.name))
        suffix = tensor.name[len(base.name) :]
        chosen = []
        for position, size in enumerate(base.shape):
            if (base.name, position) not in by_position:
                chosen.append([(value, Fraction(1)) for value in range(size)])
                continue
            rule, blocks = by_position[base.name, position]
            kind = Kind.ZERO if f"_{rule.symmetry.axis.name}0" in suffix else Kind.LIVE
            absorbs = {(c.tensor, c.position) for c in rule.symmetry.absorbers or ()}
            factor = (base.name, position) in absorbs
            chosen.append([(b.values[0], Fraction(len(b.values) if factor else 1)) for b in blocks if b.kind is kind])
        assert tensor.shape == tuple(map(len, chosen))
        scale = np.ones(tensor.shape)
        for position, axis in enumerate(tensor.axes):
            if axis in reduction.rates[tensor.name]:
                factors = np.array([float(f) for f in reduction.rates[tensor.name][axis]])
                scale = scale * factors.reshape([-1 if p == position else 1 for p in range(len(tensor.shape))])
        rates += list(scale.reshape(-1))
        for cell in np.ndindex(*tensor.shape):
            row = np.zeros(program.parameter_count)
            picked = [options[place] for options, place in zip(chosen, cell, strict=True)]
            index = int(np.ravel_multi_index([v for v, _ in picked], base.shape)) if base.shape else 0
            row[program.offsets[base.name] + index] = np.prod([float(f) for _, f in picked])
            rows.append(row)
    return np.array(rows).reshape(-1, program.parameter_count), np.array(rates)


@pytest.mark.parametrize("text", NETS)
def test_same_function_and_same_motion(text):
    program = read_architecture(text)
    random = np.random.default_rng(11)
    x = random.normal(size=program.input_count)
    with jax.enable_x64(True):
        point = jnp.asarray(x)
        forward, gradient = jax.jit(jax_map(program)), jax.jit(jax.jacrev(jax_map(program)))
        classes = build_lattice(program, classes=True).manifolds
        for manifold in [*classes[:: max(1, len(classes) // 12)], classes[-1]]:
            reduced = manifold.reduction.program
            narrow, narrow_gradient = jax_map(reduced), jax.jacrev(jax_map(reduced))  # too many to compile
            basis = manifold.polydiagonal().basis().astype(float)
            theta = random.normal(size=len(basis)) @ basis if len(basis) else np.zeros(program.parameter_count)
            matrix, rates = effective(manifold)
            small = jnp.asarray(matrix @ theta)
            np.testing.assert_allclose(narrow(small, point), forward(theta, x), atol=1e-12, err_msg=manifold.name)
            pushed = np.asarray(gradient(theta, x)) @ matrix.T
            expected = np.asarray(narrow_gradient(small, point)) * rates
            np.testing.assert_allclose(pushed, expected, atol=1e-12, err_msg=manifold.name)


@pytest.mark.parametrize("text", NETS)
def test_reduced_program_is_a_program(text):
    program = read_architecture(text)
    lattice = build_lattice(program, classes=True)
    for manifold in lattice.manifolds:
        reduced = manifold.reduction.program
        assert set(manifold.reduction.rates) == {t.name for t in reduced.parameters}
        again = parse_program(reduced.text)
        assert again == reduced
        assert again.parameters == reduced.parameters
        assert again.statements == reduced.statements
    whole = lattice.manifolds[0].reduction.program
    assert [(t.name, t.shape) for t in whole.parameters] == [(t.name, t.shape) for t in program.parameters]


@pytest.mark.parametrize(
    ("text", "name", "reduced"),
    [
        ("2-3tanh-1", "0=1", "2-2tanh-1"),
        ("2-3tanh-1+bias", "0=-1,2=dead", "2-1tanh-1+bias"),
        ("2-3tanh-1", "free", "2-3tanh-1"),
        ("1-3tanh-4cos-2", "k1:0=1/k2:0=-1=3", "1-2tanh-2cos-2"),
        ("1-3custom(u-u^3)-1", "0=1", "1-2custom(u - u^3)-1"),
        ("2-3silu-1", "0=1=2=dead", "input x[i]\nf = 0\nsize i=2"),
        (
            "2-3cos-1",
            "0=1=zero",
            "input x[i]\nh[k] = cos(w[k,i]*x[i])\nh_k0[k0] = cos(0)\n"
            "f = a[k]*h[k] + a_k0[k0]*h_k0[k0]\nsize i=2, k=1, k0=1",
        ),
    ],
)
def test_reduced_nets_by_hand(text, name, reduced):
    program = CondensedSpace.of(read_architecture(text)).named(name).reduction.program
    assert repr(program).startswith(reduced) or read_architecture(reduced) == program


def test_learning_rates_by_hand():
    """Two equal neurons: outgoing weights move twice as fast, incoming ones half as fast."""
    reduction = CondensedSpace.of(read_architecture("2-3tanh-1")).named("0=1").reduction
    one, two = Fraction(1), Fraction(2)
    assert reduction.rates == {"w": {"k": (1 / two, one)}, "a": {"k": (two, one)}}


def test_what_nothing_reads_is_left_out():
    """All neurons of the second layer dead: the first layer feeds nothing."""
    reduction = CondensedSpace.of(read_architecture("1-2silu-2silu-1")).named("k2:0=1=dead").reduction
    assert reduction.program.parameters == ()
    assert reduction.rates == {}


def test_short_forms_of_other_presets_are_no_layers():
    """A preset in brackets has no dash to split at."""
    from invman.manifold.reduction import split_layers

    assert split_layers("2-3custom(u-u^3)-1") == ["2", "3custom(u-u^3)", "1"]
    assert split_layers("attention(d=2,heads=1,dk=2)") == ["attention(d=2,heads=1,dk=2)"]
    program = read_architecture("attention(d=2,heads=1,dk=2,seq=2)")
    with pytest.raises(Exception, match="independent sign changes"):
        CondensedSpace.of(program)


def test_reductions_are_shared():
    space = CondensedSpace.of(read_architecture("1-4tanh-1"))
    assert space.named("0=1").reduction is space.named("0=-1").reduction
    assert space.named("0=1").reduction is not space.named("2=3").reduction
