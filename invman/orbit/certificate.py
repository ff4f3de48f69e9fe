"""What is known of the size of an orbit, from below and from above, and how it is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from typing import Any

from invman.architecture.program import Program
from invman.errors import ContradictionError

CITATIONS = (
    "Zhao, Luo, Zhang: structural invariant manifolds of neural networks, arXiv:2510.09564 (orbits, Hermann-Nagano)",
    "Sontag: Universal nonsingular controls, Systems Control Lett. 19 (1992) 221-224 (one generic control suffices)",
)


@dataclass(frozen=True)
class Bound:
    """A bound of the dimension of an orbit.

    Attributes
    ----------
    value : int
        The dimension.
    method : str
        How it was obtained, one sentence.
    arithmetic : str
        Precision of the balls, or the prime, or "integers".
    manifold : str or None
        Name of the manifold that bounds the orbit, for an upper bound that comes from one.
    error : float
        Probability that the random choices made it wrong; 0 for a theorem.
    """

    value: int
    method: str
    arithmetic: str = "integers"
    manifold: str | None = None
    error: float = 0.0

    def document(self) -> dict[str, Any]:
        """Return the bound as plain data."""
        return {
            "value": self.value,
            "method": self.method,
            "arithmetic": self.arithmetic,
            "manifold": self.manifold,
            "error": self.error,
        }


@dataclass(frozen=True)
class NumericalRank:
    """A rank in floating point: evidence, no bound.

    Attributes
    ----------
    rank : int
        Singular values above the tolerance.
    profile : tuple of int
        Rank by order.
    gap : float
        Ratio of the last singular value that counts to the first that does not; infinite where all count.
    """

    rank: int
    profile: tuple[int, ...]
    gap: float


@dataclass(frozen=True)
class Certificate:
    """The dimension of the orbit of a point, bounded from both sides.

    Attributes
    ----------
    program : Program
        The architecture.
    theta : tuple of D Fractions
        The point.
    place : str or None
        Name of the manifold on which the point was drawn, if it was.
    lower, upper : Bound
        The dimension is at least and at most this.
    profile : tuple of int
        Rank that is proved by order of formal transport; order n holds brackets of length n + 1.
    seed : int
        Of all random choices.
    numerical : NumericalRank or None
        What floating point gave, where it was asked.

    Raises
    ------
    ContradictionError
        The lower bound is above the upper one: one of the two is wrong.
    """

    program: Program
    theta: tuple[Fraction, ...]
    place: str | None
    lower: Bound
    upper: Bound
    profile: tuple[int, ...]
    seed: int
    numerical: NumericalRank | None = field(default=None)

    def __post_init__(self) -> None:
        if self.lower.value > self.upper.value:
            msg = (
                f"orbit of a point of {self.program!r}, seed {self.seed}: got the lower bound {self.lower.value} "
                f"({self.lower.method}) above the upper bound {self.upper.value} ({self.upper.method}); expected the "
                "opposite, so one of the two is wrong. Please report the architecture, the point and the seed"
            )
            raise ContradictionError(msg)

    @property
    def exact(self) -> bool:
        """Whether the bounds meet."""
        return self.lower.value == self.upper.value

    @property
    def dimension(self) -> int | None:
        """The dimension of the orbit, where it is known exactly."""
        return self.lower.value if self.exact else None

    @property
    def interval(self) -> str:
        """The dimension, or the interval that holds it."""
        return f"{self.lower.value}" if self.exact else f"{self.lower.value} to {self.upper.value}"

    def __repr__(self) -> str:
        """Say how large the orbit is."""
        return f"Certificate({self.program!r}, dimension={self.interval}, of {self.program.parameter_count})"

    def citation(self) -> str:
        """Return the sources of the theory behind the bounds, one a line."""
        return "\n".join(CITATIONS)

    def document(self) -> dict[str, Any]:
        """Return the certificate as plain data: bounds, profile, seed, the point as strings of exact fractions."""
        found = self.numerical
        return {
            "lower": self.lower.document(),
            "upper": self.upper.document(),
            "exact": self.exact,
            "profile": list(self.profile),
            "seed": self.seed,
            "place": self.place,
            "point": [str(value) for value in self.theta],
            "numerical": None
            if found is None
            else {
                "rank": found.rank,
                "profile": list(found.profile),
                "gap": found.gap if isfinite(found.gap) else None,
            },
        }
