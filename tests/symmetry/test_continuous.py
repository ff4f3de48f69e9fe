"""Dimensions of the continuous symmetry at any size."""

from __future__ import annotations

import time

import pytest

from invman.architecture import read_architecture
from invman.symmetry.continuous import continuous_group


def group(text):
    return continuous_group(read_architecture(text, one_region=True))


@pytest.mark.parametrize(
    ("text", "matrices", "vectors", "scalings", "shifts"),
    [
        ("5-7identity-3", 49, 0, 0, 0),
        ("5-7identity-3+bias", 49, 0, 0, 7),
        ("5-7identity-1", 49, 21 * 5, 0, 0),
        ("5-7relu-3+bias", 0, 0, 7, 0),
        ("5-7relu-4relu-3", 0, 0, 11, 0),
        ("5-7tanh-3", 0, 0, 0, 0),
        ("5-7exp-3+bias", 0, 0, 7, 0),
        ("5-7exp-3", 0, 0, 0, 0),
        ("5-7exp-4exp-3+bias", 0, 0, 11, 0),
        ("5-7exp-4square-3+bias", 0, 0, 11, 0),
        ("attention(d=8,heads=4,dk=2)", 32, 0, 0, 0),
        ("attention(d=8,heads=4,dk=1)", 0, 0, 8, 0),
        ("attention(d=8,heads=4,dk=2,bias=yes)", 32, 0, 0, 16),
        ("input x[i]; h[p,k] = w[p,k,i]*x[i]; f[o] = a[o,p,k]*h[p,k]; size i=2,p=2,k=3,o=2", 36, 0, 0, 0),
        ("input x[i]; f = a[k]*exp(b[k] - (w[k,i]*x[i])^2); size i=2,k=5", 0, 0, 5, 0),
        ("input x[i]; f = a[k]*tanh(exp(w[k,i]*x[i] + b[k])); size i=2,k=5", 0, 0, 0, 0),
        ("input x[i]; f = a[k]*exp(w[k,i]*x[i] + b[k]*u); size i=2,k=5", 0, 0, 1, 0),
        # scalars of the three cancel everywhere
        ("input x[i]; f = a[p,q]*b[q,r]*c[r,p]*x[i]*d[i]; size i=2,p=2,q=2,r=2", 12, 0, 1, 0),
    ],
)
def test_dimensions(text, matrices, vectors, scalings, shifts):
    found = group(text)
    assert sum(f.dimension for f in found.linear) == matrices
    assert sum(f.dimension for f in found.vectors) == vectors
    assert found.scaling_dimension == scalings
    assert sum(f.dimension for f in found.shifts) == shifts
    assert found.dimension == matrices + vectors + scalings + shifts - found.idle_dimension


def test_exponents_of_an_exponential_unit():
    (factor,) = [f for f in group("2-3exp-1+bias").scalings if f.axes]
    ((exponents),) = factor.exponents
    assert {name: exponents[name, positions] / exponents["+b", (0,)] for name, positions in exponents} == {
        "+b": 1,
        "a": -1,
    }


def test_idle_scalars():
    found = group("input x[i]; f = a[p,q]*b[q,r]*c[r,p]*x[i]*d[i]; size i=2,p=2,q=2,r=2")
    assert (found.idle_dimension, found.dimension) == (1, 12)


def test_gpt2_in_a_moment():
    text = "transformer(vocab=50257,d=768,heads=12,dk=64,ff=3072,layers=12,seq=1024,bias=yes,pos=yes,tied=yes)"
    start = time.perf_counter()
    found = group(text)
    assert time.perf_counter() - start < 30
    assert sum(f.dimension for f in found.linear) == 2 * 12 * 12 * 64**2
