"""Which programs are fully connected, and what their layers are."""

from __future__ import annotations

import pytest

from invman.architecture import read_architecture
from invman.errors import UnsupportedError
from invman.manifold.layers import dense_net


def test_edges():
    net = dense_net(read_architecture("1-2tanh-3cos-2+bias"))
    assert [(e.tensor, e.target, e.source) for e in net.edges] == [
        ("w1", 0, None), ("b1", 0, None), ("w2", 1, 0), ("b2", 1, None), ("w3", None, 1), ("b3", None, None),
    ]  # fmt: skip
    kinds = [(rule.odd, rule.signed, rule.singular, rule.constant) for rule in net.layers]
    assert kinds == [(True, True, False, False), (False, True, True, True)]


def test_index_notation_in_any_order():
    net = dense_net(read_architecture("input x; h[k]=tanh(w[k]*x); g[l]=sin(v[k,l]*h[k]); f=g[l]*a[l]; size k=3,l=2"))
    assert [(e.target_at, e.source_at) for e in net.edges] == [(0, None), (1, 0), (None, 0)]


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("attention(d=4,heads=2,dk=2,seq=3)", "3 indices on the left"),
        ("input x[i]; h[k]=(u[k,i]*x[i])*sigmoid(v[k,i]*x[i]); f=a[k]*h[k]; size i=1,k=2", "another form"),
        ("input x[i]; h[k]=tanh(2*w[k,i]*x[i]); f=a[k]*h[k]; size i=1,k=2", "another form"),
        ("input x[i]; h[k]=tanh(w[k,i]*x[i]); g[l]=sum[k](tanh(v[l,k]*h[k])); f=a[l]*g[l]; size i=1,k=2,l=2",
         "another form"),
        ("input x[i]; h[k]=tanh(w[k,i]*x[i]); g[k]=tanh(v[k,i]*x[i]+h[k]*u[k]); f=a[k]*g[k]; size i=1,k=2", ""),
    ],
)  # fmt: skip
def test_refusals(text, got):
    with pytest.raises(UnsupportedError) as caught:
        dense_net(read_architecture(text))
    assert got in str(caught.value)
    assert "expected" in str(caught.value)
