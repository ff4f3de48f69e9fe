"""Projections: idempotent, symmetric, with the right rank, and zero on the manifold."""

from __future__ import annotations

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invman.errors import ManifoldError
from invman.flow.projection import affine_rows, signed_classes
from invman.manifold.subspace import LinearEquations, Polydiagonal

D = 5
SETTINGS = settings(max_examples=25, deadline=None)


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


@st.composite
def polydiagonals(draw):
    labels = draw(st.lists(st.integers(-1, D - 1), min_size=D, max_size=D))
    signs = draw(st.lists(st.sampled_from([-1, 1]), min_size=D, max_size=D))
    numbers: dict[int, int] = {}
    lead: dict[int, int] = {}
    classes, relative = [], []
    for label, sign in zip(labels, signs, strict=True):
        if label < 0:
            classes.append(-1)
            relative.append(0)
            continue
        classes.append(numbers.setdefault(label, len(numbers)))
        relative.append(sign * lead.setdefault(label, sign))
    return Polydiagonal(np.array(classes, dtype=np.int32), np.array(relative, dtype=np.int8))


@st.composite
def affine(draw):
    count = draw(st.integers(0, 3))
    rows = []
    for pivot in range(count):  # echelon form: independent
        rest = draw(st.lists(st.integers(-3, 3), min_size=D - count, max_size=D - count))
        form = [(pivot, Fraction(draw(st.integers(1, 4))))]
        form += [(count + i, Fraction(c, 2)) for i, c in enumerate(rest) if c]
        rows.append((tuple(form), Fraction(draw(st.integers(-4, 4)), 3)))
    return LinearEquations(D, tuple(rows))


def single(manifold):
    return jax.tree.map(lambda leaf: leaf[0], signed_classes([manifold]))


def normal_matrix(flat):
    return np.stack([np.asarray(flat.normal(row)) for row in jnp.eye(D)], axis=1)


@SETTINGS
@given(polydiagonals())
def test_signed_classes(manifold):
    flat = single(manifold)
    matrix = normal_matrix(flat)
    np.testing.assert_allclose(matrix @ matrix, matrix, atol=1e-14)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-14)
    assert round(np.trace(matrix)) == D - manifold.dimension
    np.testing.assert_allclose(matrix @ manifold.basis().T, 0, atol=1e-14)
    point = np.asarray(flat.point(jnp.arange(1.0, D + 1)))
    for i in range(D):
        expected = 0 if manifold.classes[i] < 0 else manifold.signs[i] * (manifold.classes[i] + 1.0)
        assert point[i] == expected
    theta = jnp.linspace(-1, 2, D)
    np.testing.assert_allclose(flat.nearest(theta) + flat.offset(theta), theta, atol=1e-15)
    np.testing.assert_allclose(flat.offset(flat.nearest(theta)), 0, atol=1e-15)


@SETTINGS
@given(affine())
def test_affine_rows(equations):
    flat = affine_rows(equations, "float64")
    matrix = normal_matrix(flat)
    np.testing.assert_allclose(matrix @ matrix, matrix, atol=1e-13)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-13)
    assert round(np.trace(matrix)) == len(equations.rows)
    point = np.asarray(flat.point(jnp.linspace(-1, 2, D)))
    for form, constant in equations.rows:
        assert sum(float(c) * point[i] for i, c in form) == pytest.approx(float(constant), abs=1e-13)
        gradient = np.zeros(D)
        gradient[[i for i, _ in form]] = [float(c) for _, c in form]
        np.testing.assert_allclose(matrix @ gradient, gradient, atol=1e-13)
    np.testing.assert_allclose(flat.offset(jnp.asarray(point)), 0, atol=1e-13)


def test_dependent_in_floating_point():
    near = Fraction(1) + Fraction(1, 10**17)
    rows = ((((0, Fraction(1)), (1, Fraction(1))), Fraction(0)), (((0, Fraction(1)), (1, near)), Fraction(0)))
    with pytest.raises(ManifoldError, match="dependent to 12 digits"):
        affine_rows(LinearEquations(2, rows), "float64")


def test_rows_of_different_size_are_independent():
    rows = ((((0, Fraction(1)),), Fraction(1)), (((1, Fraction(1, 10**15)),), Fraction(1, 10**15)))
    flat = affine_rows(LinearEquations(2, rows), "float64")
    np.testing.assert_allclose(flat.point(jnp.zeros(2)), [1, 1])
