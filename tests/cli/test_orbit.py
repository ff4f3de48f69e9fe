"""``invman orbit``: tables and documents, points by name and from files, refusals with the right exit code."""

from __future__ import annotations

import json

import pytest


def lines(done):
    """Return the table as a mapping of its first column to the rest."""
    assert done.code == 0, done.err
    return dict(line.split("  ", 1) for line in done.out.splitlines())


def test_table(invman):
    found = {key: text.strip() for key, text in lines(invman("orbit", "2-3tanh-1")).items()}
    assert found["architecture"] == "2-3tanh-1 (9 parameters)"
    assert found["dimension"] == "9, exact, of 9"
    assert found["point"] == "one point, seed 0"
    assert found["at least 9"].startswith("rank of formal transport")
    assert "leaf" in found["at most 9"]
    assert found["by order"] == "9"


def test_document(invman):
    done = invman("orbit", "2-2square-1", "--format", "json")
    document = json.loads(done.out)
    assert done.code == 0
    assert document["architecture"] == "2-2square-1"
    assert document["parameters"] == 6
    assert document["orbit"]["exact"] is True
    assert document["orbit"]["lower"]["value"] == document["orbit"]["upper"]["value"] == 4
    assert document["orbit"]["profile"][-1] == 4
    assert len(document["orbit"]["point"]) == 6


@pytest.mark.parametrize("arch", ["2-2square-1", "2-2tanh-1", "1-2gelu-2+bias"])
def test_same_seed_same_bytes(invman, arch):
    first = invman("orbit", arch, "--format", "json", "--seed", "3").out
    assert first == invman("orbit", arch, "--format", "json", "--seed", "3").out
    assert first != invman("orbit", arch, "--format", "json", "--seed", "4").out


def test_at_a_manifold(invman):
    done = invman("orbit", "2-3tanh-1", "--at", "0=-1,2=dead")
    assert "3, exact, of 9" in done.out
    assert "a generic point of 0=-1,2=dead" in done.out


def test_at_a_manifold_of_another_family(invman):
    name = "k1:0=1=2/k2:0=1=2"
    done = invman("orbit", "1-3sigmoid-3sigmoid-1", "--at", name, "--family", "invariant", "--format", "json")
    document = json.loads(done.out)["orbit"]
    assert document["place"] == name
    assert document["exact"] is True
    assert document["lower"]["value"] == 3


def test_at_a_file(invman, tmp_path):
    path = tmp_path / "point.json"
    path.write_text('{"w": [["1/3"], ["1/3"]], "a": [0.1, 0.1]}', encoding="utf-8")
    document = json.loads(invman("orbit", "1-2tanh-1", "--at", str(path), "--format", "json").out)["orbit"]
    assert document["point"] == ["1/3", "1/3", "1/10", "1/10"]
    assert document["lower"]["value"] == document["upper"]["value"] == 2
    assert document["place"] is None
    other = tmp_path / "point without an ending"
    other.write_text("[2, 2, 3, 4]", encoding="utf-8")
    assert "4, exact, of 4" in invman("orbit", "1-2tanh-1", "--at", str(other)).out


def test_a_printed_point_can_be_given_back(invman, tmp_path):
    first = json.loads(invman("orbit", "2-3tanh-1", "--at", "0=1", "--format", "json").out)["orbit"]
    path = tmp_path / "point.json"
    path.write_text(json.dumps(first["point"]), encoding="utf-8")
    second = json.loads(invman("orbit", "2-3tanh-1", "--at", str(path), "--format", "json").out)["orbit"]
    assert second["point"] == first["point"]
    assert second["lower"] == first["lower"]


def test_floats_are_no_proof(invman):
    done = invman("orbit", "2-2tanh-1", "--arithmetic", "float")
    assert done.code == 0
    assert "no proof" in done.out
    assert "not decided" in done.out
    assert "rank 6" in done.out
    document = json.loads(invman("orbit", "2-2tanh-1", "--arithmetic", "float", "--format", "json").out)["orbit"]
    assert document["lower"]["value"] == 0
    assert document["numerical"]["rank"] == 6


def test_one_region(invman):
    done = invman("orbit", "2-3relu-2", "--one-region")
    assert done.code == 0
    assert "9, exact, of 12" in done.out
    assert "activation region" in done.out


def test_an_interval_is_no_failure(invman):
    done = invman("orbit", "1-2tanh-1", "--at", "free", "--order", "0")
    assert done.code == 0
    done = invman("orbit", "2-2identity-2", "--order", "0")
    assert done.code == 0
    assert "from 4 to 5, not decided, of 8" in done.out


def test_written_to_a_file(invman, tmp_path):
    path = tmp_path / "orbit.json"
    done = invman("orbit", "2-2tanh-1", "--format", "json", "-o", str(path))
    assert done.code == 0
    assert done.out == ""
    assert json.loads(path.read_text(encoding="utf-8"))["orbit"]["exact"] is True


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["2-2tanh-1", "--arithmetic", "modular"], 3, ["not rational", "--arithmetic ball"]),
        (["2-2tanh-1", "--budget", "10"], 4, ["676", "10", "--budget", "float"]),
        (["2-2relu-1"], 3, ["--one-region"]),
        (["2-2tanh-1", "--at", "0=9"], 2, ["a neuron from 0 to 1"]),
        (["2-2tanh-1", "--at", "no such point.json"], 2, ["No such file"]),
        (["2-2tanh-1", "--order", "-1"], 2, ["order", "-1"]),
        (["2-2tanh-1", "--seed", "-1"], 2, ["seed", "-1"]),
        (["2-2tanh-1", "--budget", "0"], 2, ["budget", "0"]),
        (["2-2tanh-1", "--arithmetic", "exact"], 2, ["modular"]),
        (["2-2tanh-1", "--family", "nothing"], 2, ["condensed"]),
        (["attention(d=2,dk=1,heads=1,seq=2)", "--family", "invariant", "--at", "free"], 3, ["fully connected"]),
    ],
)
def test_refused(invman, arguments, code, words):
    done = invman("orbit", *arguments)
    assert done.code == code, done.err
    assert done.out == ""
    for word in words:
        assert word in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("content", ["[1, 2]", "[1, NaN, 0, 0]", "nothing", "[true, 0, 0, 0]"])
def test_wrong_points(invman, tmp_path, content):
    path = tmp_path / "point.json"
    path.write_text(content, encoding="utf-8")
    done = invman("orbit", "1-2tanh-1", "--at", str(path))
    assert done.code == 2
    assert done.out == ""
    assert "expected" in done.err
