"""What formal transport asks of a kind of truncated power series in t.

A ring makes and combines series; they have the operators ``+ - *`` and the few functions of which every activation is
made. :class:`invman.orbit.balls.BallRing` encloses the true series whatever the rounding;
:class:`invman.orbit.residues.ModularRing` is exact, with more general functions in place of those that are not rational
(see :mod:`invman.symmetry.infinitesimal.functions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

from invman.symmetry.infinitesimal.functions import Symmetry


class Ring(Protocol):
    """Truncated power series over one kind of number."""

    length: int

    def number(self, value: Fraction) -> Any:
        """Return a constant series."""
        ...

    def series(self, coefficients: Sequence[Any]) -> Any:
        """Return the series with these coefficients, lowest first."""
        ...

    def coefficients(self, value: Any) -> list[Any]:
        """Return ``length`` coefficients."""
        ...

    def draw(self) -> Any:
        """Return a random coefficient that is not zero."""
        ...

    def draw_input(self) -> Any:
        """Return a random input that is not zero."""
        ...

    def embed(self, value: Fraction) -> Any:
        """Return a rational number as a coefficient."""
        ...

    def over(self, value: Any, divisor: int) -> Any:
        """Divide a coefficient by a natural number."""
        ...

    def matrix(self, rows: Sequence[Sequence[Any]]) -> Any:
        """Return a matrix of coefficients, with the operators ``+ - *``."""
        ...

    def inverse(self, u: Any) -> Any:
        """Return 1/u."""
        ...

    def root(self, u: Any) -> Any:
        """Return the square root."""
        ...

    def exp(self, u: Any) -> Any:
        """Return the exponential."""
        ...

    def waves(self, u: Any) -> tuple[Any, Any]:
        """Return sine and cosine."""
        ...

    def integrated(self, name: str, symmetry: Symmetry, u: Any, slope: Any) -> Any:
        """Return erf, arctan, log or softplus of u, whose derivative there is ``slope``."""
        ...

    def bell_factor(self) -> Any:
        """Return 2/sqrt(pi)."""
        ...

    def gate(self, name: str, u: Any) -> Any:
        """Return the slope of relu or abs at u."""
        ...
