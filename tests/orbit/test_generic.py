"""The dimension of generic orbits of a leaf: linear nets by the formula of their conservation laws, leaves by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from invman.architecture import read_architecture
from invman.orbit.generic import generic_rank
from invman.orbit.hull import Leaf, affine_hull, tower_of

BUDGET = 10**6


def whole_rank(text, seed=0):
    program = read_architecture(text)
    return generic_rank(program, Leaf.whole(program, seed=seed, budget=BUDGET), seed=seed, budget=BUDGET)


def laws(inputs, width, outputs):
    """Count what u u^T - v^T v conserves: entries of a symmetric matrix, less those that its rank determines."""
    gap = max(width - inputs - outputs, 0)
    return width * (width + 1) // 2 - gap * (gap + 1) // 2


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        ("1-1identity-1", 1),
        ("1-2identity-1", 1),
        ("2-2identity-2", 5),
        ("2-3identity-2", 6),
        ("3-3identity-3", 12),
        ("2-4identity-2", 6),
        ("2-2identity-2identity-2", 6),
        ("2-1square-1", 2),
        ("2-2square-1", 4),
        ("2-3square-2", 9),
        ("2-3tanh-1", 9),
        ("1-2sigmoid-2sigmoid-1", 8),
    ],
)
def test_of_the_whole_space(text, rank):
    found = whole_rank(text)
    assert found.rank == rank == found.profile[-1]
    assert list(found.profile) == sorted(found.profile)
    assert found.profile[-2] == rank  # the last order added nothing
    assert 0 < found.error < 1e-12


@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 1, 1), (2, 2, 2), (3, 2, 2), (3, 3, 3), (2, 2, 3)])
def test_narrow_linear_nets_lose_one_dimension_a_law(sizes):
    inputs, width, outputs = sizes
    found = whole_rank(f"{inputs}-{width}identity-{outputs}")
    assert found.rank == width * (inputs + outputs) - laws(inputs, width, outputs)


@pytest.mark.parametrize("text", ["2-2identity-2", "2-2square-1", "2-2tanh-1"])
def test_the_same_for_every_seed(text):
    assert len({whole_rank(text, seed).rank for seed in range(4)}) == 1


def test_the_same_call_twice():
    assert whole_rank("2-2identity-2") == whole_rank("2-2identity-2")


def test_of_a_point_that_does_not_move():
    program = read_architecture("1-2tanh-1")
    leaf = Leaf.spanned(tower_of(program, 0, BUDGET), [Fraction(0)] * 4, [])
    assert generic_rank(program, leaf, seed=0, budget=BUDGET).rank == 0


@pytest.mark.parametrize(
    ("text", "point", "rank"),
    [
        ("1-2tanh-1", (2, 2, 3, 3), 2),
        ("1-2tanh-1", (2, -2, 3, -3), 2),
        ("1-2identity-1", (2, 2, 3, 3), 1),
        ("2-2identity-1", (1, 2, 1, 2, 3, 3), 2),
        ("2-2square-1", (1, 2, 1, 2, 3, 3), 2),
    ],
)
def test_on_the_hull_of_a_point(text, point, rank):
    """On equal neurons a net is the narrower net of one neuron."""
    program = read_architecture(text)
    leaf = affine_hull(program, [Fraction(v) for v in point], seed=0, budget=BUDGET)
    found = generic_rank(program, leaf, seed=0, budget=BUDGET)
    assert found.rank == rank <= leaf.dimension


def test_relu_in_one_region():
    program = read_architecture("2-3relu-2", one_region=True)
    leaf = Leaf.whole(program, seed=0, budget=BUDGET)
    assert generic_rank(program, leaf, seed=0, budget=BUDGET).rank == 9
