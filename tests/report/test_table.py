"""Plain tables for a terminal."""

from __future__ import annotations

from invman.report.table import aligned, check_table, symmetry_table, table


def test_aligned_numbers_to_the_right():
    text = aligned(["name", "n"], [["a", 1], ["long name", 100]])
    assert text.splitlines() == ["name         n", "a            1", "long name  100"]


def test_table_of_a_count_has_a_headline_only():
    document = {
        "architecture": "2-3tanh-1", "parameters": 9, "count": 24, "classes": 7, "family": "condensed",
        "symmetry": {"order": "48", "factors": [{"axis": "k", "size": 3, "signs": 1}]},
    }  # fmt: skip
    assert table(document).splitlines()[1:] == [
        "9 parameters; symmetry of the hidden axes of order 48 (B_3 on k)",
        "24 condensed manifolds in 7 classes",
    ]


def test_failed_check_shows_its_witness():
    result = {
        "name": "a[0]=a[1]", "dimension": 5, "verdict": "not-invariant", "reason": "a field leaves", "normal": 0.5,
        "drift": {"gradient-flow": None, "gradient-descent": 0.25},
        "witness": {"coordinate": "a[0]", "theta": {"a": [1.0, 1.0]}, "input": [0.5]},
    }  # fmt: skip
    check = {"dtype": "float64", "seed": 0, "trials": 2, "steps": 5, "losses": ["squared"]}
    text = check_table({"architecture": "x", "parameters": 6, "results": [result], "check": check})
    assert "not-invariant" in text
    assert "coordinate: a[0]" in text
    assert "0 of 1 passed" in text


def test_symmetry_table_says_what_is_not_explained():
    document = {
        "architecture": "x", "parameters": 2, "order": "2", "affine": [], "proof": "", "complete": "checked on size 1",
        "unexplained": ["on size 1 ..."], "discrete": {"factors": [], "sign_rank": 0, "signs": []},
        "continuous": {"dimension": 0, "factors": []},
    }  # fmt: skip
    assert "symmetry not explained by the axes: on size 1 ..." in symmetry_table(document)
