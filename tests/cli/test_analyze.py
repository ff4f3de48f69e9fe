"""``invman analyze`` and ``invman lattice``: every file, whole or not at all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib import resources
from xml.etree import ElementTree

import jsonschema
import networkx as nx
import pytest

FILES = ["lattice.dot", "lattice.graphml", "lattice.html", "lattice.json", "lattice.svg", "report.md"]


def lattice_schema() -> dict:
    return json.loads((resources.files("invman.report") / "schema" / "lattice.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def analysed(tmp_path_factory):
    from invman.cli.main import run

    out = tmp_path_factory.mktemp("analyze") / "out"
    assert run(["analyze", "2-3tanh-1", "-o", str(out), "--trials", "2", "--steps", "20"]) == 0
    return out


def test_files(analysed):
    assert sorted(path.name for path in analysed.iterdir()) == FILES


def test_json(analysed):
    document = json.loads((analysed / "lattice.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, lattice_schema())
    assert (document["count"], document["classes"], len(document["covers"])) == (24, 7, 58)
    assert document["symmetry"]["order"] == "48"
    assert {m["verdict"]["verdict"] for m in document["manifolds"]} == {"invariant-in-test"}


def test_graphs_and_drawings(analysed):
    graph = nx.read_graphml(analysed / "lattice.graphml")
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (24, 58)
    assert ElementTree.fromstring((analysed / "lattice.svg").read_text(encoding="utf-8")).tag.endswith("svg")  # noqa: S314
    page = (analysed / "lattice.html").read_text(encoding="utf-8")
    assert "0=-1,2=dead" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "(analysed" not in page


def test_report(analysed):
    report = (analysed / "report.md").read_text(encoding="utf-8")
    for words in ("2-3tanh-1", "48", "24", "invariant-in-test", "float64"):
        assert words in report


def test_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(lattice_schema())


@pytest.mark.parametrize("arch", ["2-2silu-1", "1-2tanh-2cos-1+bias", "input x; f=a*tanh(w*x)", "2-2square-1"])
def test_documents_follow_the_schema(invman, arch):
    for extra in ([], ["--classes"], ["--count"]):
        document = json.loads(invman("enumerate", arch, "--format", "json", *extra).out)
        jsonschema.validate(document, lattice_schema())


def test_every_format(invman, tmp_path):
    paths = [tmp_path / f"l.{ending}" for ending in ("json", "graphml", "dot", "svg", "html", "tex")]
    options = [word for path in paths for word in ("-o", str(path))]
    assert invman("lattice", "2-2tanh-1", *options).code == 0
    assert all(path.stat().st_size > 100 for path in paths)


def test_interrupt_leaves_nothing_half_written(tmp_path):
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-m", "invman", "analyze", "2-3tanh-1", "-o", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(2.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    if process.returncode == 0:  # it was done before the signal came
        assert sorted(os.listdir(out)) == FILES
    else:
        assert process.returncode == 130
        assert "Traceback" not in err
        assert not out.exists()


def test_full_disk_leaves_nothing_half_written(invman, tmp_path, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = invman("lattice", "2-2tanh-1", "-o", str(tmp_path / "a.json"), "-o", str(tmp_path / "a.svg"))
    assert done.code == 2
    assert "No space left" in done.err
    assert list(tmp_path.iterdir()) == []
