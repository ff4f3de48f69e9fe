"""Laws in closed form: formulas by hand, numbers against the exact search."""

from __future__ import annotations

import pytest

from invman.architecture import read_architecture
from invman.symmetry.continuous import continuous_group
from invman.symmetry.explicit import explicit_generators
from invman.symmetry.infinitesimal import independent, quadratic_laws
from invman.symmetry.lawfamilies import law_families


def families(text):
    program = read_architecture(text, one_region=True)
    return program, law_families(continuous_group(program))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2-3identity-2", [("sum[i](w[k,i]*w[l,i]) - sum[o](a[o,k]*a[o,l])", 6, 6)]),
        ("2-5identity-1", [("sum[i](w[k,i]*w[l,i]) - a[k]*a[l]", 15, 12)]),
        ("2-3relu-2+bias", [("b[k]^2 + sum[i](w[k,i]^2) - sum[o](a[o,k]^2)", 3, 3)]),
        ("2-3square-1", [("sum[i](w[k,i]^2) - 2*a[k]^2", 3, 3)]),
        ("2-3exp-2+bias", [("b[k] - sum[o](a[o,k]^2)/2", 3, 3)]),
        ("2-3tanh-2", []),
        ("input x[i]; f = w[k,i]*w[k,j]*x[i]*x[j]; size i=2,j=2,k=3", []),
        ("input x[i]; f[o] = softmax[o](a[o,i]*x[i]); size i=2,o=3", [("sum[o](a[o,i])", 2, 2)]),
        ("input x[i]; f = tanh(w[i]*x[i] + b + c); size i=2", [("b - c", 1, 1)]),
        ("input x[i]; f = tanh(w[i]*x[i] - v[i]*x[i]); size i=2", [("w[i] + v[i]", 2, 2)]),
        (
            "rnn(input=2,hidden=3,steps=2,act=identity)",
            [("sum[i](W[k,i]*W[l,i]) + sum[m](U[k,m]*U[l,m]) - sum[m](U[m,k]*U[m,l]) - a[k]*a[l]", 6, 6)],
        ),
    ],
)
def test_by_hand(text, expected):
    assert [(f.text, f.count, f.independent) for f in families(text)[1]] == expected


def test_latex():
    queries, values = families("attention(d=4,heads=2,dk=2)")[1]
    assert queries.latex == r"\sum_{d} WQ_{h,k,d} WQ_{h,l,d} - \sum_{d} WK_{h,k,d} WK_{h,l,d}"
    assert values.name == "GL(2) on v"
    assert families("2-3exp-1+bias")[1][0].latex == r"b_{k} - \tfrac{1}{2} {a_{k}}^2"


NETS = [
    "1-2identity-1", "2-2identity-2", "2-3identity-2", "2-4identity-2", "3-3identity-3", "2-2identity-2identity-2",
    "3-3identity-3identity-3", "2-3identity-2+bias", "2-3relu-2", "2-4relu-2+bias", "2-2relu-2relu-2", "2-3abs-2",
    "2-3square-2square-1", "2-3cube-2+bias", "2-3exp-2+bias", "1-2exp-2exp-1+bias", "2-3tanh-2identity-2",
    "attention(d=3,heads=1,dk=2)", "attention(d=3,heads=2,dk=1)", "attention(d=4,heads=1,dk=2)",
    "attention(d=4,heads=2,dk=2)", "attention(d=2,heads=1,dk=2,bias=yes)", "moe(d=2,experts=2,ff=2,act=relu)",
    "conv1d(length=4,kernel=2,channels=2,act=relu,bias=yes)", "rnn(input=2,hidden=3,steps=2,act=relu,bias=yes)",
    "transformer(vocab=3,d=2,heads=1,dk=1,ff=1,layers=1,seq=2,norm=none)",
    "resmlp(d=3,ff=2,act=relu,norm=layer,gain=no)",
    "input x[i]; h[p,k] = w[p,k,i]*x[i]; f[o] = a[o,p,k]*h[p,k]; size i=1,p=2,k=2,o=2",
    "input x[i]; f = a[k]*(w[k,i]*x[i])*(v[k,i]*x[i]); size i=2,k=3",
    "input x[i]; f = a[p,q]*b[q,r]*c[r,p]*x[i]*d[i]; size i=1,p=2,q=2,r=2",
    "input x[i]; h[k] = w[k,i]*x[i]; c[k] = h[k] - mean[l](h[l]); f[o] = a[o,k]*c[k]; size i=2,k=3,l=3,o=2",
    "input x[i]; f[o] = W[o,i]*x[i] + B[o,r]*(A[r,i]*x[i]); size i=3,o=2,r=2",
]  # fmt: skip


@pytest.mark.parametrize("text", NETS)
def test_numbers_are_those_of_the_exact_search(text):
    program, found = families(text)
    laws = quadratic_laws(explicit_generators(continuous_group(program)))
    assert sum(family.independent for family in found) == independent(laws, program)
    assert all(family.independent <= family.count for family in found)


def test_gpt2():
    text = "transformer(vocab=50257,d=768,heads=12,dk=64,ff=3072,layers=12,seq=1024,bias=yes,pos=yes,tied=yes)"
    found = families(text)[1]
    matrices = [family for family in found if family.name.startswith("GL(64)")]
    assert len(matrices) == 24
    assert {(family.count, family.independent) for family in matrices} == {(12 * 64 * 65 // 2,) * 2}
