"""Affine isometries: half turns of sin and cos, shifted centres."""

from __future__ import annotations

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from invman.architecture import parse_program, read_architecture
from invman.architecture.evaluate import jax_map
from invman.symmetry.scalar import affine_symmetry, prove, scalar_symmetry

CASES = [  # text, order of the affine group, order of the signed permutations
    ("2-3sin-1+bias", 384, 48),  # per neuron: sign and half turn; 4^3 3!
    ("2-3cos-1+bias", 384, 48),
    ("2-3sin-1", 48, 48),  # no bias, no half turn
    ("2-3tanh-1+bias", 48, 48),
    ("1-2sin-2tanh-1+bias", 32 * 8, 64),
    ("input x; f=a*gaussian(w*x+b-1)", 2, 1),
    ("input x; f=a*tanh(w*x+2*b+1)+c", 2, 1),
    ("input x; h=a*sin(w*x+b); f=h*h", 8, 4),
    ("input x[i]; f[k]=a[k,j]*sin(w[j,i]*x[i]+b[j])+c[k]*cos(b[0]); size i=2,j=2,k=2", 16, 4),
    ("input x[i]; f=sin(w[i]*x[i]+2*b)+sin(v[i]*x[i]+3*b); size i=2", 1, 1),
    ("input x; f=sin(2*b/3+w*x)+c*cos(b+v*x)", 2, 1),
    ("input x; f=a*sin(w*x+b)+tanh(b)", 1, 1),  # a bias that is read elsewhere cannot be shifted
]


@pytest.mark.parametrize(("text", "order", "linear"), CASES)
def test_affine(text: str, order: int, linear: int):
    program = parse_program(text) if "=" in text else read_architecture(text)
    found = affine_symmetry(program)
    assert (found.order, scalar_symmetry(program).order) == (order, linear)
    rng = np.random.default_rng(1)
    theta, x = rng.normal(size=program.parameter_count), rng.normal(size=program.input_count)
    with jax.enable_x64(True):
        F = jax_map(program)
        for generator in found.generators:
            assert prove(program, generator).method == "normal form"
            moved = jnp.asarray(generator(theta))
            np.testing.assert_allclose(F(moved, jnp.asarray(x)), F(jnp.asarray(theta), jnp.asarray(x)), atol=1e-12)


def test_translations_are_exact():
    program = parse_program("input x; f = a*sin(w*x + b - 1/2)")
    found = affine_symmetry(program)
    assert found.periods == {2: Fraction(1)}
    assert {(g.shift[2], g.turns[2]) for g in found.generators} >= {(Fraction(0), Fraction(1))}
    assert found.order == 4
    assert affine_symmetry(parse_program("input x; f=sin(2*b/3+w*x)+c*cos(b+v*x)")).periods == {0: Fraction(3)}
