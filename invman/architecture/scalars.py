"""A program written out in scalars over any exact algebra, SymPy first of all.

Exact work needs the map entry by entry: as SymPy expressions, as numbers modulo a prime, as intervals. All of them
run through the one interpreter here, which differs only in the :class:`Algebra` that it is given.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from invman.architecture.activations import Activation
from invman.architecture.program import (
    Add,
    Apply,
    Expr,
    Index,
    Mul,
    Number,
    Power,
    Program,
    Ref,
    Softmax,
    Sum,
    free_axes,
)
from invman.errors import OverBudgetError

if TYPE_CHECKING:
    import sympy

T = TypeVar("T")
BUDGET = 200_000
"""Scalar operations that are written out before refusing."""


class Algebra(Protocol[T]):
    """What the interpreter needs of a kind of scalar."""

    def number(self, value: Fraction) -> T:
        """Embed a rational number."""
        ...

    def add(self, terms: Sequence[T]) -> T:
        """Add at least one term."""
        ...

    def multiply(self, factors: Sequence[T]) -> T:
        """Multiply at least one factor."""
        ...

    def power(self, base: T, exponent: Fraction) -> T:
        """Raise to a rational power."""
        ...

    def apply(self, function: Activation, argument: T) -> T:
        """Apply an activation."""
        ...


def expand(program: Program, algebra: Algebra[T], theta: Sequence[T], x: Sequence[T], budget: int = BUDGET) -> list[T]:
    """Evaluate the map at scalars of any algebra.

    Parameters
    ----------
    program : Program
        The architecture.
    algebra : Algebra
        Arithmetic of the scalars.
    theta : sequence of length D
        Parameters, in the order of ``program.parameters``.
    x : sequence of length d
        Inputs, in the order of ``program.inputs``.
    budget : int
        Largest number of scalar operations.

    Returns
    -------
    list of length o
        The outputs.

    Raises
    ------
    OverBudgetError
        When writing the program out would take more operations than the budget.
    """
    size = operations(program)
    if size > budget:
        raise OverBudgetError("scalar operations of the program written out", size, budget, "Use smaller sizes.")
    tensors: dict[str, dict[tuple[int, ...], T]] = {}
    for group, flat in ((program.parameters, theta), (program.inputs, x)):
        values = iter(flat)
        for tensor in group:
            tensors[tensor.name] = {key: next(values) for key in itertools.product(*map(range, tensor.shape))}
    for constant in program.constants:
        keys = itertools.product(*map(range, constant.tensor.shape))
        tensors[constant.tensor.name] = {
            key: algebra.number(value) for key, value in zip(keys, constant.values, strict=True)
        }
    interpreter = _Interpreter(program, algebra, tensors)
    for statement in program.statements:
        tensors[statement.name] = {
            key: interpreter.evaluate(statement.expr, dict(zip(statement.axes, key, strict=True)))
            for key in itertools.product(*(range(program.sizes[axis]) for axis in statement.axes))
        }
    return [value for name in program.outputs for value in tensors[name].values()]


def operations(program: Program) -> int:
    """Return the number of scalar operations of one evaluation of a program."""
    return sum(_cost(s.expr, program) * math.prod(program.sizes[a] for a in s.axes) for s in program.statements)


def _cost(expr: Expr, program: Program) -> int:
    match expr:
        case Sum(axes, body, _):
            return math.prod(program.sizes[axis] for axis in axes) * _cost(body, program)
        case Softmax(axis, argument, _):
            return program.sizes[axis] * (1 + _cost(argument, program))
        case Add(items) | Mul(items):
            return len(items) + sum(_cost(item, program) for item in items)
        case Power(inner, _) | Apply(_, inner):
            return 1 + _cost(inner, program)
        case _:
            return 1


def at(index: Index, place: dict[str, int]) -> int:
    """Return the value of an affine index at given axis values."""
    return index.offset + sum(coefficient * place[axis] for axis, coefficient in index.terms)


class _Interpreter(Generic[T]):
    def __init__(self, program: Program, algebra: Algebra[T], tensors: dict[str, dict[tuple[int, ...], T]]) -> None:
        self.program, self.algebra, self.tensors = program, algebra, tensors
        self.cache: dict[object, tuple[list[T], T]] = {}

    def evaluate(self, expr: Expr, place: dict[str, int]) -> T:
        """Evaluate one entry of an expression."""
        algebra = self.algebra
        match expr:
            case Number(value):
                return algebra.number(value)
            case Ref(tensor, indices):
                return self.tensors[tensor][tuple(at(index, place) for index in indices)]
            case Add(terms):
                return algebra.add([self.evaluate(term, place) for term in terms])
            case Mul(factors):
                return algebra.multiply([self.evaluate(factor, place) for factor in factors])
            case Power(base, exponent):
                return algebra.power(self.evaluate(base, place), exponent)
            case Apply(function, argument):
                return algebra.apply(function, self.evaluate(argument, place))
            case Sum(axes, body, mean):
                ranges = [range(self.program.sizes[axis]) for axis in axes]
                cells = [dict(zip(axes, cell, strict=True)) for cell in itertools.product(*ranges)]
                total = algebra.add([self.evaluate(body, {**place, **cell}) for cell in cells])
                return algebra.multiply([algebra.number(Fraction(1, len(cells))), total]) if mean else total
            case Softmax():
                return self._softmax(expr, place)

    def _softmax(self, expr: Softmax, place: dict[str, int]) -> T:
        algebra = self.algebra
        last = self.program.sizes[expr.axis] - 1
        if expr.until is not None:
            last = min(last, place[expr.until])
        if place[expr.axis] > last:
            return algebra.number(Fraction(0))
        outer = tuple((axis, place[axis]) for axis in free_axes(expr) if axis != expr.axis)
        key = (id(expr), outer)
        if key not in self.cache:
            weights = [
                algebra.apply(_exp(), self.evaluate(expr.argument, {**place, expr.axis: cell}))
                for cell in range(last + 1)
            ]
            self.cache[key] = weights, algebra.power(algebra.add(weights), Fraction(-1))
        weights, inverse = self.cache[key]
        return algebra.multiply([weights[place[expr.axis]], inverse])


def _exp() -> Activation:
    from invman.architecture.activations import REGISTERED

    return REGISTERED["exp"]


@lru_cache(maxsize=256)
def custom_body(function: Activation) -> Expr:
    """Return the expression in ``u`` of a custom activation."""
    from invman.architecture.expressions import parse_scalar

    return parse_scalar(function.expression)


def substitute(expr: Expr, algebra: Algebra[T], u: T) -> T:
    """Evaluate an expression in the one variable ``u``."""
    program = Program({}, (), (), (), (), ())
    return _Interpreter(program, algebra, {"u": {(): u}}).evaluate(expr, {})


class SympyAlgebra:
    """Scalars that are SymPy expressions."""

    def number(self, value: Fraction) -> sympy.Expr:
        """Embed a rational number."""
        import sympy

        return sympy.Rational(value.numerator, value.denominator)

    def add(self, terms: Sequence[sympy.Expr]) -> sympy.Expr:
        """Add."""
        import sympy

        return sympy.Add(*terms)

    def multiply(self, factors: Sequence[sympy.Expr]) -> sympy.Expr:
        """Multiply."""
        import sympy

        return sympy.Mul(*factors)

    def power(self, base: sympy.Expr, exponent: Fraction) -> sympy.Expr:
        """Raise to a rational power."""
        return base ** self.number(exponent)

    def apply(self, function: Activation, argument: sympy.Expr) -> sympy.Expr:
        """Apply an activation by its definition."""
        if function.name.startswith("custom("):
            return substitute(custom_body(function), self, argument)
        return _sympy_table()[function.name](argument)


@lru_cache(maxsize=1)
def _sympy_table() -> dict[str, Callable[[sympy.Expr], sympy.Expr]]:
    import sympy as sp

    def sigmoid(u: sp.Expr) -> sp.Expr:
        return 1 / (1 + sp.exp(-u))

    return {
        "tanh": sp.tanh, "sin": sp.sin, "erf": sp.erf, "arctan": sp.atan, "sinh": sp.sinh, "sigmoid": sigmoid,
        "softplus": lambda u: sp.log(1 + sp.exp(u)), "silu": lambda u: u * sigmoid(u),
        "gelu": lambda u: u * (1 + sp.erf(u / sp.sqrt(2))) / 2, "exp": sp.exp, "cos": sp.cos, "cosh": sp.cosh,
        "gaussian": lambda u: sp.exp(-(u**2)), "square": lambda u: u**2, "cube": lambda u: u**3,
        "identity": lambda u: u, "relu": lambda u: sp.Max(u, 0), "abs": sp.Abs,
        "log": sp.log, "tan": sp.tan, "asinh": sp.asinh, "atan": sp.atan,
    }  # fmt: skip


def sympy_scalar(expr: Expr, u: sympy.Symbol) -> sympy.Expr:
    """Write an expression in the one variable ``u`` as a SymPy expression."""
    return substitute(expr, SympyAlgebra(), u)


def sympy_map(
    program: Program, budget: int = BUDGET
) -> tuple[list[sympy.Symbol], list[sympy.Symbol], list[sympy.Expr]]:
    """Write the map of a program in SymPy.

    Parameters
    ----------
    program : Program
        The architecture.
    budget : int
        Largest number of scalar operations.

    Returns
    -------
    theta, x : lists of Symbol
        Real symbols named after the entries, ``w[0,1]``; lengths D and d.
    outputs : list of Expr
        One expression an output.

    Raises
    ------
    OverBudgetError
        When the program is too large to be written out.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> sympy_map(read_architecture("1-1tanh-1"))[2]
    [a[0]*tanh(w[0,0]*x[0])]
    """
    import sympy

    if program.parameter_count > budget:
        raise OverBudgetError("parameters of the program written out", program.parameter_count, budget, "Use less.")
    theta = [sympy.Symbol(program.coordinate(index), real=True) for index in range(program.parameter_count)]
    names = [tensor.entry(index) for tensor in program.inputs for index in range(tensor.size)]
    x = [sympy.Symbol(name, real=True) for name in names]
    return theta, x, expand(program, SympyAlgebra(), theta, x, budget)
