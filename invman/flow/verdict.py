"""What a check finds about one manifold: a verdict, its numbers, and a witness."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

OPTIMIZERS = ("gradient-flow", "gradient-descent")
"""The optimisers that a check follows."""

FAMILY, LOSS = "field of the gradient family", "loss gradient"
"""The kinds of witnesses."""


class Verdict(enum.Enum):
    """What a numerical check can say about one manifold; none of it is a proof."""

    INVARIANT_IN_TEST = "invariant-in-test"
    NOT_INVARIANT = "not-invariant"
    INCONCLUSIVE = "inconclusive"

    @property
    def advice(self) -> str:
        """What to do with this verdict, in one sentence."""
        return _ADVICE[self]


_ADVICE = {
    Verdict.INVARIANT_IN_TEST: (
        "Every sampled gradient was tangent and every trajectory stayed; this is evidence at sampled points, so ask "
        "for a certificate where you need a proof."
    ),
    Verdict.NOT_INVARIANT: (
        "A gradient leaves the manifold at the witness point, so training leaves it; recompute the gradient there to "
        "see it, and look at the named coordinate for the missing equation."
    ),
    Verdict.INCONCLUSIVE: (
        "The numbers decide nothing; read the reason, then try float64, more trials, a smaller spread, or a shorter "
        "horizon."
    ),
}


@dataclass(frozen=True)
class Witness:
    """A point of the manifold at which a gradient has a normal component.

    Attributes
    ----------
    kind : str
        ``FAMILY`` (input and direction are given) or ``LOSS`` (loss, optimizer and time are).
    trial : int
        Which random start.
    point : tuple of float, length D
        The parameters, with all digits.
    coordinate : str
        Where the normal component is largest.
    normal : float
        The relative normal component.
    field_norm, normal_norm : float
        Norm of the gradient and of its normal component.
    input, direction : tuple of float, optional
        x (d,) and c (o,) of the field ``grad <c, F(theta)(x)>``.
    loss, optimizer : str, optional
        Of the trajectory on which the point was found.
    time : float, optional
        Flow time or number of steps at the point.
    """

    kind: str
    trial: int
    point: tuple[float, ...]
    coordinate: str
    normal: float
    field_norm: float
    normal_norm: float
    input: tuple[float, ...] | None = None
    direction: tuple[float, ...] | None = None
    loss: str | None = None
    optimizer: str | None = None
    time: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data without what does not apply; the point, input and direction with all digits."""
        found = {
            "kind": self.kind,
            "trial": self.trial,
            "coordinate": self.coordinate,
            "normal": rounded(self.normal),
            "field_norm": rounded(self.field_norm),
            "normal_norm": rounded(self.normal_norm),
            "loss": self.loss,
            "optimizer": self.optimizer,
            "time": self.time,
            "input": None if self.input is None else list(self.input),
            "direction": None if self.direction is None else list(self.direction),
            "point": list(self.point),
        }
        return {key: value for key, value in found.items() if value is not None}


@dataclass(frozen=True)
class CheckResult:
    """What was found about one manifold.

    Attributes
    ----------
    verdict : Verdict
        The verdict.
    reason : str
        Why, with numbers.
    normal : float or None
        Largest normal component of a gradient at a point of the manifold, relative to the gradient.
    drift : mapping of str to (float or None)
        For each optimiser the largest distance from the manifold in units of the distance travelled; None where a
        trajectory did not finish.
    distance : mapping of str to (float or None)
        For each optimiser the shortest distance travelled by a trial, in parameter space.
    witness : Witness or None
        Only where the manifold is not invariant.
    """

    verdict: Verdict
    reason: str
    normal: float | None
    drift: Mapping[str, float | None]
    distance: Mapping[str, float | None]
    witness: Witness | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data with stable keys; numbers for display have three digits."""
        return {
            "verdict": self.verdict.value,
            "reason": self.reason,
            "normal": rounded(self.normal),
            "drift": {name: rounded(self.drift[name]) for name in OPTIMIZERS},
            "distance": {name: rounded(self.distance[name]) for name in OPTIMIZERS},
            "witness": None if self.witness is None else self.witness.to_dict(),
        }


def rounded(value: float | None) -> float | None:
    """Keep three significant digits; what is no finite number becomes None.

    Examples
    --------
    >>> rounded(1.23456e-9), rounded(float("nan"))
    (1.23e-09, None)
    """
    return float(f"{value:.3g}") if value is not None and math.isfinite(value) else None
