"""The report in Markdown."""

import re

import pytest

from invman.report import markdown
from invman.report.classes import class_rows


def tables(text):
    """Every table as a list of rows of cells."""
    found, current = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            current.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
        elif current:
            found.append(current)
            current = []
    return found


def test_what_the_architecture_is(document):
    text = markdown(document)
    assert text.startswith("# Invariant manifolds of `2-3tanh-1`\n")
    assert f"```text\n{document['program']}\n```" in text
    assert "9 parameters" in text
    assert "24 manifolds in 7 classes" in text
    assert "58 covers" in text
    assert "Order 48." in text
    assert tables(text)[0][2:] == [["k", "3", "1", "48"]]


def test_one_row_a_class(document):
    head, rule, *rows = tables(markdown(document))[1]
    assert all(len(row) == len(head) == len(rule) == 8 for row in rows)
    assert len(rows) == 7
    assert rows[0] == ["`free`", "9", "1", "symmetry-induced", "`2-3tanh-1`", "invariant-in-test", "0", "3.0e-15"]
    assert sum(int(row[2]) for row in rows) == 24
    assert [int(row[1]) for row in rows] == [9, 6, 6, 3, 3, 3, 0]
    assert rows[-1][4] == "`f = 0*x[0]; size i=2`"


def test_the_worst_of_a_class(document):
    members = [node for node in document["manifolds"] if node["class"] == document["manifolds"][5]["class"]]
    members[0]["verdict"] = {"verdict": "inconclusive", "normal": 1e-6, "drift": 1e-3}
    members[1]["verdict"] = {"verdict": "not-invariant", "normal": 0.5, "drift": 1e-5}
    row = next(row for row in class_rows(document) if row.id == members[0]["class"])
    assert (row.verdict, row.normal, row.drift) == ("not-invariant", 0.5, 1e-3)
    members[2]["verdict"] = {"verdict": "inconclusive", "normal": float("nan"), "drift": None}
    row = next(row for row in class_rows(document) if row.id == members[0]["class"])
    assert row.normal != row.normal
    assert row.drift == 1e-3


def test_a_class_listed_by_its_representative_keeps_its_size(document):
    document["manifolds"] = [node for node in document["manifolds"] if node["id"] in ("m0", "m4")]
    document["covers"] = [["m0", "m4"]]
    assert [row.size for row in class_rows(document)] == [1, document["manifolds"][1]["orbit_size"]]


def test_how_it_was_checked(document):
    text = markdown(document)
    for line in ("- dtype: float64", "- seed: 0", "- trials: 4", "- steps: 200", "- losses: square"):
        assert line in text
    assert "not a proof" in text
    assert "None: all 24 are invariant-in-test." in text


def test_exceptions_are_listed(hostile):
    listed = markdown(hostile).split("## Manifolds that are not invariant in the test\n\n")[1].splitlines()
    assert len(listed) == 3
    assert listed[0].startswith("- `1=dead` (dimension 6): not-invariant (normal 2.5e-01, drift inf)")
    assert listed[1].endswith("inconclusive (normal 1.0e-07, drift nan) try float64")
    assert listed[2].endswith("unchecked")


def test_labels_are_told(document):
    document["labels"] = {"relu": "on one activation region"}
    assert "\n- relu: on one activation region\n" in markdown(document)
    document["labels"] = ["on one activation region"]
    assert "\n- on one activation region\n" in markdown(document)


def test_an_unchecked_document_claims_nothing(make):
    text = markdown(make(2, verdicts=False))
    assert "Nothing was checked numerically" in text
    assert "invariant-in-test" not in text
    assert len(tables(text)[1][0]) == 5


def test_escaping(hostile):
    text = markdown(hostile)
    head, _, *rows = tables(text)[1]
    assert all(len(row) == len(head) for row in rows)
    assert "\x00" not in text
    outside = re.sub(r"(?<!\\)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert not re.search(r"(?<!\\)[<>|](?![^|]*\|)", "\n".join(re.findall(r"^- .*$", outside, re.M)))


@pytest.mark.parametrize("ticks", [1, 3, 5])
def test_a_program_with_backticks_stays_in_its_block(document, ticks):
    document["program"] = "`" * ticks + "\n# no heading"
    lines = markdown(document).splitlines()
    start = next(i for i, line in enumerate(lines) if line.endswith("text"))
    fence = lines[start].removesuffix("text")
    assert len(fence) > ticks
    assert lines[start + 3] == fence


def test_the_same_text_every_time(make):
    assert markdown(make(3)) == markdown(make(3))
