"""``invman verify``: what is invariant passes, what is not fails with exit code 1 and the witness."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import numpy as np
import pytest

QUICK = ("--trials", "2", "--steps", "20")


def schema(name: str) -> dict:
    return json.loads((resources.files("invman.report") / "schema" / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("arch", "count"),
    [
        ("2-3tanh-1", 24),
        ("2-4sigmoid-1", 15),
        ("2-3silu-1", 15),
        ("2-3cos-1", 31),
        ("2-3sigmoid-2+bias", 5),
        ("1-2tanh-2tanh-1", 36),
    ],
)
def test_all_condensed_manifolds_pass(invman, arch, count):
    done = invman("verify", arch, "--format", "json", *QUICK)
    document = json.loads(done.out)
    assert done.code == 0, done.out
    assert [result["verdict"] for result in document["results"]] == ["invariant-in-test"] * count
    assert max(result["normal"] for result in document["results"]) < 1e-12
    jsonschema.validate(document, schema("verify"))


@pytest.mark.parametrize(
    ("arch", "equations"),
    [
        ("2-2tanh-1", "w[0,:]=w[1,:]"),
        ("2-2tanh-1", "a[0]=a[1]"),
        ("2-2tanh-1", "w[0,:]=w[1,:], a[0]=-a[1]"),
        ("2-3sigmoid-1", "w[0,:]=0, a[0]=0"),
        ("2-2tanh-1", "a[0]=1"),
    ],
)
def test_false_manifolds_fail_with_a_witness(invman, arch, equations):
    done = invman("verify", arch, "--equations", equations, "--format", "json", *QUICK)
    assert done.code == 1
    document = json.loads(done.out)
    jsonschema.validate(document, schema("verify"))
    (result,) = document["results"]
    assert result["verdict"] == "not-invariant"
    witness = result["witness"]
    assert witness["normal_norm"] > 1e-6 * witness["field_norm"]
    assert {"kind", "coordinate", "input", "direction", "theta"} <= set(witness)
    table = invman("verify", arch, "--equations", equations, *QUICK)
    assert table.code == 1
    assert "witness:" in table.out


def test_witness_can_be_checked_by_hand(invman):
    done = invman("verify", "2-2tanh-1", "--equations", "w[0,:]=w[1,:]", "--format", "json", *QUICK)
    witness = json.loads(done.out)["results"][0]["witness"]
    w, a = np.array(witness["theta"]["w"]), np.array(witness["theta"]["a"])
    x, (c,) = np.array(witness["input"]), witness["direction"]
    assert np.allclose(w[0], w[1], atol=1e-12)
    grad_w = c * a[:, None] / np.cosh(w @ x)[:, None] ** 2 * x
    normal = np.linalg.norm(grad_w[0] - grad_w[1]) / np.sqrt(2)
    assert normal == pytest.approx(witness["normal_norm"], rel=5e-3)  # printed with three digits


@pytest.mark.parametrize("equations", ["w[0,:]=w[1,:], a[0]=a[1]", "w[0,:]+w[1,:]=0, a[0]=-a[1]", "w=0, a=0"])
def test_true_equations_pass(invman, equations):
    assert invman("verify", "2-2tanh-1", "--equations", equations, *QUICK).code == 0


def test_named_manifolds(invman):
    done = invman("verify", "2-3tanh-1", "-m", "0=-1", "-m", "0=1,2=dead", *QUICK)
    assert done.code == 0
    assert "2 of 2 passed" in done.out


def test_relu_with_consent(invman):
    done = invman("verify", "2-2relu-1", "--one-region", *QUICK)
    assert done.code == 0, done.out


def test_own_data(invman, tmp_path):
    rows = np.random.default_rng(0).normal(size=(20, 3)).round(6)
    path = tmp_path / "data.csv"
    path.write_text("x0,x1,y\n" + "\n".join(",".join(map(str, row)) for row in rows), encoding="utf-8")
    done = invman("verify", "2-2tanh-1", "--data", str(path), "--format", "json", *QUICK)
    assert done.code == 0
    check = json.loads(done.out)["check"]
    assert check["data"] == "given, 20 examples"
    assert check["losses"] == ["squared", "logistic", "exponential", "quartic"]
    one = json.loads(
        invman("verify", "2-2tanh-1", "--data", str(path), "--loss", "logistic", "--format", "json", *QUICK).out
    )
    assert one["check"]["losses"] == ["logistic"]


def test_same_seed_same_bytes(invman):
    first = invman("verify", "2-2tanh-1", "--seed", "3", "--format", "json", *QUICK).out
    assert first == invman("verify", "2-2tanh-1", "--seed", "3", "--format", "json", *QUICK).out
    assert first != invman("verify", "2-2tanh-1", "--seed", "4", "--format", "json", *QUICK).out
