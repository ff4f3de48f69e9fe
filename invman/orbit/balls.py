"""Power series over real balls: every result is an enclosure, so what is shown of it is a theorem."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat, arb_series, ctx, fmpq

from invman.symmetry.infinitesimal.functions import Symmetry
from invman.symmetry.infinitesimal.tower import RedrawError

SPAN = 2**30
"""Random rational numbers are whole multiples of 1/SPAN between -1 and 1: too many to meet a kink by chance."""


class BallRing:
    """Truncated power series over real balls.

    Parameters
    ----------
    length : int
        Number of coefficients.
    bits : int
        Precision.
    seed : int
        Of the random numbers.
    shrink : int
        Random inputs are divided by two to this power, which keeps neurons with large weights from saturating.
    spread : int
        Random inputs are multiplied by two to a random power up to this, so that they reach many activation regions.
    """

    def __init__(self, length: int, bits: int, seed: int, shrink: int = 0, spread: int = 0) -> None:
        self.length, self.bits, self.shrink, self.spread = length, bits, shrink, spread
        self.rng = np.random.default_rng(seed)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Set precision and truncation, which the library keeps globally, and restore them."""
        before = ctx.prec, ctx.cap
        ctx.prec, ctx.cap = self.bits, self.length
        try:
            yield
        finally:
            ctx.prec, ctx.cap = before

    def number(self, value: Fraction) -> arb_series:
        """Return a constant series."""
        return arb_series([self.embed(value)])

    def series(self, coefficients: Sequence[Any]) -> arb_series:
        """Return the series with these coefficients."""
        return arb_series(list(coefficients))

    def coefficients(self, value: arb_series) -> list[Any]:
        """Return ``length`` coefficients."""
        found = value.coeffs()[: self.length]
        return found + [arb(0)] * (self.length - len(found))

    def draw(self) -> arb:
        """Return a random multiple of 2^-30 in [-1, 1] that is not zero."""
        size = int(self.rng.integers(1, SPAN + 1)) * (1 - 2 * int(self.rng.integers(2)))
        return self.embed(Fraction(size, SPAN))

    def draw_input(self) -> arb:
        """Return a random input."""
        with self.active():
            larger = int(self.rng.integers(self.spread + 1)) if self.spread else 0
            return self.draw() * 2**larger / 2**self.shrink

    def embed(self, value: Fraction) -> arb:
        """Return a ball that holds a rational number."""
        with self.active():
            return arb(fmpq(value.numerator, value.denominator))

    def over(self, value: arb, divisor: int) -> arb:
        """Divide by a natural number."""
        with self.active():
            return value / divisor

    def matrix(self, rows: Sequence[Sequence[Any]]) -> arb_mat:
        """Return a matrix of balls."""
        return arb_mat([list(row) for row in rows])

    def inverse(self, u: arb_series) -> arb_series:
        """Return 1/u."""
        return _finite(u.inv)

    def root(self, u: arb_series) -> arb_series:
        """Return the square root."""
        return _finite(u.sqrt)

    def exp(self, u: arb_series) -> arb_series:
        """Return the exponential."""
        return _finite(u.exp)

    def waves(self, u: arb_series) -> tuple[arb_series, arb_series]:
        """Return sine and cosine."""
        return u.sin(), u.cos()

    def integrated(self, name: str, symmetry: Symmetry, u: arb_series, slope: arb_series) -> arb_series:
        """Return erf, arctan, log or softplus."""
        del symmetry, slope
        if name == "softplus":
            return _finite((u.exp() + 1).log)
        return _finite({"erf": u.erf, "arctan": u.atan, "log": u.log}[name])

    def bell_factor(self) -> arb_series:
        """Return 2/sqrt(pi)."""
        return arb_series([2 / arb.pi().sqrt()])

    def gate(self, name: str, u: arb_series) -> arb_series:
        """Return the slope of relu or abs: 0 where u vanishes for ever, and a redraw at a kink."""
        start = self.coefficients(u)[0]
        if start > 0:
            return self.number(Fraction(1))
        if start < 0:
            return self.number(Fraction(-1 if name == "abs" else 0))
        if all(c.is_zero() for c in u.coeffs()):
            return self.number(Fraction(0))
        raise RedrawError


def _finite(function: Any) -> Any:
    """Evaluate; where the value is not finite (a pole, the log of a negative number) another point must be drawn."""
    try:
        value = function()
    except (ZeroDivisionError, ValueError):
        raise RedrawError from None
    if not all(c.is_finite() for c in value.coeffs()):
        raise RedrawError
    return value
