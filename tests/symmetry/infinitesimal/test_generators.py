"""Affine generators: dimensions known by hand, closure under commutators, independence of the grading."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from invman.architecture import parse_program, read_architecture
from invman.errors import OverBudgetError, UnsupportedError
from invman.symmetry.infinitesimal import AffineGenerator, affine_generators, nullspace

DIMENSIONS = {
    "2-2identity-2": 4,  # gl(2)
    "2-3identity-2": 9,
    "2-2identity-3identity-2": 13,
    "1-2identity-1": 6,  # so(2, 2) of the one quadratic form
    "2-3square-2": 3,
    "2-3tanh-1": 0,
    "2-2gelu-1+bias": 0,
    "input x; f = a*exp(w*x + b)": 1,
    "input x; f = a*cos(w*x+b) + c*sin(w*x+b)": 1,
    "input x; f = a*x + b*x": 3,  # all of (a, b) that keep a + b: d_a - d_b times 1, a, b
    "input x[i]; f[v] = softmax[v](w[v,i]*x[i]); size i=2, v=3": 14,
    "attention(d=3,heads=1,dk=2,seq=2)": 8,
    "attention(d=3,heads=2,dk=1,seq=2)": 4,
}


@pytest.mark.parametrize(("text", "dimension"), DIMENSIONS.items())
def test_dimension(text, dimension):
    assert len(affine_generators(read_architecture(text))) == dimension


@pytest.mark.parametrize("text", [text for text, dimension in DIMENSIONS.items() if dimension > 0])
def test_generators_form_a_lie_algebra(text):
    generators = affine_generators(read_architecture(text))
    for left, right in itertools.combinations(generators.basis, 2):
        assert left.bracket(right) in generators
    assert AffineGenerator({}, {}) in generators


@pytest.mark.parametrize("text", ["2-2identity-2", "2-2square-2", "1-2tanh-1+bias", "input x; f = a*exp(w*x + b)"])
def test_the_grading_loses_nothing(text, monkeypatch):
    program = read_architecture(text)
    graded = affine_generators(program)
    monkeypatch.setattr(nullspace, "torus", lambda _: [()] * (program.parameter_count + 1))
    plain = affine_generators(program)
    assert plain.blocks == 1
    assert len(plain) == len(graded)
    assert all(generator in graded for generator in plain.basis)


@pytest.mark.parametrize("text", ["3-3identity-3", "attention(d=3,heads=2,dk=1,seq=2)"])
def test_seeds_agree(text):
    program = read_architecture(text)
    first, second = (affine_generators(program, seed=seed) for seed in (0, 11))
    assert first.arithmetic.primes != second.arithmetic.primes
    assert first.basis == second.basis


def test_phase_shift_is_isometric_with_a_translation():
    (generator,) = affine_generators(parse_program("input x; f = a*cos(w*x+b) + c*sin(w*x+b)")).basis
    assert generator.isometric
    assert not generator.self_adjoint
    assert generator.shift


def test_bias_that_softmax_swallows():
    program = read_architecture("attention(d=2,heads=1,dk=1,seq=2,bias=yes)")
    generators = affine_generators(program)
    dead = program.offsets["bK"]
    assert [generator.shift for generator in generators.translations] == [{dead: 1}]


def test_membership():
    generators = affine_generators(read_architecture("1-1identity-1"))
    one = Fraction(1)
    assert AffineGenerator({(0, 0): one * 3, (1, 1): -one * 3}, {}) in generators
    assert AffineGenerator({(0, 0): one, (1, 1): one}, {}) not in generators
    assert AffineGenerator({}, {0: one}) not in generators
    assert "no generator" not in generators


def test_description():
    program = parse_program("input x; f = a*cos(w*x+b) + c*sin(w*x+b)")
    text = affine_generators(program).basis[0].describe(program)
    assert text == "c d/da - a d/dc - d/db"
    assert AffineGenerator({}, {}).describe(program) == "0"


def test_error_is_small_and_points_are_counted():
    generators = affine_generators(read_architecture("2-3identity-2"))
    assert generators.error < 1e-40
    assert generators.points > 5
    assert generators.blocks > 10


def test_refusals_name_the_size():
    with pytest.raises(OverBudgetError, match="parameters of the exact check: got 2,000, expected at most 400"):
        affine_generators(read_architecture("10-100identity-10"))
    with pytest.raises(OverBudgetError, match=r"unknowns of one linear system .*expected at most 5\. All 306 unknowns"):
        affine_generators(read_architecture("2-4tanh-1+bias"), budget=5)


def test_irrational_generators_are_refused():
    with pytest.raises(UnsupportedError, match="expected rational"):
        affine_generators(parse_program("input x; f = a*x + sqrt(2)*b*x"))
    # an irrational constant that no generator contains is no obstacle
    assert len(affine_generators(parse_program("input x; f = sqrt(7)*a*b*x"))) == 1


@pytest.mark.slow
def test_rms_norm_transformer():
    # gains against what they multiply, heads, row sums of the read-out; exponentials of roots are random here
    program = read_architecture("transformer(vocab=3,d=2,heads=1,dk=1,ff=2,layers=1,seq=2,norm=rms)")
    generators = affine_generators(program)
    assert len(generators) == 78
    assert "loose" in generators.arithmetic.kinds


def test_relu_read_by_several_outputs_has_one_gate():
    """The softmax does not see one number added to all a[:,k], or to all c: 3 translations, 14 fields each; 2 scalings.

    With a gate of its own for every output the shifts of a would be lost.
    """
    text = "input x[i]; f[o] = softmax[o](a[o,k]*relu(w[k,i]*x[i])+c[o]); size i=2,k=2,o=3"
    program = read_architecture(text, one_region=True)
    assert program.parameter_count == 13
    assert len(affine_generators(program)) == 3 * 14 + 2
