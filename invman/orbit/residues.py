"""Power series modulo a random prime, with stand-ins for functions that are not rational."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import nmod_mat, nmod_poly

from invman.symmetry.infinitesimal.algebra import FieldAlgebra, draw
from invman.symmetry.infinitesimal.functions import Symmetry
from invman.symmetry.infinitesimal.tape import Scalar, residue
from invman.symmetry.infinitesimal.tower import RedrawError, Tower


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
