"""Polydiagonals and linear equations against plain linear algebra."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from invman.manifold import LinearEquations, Polydiagonal


@st.composite
def polydiagonals(draw, size=6):
    labels = draw(st.lists(st.integers(-1, 3), min_size=size, max_size=size))
    flips = draw(st.lists(st.sampled_from([1, -1]), min_size=size, max_size=size))
    number, classes, signs, lead = {}, [], [], {}
    for label, flip in zip(labels, flips, strict=True):
        if label < 0:
            classes.append(-1)
            signs.append(0)
            continue
        classes.append(number.setdefault(label, len(number)))
        signs.append(flip * lead.setdefault(label, flip))
    return Polydiagonal(np.array(classes, dtype=np.int32), np.array(signs, dtype=np.int8))


def test_by_hand():
    space = Polydiagonal(np.array([0, 1, 0, -1], dtype=np.int32), np.array([1, 1, -1, 0], dtype=np.int8))
    assert (space.parameters, space.dimension) == (4, 2)
    assert space.basis().tolist() == [[1, 0, -1, 0], [0, 1, 0, 0]]


@given(polydiagonals())
def test_basis_is_independent(space):
    basis = space.basis()
    assert basis.shape == (space.dimension, space.parameters)
    assert np.linalg.matrix_rank(basis) == space.dimension if space.dimension else not basis.size


@given(polydiagonals(), polydiagonals())
def test_inclusion_is_inclusion_of_spans(left, right):
    stacked = np.vstack([left.basis(), right.basis()])
    rank = np.linalg.matrix_rank(stacked) if stacked.size else 0
    assert (left <= right) == (rank == right.dimension)


@given(polydiagonals(), polydiagonals())
def test_key_is_equality(left, right):
    assert (left.key() == right.key()) == (left <= right and right <= left)


@given(polydiagonals(4), polydiagonals(4), polydiagonals(4))
def test_order(a, b, c):
    assert a <= a
    assert not (a <= b and b <= c) or a <= c


def test_equations_as_arrays():
    rows = (((1, Fraction(1)), (4, Fraction(-1, 2))), Fraction(3)), (((2, Fraction(2)),), Fraction(0))
    equations = LinearEquations(6, rows)
    assert equations.dimension == 4
    assert equations.support().tolist() == [1, 2, 4]
    matrix, constants = equations.dense()
    assert matrix.tolist() == [[1, 0, -0.5], [0, 2, 0]]
    assert constants.tolist() == [3, 0]


def test_no_equations_is_everything():
    nothing = LinearEquations(3, ())
    assert nothing.dimension == 3
    assert nothing.dense()[0].shape == (0, 0)
