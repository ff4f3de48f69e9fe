"""``--family invariant`` on the command line."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import pytest


def schema(name: str) -> dict:
    return json.loads((resources.files("invman.report") / "schema" / f"{name}.json").read_text(encoding="utf-8"))


def test_enumerate(invman):
    done = invman("enumerate", "1-3sigmoid-3sigmoid-1", "--family", "invariant")
    assert done.code == 0
    assert "25 invariant manifolds in 9 classes" in done.out
    assert "balanced, frozen dimension 4" in done.out
    done = invman("enumerate", "2-3silu-1", "--family", "invariant", "--count", "--format", "json")
    assert json.loads(done.out)["count"] == 15


def test_verify(invman):
    done = invman(
        "verify", "1-3sigmoid-3sigmoid-1", "--family", "invariant", "-m", "k1:0=1=2/k2:0=1=2", "--format", "json",
        "--trials", "2", "--steps", "20",
    )  # fmt: skip
    document = json.loads(done.out)
    assert done.code == 0
    jsonschema.validate(document, schema("verify"))
    assert [(r["leaf_dimension"], r["frozen_dimension"]) for r in document["results"]] == [(3, 4)]


def test_lattice_in_every_format(invman, tmp_path):
    files = [tmp_path / f"lattice.{ending}" for ending in ("json", "graphml", "dot", "svg", "html", "tex")]
    options = [part for file in files for part in ("-o", str(file))]
    assert invman("lattice", "1-2silu-2silu-1", "--family", "invariant", *options).code == 0
    document = json.loads(files[0].read_text(encoding="utf-8"))
    jsonschema.validate(document, schema("lattice"))
    assert "leaf dimension" in files[4].read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["enumerate", "verify"])
def test_other_architectures_are_refused(invman, command):
    done = invman(command, "attention(d=4,heads=2,dk=2,seq=3)", "--family", "invariant")
    assert done.code == 3
    assert "fully connected" in done.err
