"""The architecture as one small tensor program: named axes, tensors, statements.

A program is a list of statements ``name[axes] = expression`` over named axes, each with one size. Expressions are
trees of the few nodes below; every summation is explicit in them. What is read but never defined, and is neither an
input nor a constant, is a parameter. The text form of a program is in :mod:`invman.architecture.text`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from invman.architecture.activations import Activation


@dataclass(frozen=True)
class Index:
    """An affine index ``offset + sum(coefficient * axis)``; a plain axis nearly always.

    Attributes
    ----------
    terms : tuple of (str, int)
        Axis names with non-zero coefficients, in the order written.
    offset : int
        The constant part.
    """

    terms: tuple[tuple[str, int], ...]
    offset: int = 0

    @property
    def axis(self) -> str | None:
        """The axis, when the index is nothing but an axis; else None."""
        if self.offset == 0 and len(self.terms) == 1 and self.terms[0][1] == 1:
            return self.terms[0][0]
        return None


@dataclass(frozen=True)
class Number:
    """An exact rational constant."""

    value: Fraction


@dataclass(frozen=True)
class Ref:
    """A tensor read at indices."""

    tensor: str
    indices: tuple[Index, ...] = ()


@dataclass(frozen=True)
class Add:
    """A sum of at least two terms."""

    terms: tuple[Expr, ...]


@dataclass(frozen=True)
class Mul:
    """A product of at least two factors."""

    factors: tuple[Expr, ...]


@dataclass(frozen=True)
class Power:
    """A rational power; -1 is division and 1/2 the square root (of what is positive)."""

    base: Expr
    exponent: Fraction


@dataclass(frozen=True)
class Sum:
    """The sum, or the mean, of the body over axes."""

    axes: tuple[str, ...]
    body: Expr
    mean: bool = False


@dataclass(frozen=True)
class Apply:
    """An activation applied to every entry."""

    function: Activation
    argument: Expr


@dataclass(frozen=True)
class Softmax:
    """The softmax over one axis, restricted to entries with ``axis <= until`` where a causal mask is given."""

    axis: str
    argument: Expr
    until: str | None = None


Expr = Number | Ref | Add | Mul | Power | Sum | Apply | Softmax


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the direct sub-expressions."""
    match expr:
        case Add(terms):
            return terms
        case Mul(factors):
            return factors
        case Power(base, _):
            return (base,)
        case Sum(_, body, _):
            return (body,)
        case Apply(_, argument) | Softmax(_, argument, _):
            return (argument,)
        case _:
            return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield the expression and everything below it, outermost first."""
    yield expr
    for child in children(expr):
        yield from walk(child)


def free_axes(expr: Expr) -> tuple[str, ...]:
    """Return the axes over which an expression varies, in order of first occurrence."""
    seen: dict[str, None] = {}
    _collect_free(expr, frozenset(), seen)
    return tuple(seen)


def _collect_free(expr: Expr, bound: frozenset[str], seen: dict[str, None]) -> None:
    match expr:
        case Ref(_, indices):
            names = (axis for index in indices for axis, _ in index.terms)
            seen.update((name, None) for name in names if name not in bound)
        case Sum(axes, body, _):
            _collect_free(body, bound | set(axes), seen)
        case Softmax(axis, argument, until):
            seen.update((name, None) for name in (axis, until) if name is not None and name not in bound)
            _collect_free(argument, bound, seen)
        case _:
            for child in children(expr):
                _collect_free(child, bound, seen)


@dataclass(frozen=True)
class Tensor:
    """A named array: its axes and its shape.

    Attributes
    ----------
    name : str
        As in the program.
    axes : tuple of (str or None)
        Name of the axis at each position; None where the tensor is only read through affine indices.
    shape : tuple of int
        Sizes of the positions.
    """

    name: str
    axes: tuple[str | None, ...]
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of entries."""
        return math.prod(self.shape)

    def entry(self, position: int) -> str:
        """Name the entry at a flat C-order position, as in ``w[0,1]``."""
        if not self.shape:
            return self.name
        digits: list[int] = []
        for size in reversed(self.shape):
            position, digit = divmod(position, size)
            digits.append(digit)
        return f"{self.name}[{','.join(map(str, reversed(digits)))}]"


