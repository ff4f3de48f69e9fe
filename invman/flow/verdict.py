"""What a check says: a verdict with numbers, the witness where it fails, and how it was made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Verdict(Enum):
    """Outcome of the numerical check of one manifold; never a proof."""

    INVARIANT = "invariant-in-test"
    NOT_INVARIANT = "not-invariant"
    INCONCLUSIVE = "inconclusive"

    @property
    def advice(self) -> str:
        """What the outcome means and what to do next."""
        return {
            "invariant-in-test": "No gradient had a component off the manifold beyond rounding; this is no proof.",
            "not-invariant": "Training leaves this set: the witness gives a point and a gradient that points off it.",
            "inconclusive": "The numbers decide nothing: try other seeds, fewer steps or more trials.",
        }[self.value]


@dataclass(frozen=True)
class Witness:
    """A gradient that leaves the manifold.

    Attributes
    ----------
    theta : mapping of str to list
        The point on the manifold, an entry a parameter tensor (nested lists in its shape).
    x : list of float, length d
        The input.
    direction : list of float, length o
        The combination c of outputs: the field is the gradient of <c, F(theta)(x)>.
    field, normal : float
        Norm of the field, and of its component normal to the manifold.
    coordinate : str
        The parameter in which the normal component is largest, as in ``w[0,1]``.
    """

    theta: Mapping[str, Any]
    x: list[float]
    direction: list[float]
    field: float
    normal: float
    coordinate: str

    def document(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "coordinate": self.coordinate,
            "normal": self.normal,
            "field": self.field,
            "x": self.x,
            "direction": self.direction,
            "theta": dict(self.theta),
        }


@dataclass(frozen=True)
class CheckResult:
    """The check of one manifold.

    Attributes
    ----------
    name : str
        Name of the manifold, or the equations.
    dimension : int
        Its dimension.
    verdict : Verdict
        The outcome.
    reason : str
        Why, with numbers.
    normal : float
        Largest normal component of the gradient family, relative to the field.
    drift : mapping of str to float
        For "gradient-flow" and "gradient-descent" the largest distance from the manifold along a trajectory, in units
        of the distance travelled; NaN where a trajectory did not finish.
    travelled : mapping of str to float
        The median distance travelled.
    witness : Witness or None
        Where the verdict is not-invariant.
    """

    name: str
    dimension: int
    verdict: Verdict
    reason: str
    normal: float
    drift: Mapping[str, float]
    travelled: Mapping[str, float]
    witness: Witness | None = None

    def document(self) -> dict[str, Any]:
        """Return it as plain data; numbers rounded to three digits, the witness in full."""
        return {
            "name": self.name,
            "dimension": self.dimension,
            "verdict": self.verdict.value,
            "reason": self.reason,
            "normal": rounded(self.normal),
            "drift": {key: rounded(value) for key, value in self.drift.items()},
            "travelled": {key: rounded(value) for key, value in self.travelled.items()},
            **({"witness": self.witness.document()} if self.witness else {}),
        }


@dataclass(frozen=True)
class CheckReport:
    """The check of several manifolds.

    Attributes
    ----------
    head : mapping
        Architecture, program and number of parameters.
    check : mapping
        dtype, platform, seed, trials, steps, losses, optimizers, data.
    results : tuple of CheckResult
        One a manifold.
    """

    head: Mapping[str, Any]
    check: Mapping[str, Any]
    results: tuple[CheckResult, ...] = field(repr=False)

    @property
    def passed(self) -> bool:
        """Whether every manifold was invariant in the test."""
        return all(result.verdict is Verdict.INVARIANT for result in self.results)

    def document(self) -> dict[str, Any]:
        """Return the report as plain data (the JSON of ``invman verify``)."""
        return {**self.head, "check": dict(self.check), "results": [result.document() for result in self.results]}


def rounded(value: float) -> float | None:
    """Round to three significant digits; None for what is no finite number.

    Examples
    --------
    >>> rounded(1.23456e-16), rounded(float("nan"))
    (1.23e-16, None)
    """
    return float(f"{value:.2e}") if math.isfinite(value) else None
