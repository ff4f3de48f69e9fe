"""How likely a wrong identity survives one random evaluation: degrees and sizes of the rational functions involved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from invman.architecture.activations import Activation, Parity
from invman.architecture.program import Program
from invman.architecture.scalars import expand
from invman.symmetry.scalar.modular import BITS
from invman.symmetry.scalar.parities import apply_by_parity


@dataclass(frozen=True)
class Size:
    """Bounds for a quotient of two polynomials with integer coefficients.

    Attributes
    ----------
    top, bottom : int
        Total degrees of numerator and denominator.
    top_bits, bottom_bits : float
        Base-2 logarithms of the sums of the absolute values of their coefficients.
    """

    top: int
    bottom: int = 0
    top_bits: float = 0.0
    bottom_bits: float = 0.0


VARIABLE = Size(1)


class SizeAlgebra:
    """Scalars that are bounds; the value of a function is a new variable.

    Attributes
    ----------
    arguments : list of (str, Size)
        Every function that was applied, and to what.
    """

    def __init__(self) -> None:
        self.arguments: list[tuple[str, Size]] = []
        self.divisors: list[Size] = []

    def number(self, value: Fraction) -> Size:
        """Embed a rational number."""
        return Size(0, 0, _bits(value.numerator), _bits(value.denominator))

    def add(self, terms: Sequence[Size]) -> Size:
        """Add, over the product of the denominators."""
        bottom, bottom_bits = sum(t.bottom for t in terms), sum(t.bottom_bits for t in terms)
        top = max(t.top + bottom - t.bottom for t in terms)
        bits = max(t.top_bits + bottom_bits - t.bottom_bits for t in terms)
        return Size(top, bottom, bits + math.log2(len(terms)), bottom_bits)

    def multiply(self, factors: Sequence[Size]) -> Size:
        """Multiply."""
        return Size(
            sum(f.top for f in factors),
            sum(f.bottom for f in factors),
            sum(f.top_bits for f in factors),
            sum(f.bottom_bits for f in factors),
        )

    def power(self, base: Size, exponent: Fraction) -> Size:
        """Raise to a power."""
        if exponent.denominator != 1:
            base = self.core(f"root {exponent.denominator}", "none", base)
        if exponent < 0:
            self.divisors.append(base)
            base = Size(base.bottom, base.top, base.bottom_bits, base.top_bits)
        return self.multiply([base] * abs(exponent.numerator)) if exponent else Size(0)

    def apply(self, function: Activation, argument: Size) -> Size:
        """Apply an activation."""
        return apply_by_parity(self, function, argument, split=True)

    def core(self, name: str, parity: Parity, argument: Size) -> Size:  # noqa: ARG002 - the protocol of core functions
        """Apply a function: a new variable."""
        self.arguments.append((name, argument))
        return VARIABLE


def survival(program: Program, shift: Sequence[Fraction] = ()) -> float:
    """Bound the probability that two different maps agree at one random point modulo a random prime.

    The two maps are the program at theta and at a signed permutation of it, perhaps shifted, with every function
    replaced by a random function of its parity. They can agree by accident only where one of these happens: a
    difference of two arguments of one function, a sum of them, an argument, or a difference of two outputs vanishes at
    the point although it is not zero as a rational function of parameters, inputs and values of functions (Schwartz
    and Zippel: at most its degree over p); or where all its integer coefficients are divisible by p (at most bits/60
    primes of 61 bits divide a number, and there are more than 2^54 of them). Points at which a denominator vanishes are
    drawn again, which costs at most a factor of two as long as that has probability below one half.

    Parameters
    ----------
    program : Program
        The architecture.
    shift : sequence of Fraction, length D, optional
        The translation of theta.

    Returns
    -------
    float
        The bound; above 1 it says nothing.
    """
    sizes = SizeAlgebra()
    x = [VARIABLE] * program.input_count
    theta = [
        Size(1, 0, math.log2(abs(value.numerator) + value.denominator), math.log2(value.denominator))
        for value in (shift or [Fraction(0)] * program.parameter_count)
    ]
    outputs = expand(program, sizes, theta, x)
    by_name: dict[str, list[Size]] = {}
    for name, argument in sizes.arguments:
        by_name.setdefault(name, []).append(argument)
    total = 0.0
    for arguments in by_name.values():
        count = 2 * len(arguments)  # those of both maps
        total += count * (count + 1) * _vanishing(_difference(arguments))
    total += len(outputs) * _vanishing(_difference(outputs))
    poles = 2 * sum(_vanishing(divisor) for divisor in sizes.divisors)
    return 2 * total if poles < 0.5 else math.inf


def _difference(items: Sequence[Size]) -> Size:
    """Bound the numerator of the difference of any two."""
    top = max(i.top for i in items) + max(i.bottom for i in items)
    bits = 1 + max(i.top_bits for i in items) + max(i.bottom_bits for i in items)
    return Size(top, 0, bits, 0)


def _vanishing(size: Size) -> float:
    return size.top / 2.0 ** (BITS - 1) + (size.top_bits / (BITS - 1) + 1) / 2.0**54


def _bits(value: int) -> float:
    return math.log2(abs(value)) if value else 0.0
