from __future__ import annotations

import math

from invman.flow.verdict import FAMILY, OPTIMIZERS, CheckResult, Verdict, Witness, rounded


def test_every_verdict_has_its_own_advice():
    assert len({verdict.advice for verdict in Verdict}) == len(Verdict) == 3
    assert [verdict.value for verdict in Verdict] == ["invariant-in-test", "not-invariant", "inconclusive"]


def test_rounded():
    assert rounded(0.123456) == 0.123
    assert rounded(math.inf) is None
    assert rounded(None) is None


def test_plain_data():
    third = 1 / 3
    witness = Witness(FAMILY, 1, (third,), "w[0]", third, third, third, input=(third,), direction=(1.0,))
    flat: dict[str, float | None] = dict.fromkeys(OPTIMIZERS, third)
    found = CheckResult(Verdict.NOT_INVARIANT, "why", third, flat, {**flat, OPTIMIZERS[0]: None}, witness).to_dict()
    assert list(found) == ["verdict", "reason", "normal", "drift", "distance", "witness"]
    assert found["normal"] == 0.333
    assert found["distance"][OPTIMIZERS[0]] is None
    assert found["witness"]["point"] == [third]
    assert "loss" not in found["witness"]
