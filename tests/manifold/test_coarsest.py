"""The coarsest balanced partition: against all partitions, planted ones, floats with noise, errors."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from invman.architecture import read_architecture
from invman.errors import DataError, UnsupportedError
from invman.lattice.enumeration import partitions
from invman.manifold import BalancedManifold, BalancedSpace, coarsest
from invman.manifold.partition import canonical, finer

NETS = [
    "2-3tanh-1", "1-3silu-2", "1-3cos-1", "1-2sigmoid-3sigmoid-1", "1-2tanh-2tanh-1", "1-2tanh-2cos-1",
    "1-2cos-2tanh-1+bias", "1-3cube-1", "1-2custom(1+u^2+u^3)-2silu-1", "1-2square-2square-1",
]  # fmt: skip


def space_of(text):
    return BalancedSpace.of(read_architecture(text))


@pytest.mark.parametrize("text", NETS)
def test_every_balanced_partition_of_a_point_is_finer(text):
    """Weights in {-1, 0, 1} satisfy many equations by chance; all partitions are tried by their equations."""
    space, random = space_of(text), np.random.default_rng(3)
    every = [BalancedManifold(space, p) for p in itertools.product(*(partitions(rule) for rule in space.rules))]
    for _ in range(25):
        theta = random.integers(-1, 2, space.program.parameter_count)
        found = coarsest(theta, space)
        assert found.contains(theta)
        for other in every:
            if other.contains(theta):
                assert all(map(finer, other.partitions, found.partitions)), (theta, other, found)


@pytest.mark.parametrize("text", NETS)
def test_generic_points_of_every_manifold(text):
    """Integers, Fractions and floats agree, and the closure is what a generic point has."""
    space, random = space_of(text), np.random.default_rng(4)
    size = space.program.parameter_count
    for chosen in itertools.product(*(partitions(rule) for rule in space.rules)):
        manifold = BalancedManifold(space, chosen)
        theta = manifold.point(random.integers(-(10**5), 10**5, size))
        found = coarsest(theta, space)
        assert found.partitions == space.closure(chosen)
        assert coarsest([Fraction(int(t), 7) for t in theta], space) == found
        assert coarsest(theta * 1e-6, space) == found
        assert coarsest([int(t) * 10**30 for t in theta], space) == found


def test_three_layers_with_a_frozen_part():
    """1-3-3-1 with the frozen part of a published example: one block a layer, leaf dimension 3."""
    w2 = 0.7 / 3 + 0.2 * np.array([[1, 2, -3], [0, -5, 5], [-1, 3, -2]])
    for act in ("sigmoid", "tanh"):
        theta = {"w1": np.full((3, 1), 0.4), "w2": w2, "w3": np.full(3, -0.6)}
        found = coarsest(theta, f"1-3{act}-3{act}-1")
        assert (found.name, found.leaf_dimension, found.dimension) == ("k1:0=1=2/k2:0=1=2", 3, 7)
        theta["w2"] = w2 + 1e-3 * np.arange(9).reshape(3, 3) ** 2
        assert coarsest(theta, f"1-3{act}-3{act}-1").leaf_dimension > 3


def test_pairs_of_blocks_with_a_frozen_part():
    block = np.array([[1, 2, 5], [2, 1, 5], [4, 4, 7]])  # rows and columns of {0 1}{2}
    theta = [1, 1, 3, *block.ravel(), 2, 2, 9]
    found = coarsest(theta, "1-3sigmoid-3sigmoid-1")
    assert (found.name, found.leaf_dimension) == ("k1:0=1/k2:0=1", 8)


def test_dead_classes_need_no_zero_weights():
    """tanh: W1 = 0 and columns of W2 that cancel over the signed block {0, -1}."""
    theta = [0, 0, 3, 4, 3, 4, 5, 5]  # w1 (2), w2 rows, w3
    assert coarsest(theta, "1-2tanh-2tanh-1").name == "k2:0=1"
    theta = [0, 0, 3, 4, -3, -4, 5, 5]
    assert coarsest(theta, "1-2tanh-2tanh-1").name == "k1:0=1=dead/k2:0=1"


def test_net_without_hidden_layer():
    assert coarsest([1.0, 2.0], "2-1").name == "free"


def test_mixed_numbers_are_floats():
    assert coarsest([1, Fraction(1, 2), 2.0, 0.5], "1-2sigmoid-1").name == "free"
    assert coarsest({"w": [[0.5], [0.5]], "a": [2, 2]}, "1-2sigmoid-1").name == "0=1"


def test_tolerance():
    theta = np.array([1.0, 1.0 + 1e-7, 2.0, 2.0])
    assert coarsest(theta, "1-2sigmoid-1").name == "free"
    assert coarsest(theta, "1-2sigmoid-1", tolerance=1e-6).name == "0=1"
    assert coarsest(theta.astype(np.float32), "1-2sigmoid-1").name == "0=1"


def test_wide_planted_blocks():
    space = space_of("30-120tanh-90tanh-20")
    random = np.random.default_rng(5)
    labels = tuple(
        tuple(int(v) for v in 2 * random.integers(0, 7, rule.size) * random.choice([-1, 1], rule.size))
        for rule in space.rules
    )
    planted = BalancedManifold(space, tuple(map(canonical, labels)))
    leaf = planted.leaf()
    free = random.normal(size=space.program.parameter_count)
    theta = planted.frozen_part(random.normal(size=free.size)) + leaf.signs * free[leaf.classes]
    assert coarsest(theta, space) == planted


@pytest.mark.parametrize(
    ("theta", "arch", "error", "words"),
    [
        ([1, 2, 3], "1-2tanh-1", DataError, "got shape (3,), expected (4,)"),
        ([1.0, float("nan"), 3, 4], "1-2tanh-1", DataError, "got nan or inf"),
        (["a", "b", "c", "d"], "1-2tanh-1", DataError, "no numbers"),
        ({"w": [[1], [2]]}, "1-2tanh-1", DataError, "got parameters w, expected a, w"),
        ({"w": [1, 2], "a": [1, 2]}, "1-2tanh-1", DataError, "theta[w]: got shape (2,), expected (2, 1)"),
        ([0.0] * 96, "attention(d=4,heads=2,dk=2,seq=3)", UnsupportedError, "family condensed"),
    ],
)
def test_errors(theta, arch, error, words):
    with pytest.raises(error) as caught:
        coarsest(theta, arch)
    assert words in str(caught.value)


def test_tolerance_out_of_range():
    for wrong in (0.0, -1.0, 1.0, float("nan")):
        with pytest.raises(DataError, match="tolerance: got"):
            coarsest([1.0, 2.0, 3.0, 4.0], "1-2tanh-1", tolerance=wrong)
