"""The layout of a Hasse diagram: levels, no overlap, few crossings, the same every time."""

import time
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invman.errors import DataError
from invman.report import arrange
from invman.report.layout import COLUMN, crossings
from invman.report.text import abbreviate, columns

NAMES = st.one_of(
    st.text(max_size=70),
    st.lists(st.sampled_from(["0=-1", "2=dead", "k1:0=1", "10=-11"]), min_size=1, max_size=12).map(",".join),
)


@st.composite
def documents(draw):
    """Any document: names of any kind, any covers from larger to smaller dimensions."""
    size = draw(st.integers(0, 40))
    dimensions = draw(st.lists(st.integers(0, 6), min_size=size, max_size=size))
    nodes = [
        {"id": f"m{index}", "name": draw(NAMES), "dimension": dimension, "origin": "o", "class": "c"}
        for index, dimension in enumerate(dimensions)
    ]
    if size and draw(st.booleans()):
        nodes[0]["verdict"] = {"verdict": "invariant-in-test"}
    pairs = [(a["id"], b["id"]) for a in nodes for b in nodes if a["dimension"] > b["dimension"]]
    covers = draw(st.lists(st.sampled_from(pairs), max_size=60, unique=True)) if pairs else []
    return {"architecture": "x", "parameters": 6, "manifolds": nodes, "covers": covers}


def apart(one, other):
    return (
        one.x + one.width < other.x
        or other.x + other.width < one.x
        or one.y + one.height < other.y
        or other.y + other.height < one.y
    )


@settings(deadline=None)
@given(documents(), st.sampled_from([200.0, 700.0, 1400.0]))
def test_boxes_never_overlap_and_stay_inside(document, width):
    layout = arrange(document, width)
    assert layout.boxes.keys() == {node["id"] for node in document["manifolds"]}
    for one, other in combinations(layout.boxes.values(), 2):
        assert apart(one, other), (one, other)
    for box in layout.boxes.values():
        assert box.x >= -1e-6
        assert box.x + box.width <= layout.width + 1e-6
        assert box.y >= 0
        assert box.y + box.height <= layout.height + 1e-6
        assert columns(box.label) * COLUMN < box.width


@settings(deadline=None)
@given(documents())
def test_levels_are_the_dimensions_from_the_top(document):
    layout = arrange(document, 300.0)
    dimensions = [level.dimension for level in layout.levels]
    assert dimensions == sorted({node["dimension"] for node in document["manifolds"]}, reverse=True)
    by_dimension = {level.dimension: level for level in layout.levels}
    for node in document["manifolds"]:
        level, box = by_dimension[node["dimension"]], layout.boxes[node["id"]]
        assert level.top <= box.y
        assert box.y + box.height <= level.bottom + 1e-6
    for upper, lower in pairwise(layout.levels):
        assert upper.bottom < lower.top
    assert sum(level.count for level in layout.levels) == len(document["manifolds"])


def test_the_small_lattice_is_one_row_a_level(document):
    layout = arrange(document)
    assert [(level.dimension, level.count) for level in layout.levels] == [(9, 1), (6, 9), (3, 13), (0, 1)]
    assert len({box.y for box in layout.boxes.values()}) == 4


def test_a_crowded_level_is_wrapped(make):
    layout = arrange(make(4))
    rows = {node["id"]: layout.boxes[node["id"]].y for node in make(4)["manifolds"] if node["dimension"] == 6}
    assert len(rows) == 58
    assert len(set(rows.values())) > 3
    assert 1.3 < layout.width / layout.height < 2.6


def test_the_same_document_gives_the_same_layout(make):
    assert arrange(make(4)) == arrange(make(4))


def count_crossings(document, layout):
    edges = {}
    dimension = {node["id"]: node["dimension"] for node in document["manifolds"]}
    for bigger, smaller in document["covers"]:
        pair = (layout.boxes[bigger].centre, layout.boxes[smaller].centre)
        edges.setdefault((dimension[bigger], dimension[smaller]), []).append(pair)
    return sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for group in edges.values() for a, b in combinations(group, 2))


def test_sweeps_untangle_a_shuffled_ladder():
    """Two rows joined by parallel edges, the lower row given backwards: no crossing is left."""
    nodes = [{"id": f"u{i}", "name": f"u{i}", "dimension": 2} for i in range(9)]
    nodes += [{"id": f"l{i}", "name": f"l{i}", "dimension": 1} for i in reversed(range(9))]
    document = {"manifolds": nodes, "covers": [(f"u{i}", f"l{i}") for i in range(9)]}
    assert count_crossings(document, arrange(document)) == 0


def test_sweeps_do_not_make_it_worse(document, monkeypatch):
    better = count_crossings(document, arrange(document))
    monkeypatch.setattr("invman.report.layout.SWEEPS", 0)
    assert better < count_crossings(document, arrange(document))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30))
def test_crossings_against_all_pairs(edges):
    expected = sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in combinations(edges, 2))
    assert crossings([(float(a), float(b)) for a, b in edges]) == expected


@given(st.text(max_size=80), st.integers(2, 30))
def test_an_abbreviation_fits(text, limit):
    assert columns(abbreviate(text, limit)) <= limit


def test_a_long_name_keeps_both_ends():
    short = abbreviate("k1:0=1=-2=3=-4=5,6=-7=8=9,10=11=dead/k2:0=-1=2,3=4=5=6=dead", 24)
    assert short.startswith("k1:0=1=-2")
    assert short.endswith("=dead")
    assert "…" in short
    assert len(short) == 24


def test_no_manifolds():
    layout = arrange({"manifolds": [], "covers": []})
    assert (layout.boxes, layout.levels, layout.width, layout.height) == ({}, (), 0.0, 0.0)


def test_broken_documents_are_refused(document):
    with pytest.raises(DataError, match="unknown id 'm99'"):
        arrange({**document, "covers": [["m0", "m99"]]})
    with pytest.raises(DataError, match="'m0' twice"):
        arrange({**document, "manifolds": [document["manifolds"][0]] * 2})


def test_two_thousand_nodes_take_seconds():
    sizes = [1, 60, 400, 700, 600, 200, 38, 1]
    levels = [[f"{depth}.{i}" for i in range(size)] for depth, size in enumerate(sizes)]
    nodes = [
        {"id": name, "name": f"0=-1,2={name}=dead", "dimension": 9 - depth}
        for depth, level in enumerate(levels)
        for name in level
    ]
    covers = {
        (bigger, lower[(7 * i + 31 * k) % len(lower)])
        for upper, lower in pairwise(levels)
        for i, bigger in enumerate(upper)
        for k in range(8)
    }
    start = time.perf_counter()
    layout = arrange({"manifolds": nodes, "covers": sorted(covers)})
    assert time.perf_counter() - start < 15  # a second or two; the slack is for a busy machine
    assert len(layout.boxes) == 2000
    assert 1.2 < layout.width / layout.height < 2.6
