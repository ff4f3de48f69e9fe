"""Proofs: symbolic, modular, and what is no symmetry."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from invman.architecture import parse_program, read_architecture
from invman.errors import InvmanError
from invman.symmetry.scalar import AffineMap, prove
from invman.symmetry.scalar.degrees import survival
from invman.symmetry.scalar.find import scalar_symmetry
from invman.symmetry.scalar.modular import ModularAlgebra, random_prime
from invman.symmetry.scalar.proof import _agree, _as_affine
from invman.symmetry.signed import SignedPermutation


def signed(*images: int) -> SignedPermutation:
    """Write a signed permutation as signed positions from 1."""
    return SignedPermutation(np.abs(images) - 1, np.sign(images).astype(np.int8))


def test_symbolic_proof():
    proof = prove(read_architecture("1-2tanh-1"), signed(-2, 1, -4, 3))
    assert proof
    assert (proof.method, proof.bound) == ("normal form", 0.0)


def test_modular_proof_where_the_normal_form_is_blind():
    # a (b + c)/(b + c) is a: the denominator is not cancelled in the normal form
    program = parse_program("input x; f = a*(b + c)/(b + c)*x")
    proof = prove(program, signed(1, -2, 3))
    assert proof
    assert proof.method == "modular"
    assert 0 < proof.bound < 1e-40
    assert prove(program, signed(1, -2, 3), trials=1).bound > proof.bound


@pytest.mark.parametrize("move", [signed(-1, 2, 3, 4), signed(2, 1, 3, 4), signed(3, 2, 1, 4)])
def test_no_symmetry(move: SignedPermutation):
    proof = prove(read_architecture("1-2tanh-1"), move)
    assert not proof
    assert proof.method == "modular"


def test_sigmoid_flip_with_output_bias_is_no_isometry_and_is_told():
    # (a, w, c) -> (-a, -w, c + a) leaves F alone but is no signed permutation; the flip alone is refuted
    program = parse_program("input x; f = a*sigmoid(w*x) + c")
    assert not prove(program, signed(-1, -2, 3))


@pytest.mark.parametrize(
    "name", ["2-3tanh-1", "2-2gelu-2cos-1+bias", "attention(d=2,heads=1,dk=2,seq=2)", "1-2square-2softplus-1"]
)
def test_modular_agrees_with_symbolic(name: str):
    program = read_architecture(name)
    for generator in scalar_symmetry(program, engine="canonaut").generators:
        assert _agree(program, _as_affine(generator), "t", random_prime(5))
    assert 0 < survival(program) < 1e-10


def test_shifted_centre_and_half_turn():
    program = parse_program("input x; f = a*sin(w*x + b - 1)")
    zero, one, two = Fraction(0), Fraction(1), Fraction(2)
    assert prove(program, AffineMap(signed(-1, 2, 3), (zero,) * 3, (zero, zero, one))).method == "normal form"
    assert prove(program, AffineMap(signed(-1, -2, -3), (zero, zero, two), (zero,) * 3))
    assert not prove(program, AffineMap(signed(1, 2, 3), (zero,) * 3, (zero, zero, one)))
    assert not prove(program, AffineMap(signed(-1, -2, -3), (zero, zero, one), (zero,) * 3))


def test_functions_mod_p():
    p = random_prime(0)
    assert p.bit_length() == 61
    field = ModularAlgebra(p, b"k")
    assert (field.core("tanh", "odd", 12) + field.core("tanh", "odd", p - 12)) % p == 0
    assert field.core("cos", "even", 12) == field.core("cos", "even", p - 12)
    assert field.core("exp", "none", 12) != field.core("exp", "none", p - 12)
    assert field.multiply([field.number(Fraction(2, 3)), 3]) == 2
    with pytest.raises(ZeroDivisionError):
        field.power(0, Fraction(-1))


def test_errors():
    program = read_architecture("1-2tanh-1")
    with pytest.raises(InvmanError, match="transformation of 3 parameters: expected a permutation of the 4 parameters"):
        prove(program, signed(1, 2, 3))
    with pytest.raises(InvmanError, match="trials: got 0"):
        prove(program, signed(-1, 2, 3, 4), trials=0)
    with pytest.raises(InvmanError, match="division by zero at 20 random points"):
        prove(parse_program("input x; f = x/(b + c - (b^2 - c^2)/(b - c))"), signed(-1, 2))
