"""``--family symmetric`` on every command that lists manifolds."""

from __future__ import annotations

import json
from importlib.resources import files

import jsonschema
import networkx as nx
import pytest

DIAGONAL = "w1[0,0]=w1[1,0],w2[0,0]=w2[1,1],w2[0,1]=w2[1,0],w3[0]=w3[1]"


@pytest.mark.parametrize("options", [[], ["--classes"], ["--count"]])
def test_enumerate_fits_the_schema(invman, options):
    done = invman("enumerate", "1-2tanh-2tanh-1", "--family", "symmetric", "--format", "json", *options)
    assert done.code == 0, done.err
    document = json.loads(done.out)
    schema = json.loads(files("invman.report").joinpath("schema/lattice.json").read_text())
    jsonschema.validate(document, schema)
    assert (document["family"], document["count"], document["classes"]) == ("symmetric", 135, 48)
    if options == ["--classes"]:
        assert sum(m["orbit_size"] for m in document["manifolds"]) == 135


def test_table_says_what_fixes_a_manifold(invman):
    out = invman("enumerate", "1-2sigmoid-2sigmoid-1", "--family", "symmetric").out
    assert "5 symmetric manifolds in 5 classes\n6 covers" in out
    assert "stabiliser" in out


@pytest.mark.parametrize(
    ("options", "number"), [(["--classes", "--budget", "10"], 11), (["--budget", "100"], 135), (["--budget", "9"], 47)]
)
def test_over_budget(invman, options, number):
    done = invman("enumerate", "1-2tanh-2tanh-1", "--family", "symmetric", *options)
    assert (done.code, done.out) == (4, "")
    assert f"got {number}, expected at most {options[-1]}" in done.err


def test_lattice_in_all_formats(invman, tmp_path):
    paths = [tmp_path / f"lattice.{ending}" for ending in ("json", "graphml", "dot", "svg", "html", "tex")]
    outputs = [word for path in paths for word in ("-o", str(path))]
    assert invman("lattice", "1-2sigmoid-2sigmoid-1", "--family", "symmetric", *outputs).code == 0
    graph = nx.read_graphml(tmp_path / "lattice.graphml")
    assert graph.nodes["m3"]["stabiliser_order"] == "2"
    assert "fixed by a group of order 2" in (tmp_path / "lattice.html").read_text()
    assert "family symmetric" in (tmp_path / "lattice.tex").read_text()


def test_verify_one_by_its_equations_and_all(invman):
    quick = ["--family", "symmetric", "--trials", "2", "--steps", "20"]
    done = invman("verify", "1-2sigmoid-2sigmoid-1", "-m", DIAGONAL, *quick)
    assert done.code == 0, done.err
    assert "1 of 1 passed" in done.out
    assert "5 of 5 passed" in invman("verify", "1-2sigmoid-2sigmoid-1", *quick).out


def test_analyze(invman, tmp_path):
    done = invman(
        "analyze", "1-2sigmoid-2sigmoid-1", "--family", "symmetric", "-o", str(tmp_path / "out"), "--steps", "20"
    )
    assert done.code == 0, done.err
    assert "The family `symmetric` holds 5 manifolds" in (tmp_path / "out" / "report.md").read_text()
