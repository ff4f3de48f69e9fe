"""Gradient flow and descent in JAX: the numerical check that training stays on a manifold."""

from invman.flow.check import check
from invman.flow.data import DataSet, load_data
from invman.flow.losses import LOSSES
from invman.flow.options import CheckOptions, OptionsError, Tolerances
from invman.flow.report import CheckReport
from invman.flow.verdict import OPTIMIZERS, CheckResult, Verdict, Witness
from invman.flow.verify import Verification, verified_document, verify, verify_equations

__all__ = [
    "LOSSES",
    "OPTIMIZERS",
    "CheckOptions",
    "CheckReport",
    "CheckResult",
    "DataSet",
    "OptionsError",
    "Tolerances",
    "Verdict",
    "Verification",
    "Witness",
    "check",
    "load_data",
    "verified_document",
    "verify",
    "verify_equations",
]
