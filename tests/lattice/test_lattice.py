"""The order: covers, classes, laws of a lattice, budgets, determinism; against inclusion of subspaces."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

from invman.architecture import read_architecture
from invman.errors import ManifoldError, OverBudgetError, SyntaxProblem
from invman.lattice import Lattice, build_lattice, enumerate_condensed
from invman.manifold import CondensedManifold, CondensedSpace


def lattice(text, **options):
    return build_lattice(read_architecture(text), **options)


@pytest.mark.parametrize(
    ("act", "edges"),
    # edges of the Hasse diagram of one hidden layer, m = 2, 3, 4, by brute force
    [("sigmoid", [1, 6, 31]), ("silu", [6, 31, 160]), ("tanh", [8, 58, 432]), ("cos", [9, 70, 557])],
)
def test_covers_of_one_hidden_layer(act, edges):
    assert [len(lattice(f"2-{m}{act}-1").covers) for m in (2, 3, 4)] == edges


SMALL = [
    "1-3tanh-1", "1-4sigmoid-1", "1-3silu-1", "1-3cos-1", "1-3square-1", "1-2tanh-2tanh-1", "1-2tanh-2cos-1",
    "1-2tanh-2sigmoid-2square-1", "1-2silu-2silu-2silu-1", "1-2tanh-2sigmoid-2tanh-1", "1-1tanh-3cos-1tanh-1",
    "1-2square-2square-1", "1-2tanh-2tanh-2tanh-1", "2-1",
    "input x[i]; h[k]=(u[k,i]*x[i])*sigmoid(v[k,i]*x[i]); g[l]=tanh(b[l,k]*h[k]); f=a[l]*g[l]; size i=1,k=2,l=1",
    pytest.param("1-2silu-2square-2tanh-1", marks=pytest.mark.slow),
    pytest.param("1-2tanh-2cos-2square-1+bias", marks=pytest.mark.slow),
]  # fmt: skip


def inclusion(found):
    """le[i, j]: manifold i lies in manifold j, by the subspaces."""
    flat = [m.polydiagonal() for m in found]
    return np.array([[a <= b for b in flat] for a in flat])


@pytest.mark.parametrize("text", SMALL)
def test_order_and_covers_are_those_of_the_subspaces(text):
    found = lattice(text)
    below = inclusion(found.manifolds)
    assert not (below & below.T & ~np.eye(len(found), dtype=bool)).any()
    strict = below & ~np.eye(len(found), dtype=bool)
    between = (strict.astype(int) @ strict.astype(int)) > 0
    lower, upper = np.nonzero(strict & ~between)
    assert set(zip(upper.tolist(), lower.tolist(), strict=True)) == set(found.covers)
    assert len(found.covers) == len(set(found.covers))
    dimensions = [m.dimension for m in found.manifolds]
    assert dimensions == sorted(dimensions, reverse=True)
    assert all(dimensions[u] > dimensions[v] for u, v in found.covers)


@pytest.mark.parametrize("text", SMALL)
def test_classes_of_the_whole_and_of_the_representatives(text):
    found, classes = lattice(text), lattice(text, classes=True)
    assert found.count == classes.count
    assert len(found) == found.count.manifolds
    assert len(classes) == found.count.classes == len(set(found.class_of))
    assert sum(m.orbit_size for m in classes.manifolds) == len(found)
    members = {}
    for manifold, number in zip(found.manifolds, found.class_of, strict=True):
        members.setdefault(number, []).append(manifold)
    for group in members.values():
        assert {m.orbit_size for m in group} == {len(group)}
        assert len({(m.dimension, m.origin) for m in group}) == 1
    place = {m.shape: number for number, m in enumerate(classes.manifolds)}
    edges = {(place[found.manifolds[u].shape], place[found.manifolds[v].shape]) for u, v in found.covers}
    assert edges == set(classes.covers)
    assert set(classes.manifolds) <= set(found.manifolds)


@pytest.mark.parametrize(
    "text", ["1-3tanh-1", "1-2tanh-2cos-1", "1-2silu-2silu-1", "1-2square-1", "1-1tanh-1silu-1tanh-1"]
)
def test_lattice_laws(text):
    """Intersections are condensed; meet and join are commutative, associative, absorbing."""
    found = lattice(text)
    below = inclusion(found.manifolds)
    count = len(found)
    meet, join = np.zeros((count, count), dtype=int), np.zeros((count, count), dtype=int)
    for i, j in itertools.product(range(count), repeat=2):
        lower, upper = np.flatnonzero(below[:, i] & below[:, j]), np.flatnonzero(below[i] & below[j])
        tops = [k for k in lower if below[lower, k].all()]
        bottoms = [k for k in upper if below[k, upper].all()]
        assert len(tops) == len(bottoms) == 1
        meet[i, j], join[i, j] = tops[0], bottoms[0]
        # the meet is the intersection, whose dimension linear algebra gives
        bases = [found.manifolds[n].polydiagonal().basis() for n in (i, j)]
        both = np.vstack(bases)
        rank = int(np.linalg.matrix_rank(both)) if both.size else 0
        assert found.manifolds[tops[0]].dimension == len(bases[0]) + len(bases[1]) - rank
    assert (meet == meet.T).all()
    assert (join == join.T).all()
    everything = range(count)
    assert all(meet[i, join[i, j]] == i and join[i, meet[i, j]] == i for i in everything for j in everything)
    assert (meet[meet] == meet[:, meet].transpose(0, 1, 2)).all()


@pytest.mark.parametrize("text", SMALL[:4])
def test_graph(text):
    found = lattice(text)
    graph = found.graph
    assert nx.is_directed_acyclic_graph(graph)
    assert nx.transitive_reduction(graph).edges == graph.edges
    assert [n for n, degree in graph.in_degree() if degree == 0] == ["m0"]
    assert len([n for n, degree in graph.out_degree() if degree == 0]) == 1
    assert graph.nodes["m0"] == {
        "name": "free", "dimension": found.program.parameter_count, "orbit_size": 1, "origin": "symmetry-induced",
    }  # fmt: skip
    assert all(isinstance(value, str | int) for _, data in graph.nodes(data=True) for value in data.values())


def test_larger_lattice():
    found = lattice("2-6tanh-1")
    assert (len(found), found.count.classes, len(found.covers)) == (4088, 30, 28384)
    assert repr(found) == "Lattice(2-6tanh-1, family='condensed', manifolds=4088, classes=30, covers=28384)"


def test_names_and_ids():
    found = lattice("2-3tanh-1")
    assert found.named("m0") == found.manifolds[0] == found.named("free")
    assert all(found.named(m.name) == m and found.named(f"m{n}") == m for n, m in enumerate(found.manifolds))
    for wrong in ("m24", "m" + "9" * 5000):
        with pytest.raises(ManifoldError, match="m0 to m23"):
            found.named(wrong)
    for wrong in ("m", "m²", "m-1", "mm"):
        with pytest.raises(SyntaxProblem):
            found.named(wrong)


def test_ids_are_reproducible():
    one, two = lattice("1-2tanh-2cos-1"), lattice("1-2tanh-2cos-1")
    assert [m.name for m in one.manifolds] == [m.name for m in two.manifolds]
    assert one.covers == two.covers
    assert [m.name for m in lattice("2-2tanh-1").manifolds] == ["free", "0=dead", "1=dead", "0=1", "0=-1", "0=1=dead"]


def unlisted(monkeypatch):
    """Make listing a failure."""

    def listed(*_, **__):
        raise AssertionError("listed")

    monkeypatch.setattr("invman.lattice.lattice.enumerate_condensed", listed)


@pytest.mark.parametrize(
    ("text", "options", "size", "budget", "words"),
    [
        ("2-8tanh-1", {"budget": 219919}, 219920, 219919, ["219,920", "219,919", "--classes (67 of them)", "--budget"]),
        ("2-3tanh-1", {"budget": 23}, 24, 23, ["got 24, expected at most 23", "--classes (7 of them)"]),
        ("2-3tanh-1", {"budget": 6, "classes": True}, 7, 6, ["classes of condensed manifolds of 2-3tanh-1: got 7"]),
    ],
)
def test_refusals_name_the_exact_size(monkeypatch, text, options, size, budget, words):
    unlisted(monkeypatch)
    with pytest.raises(OverBudgetError) as caught:
        lattice(text, **options)
    assert (caught.value.size, caught.value.budget, caught.value.exit_code) == (size, budget, 4)
    assert all(word in str(caught.value) for word in words)
    assert "--classes" not in str(caught.value) or "classes" not in options


def test_refusal_of_many_classes(monkeypatch):
    """10-60tanh-1 has sum p(k), k = 0..60, classes: far more than the budget."""
    unlisted(monkeypatch)
    with pytest.raises(OverBudgetError) as caught:
        lattice("10-60tanh-1", classes=True)
    assert caught.value.size == lattice_classes(60)


def lattice_classes(m):
    p = [1] + [0] * m
    for part in range(1, m + 1):
        for total in range(part, m + 1):
            p[total] += p[total - part]
    return sum(p)


def test_budget_is_inclusive():
    assert len(lattice("2-3tanh-1", budget=24)) == 24
    assert len(lattice("2-3tanh-1", budget=7, classes=True)) == 7


def test_classes_of_a_wide_net_do_not_list_the_rest():
    found = lattice("10-20tanh-1", classes=True)
    assert len(found) == lattice_classes(20) == 2714
    assert found.count.manifolds > 10**15


@pytest.mark.slow
def test_classes_of_a_wider_net():
    assert len(lattice("10-30tanh-1", classes=True)) == lattice_classes(30) == 28629


def test_progress_is_monotone():
    seen = []
    lattice("2-5tanh-1", progress=lambda done, total: seen.append((done, total)))
    assert seen
    assert all(0 <= done <= total == 2 * 648 for done, total in seen)
    assert seen == sorted(seen)


def test_space_or_program():
    program = read_architecture("2-3tanh-1")
    space = CondensedSpace.of(program)
    assert isinstance(build_lattice(space), Lattice)
    assert build_lattice(space).manifolds == build_lattice(program).manifolds


def test_every_tuple_of_partitions_is_in_the_lattice():
    """1-2-2-2-1, odd: 216 tuples, 211 subspaces, each listed by its closure."""
    found = lattice("1-2tanh-2tanh-2tanh-1")
    one_layer = [m.partitions[0] for m in enumerate_condensed(CondensedSpace.of(read_architecture("1-2tanh-1")))]
    space = CondensedSpace.of(found.program)
    tuples = [CondensedManifold(space, chosen) for chosen in itertools.product(one_layer, repeat=3)]
    keys = {m.polydiagonal().key() for m in tuples}
    assert (len(tuples), len(keys)) == (216, 211)
    assert keys == {m.polydiagonal().key() for m in found.manifolds}
