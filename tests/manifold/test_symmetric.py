"""Rows of leaders against Polydiagonal, names, recognition of condensed manifolds, permutations in words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from invman.architecture import read_architecture
from invman.errors import ManifoldError
from invman.lattice import build_lattice
from invman.manifold import CondensedSpace, SymmetricSpace, parse_equations, points
from invman.manifold.entries import describe_permutation, entry_equations, from_equations
from invman.manifold.recognise import recognise

HALF = 5
PROGRAM = read_architecture("1-2tanh-1+bias")
ENTRIES = [PROGRAM.coordinate(i) for i in range(7)]


@st.composite
def rows(draw: st.DrawFn) -> np.ndarray:
    """A random signed polydiagonal: labels 0 for zero, else a class with a sign."""
    values = draw(st.lists(st.integers(-3, 3), min_size=HALF, max_size=HALF))
    return points.normalised(np.array([[v + 3 for v in values] + [3 - v for v in values]]))[0]


@given(rows())
def test_polydiagonal_and_back(row: np.ndarray):
    subspace = points.polydiagonal(row)
    assert np.array_equal(points.leaders(subspace), row)
    assert subspace.dimension == points.dimensions(row[None])[0]


@given(st.lists(rows(), min_size=2, max_size=5))
def test_meets_are_the_largest_subspaces_inside_both(many: list[np.ndarray]):
    one, *others = many
    for meet in points.meets(one, np.array(others)):
        assert points.polydiagonal(meet) <= points.polydiagonal(one)
        assert any(points.polydiagonal(meet) <= points.polydiagonal(other) for other in others)
    for other in others:
        (meet,) = points.meets(one, other[None])
        basis = np.vstack([points.polydiagonal(one).basis(), points.polydiagonal(other).basis()]).astype(float)
        together = points.dimensions(one[None])[0] + points.dimensions(other[None])[0]
        # dim of the intersection = sum of dims - dim of the sum
        assert points.dimensions(meet[None])[0] == together - (np.linalg.matrix_rank(basis) if len(basis) else 0)
    every = points.meet_of_all(np.array(many))
    assert all(points.contained(every, np.array(many)))


@given(rows(), rows())
def test_contained_is_the_order_of_polydiagonals(left: np.ndarray, right: np.ndarray):
    assert points.contained(left, right[None])[0] == (points.polydiagonal(left) <= points.polydiagonal(right))


def test_long_lists_are_worked_on_in_pieces(monkeypatch: pytest.MonkeyPatch):
    lattice = build_lattice(read_architecture("1-3tanh-1"), family="symmetric")
    every = np.array([points.leaders(m.polydiagonal()) for m in lattice.manifolds])
    whole = points.meets(every[3], every)
    monkeypatch.setattr(points, "CHUNK", 5)
    assert np.array_equal(points.meets(every[3], every), whole)


def test_wide_points_need_two_bytes():
    space = SymmetricSpace.of(read_architecture("70-2tanh-1"))
    manifold = space.named("0=-1")
    assert manifold.row.dtype == np.uint16
    assert (manifold.dimension, manifold.orbit_size, manifold.name) == (71, 2, "0=-1")


@pytest.mark.parametrize("text", ["1-3tanh-1", "2-3cos-1", "1-2tanh-2cos-1", "1-2silu-2tanh-1+bias", "1-2square-1"])
def test_condensed_manifolds_are_recognised(text: str):
    space = CondensedSpace.of(read_architecture(text))
    for manifold in build_lattice(space).manifolds:
        assert recognise(space, manifold.polydiagonal()) == manifold


@given(st.lists(st.integers(-3, 3), min_size=7, max_size=7))
def test_equations_between_entries_are_read_back(values: list[int]):
    row = points.normalised(np.array([[v + 3 for v in values] + [3 - v for v in values]]))[0]
    subspace = points.polydiagonal(row)
    text = ", ".join(entry_equations(PROGRAM, subspace))
    if text:
        assert from_equations(parse_equations(PROGRAM, text), text).key() == subspace.key()


def test_equations_that_say_more():
    for text in (f"{ENTRIES[0]}=1", f"{ENTRIES[0]}={ENTRIES[1]}+{ENTRIES[2]}", f"{ENTRIES[0]}=3*{ENTRIES[1]}"):
        with pytest.raises(ManifoldError, match="expected entries equal, opposite or zero"):
            from_equations(parse_equations(PROGRAM, text), text)


def test_permutations_in_words():
    program = read_architecture("1-2tanh-1")
    assert describe_permutation(program, np.arange(8)) == "()"
    # swap w[0,0] with -w[1,0]; change the sign of a[1]
    assert describe_permutation(program, np.array([5, 4, 2, 7, 1, 0, 6, 3])) == "(w[0,0] -w[1,0])(a[1] -a[1])"


def test_repr_is_the_name_and_equality_that_of_subspaces():
    space = SymmetricSpace.of(read_architecture("1-2tanh-2tanh-1"))
    manifold = space.named("k1:0=1")
    assert repr(manifold) == "k1:0=1"
    assert manifold == space.named("w1[0,0]=w1[1,0],w2[0,0]=w2[0,1],w2[1,0]=w2[1,1]")
    assert len({manifold, space.whole, space.named("free")}) == 2
    assert manifold.reduction is not None
    assert repr(manifold.reduction.program) == "1-1tanh-2tanh-1"
    assert space.named("w1[0,0]=w1[1,0]=w3[0]=w3[1]=0").reduction is None
