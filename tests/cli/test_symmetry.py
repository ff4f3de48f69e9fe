"""``invman symmetry``, ``laws`` and ``show``: orders, dimensions and counts against independent values."""

from __future__ import annotations

import json
import math

import pytest

ORDERS = [
    ("2-3tanh-1", 48),
    ("2-3sigmoid-1", 6),
    ("1-2tanh-3tanh-1", 384),
    ("4-16tanh-16tanh-1", (math.factorial(16) * 2**16) ** 2),
    ("attention(d=4,heads=2,dk=2,seq=3)", 8192),
    ("3-3identity-3", 48),
]


@pytest.mark.parametrize(("arch", "order"), ORDERS)
def test_orders(invman, arch, order):
    document = json.loads(invman("symmetry", arch, "--format", "json").out)
    assert document["order"] == str(order)
    assert document["unexplained"] == []
    assert document["complete"].startswith("checked on size")
    assert "proved" in document["proof"]


@pytest.mark.parametrize(
    ("arch", "dimension", "groups"),
    [
        ("attention(d=4,heads=2,dk=2,seq=3)", 16, [("GL(2)", 2), ("GL(2)", 2)]),
        ("3-3identity-3", 9, [("GL(3)", 1)]),
        ("2-3tanh-1", 0, []),
    ],
)
def test_continuous(invman, arch, dimension, groups):
    continuous = json.loads(invman("symmetry", arch, "--format", "json").out)["continuous"]
    assert continuous["dimension"] == dimension
    assert [(factor["group"], factor["copies"]) for factor in continuous["factors"]] == groups


def test_table_and_no_check(invman):
    done = invman("symmetry", "attention(d=4,heads=2,dk=2,seq=3)", "--no-check")
    assert "a group of order 8,192" in done.out
    assert "S_2^2 permutes k, chosen anew for each h" in done.out
    assert "not checked" in done.out


def test_shift_by_pi(invman):
    document = json.loads(invman("symmetry", "1-1sin-1+bias", "--format", "json").out)
    assert any("+ pi" in move and "-a[0]" in move for move in document["affine"])


def test_large_transformer_is_described_on_axes(invman):
    arch = "transformer(vocab=50257,d=768,heads=12,dk=64,ff=3072,layers=12,seq=1024,bias=yes,pos=yes)"
    document = json.loads(invman("symmetry", arch, "--format", "json").out)
    assert document["parameters"] > 124_000_000
    heads = [factor for factor in document["discrete"]["factors"] if factor["axis"].startswith("h")]
    assert len(heads) == 12
    assert {factor["group"] for factor in heads} == {"S_12"}
    assert sum(factor["group"] == "GL(64)" for factor in document["continuous"]["factors"]) == 24


LAWS = [
    ("1-2identity-1", 3),
    ("2-2identity-2", 3),
    ("2-3identity-2", 6),
    ("3-3identity-3", 6),
    ("2-4identity-2", 10),
    ("4-4identity-4", 10),
    ("2-2identity-2identity-2", 6),
    ("3-3identity-3identity-3", 12),
    ("2-3relu-2", 3),
    ("2-4relu-2+bias", 4),
    ("4-6relu-4", 6),
    ("2-2relu-2relu-2", 4),
    ("3-3relu-3relu-3", 6),
    ("attention(d=3,heads=1,dk=2)", 6),
    ("attention(d=3,heads=2,dk=1)", 4),
    ("attention(d=4,heads=1,dk=2)", 6),
    ("attention(d=4,heads=2,dk=2)", 12),
    ("2-3square-2", 3),
    ("2-3cube-2", 3),
    ("2-3gelu-2", 0),
    ("2-3silu-2", 0),
    ("2-3softplus-2", 0),
    ("2-3tanh-1", 0),
    ("1-1exp-1+bias", 1),
]


@pytest.mark.parametrize(("arch", "count"), LAWS)
def test_number_of_laws(invman, arch, count):
    done = invman("laws", arch, "--format", "json", "--one-region")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["independent"] == count
    assert sum(family["independent"] for family in document["families"]) == count
    assert (document["laws"] == []) == (count == 0)


def test_law_of_exp_with_bias(invman):
    done = invman("laws", "1-1exp-1+bias", "--check")
    assert "b[0] - a[0]**2/2" in done.out
    assert "along a gradient flow" in done.out
    # the bias of the output is no part of it
    assert "c" not in done.out.split("b[0] - a[0]**2/2")[0].splitlines()[-1]


def test_laws_are_conserved_along_a_flow(invman):
    document = json.loads(invman("laws", "2-2identity-2", "--check", "--format", "json").out)
    assert document["check"]["largest_drift"] < 1e-8


def test_latex(invman):
    assert invman("laws", "1-2identity-1", "--format", "latex").out.count(r"\[") == 4


def test_show(invman):
    document = json.loads(invman("show", "2-3tanh-2+bias", "--format", "json").out)
    assert [(t["name"], t["shape"]) for t in document["tensors"]] == [
        ("w", [3, 2]), ("b", [3]), ("a", [2, 3]), ("c", [2]),
    ]  # fmt: skip
    assert r"\tanh" in document["latex"]
    assert r"\tanh" in invman("show", "2-3tanh-2", "--format", "latex").out
    assert "8 parameters" not in invman("show", "2-3tanh-2").out
