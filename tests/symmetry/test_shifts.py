"""Translations: what softmax and centring do not see, and what other parameters undo."""

from __future__ import annotations

import pytest

from invman.architecture import read_architecture
from invman.symmetry.shifts import shifts

NORM = "transformer(vocab=3,d=4,heads=2,dk=2,ff=2,layers=1,seq=2,bias=yes,pos=yes)"


def found(text):
    return {
        (s.tensors, s.constant_along and s.constant_along.position, s.dimension)
        for s in shifts(read_architecture(text))
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2-3tanh-1+bias", set()),
        ("input x[i]; f[o] = softmax[o](a[o,i]*x[i]); size i=2,o=3", {(("a",), 0, 2)}),
        ("input x[i]; f[o] = softmax[o](a[o,i]*x[i] + b); size i=2,o=3", {(("a",), 0, 2), (("b",), None, 1)}),
        ("input x[i]; f[o] = 2*a[o,i]*softmax[i](x[i]); size i=2,o=3", set()),
        ("2-3identity-2+bias", {(("b", "c"), None, 3)}),
        ("2-3identity-2identity-1+bias", {(("b1", "b2"), None, 3), (("b2", "b3"), None, 2)}),
        ("attention(d=4,heads=2,dk=3,bias=yes)", {(("bK",), None, 6), (("bV", "bO"), None, 6)}),
        ("attention(d=4,heads=2,dk=3,bias=yes,causal=yes)", {(("bK",), None, 6), (("bV", "bO"), None, 6)}),
        ("attention(d=4,heads=2,dk=2,bias=yes,rotary=yes)", {(("bV", "bO"), None, 4)}),
        ("moe(d=2,experts=3,ff=2)", {(("G",), 0, 2)}),
        ("input x[i]; f = tanh(w[i]*x[i] + b + c); size i=2", {(("b", "c"), None, 1)}),
        ("input x[i]; f = tanh(w[i]*x[i] + b + c + d); size i=2", {(("b", "c"), None, 1), (("c", "d"), None, 1)}),
        ("input x[i]; h[k] = w[k,i]*x[i] + b[k]; f = a[k]*tanh(h[k] + c[k]); size i=2,k=2", {(("b", "c"), None, 2)}),
        ("input x[i]; h[k] = tanh(w[k,i]*x[i] + b[k] + c); f = a[k]*h[k]; size i=2,k=2", {(("c", "b"), None, 1)}),
        ("input x[t]; f[t,k] = tanh(x[t] + p[t] + q[k]); size t=2,k=3", {(("p", "q"), 0, 1)}),
        ("input x[i]; f = w[i]*x[i] + sum[k](a[k]) + b; size i=2,k=2", {(("a", "b"), None, 2)}),
        ("input x[i]; f = tanh((w[i]+v[i])*x[i]); size i=2", {(("w", "v"), None, 2)}),
        ("input x[i]; f = tanh((w[i]*v[i])*x[i]); size i=2", set()),
        ("input x[i]; f = tanh(w[i]*x[i] + b + b*c); size i=2", set()),
        (
            "input x[i]; f[o] = (W[o,i] + B[o,r]*A[r,i])*x[i]; size i=2,o=2,r=1",
            {(("B", "W"), None, 2), (("A", "W"), None, 2)},
        ),
        (
            "input x[i]; f[o] = W[o,i]*x[i] + B[o,r]*(A[r,i]*x[i]); size i=2,o=2,r=1",
            {(("B", "W"), None, 2), (("A", "W"), None, 2)},
        ),
        ("input x[i]; f = w[i]*x[i] + 0*b; size i=2", {(("b",), None, 1)}),
        # weights of a softmax add up to one, so that a bias undoes what is constant along them
        (
            "input x[k]; p[k] = softmax[k](x[k]); f[o] = tanh(W[o,k]*p[k] + b[o]); size k=3,o=2",
            {(("W", "b"), 1, 2)},
        ),
        ("input x[i]; f[o,p] = softmax[o](softmax[p](a[o,p]*x[i])*x[i]); size i=1,o=2,p=3", {(("a",), 1, 2)}),
        ("input x[i]; f = b[k,t]*softmax[k](x[k])*softmax[t](z[t]) - c*x[0]; input z[t]; size k=2,t=2,i=2", set()),
    ],
)
def test_by_hand(text, expected):
    assert found(text) == expected


def test_layer_norm_in_the_stream():
    expected = {
        (("E",), 1, 3), (("P",), 1, 2), (("ba1", "bQ1", "bK1", "bV1"), None, 4), (("bK1",), None, 4),
        (("bV1", "bO1"), None, 4), (("WO1",), 1, 4), (("bO1", "bD1"), 0, 1), (("bf1", "bU1"), None, 4),
        (("WD1",), 0, 2), (("bD1",), 0, 1), (("R",), 0, 4),
    }  # fmt: skip
    assert expected <= found(NORM)


def test_reasons():
    reasons = {s.tensors: s.reason for s in shifts(read_architecture(NORM))}
    assert reasons["bK1",] == "ignored by a softmax"
    assert reasons["WD1",] == "cancelled by centring"
    assert reasons["bf1", "bU1"] == "undone by bU1"


def test_constant_along_two_positions_is_counted_once():
    text = "input x[i]; u[o,p] = softmax[o](a[o,p]*x[0]); size i=1,o=2,p=3; f[o,p] = u[o,p]"
    assert sum(s.dimension for s in shifts(read_architecture(text))) == 3


def test_any_size():
    program = read_architecture(
        "transformer(vocab=50257,d=768,heads=12,dk=64,ff=3072,layers=2,seq=1024,bias=yes,pos=yes,tied=yes)"
    )
    assert {s.tensors: s.dimension for s in shifts(program)}["bK2",] == 768
