"""The report of a check: how it was made, and one result a manifold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from invman.flow.verdict import CheckResult, Verdict


@dataclass(frozen=True)
class CheckReport:
    """How a check was made and what it found, one result a manifold in the order given.

    Attributes
    ----------
    dtype, platform : str
        Of the arithmetic, and where JAX ran it.
    seeds : tuple of int
        Seeds of the random numbers.
    trials, fields, steps : int
        See ``CheckOptions``.
    horizon, learning_rate : float
        See ``CheckOptions``.
    losses, optimizers : tuple of str
        What the trajectories minimise, and how.
    data : str
        Which data were trained on.
    tolerance, violation : float
        The thresholds.
    results : tuple of CheckResult
        One a manifold.
    """

    dtype: str
    platform: str
    seeds: tuple[int, ...]
    trials: int
    fields: int
    steps: int
    horizon: float
    learning_rate: float
    losses: tuple[str, ...]
    optimizers: tuple[str, ...]
    data: str
    tolerance: float
    violation: float
    results: tuple[CheckResult, ...]

    @property
    def passed(self) -> bool:
        """Whether every manifold is invariant in test."""
        return all(result.verdict is Verdict.INVARIANT_IN_TEST for result in self.results)

    def method(self) -> dict[str, Any]:
        """Return how the check was made, as plain data."""
        return {
            "dtype": self.dtype,
            "platform": self.platform,
            "seed": self.seeds[0],
            "seeds": list(self.seeds),
            "trials": self.trials,
            "fields": self.fields,
            "steps": self.steps,
            "horizon": self.horizon,
            "learning_rate": self.learning_rate,
            "losses": list(self.losses),
            "optimizers": list(self.optimizers),
            "data": self.data,
            "tolerance": self.tolerance,
            "violation": self.violation,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: ``check`` says how, ``results`` what; the same for the same seed and machine."""
        return {"check": self.method(), "results": [result.to_dict() for result in self.results]}
