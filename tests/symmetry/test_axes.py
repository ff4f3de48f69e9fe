"""Axis classes: which indices are one axis, and which of them may be permuted."""

from __future__ import annotations

import pytest

from invman.architecture import read_architecture
from invman.symmetry import AxisClasses


def classes(text):
    return {c.name: c for c in AxisClasses(read_architecture(text)).classes}


def carried(text):
    return {name: [f"{c.tensor}{c.position}" for c in found.carriers] for name, found in classes(text).items()}


def test_hidden_axis_by_hand():
    found = classes("2-3tanh-1")
    assert {name: c.hidden for name, c in found.items()} == {"k": True, "i": False}
    assert found["k"].size == 3
    assert carried("2-3tanh-1") == {"k": ["w0", "a0"], "i": ["w1"]}


def test_outputs_and_inputs_are_pinned():
    found = classes("2-3tanh-4")
    assert found["i"].pinned == "input x"
    assert found["o"].pinned == "output f"
    assert found["k"].pinned is None


def test_one_class_through_a_chain_of_statements():
    text = "input x[i]; h[k]=tanh(w[k,i]*x[i]); z[k]=h[k]+b[k]; g[l]=tanh(z[l]*v[l]); f=a[l]*g[l]; size i=2,k=3,l=3"
    assert carried(text)["k"] == ["w0", "b0", "v0", "a0"]


def test_residual_stream_ties_widths_together():
    text = "input x[i]; h[k]=w[k,i]*x[i]; g[k]=h[k]+u[k,m]*tanh(v[m,l]*h[l]); f=a[k]*g[k]; size i=1,k=2,l=2,m=3"
    assert carried(text)["k"] == ["w0", "u0", "v1", "a0"]
    assert carried(text)["m"] == ["u1", "v0"]


def test_recurrent_weight_carries_the_axis_twice():
    found = classes("rnn(input=1,hidden=2,steps=2)")
    assert found["k"].repeated == "U"
    assert classes("2-3tanh-1")["k"].repeated is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("input x[t]; h[t]=tanh(w[s]*x[t+s]); f=a[t]*h[t]; size s=1,t=3", "an affine index"),
        ("input x[s]; A[s,t]=softmax[t<=s](q[s]*k[t]*x[s]); f=A[s,t]*v[t]; size s=3,t=3", "a causal mask"),
        ("input x[i]; constant m[k]=[1,2]; h[k]=tanh(m[k]*w[k,i]*x[i]); f=a[k]*h[k]; size i=1,k=2", "constant m"),
        ("input x[i]; h[k]=tanh(w[k,i]*x[i]); f=a[k]*h[k]; size i=1,k=2; output f, h", "output h"),
    ],
)
def test_reasons_for_pinning(text, reason):
    assert reason in {c.pinned for c in classes(text).values()}


def test_constant_that_does_not_vary_pins_nothing():
    text = "input x[i]; constant m[k,i]=[[1,2],[1,2]]; h[k]=tanh(m[k,i]*w[k,i]*x[i]); f=a[k]*h[k]; size i=2,k=2"
    found = classes(text)
    assert found["k"].hidden
    assert not found["i"].hidden


def test_names_are_unique_whatever_the_indices_are_called():
    text = (
        "input x[i]; h[k]=tanh(w[k,i]*x[i]); g=a[k]*h[k]; p[k]=tanh(v[k,i]*x[i]); q=c[k]*p[k]; "
        "r[k_2]=tanh(z[k_2,i]*x[i]); f=g+q+y[k_2]*r[k_2]; size i=1,k=3,k_2=2"
    )
    names = [c.name for c in AxisClasses(read_architecture(text)).classes]
    assert len(set(names)) == len(names)
    assert {"k", "k_2"} <= set(names)


def test_axis_that_no_parameter_carries_is_not_hidden():
    found = classes("input x[i]; h[k]=w*x[0]; f=sum[k](h[k]*h[k])+v[i]*x[i]; size i=1,k=2")
    assert not found["k"].hidden
