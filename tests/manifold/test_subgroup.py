"""Symmetry-induced or not: against the stabiliser of a generic point in the whole group, element by element."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from invman.architecture import read_architecture
from invman.lattice.enumeration import partitions
from invman.manifold import BalancedManifold, BalancedSpace
from invman.manifold.subgroup import fixed_dimension, generators

NETS = [
    ("2-2silu-1", 2), ("2-3tanh-1", 24), ("1-3sigmoid-3sigmoid-1", 18), ("1-3cos-1", 24), ("1-3square-2", 24),
    ("1-3custom(1+u^2+u^3)-1", 5), ("1-3custom(u^3+u^5)-1", 11), ("1-2tanh-2tanh-1", 36), ("1-2tanh-2cos-1", 31),
    ("1-2cos-2tanh-1", 32), ("1-3cos-2tanh-1", 107), ("1-2silu-2tanh-1+bias", 12), ("1-2silu-2silu-2silu-1", 8),
    ("1-2custom(1+u^2+u^3)-2custom(1+u^2+u^3)-1", 4), ("1-2sigmoid-2sigmoid-2sigmoid-1", 8),
]  # fmt: skip


@pytest.mark.parametrize(("text", "induced"), NETS)
def test_stabilisers(text, induced, oracle):
    space, random = BalancedSpace.of(read_architecture(text)), np.random.default_rng(1)
    size = space.program.parameter_count
    images, signs = (np.array(part) for part in zip(*oracle.group(space.symmetry), strict=True))
    count = 0
    for chosen in itertools.product(*(partitions(rule) for rule in space.rules)):
        if space.closure(chosen) != chosen:
            continue
        manifold = BalancedManifold(space, chosen)
        theta = manifold.point(random.integers(-(10**6), 10**6, size))
        own = [element.on_parameters(manifold) for _, element in generators(manifold)]
        assert all((theta[image] * sign == theta).all() for image, sign in own)
        keep = (theta[images] * signs == theta).all(axis=1)
        largest = fixed_dimension(list(zip(images[keep], signs[keep], strict=True)), size)
        assert fixed_dimension(own, size) == largest, manifold
        assert (manifold.origin.value == "symmetry-induced") == (largest == manifold.dimension)
        count += largest == manifold.dimension
    assert count == induced


@pytest.mark.parametrize(
    ("text", "name", "origin", "reason"),
    [
        ("1-3sigmoid-3sigmoid-1", "free", "symmetry-induced", "identity"),
        ("1-3sigmoid-3sigmoid-1", "k1:0=1=2", "symmetry-induced", "S_3 on k1:{0,1,2}"),
        ("1-3sigmoid-3sigmoid-1", "k1:0=1=2/k2:0=1=2", "not symmetry-induced", "balanced, frozen dimension 4"),
        ("1-2sigmoid-2sigmoid-1", "k1:0=1/k2:0=1", "symmetry-induced", "swap of k1:{0,1} with swap of k2:{0,1}"),
        ("2-2silu-1", "0=dead", "not symmetry-induced", "sigma(0) = 0 without parity keeps neurons of silu dead"),
        ("2-2tanh-1", "0=dead", "symmetry-induced", "signs of k:{0}"),
        ("2-2cos-1", "0=1=singular", "symmetry-induced", "signs of k:{0,1}"),
    ],
)
def test_reasons(text, name, origin, reason):
    manifold = BalancedSpace.of(read_architecture(text)).named(name)
    assert (manifold.origin.value, manifold.reason) == (origin, reason)


def test_reason_of_a_singular_set():
    manifold = BalancedSpace.of(read_architecture("2-2cube-1")).named("0=singular")
    assert manifold.origin.value == "not symmetry-induced"
    assert "freezes the outgoing weights" in manifold.reason
