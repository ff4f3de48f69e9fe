"""Training in JAX: the checker that tests whether trajectories stay on a manifold."""

from invman.flow.data import DataSet, load_data
from invman.flow.options import CheckOptions
from invman.flow.verdict import CheckReport, CheckResult, Verdict, Witness
from invman.flow.verify import verified_document, verify, verify_equations

__all__ = [
    "CheckOptions",
    "CheckReport",
    "CheckResult",
    "DataSet",
    "Verdict",
    "Witness",
    "load_data",
    "verified_document",
    "verify",
    "verify_equations",
]