@dataclass(frozen=True)
class Constant:
    """A tensor of fixed rational numbers, flat in C order."""

    tensor: Tensor
    values: tuple[Fraction, ...]


@dataclass(frozen=True)
class Statement:
    """``name[axes] = expr``."""

    name: str
    axes: tuple[str, ...]
    expr: Expr


@dataclass(frozen=True, eq=False)
class Program:
    """An architecture: the map F(theta)(x) as a program over named axes.

    Two programs are equal when they print the same program text; the short form they came from does not matter.

    Attributes
    ----------
    sizes : mapping of str to int
        Size of each axis.
    inputs, parameters : tuple of Tensor
        What x and theta consist of; theta is the concatenation of the parameters in this order, each in C order.
    constants : tuple of Constant
        Fixed tensors.
    statements : tuple of Statement
        In an order in which each reads only what stands before it.
    outputs : tuple of str
        Names of the statements that make up F.
    notation : str or None
        The short form it came from, if any; what repr prints.
    """

    sizes: Mapping[str, int]
    inputs: tuple[Tensor, ...]
    parameters: tuple[Tensor, ...]
    constants: tuple[Constant, ...]
    statements: tuple[Statement, ...]
    outputs: tuple[str, ...]
    notation: str | None = field(default=None)

    @cached_property
    def text(self) -> str:
        """The program in index notation; parsing it gives the program back."""
        from invman.architecture.printer import print_program

        return print_program(self)

    def __eq__(self, other: object) -> bool:
        """Compare the programs, not the notation they came from."""
        return isinstance(other, Program) and self.text == other.text

    def __hash__(self) -> int:
        """Hash the program text."""
        return hash(self.text)

    def __repr__(self) -> str:
        """Print the short form where there is one, else the program; ``invman.architecture`` reads both."""
        return self.notation or self.text

    def with_notation(self, notation: str | None) -> Program:
        """Return the same program with another short form attached."""
        return replace(self, notation=notation)

    @cached_property
    def parameter_count(self) -> int:
        """D, the number of scalar parameters."""
        return sum(tensor.size for tensor in self.parameters)

    @cached_property
    def input_count(self) -> int:
        """Number of scalar inputs."""
        return sum(tensor.size for tensor in self.inputs)

    @cached_property
    def output_count(self) -> int:
        """Number of scalar outputs."""
        by_name = {statement.name: statement for statement in self.statements}
        return sum(math.prod(self.sizes[axis] for axis in by_name[name].axes) for name in self.outputs)

    @cached_property
    def offsets(self) -> dict[str, int]:
        """Position of the first entry of each parameter within theta."""
        offsets, position = {}, 0
        for tensor in self.parameters:
            offsets[tensor.name] = position
            position += tensor.size
        return offsets

    def parameter(self, name: str) -> Tensor:
        """Return the parameter of this name (KeyError if there is none)."""
        return {tensor.name: tensor for tensor in self.parameters}[name]

    def coordinate(self, index: int) -> str:
        """Name coordinate ``index`` of theta, as in ``w[0,1]``."""
        position = index
        for tensor in self.parameters if index >= 0 else ():
            if position < tensor.size:
                return tensor.entry(position)
            position -= tensor.size
        msg = f"index {index} of {self.parameter_count} parameters"
        raise IndexError(msg)

    @cached_property
    def one_region(self) -> bool:
        """Whether the map is analytic only within one activation region (relu, abs)."""
        return any(
            isinstance(node, Apply) and not node.function.analytic
            for statement in self.statements
            for node in walk(statement.expr)
        )
