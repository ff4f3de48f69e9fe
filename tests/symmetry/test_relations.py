"""Signed points, the graph of a group, canonical forms, and classes of elements against the listed group."""

from __future__ import annotations

import numpy as np
import pytest

from invman.architecture import read_architecture
from invman.symmetry import find_symmetry
from invman.symmetry.conjugacy import prime_power_elements
from invman.symmetry.points import (
    PointGroup,
    element_order,
    inverse,
    is_prime_power,
    moved_bits,
    orbit_leaders,
    signed_points,
)
from invman.symmetry.relations import SymmetryGraph
from invman.symmetry.signed import SignedPermutation

ARCHITECTURES = [
    "1-2identity-1",
    "1-3sigmoid-2sigmoid-1",
    "1-3tanh-2cos-1+bias",
    "1-2tanh-2tanh-2tanh-1",  # needs points beyond the parameters
    "2-3tanh-3tanh-3sigmoid-1+bias",
    "attention(d=2,heads=2,dk=1,seq=2)",
    "attention(d=2,heads=2,dk=2,seq=2)",
    "moe(d=2,experts=2,ff=2)",
    "input x[i]; h[k]=tanh(w[k,i]*x[i]); g[k]=h[k]+tanh(v[k,l]*h[l]); f=a[k]*g[k]; size i=1,k=3,l=3",
]


def points_of(text: str) -> PointGroup:
    return PointGroup(find_symmetry(read_architecture(text)).group)


def listed(points: PointGroup) -> list[np.ndarray]:
    identity = np.arange(points.degree, dtype=np.int32)
    found, queue = {identity.tobytes()}, [identity]
    for element in queue:
        for generator in points.generators:
            product = generator[element]
            if product.tobytes() not in found:
                found.add(product.tobytes())
                queue.append(product)
    return queue


@pytest.mark.parametrize("text", ARCHITECTURES)
def test_the_graph_has_the_group_and_nothing_more(text: str):
    points = points_of(text)
    graph = SymmetryGraph(points)
    form = graph.form(np.arange(points.degree))
    assert form.order == points.order
    assert all(sorted(g.tolist()) == list(range(points.degree)) for g in form.generators)


@pytest.mark.parametrize("text", ARCHITECTURES)
def test_sign_changes_have_the_rank_that_the_axes_give(text: str):
    points = points_of(text)
    assert len(points.sign_basis) == points.group.sign_rank


@pytest.mark.parametrize(
    "text", ["1-3tanh-1", "1-3sigmoid-3sigmoid-1", "1-2tanh-2cos-1+bias", "moe(d=2,experts=2,ff=2)"]
)
def test_every_class_of_prime_power_order_has_a_representative(text: str):
    points = points_of(text)
    group = listed(points)
    assert len(group) == points.order
    members = {element.tobytes() for element in group}
    reached: set[bytes] = set()
    for element in prime_power_elements(points):
        assert element.tobytes() in members
        assert is_prime_power(element_order(element))
        reached |= {move[element[inverse(move)]].tobytes() for move in group}
    assert reached == {e.tobytes() for e in group if is_prime_power(element_order(e))}


@pytest.mark.parametrize("text", ["1-2tanh-2tanh-1", "1-3sigmoid-2tanh-1+bias"])
def test_forms_are_equal_exactly_for_conjugate_partitions(text: str):
    points, rng = points_of(text), np.random.default_rng(0)
    graph, group = SymmetryGraph(points), listed(points_of(text))
    known: dict[bytes, set[bytes]] = {}
    for _ in range(30):
        element, other = (group[i] for i in rng.integers(len(group), size=2))
        leaders = orbit_leaders([element], points.degree)
        images = set()
        for move in group:
            labels = np.empty_like(leaders)
            labels[move] = leaders
            first = {int(label): place for place, label in reversed(list(enumerate(labels)))}
            images.add(np.array([first[int(label)] for label in labels], dtype=np.int32).tobytes())
        form = graph.form(leaders)
        assert points.order // form.order == len(images)
        assert known.setdefault(form.key, images) == images
        moved = orbit_leaders([other[element[inverse(other)]]], points.degree)
        assert graph.form(moved).key == form.key
    assert len({frozenset(images) for images in known.values()}) == len(known)


def test_pointwise_stabiliser_fixes_every_block():
    points = points_of("1-3tanh-1")
    graph = SymmetryGraph(points)
    for element in prime_power_elements(points):
        leaders = orbit_leaders([element], points.degree)
        generators, order = graph.stabiliser(leaders)
        assert order == sum(np.array_equal(leaders[g], leaders) for g in listed(points))
        assert all(np.array_equal(leaders[g], leaders) for g in generators)


def test_signed_points_compose_like_the_signed_permutations():
    rng = np.random.default_rng(1)
    theta = rng.normal(size=5)
    both = np.concatenate([theta, -theta])
    g = SignedPermutation(rng.permutation(5), rng.choice(np.array([-1, 1], dtype=np.int8), size=5))
    assert np.array_equal(both[signed_points(g)][:5], g(theta))


def test_small_helpers():
    assert [n for n in range(1, 20) if is_prime_power(n)] == [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19]
    assert is_prime_power(8) == 2
    assert element_order(np.array([1, 2, 0, 4, 3])) == 6
    assert moved_bits(0b101, np.array([2, 0, 1, 5, 3, 4])) == 0b110
