"""Signs by parity, multiplicities by degree, dead values by order: by hand and against numerical derivatives."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from invman.architecture import read_architecture
from invman.architecture.evaluate import jax_map
from invman.symmetry import AxisClasses, find_symmetry
from invman.symmetry.characters import absorbers, signs, silent

TWO_SUMS = "input x; g[k]=tanh(b[k]*x); f=sum[k,l](b[l]*c[k]*d[k]*x)+e*g[k]*c[k]; size k=2,l=2"
GATED = "input x[i]; h[k]=(u[k,i]*x[i])*sigmoid(v[k,i]*x[i]); f=a[k]*h[k]; size i=2,k=2"
EXPERTS = "input x[i]; g[e]=softmax[e](v[e,i]*x[i]); f=g[e]*u[e]*tanh(w[e,i]*x[i]); size i=2,e=3"
SUMMED = "input x[i]; h[k]=tanh(w[k,i]*x[i]); f=tanh(sum[k](h[k])); size i=2,k=3"
MEAN = "input x[i]; h[k]=tanh(w[k,i]*x[i]); f=mean[k](a[k]*h[k]); size i=2,k=3"


def axis_of(text, name):
    program = read_architecture(text)
    classes = AxisClasses(program)
    return program, classes, next(c for c in classes.classes if c.name == name)


def tensors(carriers):
    return sorted(f"{c.tensor}{c.position}" for c in carriers)


@pytest.mark.parametrize(
    ("text", "axis", "expected"),
    [
        ("2-3tanh-1", "k", [["a0", "w0"]]),
        ("2-3tanh-1+bias", "k", [["a0", "b0", "w0"]]),
        ("2-3cos-1", "k", [["w0"]]),
        ("2-3square-1+bias", "k", [["b0", "w0"]]),
        ("2-3sigmoid-1", "k", []),
        ("2-3silu-1", "k", []),
        ("1-2tanh-2cos-1", "k1", [["w10", "w21"]]),
        ("1-2tanh-2cos-1", "k2", [["w20"]]),
        (GATED, "k", [["a0", "u0"]]),
        (EXPERTS, "e", [["u0", "w0"]]),
        (SUMMED, "k", []),
        ("attention(d=2,heads=2,dk=3,seq=2)", "k", [["WK1", "WQ1"]]),
        ("attention(d=2,heads=2,dk=3,seq=2)", "h", [["WK0", "WQ0"], ["WO0", "WV0"]]),
    ],
)
def test_signs_by_hand(text, axis, expected):
    assert sorted(map(tensors, signs(*axis_of(text, axis)))) == expected


@pytest.mark.parametrize(
    ("text", "axis", "expected"),
    [
        ("2-3tanh-1", "k", ["a0"]),
        ("2-3tanh-1+bias", "k", ["a0"]),
        ("2-3square-1", "k", ["a0"]),
        ("2-3identity-1", "k", ["a0"]),
        ("1-2tanh-3cos-1", "k1", ["w21"]),
        (MEAN, "k", ["a0"]),
        (EXPERTS, "e", ["u0"]),
        (SUMMED, "k", None),
        ("input x[i]; h[k]=square(w[k,i]*x[i]); f=sum[k](h[k]); size i=2,k=3", "k", None),
        ("input x[i]; h[k]=w[k,i]*x[i]; f=sum[k](h[k]); size i=2,k=3", "k", ["w0"]),
    ],
)
def test_absorbers_by_hand(text, axis, expected):
    found = absorbers(*axis_of(text, axis))
    assert (None if found is None else tensors(found)) == expected


SILENT = [
    "2-3tanh-1", "2-3tanh-1+bias", "2-3sigmoid-1", "2-3silu-1", "2-3cos-1", "2-3square-1", "2-3gelu-1+bias",
    "1-2tanh-2sigmoid-2silu-1", "1-2square-2cos-1", "2-2custom(u+u^2)-1", "2-2custom(1+u^2)-1", GATED, EXPERTS,
    SUMMED, MEAN, TWO_SUMS,
    "rnn(input=1,hidden=2,steps=3)", "attention(d=2,heads=2,dk=2,seq=2)",
    "input x[i]; h[k]=square(w[k,i]*x[i]); f=sum[k](h[k]); size i=2,k=3",
    "input x[i]; h[k]=w[k,i]*x[i]; g[k]=h[k]+u[k,m]*tanh(v[m,l]*h[l]); f=a[k]*g[k]; size i=1,k=2,l=2,m=3",
    "input x[i]; h[k]=w[k,i]*x[i]; n[k]=h[k]/sqrt(1+mean[l](h[l]^2)); f=a[k]*n[k]; size i=2,k=3,l=3",
]  # fmt: skip


@pytest.mark.parametrize("text", SILENT)
def test_silent_against_the_gradient(text):
    """A value whose parameters are all zero has zero gradient in them, for any inputs, exactly when it is silent."""
    program = read_architecture(text)
    random = np.random.default_rng(3)
    with jax.enable_x64(True):
        jacobian = jax.jacobian(jax_map(program))
        for found in find_symmetry(program).axes:
            worst = 0.0
            own = np.zeros(program.parameter_count, dtype=bool)
            for tensor in program.parameters:
                mask = np.zeros(tensor.shape, dtype=bool)
                for carrier in found.axis.carriers:
                    if carrier.tensor == tensor.name:
                        mask[(slice(None),) * carrier.position + (0,)] = True
                start = program.offsets[tensor.name]
                own[start : start + tensor.size] = mask.reshape(-1)
            for _ in range(3):
                theta = np.where(own, 0.0, random.normal(size=program.parameter_count))
                x = random.normal(size=program.input_count)
                worst = max(worst, float(np.abs(np.asarray(jacobian(theta, x))[:, own]).max()))
            assert found.dead == (worst < 1e-12), (found.axis.name, worst)


def test_a_value_that_others_notice_is_not_silent():
    """f = sum_kl b_l c_k d_k x: with b, c, d zero at one value, b there still moves f through the other k."""
    assert silent(*axis_of(TWO_SUMS, "k")) is False


def test_softmax_over_the_axis_is_never_silent():
    assert silent(*axis_of(EXPERTS, "e")) is False


def test_pinned_axes_are_not_silent():
    assert silent(*axis_of("2-3tanh-1", "i")) is False
