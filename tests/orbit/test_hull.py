"""The affine hull of a point: small examples by hand, the condensed leaf, and nothing false where it is irrational."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from invman.architecture import read_architecture
from invman.manifold import BalancedSpace, coarsest
from invman.orbit import draw_point, find_orbit
from invman.orbit.hull import Leaf, affine_hull, tower_of
from invman.orbit.residues import ModularRing

BUDGET = 10**6


def hull_of(text, point, within=None):
    return affine_hull(read_architecture(text), [Fraction(v) for v in point], seed=0, budget=BUDGET, within=within)


def vectors(leaf):
    """Return the directions modulo the first prime, with small negative numbers as such."""
    prime = leaf.tower.primes[0]
    return {tuple(v[0] if v[0] < prime // 2 else v[0] - prime for v in row) for row in leaf.basis}


@pytest.mark.parametrize(
    "text", ["1-2identity-2", "2-3tanh-1", "2-2tanh-2+bias", "2-2sigmoid-2sigmoid-1", "2-2square-1", "2-2gelu-1"]
)
def test_of_a_generic_point_is_the_whole_space(text):
    program = read_architecture(text)
    assert hull_of(text, draw_point(program, 0)).dimension == program.parameter_count


@pytest.mark.parametrize(
    ("point", "dimension"),
    [
        ((2, 2, 3, 3), 2),
        ((2, -2, 3, -3), 2),
        ((2, 2, 3, 4), 4),
        ((2, 2, 3, -3), 4),
        ((0, 2, 0, 3), 2),
        ((0, 0, 0, 0), 0),
    ],
)
def test_two_tanh_neurons(point, dimension):
    assert hull_of("1-2tanh-1", point).dimension == dimension


def test_directions_by_hand():
    assert vectors(hull_of("1-2tanh-1", [2, 2, 3, 3])) == {(1, 1, 0, 0), (0, 0, 1, 1)}
    assert vectors(hull_of("1-2tanh-1", [2, -2, 3, -3])) == {(1, -1, 0, 0), (0, 0, 1, -1)}
    assert vectors(hull_of("1-2tanh-1", [0, 2, 0, 3])) == {(0, 1, 0, 0), (0, 0, 0, 1)}


def test_a_sum_of_parameters():
    """f = (w0 + w1) x moves both alike."""
    text = "input x[i]\nf = (u + v)*x[i]\nsize i=1"
    assert vectors(hull_of(text, [1, 5])) == {(1, 1)}


def test_equal_rows_of_a_linear_net():
    assert hull_of("2-2identity-1", [1, 2, 1, 2, 3, 3]).dimension == 3


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("2-3tanh-1", "0=-1"),
        ("2-3tanh-1", "0=1,2=dead"),
        ("2-3silu-1", "0=2"),
        ("2-3cos-1", "0=-1"),
        ("2-3sigmoid-2+bias", "0=1"),
        ("1-2tanh-2tanh-1", "k1:0=1/k2:0=-1"),
        ("1-3sigmoid-3sigmoid-1", "k1:0=1=2/k2:0=1=2"),
    ],
)
def test_of_balanced_weights_is_the_leaf(text, name):
    program = read_architecture(text)
    manifold = BalancedSpace.of(program).named(name)
    found = hull_of(text, draw_point(program, 2, manifold))
    assert found.dimension == manifold.leaf_dimension
    leaf = {tuple(int(v) for v in row) for row in manifold.leaf().basis().tolist()}
    assert vectors(found) == leaf


IRRATIONAL = [
    # w1, b1, w2, b2, w3, b3: the first layer gives tanh(1/2) and tanh(3/4), whatever comes in
    [0, 0, Fraction(1, 2), Fraction(3, 4), 0, 0, 0, 0, Fraction(1, 3), Fraction(1, 5), 0, 0, 2],
    [0, 0, Fraction(1, 2), Fraction(3, 4), 0, 0, 0, 0, Fraction(1, 3), Fraction(1, 3), 2, 2, 2],
]


@pytest.mark.parametrize("point", IRRATIONAL)
def test_irrational_directions_are_widened(point):
    text = "1-2tanh-2tanh-1+bias"
    leaf = coarsest(point, read_architecture(text)).leaf()
    within = [[Fraction(v) for v in row] for row in leaf.basis().tolist()]
    orbit = find_orbit(text, point)
    wide, known = hull_of(text, point), hull_of(text, point, within)
    assert orbit.lower.value <= known.dimension <= len(within)
    assert known.dimension <= wide.dimension <= len(point)


def test_draws_lie_on_the_leaf():
    found = hull_of("1-2tanh-1", [2, 2, 3, 3])
    ring = ModularRing(1, found.tower, 7)
    first, second = found.draw(ring), found.draw(ring)
    assert first != second
    for w, v, a, b in (first, second):
        assert w == v
        assert a == b


def test_spanned_and_whole():
    program = read_architecture("1-2tanh-1")
    whole = Leaf.whole(program, seed=0, budget=BUDGET)
    assert whole.dimension == 4
    tower = tower_of(program, 0, BUDGET)
    third = Leaf.spanned(tower, [Fraction(1, 3)] * 4, [])
    assert third.dimension == 0
    prime = tower.primes[0]
    assert third.theta[0][0] * 3 % prime == 1
    assert third.draw(ModularRing(1, tower, 0)) == list(third.theta)


def test_the_same_for_every_seed():
    program = read_architecture("2-2tanh-1")
    point = [Fraction(v) for v in (1, 2, 1, 2, 4, 4)]
    sizes = {affine_hull(program, point, seed=seed, budget=BUDGET).dimension for seed in range(5)}
    assert sizes == {3}


@pytest.mark.parametrize("seed", range(5))
def test_never_smaller_than_the_orbit(seed):
    rng = np.random.default_rng(seed)
    program = read_architecture("1-2tanh-2sigmoid-1")
    point = rng.integers(-1, 2, program.parameter_count).tolist()
    assert hull_of("1-2tanh-2sigmoid-1", point).dimension >= find_orbit(program, point).lower.value
