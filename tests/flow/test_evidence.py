from __future__ import annotations

import pytest

from invman.flow.evidence import Drift, Evidence
from invman.flow.options import CheckOptions
from invman.flow.verdict import FAMILY, LOSS, OPTIMIZERS, Verdict, Witness

LIMITS = CheckOptions().tolerances


def drifts(largest=0.0, failure=""):
    return [Drift(name, "squared", 0, 1e-16, largest, 1.0, failure) for name in OPTIMIZERS]


def witness(kind, normal):
    return Witness(kind, 0, (1.0,), "w[0]", normal, 1.0, normal)


@pytest.mark.parametrize(
    ("evidence", "verdict", "reason"),
    [
        (Evidence(normal=1e-15, drifts=drifts()), Verdict.INVARIANT_IN_TEST, "every sampled gradient is tangent"),
        (Evidence(normal=1e-7, drifts=drifts()), Verdict.INCONCLUSIVE, "lies between rounding"),
        (Evidence(drifts=drifts(failure="stopped")), Verdict.INCONCLUSIVE, "stopped; and 1 more"),
        (Evidence(failures=["not finite"], drifts=drifts()), Verdict.INCONCLUSIVE, "not finite"),
        (Evidence(drifts=drifts(1e-3)), Verdict.INCONCLUSIVE, "transverse instability"),
        (Evidence(drifts=drifts(1e-3), projected=drifts(1e-14)), Verdict.INVARIANT_IN_TEST, "put back"),
        (Evidence(drifts=drifts(1e-3), projected=drifts(1e-8)), Verdict.INCONCLUSIVE, "drift 1.0e-08 even when"),
        (Evidence(drifts=drifts(1e-3), projected=drifts(0, "lost")), Verdict.INCONCLUSIVE, "lost even when"),
        (
            Evidence(normal=0.1, witness=witness(LOSS, 0.1), drifts=drifts(failure="x")),
            Verdict.NOT_INVARIANT,
            "a loss gradient has relative normal component 1.0e-01 (trial 0, largest at w[0])",
        ),
    ],
)
def test_verdicts(evidence, verdict, reason):
    result = evidence.result(LIMITS)
    assert result.verdict is verdict
    assert reason in result.reason
    assert (result.witness is not None) == (verdict is Verdict.NOT_INVARIANT)


def test_unfinished_drift_is_no_number():
    assert set(Evidence(drifts=drifts(failure="x")).result(LIMITS).drift.values()) == {None}


def test_clearest_witness_and_the_family_first():
    evidence = Evidence()
    for kind, normal in ((LOSS, 0.9), (FAMILY, 0.1), (FAMILY, 0.2), (LOSS, 1.0), (FAMILY, 0.15)):
        evidence.add_witness(witness(kind, normal))
    assert evidence.witness == witness(FAMILY, 0.2)
