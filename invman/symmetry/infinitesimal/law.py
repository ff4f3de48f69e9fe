"""One conservation law: an exact polynomial in the parameters, in LaTeX, in Python, and evaluated."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from invman.architecture.latex import latex_map
from invman.architecture.program import Add, Expr, Index, Mul, Number, Power, Program, Ref, Statement
from invman.architecture.summation import MINUS
from invman.symmetry.infinitesimal.modular import primitive
from invman.symmetry.infinitesimal.tape import residue

Monomial = tuple[tuple[int, int], ...]
"""Pairs of a parameter's position and its exponent, sorted by position."""


@dataclass(frozen=True)
class Law:
    """A polynomial in theta that every gradient flow of the architecture conserves.

    Attributes
    ----------
    terms : tuple of (Monomial, Fraction)
        Without a constant term; lower degrees first.
    """

    terms: tuple[tuple[Monomial, Fraction], ...]

    @classmethod
    def of(cls, terms: Mapping[Monomial, Fraction]) -> Law:
        """Scale a polynomial to a readable form: a linear part, or else all, of coprime integers.

        Examples
        --------
        >>> Law.of({((0, 2),): Fraction(-1), ((1, 1),): Fraction(2)}).terms
        ((((1, 1),), Fraction(1, 1)), (((0, 2),), Fraction(-1, 2)))
        """
        kept = sorted((item for item in terms.items() if item[1]), key=lambda item: (_degree(item[0]), item[0]))
        leading = [value for monomial, value in kept if _degree(monomial) == 1] or [value for _, value in kept]
        factor = primitive(leading)[0] / leading[0] if leading else Fraction(1)
        return cls(tuple((monomial, value * factor) for monomial, value in kept))

    @property
    def degree(self) -> int:
        """Total degree."""
        return max((_degree(monomial) for monomial, _ in self.terms), default=0)

    def __mul__(self, other: Law) -> Law:
        """Return the product of two laws, which is a law."""
        terms: dict[Monomial, Fraction] = {}
        for (left, a), (right, b) in itertools.product(self.terms, other.terms):
            exponents: dict[int, int] = dict(left)
            for position, exponent in right:
                exponents[position] = exponents.get(position, 0) + exponent
            monomial = tuple(sorted(exponents.items()))
            terms[monomial] = terms.get(monomial, Fraction(0)) + a * b
        return Law.of(terms)

    def value(self, theta: Sequence[Any]) -> Any:
        """Evaluate at a point.

        Parameters
        ----------
        theta : sequence of D numbers
            Fractions and integers give exact results, floats give floats.
        """
        total = 0 * theta[0]
        for monomial, coefficient in self.terms:
            product = coefficient.numerator * theta[0] ** 0
            for position, exponent in monomial:
                product = product * theta[position] ** exponent
            total = total + (product if coefficient.denominator == 1 else _divide(product, coefficient.denominator))
        return total

    def gradient(self, theta: Sequence[Any]) -> list[Any]:
        """Return the gradient at a point, a list of D numbers."""
        return [self._derivative(i).value(theta) for i in range(len(theta))]

    def residues(self, theta: Sequence[int], prime: int) -> list[int]:
        """Return the gradient at a point modulo a prime, a list of D residues."""
        gradient = [0] * len(theta)
        for monomial, coefficient in self.terms:
            for position, exponent in monomial:
                product = residue(coefficient, prime) * exponent
                for other, power in monomial:
                    product = product * pow(theta[other], power - (other == position), prime) % prime
                gradient[position] = (gradient[position] + product) % prime
        return gradient

    def python(self, program: Program) -> str:
        """Write the law as a Python expression in arrays that are named as the parameters.

        Examples
        --------
        >>> from invman.architecture import read_architecture
        >>> law = Law.of({((0, 2),): Fraction(1), ((1, 2),): Fraction(-1)})
        >>> law.python(read_architecture("1-1identity-1"))
        'w[0,0]**2 - a[0]**2'
        """
        text = ""
        for monomial, value in self.terms:
            size = abs(value)
            factors = [program.coordinate(i) + (f"**{exponent}" if exponent > 1 else "") for i, exponent in monomial]
            product = "*".join([str(size.numerator)] * (size.numerator != 1) + factors)
            text += (" - " if text else "-") if value < 0 else " + " if text else ""
            text += product + (f"/{size.denominator}" if size.denominator > 1 else "")
        return text or "0"

    def latex(self, program: Program) -> str:
        r"""Write the law in LaTeX.

        Examples
        --------
        >>> from invman.architecture import read_architecture
        >>> law = Law.of({((0, 2),): Fraction(1), ((1, 2),): Fraction(-1)})
        >>> law.latex(read_architecture("1-1identity-1"))
        '{w_{0,0}}^{2} - {a_{0}}^{2}'
        """
        shown = latex_map(replace(program, statements=(Statement("Q", (), self.expression(program)),)))
        return shown.partition(" & = & ")[2].rpartition("\n")[0]

    def expression(self, program: Program) -> Expr:
        """Return the law in the nodes of :mod:`invman.architecture.program`."""
        terms = tuple(_product(program, monomial, value) for monomial, value in self.terms)
        if not terms:
            return Number(Fraction(0))
        return terms[0] if len(terms) == 1 else Add(terms)

    def _derivative(self, position: int) -> Law:
        terms = []
        for monomial, value in self.terms:
            exponent = dict(monomial).get(position, 0)
            if exponent:
                lowered = tuple((i, e - (i == position)) for i, e in monomial if e > (i == position))
                terms.append((lowered, value * exponent))
        return Law(tuple(terms))


def _degree(monomial: Monomial) -> int:
    return sum(exponent for _, exponent in monomial)


def _divide(value: Any, divisor: int) -> Any:
    return Fraction(value, divisor) if isinstance(value, int | Fraction) else value / divisor


def _product(program: Program, monomial: Monomial, value: Fraction) -> Expr:
    factors: list[Expr] = [MINUS] if value < 0 else []
    if abs(value.numerator) != 1:
        factors.append(Number(Fraction(abs(value.numerator))))
    for position, exponent in monomial:
        entry = _entry(program, position)
        factors.append(entry if exponent == 1 else Power(entry, Fraction(exponent)))
    if value.denominator > 1:
        factors.append(Number(Fraction(1, value.denominator)))
    return factors[0] if len(factors) == 1 else Mul(tuple(factors))


def _entry(program: Program, position: int) -> Ref:
    """Return the parameter at a position of theta, read at fixed indices."""
    for tensor in program.parameters:
        if position < tensor.size:
            digits: list[int] = []
            for size in reversed(tensor.shape):
                position, digit = divmod(position, size)
                digits.append(digit)
            return Ref(tensor.name, tuple(Index((), digit) for digit in reversed(digits)))
        position -= tensor.size
    msg = f"a law in {program.parameter_count} parameters at most, got one of another architecture"
    raise IndexError(msg)
