"""The symmetry as plain data."""

from __future__ import annotations

import json

import pytest

from invman.architecture import read_architecture
from invman.symmetry.document import decimal, findings_document
from invman.symmetry.findings import find_all_symmetry

PROGRAMS = [
    "2-3tanh-1", "3-3identity-3", "2-3identity-1+bias", "2-3relu-2", "attention(d=3,heads=2,dk=2)", "2-2exp-1+bias",
    "input x[i]; f[o] = softmax[o](a[o,k]*tanh(w[k,i]*x[i])); size i=2,o=3,k=2",
    "input x[i]; f = a[k]*tanh(w[k,i]*x[i]) + c[l]*tanh(v[l,i]*x[i]); size i=2,k=2,l=3",
]  # fmt: skip


@pytest.mark.parametrize("text", PROGRAMS)
def test_factors_add_up(text):
    found = find_all_symmetry(read_architecture(text, one_region=True))
    document = json.loads(json.dumps(findings_document(found), allow_nan=False))
    continuous = document["continuous"]
    assert sum(factor["dimension"] for factor in continuous["factors"]) == continuous["dimension"]
    order = 2 ** document["discrete"]["sign_rank"]
    for factor in document["discrete"]["factors"]:
        order *= int(factor["order"])
    assert order == int(document["order"])


def test_decimal_of_any_length():
    assert decimal(0) == "0"
    number = 10**9001 + 7
    assert decimal(number) == "1" + "0" * 9000 + "7"
