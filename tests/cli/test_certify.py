"""The command certify, and certificates in lattice files."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import pytest

from invman.cli.main import run


def test_certify_prints_a_row_a_class(capsys):
    assert run(["certify", "2-3silu-1"]) == 0
    text = capsys.readouterr().out
    assert "0=dead          3          6          6     6      not symmetry-induced  leaf" in text
    assert "exact on 15 of 15 manifolds" in text
    assert "symmetry-induced: 5 of 15" in text


def test_certify_writes_json(capsys):
    assert run(["certify", "1-2tanh-2tanh-1+bias", "--format", "json", "--trials", "1"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["manifolds"], document["exact"], document["passed"]) == (36, 36, True)
    assert {o["finding"] for entry in document["classes"] for o in entry["orbits"]} == {"leaf", "null layer"}


def test_certify_takes_condensed_manifolds_where_there_are_no_layers(capsys):
    program = "input x[i]\nh[k] = tanh(w[k,i]*x[i])\nf = a[k]*h[k]*h[k]\nsize i=2, k=2"
    assert run(["certify", program]) == 0
    assert "family condensed" in capsys.readouterr().out
    assert run(["certify", program, "--family", "invariant"]) == 3


@pytest.mark.parametrize("family", ["condensed", "invariant", "symmetric"])
def test_lattice_files_hold_certificates(tmp_path, family):
    paths = [tmp_path / f"lattice.{ending}" for ending in ("json", "html", "graphml", "svg", "dot", "tex")]
    outputs = [word for path in paths for word in ("-o", str(path))]
    assert run(["lattice", "2-3cos-1", "--family", family, "--certify", *outputs]) == 0
    document = json.loads(paths[0].read_text(encoding="utf-8"))
    schema = resources.files("invman.report") / "schema" / "lattice.json"
    jsonschema.validate(document, json.loads(schema.read_text(encoding="utf-8")))
    assert all(manifold["orbit"]["exact"] for manifold in document["manifolds"])
    assert "Generic orbit" in paths[1].read_text(encoding="utf-8")
    assert "orbit_upper" in paths[2].read_text(encoding="utf-8")
    assert "generic orbit: dimension 9, exact" in paths[3].read_text(encoding="utf-8")
