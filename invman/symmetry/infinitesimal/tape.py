"""Reverse-mode differentiation modulo a prime: scalars that remember how they were computed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from invman.errors import UnsupportedError
from invman.symmetry.infinitesimal.tower import RedrawError, Tower


class Scalar:
    """A number modulo the primes of a tower, and its place on the tape (-1 for a constant)."""

    __slots__ = ("node", "residues")

    def __init__(self, residues: tuple[int, ...], node: int) -> None:
        self.residues, self.node = residues, node


class Tape:
    """The ring operations of scalars, recorded.

    Parameters
    ----------
    tower : Tower
        The primes; derivatives are taken modulo the first.
    lenient : bool
        Accept square roots that exist modulo the first prime only.
    """

    def __init__(self, tower: Tower, lenient: bool = False) -> None:
        self.tower, self.lenient = tower, lenient
        self.prime = tower.primes[0]
        self.partials: list[tuple[tuple[int, int], ...]] = []

    def variable(self, residues: tuple[int, ...]) -> Scalar:
        """Return a new independent variable."""
        self.partials.append(())
        return Scalar(residues, len(self.partials) - 1)

    def record(self, residues: tuple[int, ...], partials: Sequence[tuple[Scalar, int]]) -> Scalar:
        """Return a scalar with its derivatives, modulo the first prime, with respect to others."""
        kept = tuple((scalar.node, partial) for scalar, partial in partials if scalar.node >= 0)
        if not kept:
            return Scalar(residues, -1)
        self.partials.append(kept)
        return Scalar(residues, len(self.partials) - 1)

    def number(self, value: Fraction) -> Scalar:
        """Embed a rational number."""
        return Scalar(tuple(residue(value, prime) for prime in self.tower.primes), -1)

    def add(self, terms: Sequence[Scalar]) -> Scalar:
        """Add."""
        columns = zip(*(term.residues for term in terms), strict=False)
        sums = tuple(sum(column) % prime for column, prime in zip(columns, self.tower.primes, strict=False))
        return self.record(sums, [(term, 1) for term in terms])

    def multiply(self, factors: Sequence[Scalar]) -> Scalar:
        """Multiply."""
        product = factors[0]
        for factor in factors[1:]:
            pairs = zip(product.residues, factor.residues, self.tower.primes, strict=False)
            residues = tuple(a * b % prime for a, b, prime in pairs)
            product = self.record(residues, [(product, factor.residues[0]), (factor, product.residues[0])])
        return product

    def power(self, base: Scalar, exponent: Fraction) -> Scalar:
        """Raise to a power whose denominator is a power of two.

        Raises
        ------
        RedrawError
            Where a root or an inverse does not exist.
        UnsupportedError
            For other roots.
        """
        top, bottom = exponent.numerator, exponent.denominator
        if bottom & (bottom - 1):
            msg = f"a power of {exponent} in exact arithmetic: got a root of order {bottom}, expected 2, 4, 8, ..."
            raise UnsupportedError(msg)
        while bottom > 1:
            base, bottom = self._sqrt(base), bottom // 2
        if top < 0 and not all(base.residues):
            raise RedrawError
        residues = tuple(pow(v, top, prime) for v, prime in zip(base.residues, self.tower.primes, strict=False))
        slope = top * pow(base.residues[0], top - 1, self.prime) % self.prime if base.residues[0] or top > 0 else 0
        return self.record(residues, [(base, slope)])

    def _sqrt(self, base: Scalar) -> Scalar:
        residues = self.tower.sqrt(base.residues, self.lenient)
        if not residues[0]:
            raise RedrawError
        return self.record(residues, [(base, pow(2 * residues[0], -1, self.prime))])

    def gradient(self, scalar: Scalar) -> list[int]:
        """Return the derivatives of a scalar with respect to everything on the tape, shape (length of the tape,)."""
        prime, adjoint = self.prime, [0] * len(self.partials)
        if scalar.node >= 0:
            adjoint[scalar.node] = 1
        for node in range(scalar.node, -1, -1):
            weight = adjoint[node]
            if weight:
                for parent, partial in self.partials[node]:
                    adjoint[parent] = (adjoint[parent] + weight * partial) % prime
        return adjoint


def residue(value: Fraction, prime: int) -> int:
    """Return a rational number modulo a prime.

    Examples
    --------
    >>> residue(Fraction(1, 2), 7)
    4
    """
    return value.numerator * pow(value.denominator, -1, prime) % prime
