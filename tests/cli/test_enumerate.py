"""``invman enumerate``: counts against independent tables, formats, refusals."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize(
    ("arch", "count", "classes", "covers"),
    [
        ("2-3tanh-1", 24, 7, 58),
        ("2-4tanh-1", 116, 12, 432),
        ("2-4sigmoid-1", 15, 5, 31),
        ("2-3silu-1", 15, 7, 31),
        ("2-3cos-1", 31, 10, 70),
        ("1-2tanh-2tanh-1", 36, 16, 96),
    ],
)
def test_counts(invman, arch, count, classes, covers):
    done = invman("enumerate", arch, "--format", "json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert (document["count"], document["classes"], len(document["covers"])) == (count, classes, covers)
    assert len(document["manifolds"]) == count
    listed = json.loads(invman("enumerate", arch, "--classes", "--format", "json").out)
    assert len(listed["manifolds"]) == classes
    assert sum(m["orbit_size"] for m in listed["manifolds"]) == count
    assert (listed["count"], listed["classes"]) == (count, classes)


def test_dead_block_of_silu_is_marked(invman):
    document = json.loads(invman("enumerate", "2-3silu-1", "--format", "json").out)
    origins = {m["name"]: m["origin"] for m in document["manifolds"]}
    assert origins["0=dead"] == "dead-neuron"
    assert origins["0=1"] == "symmetry-induced"
    assert {name for name, origin in origins.items() if origin == "dead-neuron"} == {n for n in origins if "dead" in n}


def test_count_only(invman):
    document = json.loads(invman("enumerate", "2-6tanh-1", "--count", "--format", "json").out)
    assert document["count"] == 4088
    assert "manifolds" not in document
    assert "covers" not in document


def bell(n: int) -> int:
    """Bell numbers by Aitken's triangle."""
    row = [1]
    for _ in range(n):
        following = [row[-1]]
        for value in row:
            following.append(following[-1] + value)
        row = following
    return row[0]


def test_wide_counts_are_exact(invman):
    document = json.loads(invman("enumerate", "10-200sigmoid-1", "--count", "--format", "json").out)
    assert document["count"] == bell(200)
    assert document["classes"] == 3972999029388  # partitions of 200, MacMahon's table


def test_listing_is_refused_with_the_exact_number(invman):
    done = invman("enumerate", "2-30sigmoid-1")
    assert done.code == 4
    assert f"{bell(30):,}" in done.err
    assert "Traceback" not in done.err


def test_table_and_latex(invman):
    table = invman("enumerate", "2-3tanh-1").out
    assert "24 condensed manifolds in 7 classes" in table
    assert "order 48 (B_3 on k)" in table
    assert "0=-1" in table
    latex = invman("enumerate", "2-3tanh-1", "--format", "latex").out
    assert r"\begin{tabular}" in latex


def test_output_file(invman, tmp_path):
    path = tmp_path / "list.json"
    assert invman("enumerate", "2-2tanh-1", "--format", "json", "-o", str(path)).code == 0
    assert json.loads(path.read_text(encoding="utf-8"))["count"] == 6


def test_same_input_same_bytes(invman):
    first = invman("enumerate", "1-2tanh-2cos-1+bias", "--format", "json").out
    assert first == invman("enumerate", "1-2tanh-2cos-1+bias", "--format", "json").out


def test_index_notation_and_standard_input(invman, tmp_path):
    text = "input x[i]\nh[k] = tanh(w[k,i]*x[i])\nf = a[k]*h[k]\nsize i=2, k=3\n"
    path = tmp_path / "net.txt"
    path.write_text(text, encoding="utf-8")
    for arch in (text, str(path)):
        assert json.loads(invman("enumerate", arch, "--format", "json").out)["count"] == 24
    assert json.loads(invman("enumerate", "-", "--format", "json", stdin=text).out)["count"] == 24
