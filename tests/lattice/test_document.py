"""Documents: plain data, deterministic, complete."""

from __future__ import annotations

import json

import pytest

from invman.architecture import read_architecture
from invman.errors import OverBudgetError
from invman.lattice import build_lattice, count_document, lattice_document
from invman.lattice.document import decimal
from invman.manifold import CondensedSpace


def document(text, **options):
    return lattice_document(build_lattice(read_architecture(text), **options))


@pytest.mark.parametrize("text", ["2-3tanh-1", "1-2silu-2square-1+bias", "1-2tanh-2cos-1", "2-1"])
def test_json_and_back(text):
    found = document(text)
    written = json.dumps(found, allow_nan=False)
    assert json.loads(written) == found
    assert json.dumps(document(text)) == written


def test_head_by_hand():
    head = count_document(CondensedSpace.of(read_architecture("2-3tanh-1")))
    assert head == {
        "schema_version": "1",
        "architecture": "2-3tanh-1",
        "program": "input x[i]\nh[k] = tanh(w[k,i]*x[i])\nf = a[k]*h[k]\nsize i=2, k=3",
        "parameters": 9,
        "one_region": False,
        "family": "condensed",
        "symmetry": {
            "order": "48",
            "sign_rank": 3,
            "factors": [{"axis": "k", "size": 3, "signs": 1, "local_to": [], "copies": 1, "order": "6"}],
            "generators": ["permute k by (0 1)", "permute k by (0 1 ... 2)", "change the sign of a, w at k=0"],
        },
        "count": 24,
        "classes": 7,
    }


def test_one_manifold_by_hand():
    found = next(m for m in document("2-3tanh-1")["manifolds"] if m["name"] == "0=-2,1=dead")
    assert {key: value for key, value in found.items() if key not in ("id", "class")} == {
        "name": "0=-2,1=dead",
        "dimension": 3,
        "orbit_size": 6,
        "origin": "symmetry-induced",
        "equations": ["w[2,:] = -w[0,:]", "a[2] = -a[0]", "w[1,:] = 0", "a[1] = 0"],
        "reduced": "2-1tanh-1",
        "learning_rates": {"w": {"k": ["1/2"]}, "a": {"k": ["2"]}},
    }


@pytest.mark.parametrize("options", [{}, {"classes": True}])
def test_ids_classes_and_covers_fit_together(options):
    found = document("1-2tanh-2cos-1", **options)
    ids = [m["id"] for m in found["manifolds"]]
    assert ids == [f"m{n}" for n in range(len(ids))]
    dimension = {m["id"]: m["dimension"] for m in found["manifolds"]}
    assert found["covers"]
    assert all(dimension[upper] > dimension[lower] for upper, lower in found["covers"])
    assert {m["class"] for m in found["manifolds"]} == {f"c{n}" for n in range(found["classes"])}
    assert len(ids) == (found["classes"] if options else found["count"])


def test_verdicts_are_put_beside_their_manifolds():
    lattice = build_lattice(read_architecture("2-2tanh-1"))
    found = lattice_document(lattice, {n: {"verdict": n} for n in range(len(lattice))})
    assert [m["verdict"]["verdict"] for m in found["manifolds"]] == list(range(6))
    assert all("verdict" not in m for m in lattice_document(lattice)["manifolds"])


def test_long_numbers():
    """Python prints no integer of more than 4300 digits, and reads none back from JSON."""
    assert decimal(0) == "0"
    assert decimal(10**9000 + 7) == "1" + "0" * 8999 + "7"
    assert decimal(10**4000) == "1" + "0" * 4000
    wide = count_document(CondensedSpace.of(read_architecture("10-900tanh-1")))
    assert json.loads(json.dumps(wide)) == wide
    with pytest.raises(OverBudgetError, match="digits of the number of manifolds"):
        count_document(CondensedSpace.of(read_architecture("10-900tanh-900tanh-900tanh-1")))
