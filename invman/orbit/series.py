"""Power series in t over two kinds of numbers: real balls, and residues modulo a prime.

A ring makes and combines truncated series; both have the operators ``+ - *`` and the few functions of which every
activation is made. A ball series encloses the true one, whatever the rounding. A modular series is exact; functions
that are not rational are stood in for by more general ones (see :mod:`invman.symmetry.infinitesimal.functions`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from flint import arb, arb_mat, arb_series, ctx, fmpq, nmod_mat, nmod_poly

from invman.symmetry.infinitesimal.algebra import FieldAlgebra, draw
from invman.symmetry.infinitesimal.functions import Symmetry
from invman.symmetry.infinitesimal.tape import Scalar, residue
from invman.symmetry.infinitesimal.tower import RedrawError, Tower

SPAN = 2**30
"""Random rational numbers are whole multiples of 1/SPAN between -1 and 1: too many to meet a kink by chance."""


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


class BallRing:
    """Series over real balls: every result is an enclosure, so what is shown of it is a theorem.

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
    """

    def __init__(self, length: int, bits: int, seed: int, shrink: int = 0) -> None:
        self.length, self.bits, self.shrink = length, bits, shrink
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
            return self.draw() / 2**self.shrink

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


class Residues:
    """A series modulo the first prime of a tower; its constant term modulo the others too, for exponentials."""

    __slots__ = ("poly", "ring", "tail")

    def __init__(self, ring: ModularRing, poly: nmod_poly, tail: tuple[int, ...]) -> None:
        self.ring, self.poly, self.tail = ring, poly, tail

    def _other(self, other: Residues | int) -> Residues:
        return other if isinstance(other, Residues) else self.ring.number(Fraction(other))

    def __add__(self, other: Residues | int) -> Residues:
        """Add."""
        b = self._other(other)
        tail = tuple((v + w) % p for v, w, p in zip(self.tail, b.tail, self.ring.small, strict=False))
        return Residues(self.ring, self.poly + b.poly, tail)

    def __mul__(self, other: Residues | int) -> Residues:
        """Multiply, dropping what is beyond the last coefficient."""
        b = self._other(other)
        tail = tuple(v * w % p for v, w, p in zip(self.tail, b.tail, self.ring.small, strict=False))
        return Residues(self.ring, self.poly.mul_low(b.poly, self.ring.length), tail)

    def __neg__(self) -> Residues:
        """Negate."""
        return self * -1

    def __sub__(self, other: Residues | int) -> Residues:
        """Subtract."""
        return self + (-self._other(other))

    def __rsub__(self, other: int) -> Residues:
        """Subtract from a whole number."""
        return self._other(other) - self

    __radd__, __rmul__ = __add__, __mul__


class ModularRing:
    """Series modulo a random prime of about 61 bits, with the stand-ins of a tower of primes.

    Parameters
    ----------
    length : int
        Number of coefficients.
    tower : Tower
        The primes.
    seed : int
        Of the random numbers and the random functions.
    """

    def __init__(self, length: int, tower: Tower, seed: int) -> None:
        self.length, self.tower = length, tower
        self.prime, self.small = tower.primes[0], tower.primes[1:]
        self.rng = np.random.default_rng([seed, 1])
        self.constants = FieldAlgebra(tower, f"invman {seed}".encode(), self.rng)
        self.gates: dict[tuple[str, tuple[int, ...]], tuple[int, ...]] = {}

    def _lift(self, residues: Sequence[int]) -> Residues:
        return Residues(self, nmod_poly([residues[0]], self.prime), tuple(residues[1:]))

    def number(self, value: Fraction) -> Residues:
        """Return a constant series."""
        return self._lift([residue(value, prime) for prime in self.tower.primes])

    def series(self, coefficients: Sequence[Any]) -> Residues:
        """Return the series with these coefficients, numbers or residues modulo all primes."""
        residues = [c if isinstance(c, tuple) else (int(c),) for c in coefficients]
        return Residues(self, nmod_poly([c[0] for c in residues], self.prime), residues[0][1:])

    def coefficients(self, value: Residues) -> list[Any]:
        """Return ``length`` residues."""
        found = [int(c) for c in value.poly.coeffs()[: self.length]]
        return found + [0] * (self.length - len(found))

    def draw(self) -> tuple[int, ...]:
        """Return residues of a random number, none of them zero."""
        return draw(self.rng, self.tower)

    def draw_input(self) -> tuple[int, ...]:
        """Return residues of a random input."""
        return self.draw()

    def embed(self, value: Fraction) -> tuple[int, ...]:
        """Return the residues of a rational number."""
        return tuple(residue(value, prime) for prime in self.tower.primes)

    def over(self, value: int, divisor: int) -> int:
        """Divide by a natural number."""
        return value * pow(divisor, -1, self.prime) % self.prime

    def matrix(self, rows: Sequence[Sequence[Any]]) -> nmod_mat:
        """Return a matrix of residues."""
        return nmod_mat(len(rows), len(rows[0]), [int(v) for row in rows for v in row], self.prime)

    def inverse(self, u: Residues) -> Residues:
        """Return 1/u."""
        if not int(u.poly[0]) or not all(u.tail):
            raise RedrawError
        tail = tuple(pow(v, -1, prime) for v, prime in zip(u.tail, self.small, strict=False))
        return Residues(self, u.poly.inverse_series_trunc(self.length), tail)

    def root(self, u: Residues) -> Residues:
        """Return the square root that is known for the constant term, continued.

        Residues modulo the smaller primes are lost from the first without a root on: exponentials of them are random.
        """
        head = self.tower.sqrt((int(u.poly[0]), *u.tail), lenient=True)
        if not head[0]:
            raise RedrawError
        wanted, found, half = self.coefficients(u), [head[0]], pow(2 * head[0], -1, self.prime)
        for n in range(1, self.length):
            cross = sum(found[m] * found[n - m] for m in range(1, n))
            found.append((wanted[n] - cross) * half % self.prime)
        return Residues(self, nmod_poly(found, self.prime), head[1:])

    def _constant(self, u: Residues) -> Scalar:
        return Scalar((int(u.poly[0]), *u.tail), -1)

    def exp(self, u: Residues) -> Residues:
        """Return the exponential: y' = u' y, from the exponential of the constant term."""
        head = self.constants.exp(self._constant(u)).residues
        v, found = self.coefficients(u), [head[0]]
        for n in range(1, self.length):
            total = sum(m * v[m] * found[n - m] for m in range(1, n + 1))
            found.append(self.over(total % self.prime, n))
        return Residues(self, nmod_poly(found, self.prime), head[1:])

    def waves(self, u: Residues) -> tuple[Residues, Residues]:
        """Return sine and cosine, from exponentials of i u."""
        i = self._lift(self.tower.units)
        forth, half = self.exp(i * u), self.number(Fraction(1, 2))
        back = self.exp(-(i * u))
        return -(half * i * (forth - back)), half * (forth + back)

    def integrated(self, name: str, symmetry: Symmetry, u: Residues, slope: Residues) -> Residues:
        """Return a random function with the given symmetry and derivative: f(u)' = slope u'."""
        head = self.constants.random(name, symmetry, self._constant(u), Scalar((0,), -1)).residues
        tail = (slope.poly * u.poly.derivative()).integral().truncate(self.length)
        return Residues(self, tail + head[0], head[1:])

    def bell_factor(self) -> Residues:
        """Return a random constant."""
        return self._lift(self.constants.transcendental("2/sqrt(pi)").residues)

    def gate(self, name: str, u: Residues) -> Residues:
        """Return a random factor (the path model), one for every function and value of its argument."""
        key = name, self._constant(u).residues
        if key not in self.gates:
            self.gates[key] = self.draw()
        return self._lift(self.gates[key])
