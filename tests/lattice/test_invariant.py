"""The family invariant: counts of the theory, order against linear algebra, documents."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import numpy as np
import pytest

from invman.architecture import read_architecture
from invman.errors import ManifoldError, OverBudgetError, UnsupportedError
from invman.lattice import build_lattice, count_document, count_manifolds, lattice_document, space_of


def lattice(text, **options):
    return build_lattice(read_architecture(text), family="invariant", **options)


@pytest.mark.parametrize(
    ("act", "numbers", "edges"),
    [
        ("sigmoid", [1, 2, 5, 15, 52], [1, 6, 31]),  # Bell(m)
        ("silu", [2, 5, 15, 52, 203], [6, 31, 160]),  # Bell(m + 1)
        ("tanh", [2, 6, 24, 116, 648], [8, 58, 432]),  # Dowling
        ("cos", [2, 6, 24, 116, 648], None),
        ("cube", [2, 6, 24, 116, 648], None),
        ("custom(1+u^2+u^3)", [2, 5, 15, 52, 203], None),
    ],
)
def test_one_hidden_layer(act, numbers, edges):
    spaces = [space_of(read_architecture(f"2-{m}{act}-1"), "invariant") for m in range(1, 6)]
    assert [count_manifolds(space).manifolds for space in spaces] == numbers
    found = [build_lattice(space) for space in spaces[:4]]
    assert [len(own) for own in found] == numbers[:4]
    assert edges is None or [len(own.covers) for own in found[1:]] == edges


def test_one_node_a_pair_of_partitions():
    found = lattice("1-3sigmoid-3sigmoid-1")
    assert (len(found), found.count.classes) == (25, 9)
    assert len({m.partitions for m in found.manifolds}) == 25
    node = found.named("k1:0=1=2/k2:0=1=2")
    assert (node.dimension, node.leaf_dimension, node.frozen_dimension) == (7, 3, 4)
    assert (node.origin.value, node.reason) == ("not symmetry-induced", "balanced, frozen dimension 4")


DEEP = [
    "1-2sigmoid-3sigmoid-1", "1-2tanh-2cos-1", "1-2tanh-2tanh-2tanh-1", "1-2silu-2silu-2silu-1", "1-2cos-2tanh-1",
    "1-1tanh-1sigmoid-2tanh-1", "1-2square-2square-1", "2-1", "1-1sigmoid-1",
]  # fmt: skip


@pytest.mark.parametrize("text", DEEP)
def test_counts_and_classes(text):
    found, classes = lattice(text), lattice(text, classes=True)
    assert found.count == classes.count == count_manifolds(found.space)
    assert (len(found), len(classes)) == found.count
    assert sum(m.orbit_size for m in classes.manifolds) == len(found)
    dimensions = [m.dimension for m in found.manifolds]
    assert dimensions == sorted(dimensions, reverse=True)
    place = {m.shape: number for number, m in enumerate(classes.manifolds)}
    edges = {(place[found.manifolds[u].shape], place[found.manifolds[v].shape]) for u, v in found.covers}
    assert edges == set(classes.covers)


@pytest.mark.parametrize("text", DEEP)
def test_order_is_inclusion(text):
    """Inclusion by the ranks of stacked equations, without random points."""
    found = lattice(text)
    size = found.program.parameter_count
    matrices = []
    for manifold in found.manifolds:
        rows = np.zeros((len(manifold.rows), size))
        for number, row in enumerate(manifold.rows):
            rows[number, list(row)] = list(row.values())
        matrices.append(rows)
    projectors = [np.linalg.pinv(rows) @ rows if len(rows) else np.zeros((size, size)) for rows in matrices]
    # i lies in j when the equations of j follow from those of i
    inside = np.array([[np.allclose(b @ p, b) for b in matrices] for p in projectors])
    strict = inside & ~np.eye(len(found), dtype=bool)
    assert not (strict & strict.T).any()
    between = (strict.astype(int) @ strict.astype(int)) > 0
    lower, upper = np.nonzero(strict & ~between)
    assert set(zip(upper.tolist(), lower.tolist(), strict=True)) == set(found.covers)


def test_documents():
    found = lattice("1-2silu-2silu-1")
    document = lattice_document(found)
    schema = json.loads((resources.files("invman.report") / "schema" / "lattice.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, schema)
    assert document["family"] == count_document(found.space)["family"] == "invariant"
    last = document["manifolds"][-1]
    assert {"leaf_dimension", "frozen_dimension", "reason"} <= set(last)
    assert all(m["leaf_dimension"] + m["frozen_dimension"] == m["dimension"] for m in document["manifolds"])
    assert json.dumps(document) == json.dumps(lattice_document(lattice("1-2silu-2silu-1")))


def test_counts_of_wide_and_deep_nets():
    wide = space_of(read_architecture("10-200tanh-200tanh-1"), "invariant")
    one = space_of(read_architecture("10-200tanh-1"), "invariant")
    assert count_manifolds(wide).manifolds == count_manifolds(one).manifolds ** 2
    deep = space_of(read_architecture("1-" + "2tanh-" * 17 + "1"), "invariant")
    with pytest.raises(OverBudgetError, match="hidden layers"):
        count_manifolds(deep)


def test_refusals():
    with pytest.raises(OverBudgetError, match=r"got 28,640, expected at most 5,000\. Count them with --count"):
        lattice("2-7tanh-1")
    with pytest.raises(OverBudgetError, match="--budget"):
        lattice("2-3tanh-1", budget=5)
    with pytest.raises(UnsupportedError, match="fully connected"):
        lattice("attention(d=4,heads=2,dk=2,seq=3)")
    with pytest.raises(ManifoldError, match="got 'other', expected one of condensed, invariant"):
        build_lattice(read_architecture("2-3tanh-1"), family="other")
