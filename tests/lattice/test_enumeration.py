"""Listing: every partition once, lazily, in a fixed order; covers of one manifold."""

from __future__ import annotations

import itertools

import pytest

from invman.architecture import read_architecture
from invman.lattice import covers, enumerate_condensed
from invman.lattice.enumeration import classes_of_partitions, partitions, partitions_of_integer
from invman.manifold import CondensedSpace


def space_of(text):
    return CondensedSpace.of(read_architecture(text))


def test_partitions_by_hand():
    assert list(partitions(space_of("1-2tanh-1").rules[0])) == [(2, 4), (2, 2), (2, -2), (2, 0), (0, 2), (0, 0)]
    assert list(partitions(space_of("1-2sigmoid-1").rules[0])) == [(2, 4), (2, 2)]
    assert list(partitions(space_of("1-2cos-1").rules[0])) == [(2, 4), (2, 5), (2, 2), (2, -2), (3, 4), (3, 5), (3, 3)]


def test_classes_by_hand():
    assert list(classes_of_partitions(space_of("1-2tanh-1").rules[0])) == [(2, 4), (2, 2), (2, 0), (0, 0)]


def test_integer_partitions():
    assert [len(list(partitions_of_integer(n))) for n in range(9)] == [1, 1, 2, 3, 5, 7, 11, 15, 22]
    assert all(sum(p) == 7 and list(p) == sorted(p, reverse=True) for p in partitions_of_integer(7))


@pytest.mark.parametrize("text", ["2-60tanh-1", "2-30cos-1", "1-30tanh-2silu-1"])
def test_the_first_few_come_at_once(text):
    """Lazy in the first axis: the list of all would be astronomically long."""
    space = space_of(text)
    first = list(itertools.islice(enumerate_condensed(space), 20))
    assert len(set(first)) == 20
    assert first[0] == space.whole


def test_covers_by_hand():
    space = space_of("1-2tanh-1")
    assert [m.name for m in covers(space.whole)] == ["0=1", "0=-1", "0=dead", "1=dead"]
    assert [m.name for m in covers(space.named("0=-1"))] == ["0=1=dead"]
    assert covers(space.named("0=1=dead")) == []


def test_covers_of_what_its_neighbours_hide():
    """Killing the third layer when the first is dead takes the second along."""
    space = space_of("1-1tanh-2tanh-1tanh-1")
    below = covers(space.named("k1:0=dead"))
    assert "k1:0=dead/k2:0=1=dead/k3:0=dead" not in {m.name for m in below}
    assert all(space.closure(m.partitions) == m.partitions for m in below)
