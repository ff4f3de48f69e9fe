"""What exact arithmetic has to expect of a program: nesting of exponentials, degrees, kinds of functions.

The degrees bound, by the lemma of Schwartz and Zippel, how often a non-zero derivative vanishes at a random point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import NamedTuple

from invman.architecture.activations import Activation
from invman.architecture.program import Program
from invman.architecture.scalars import BUDGET, expand
from invman.symmetry.infinitesimal.functions import Symmetry, apply


class Degree(NamedTuple):
    """Degrees of numerator and denominator."""

    above: int
    below: int

    def times(self, other: Degree) -> Degree:
        """Return the degree of a product."""
        return Degree(self.above + other.above, self.below + other.below)

    def plus(self, other: Degree) -> Degree:
        """Return the degree of a sum, over the product of the denominators."""
        return Degree(max(self.above + other.below, other.above + self.below), self.below + other.below)


class Size(NamedTuple):
    """Degrees of a scalar and of its derivatives, and how many exponentials are nested in it."""

    value: Degree
    slope: Degree
    depth: int


@dataclass(frozen=True)
class Census:
    """Summary of a program.

    Attributes
    ----------
    depth : int
        Largest number of nested exponentials.
    degree : int
        Largest degree of the numerator of a derivative of an output, exponentials counted as variables.
    kinds : frozenset of {"root", "exp", "random", "gate"}
        Which primitives occur.
    """

    depth: int
    degree: int
    kinds: frozenset[str]


def take_census(program: Program, budget: int = BUDGET) -> Census:
    """Bound depth and degrees of a program.

    Parameters
    ----------
    program : Program
        The architecture.
    budget : int
        Largest number of scalar operations of one evaluation.

    Returns
    -------
    Census

    Raises
    ------
    OverBudgetError
        When one evaluation takes more operations than the budget.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> take_census(read_architecture("2-3square-1"))
    Census(depth=0, degree=4, kinds=frozenset())
    """
    algebra, leaf = _Counting(), Size(Degree(1, 0), Degree(0, 0), 0)
    outputs = expand(program, algebra, [leaf] * program.parameter_count, [leaf] * program.input_count, budget)
    depth = max(max((size.depth for size in outputs), default=0), algebra.deepest)
    degree = max((size.slope.above for size in outputs), default=0)
    return Census(depth, degree, frozenset(algebra.kinds))


class _Counting:
    """The algebra of sizes."""

    def __init__(self) -> None:
        self.kinds: set[str] = set()
        self.deepest = 0

    def number(self, value: Fraction) -> Size:
        del value
        return Size(Degree(0, 0), Degree(0, 0), 0)

    def add(self, terms: Sequence[Size]) -> Size:
        return reduce(lambda a, b: Size(a[0].plus(b[0]), a[1].plus(b[1]), max(a[2], b[2])), terms)

    def multiply(self, factors: Sequence[Size]) -> Size:
        return reduce(_product, factors)

    def power(self, base: Size, exponent: Fraction) -> Size:
        if exponent.denominator > 1:
            self.kinds.add("root")  # a root counts as a variable of the degree of what is below it
        size = abs(exponent.numerator)
        value, lower = _scaled(base.value, size), _scaled(base.value, size - 1)
        if exponent < 0:
            value, lower = (
                Degree(value.below, value.above),
                _scaled(Degree(base.value.below, base.value.above), size + 1),
            )
        return Size(value, lower.times(base.slope), base.depth)

    def apply(self, function: Activation, argument: Size) -> Size:
        return apply(self, function, argument)

    def exp(self, argument: Size) -> Size:
        self.kinds.add("exp")
        self.deepest = max(self.deepest, argument.depth + 1)
        return Size(Degree(1, 1), Degree(1, 1).times(argument.slope), argument.depth + 1)

    def imaginary(self) -> Size:
        return self.number(Fraction(0))

    def random(self, name: str, symmetry: Symmetry, argument: Size, slope: Size) -> Size:
        del name, symmetry
        self.kinds.add("random")
        return Size(Degree(1, 0), slope.value.times(argument.slope), argument.depth)

    def transcendental(self, name: str) -> Size:
        del name
        return Size(Degree(1, 0), Degree(0, 0), 0)

    def gate(self, name: str, argument: Size) -> Size:
        del name
        self.kinds.add("gate")
        return _product(Size(Degree(1, 0), Degree(0, 0), 0), argument)


def _product(a: Size, b: Size) -> Size:
    slope = a.slope.times(b.value).plus(a.value.times(b.slope))
    return Size(a.value.times(b.value), slope, max(a.depth, b.depth))


def _scaled(degree: Degree, factor: int) -> Degree:
    return Degree(degree.above * factor, degree.below * factor)
