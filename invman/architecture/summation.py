"""The rule of implicit summation: where the sums go that index notation leaves out."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from invman.architecture.program import (
    Add,
    Apply,
    Expr,
    Mul,
    Number,
    Power,
    Ref,
    Softmax,
    Sum,
    children,
    free_axes,
    walk,
)

if TYPE_CHECKING:
    from invman.architecture.assemble import Source

MINUS = Number(Fraction(-1))


def make_sums_explicit(expr: Expr, left: tuple[str, ...], source: Source) -> Expr:
    """Put the sums that the notation leaves out around the products that they belong to.

    Parameters
    ----------
    expr : Expr
        Right-hand side of a statement, with the written sums only.
    left : tuple of str
        Axes on its left-hand side.
    source : Source
        Where its parts stand in the text.

    Returns
    -------
    Expr
        With every sum explicit, no axis of which is in use outside of it.

    Raises
    ------
    SyntaxProblem
        No product holds an index inside of a function, or a sum is over an axis that is in use already.
    """
    expr = _place(expr, [axis for axis in free_axes(expr) if axis not in left], source)
    if again := _bound_twice(expr, frozenset(left)):
        token = next((axis for axis in reversed(source.summed) if axis.text == again), source.axes[again])
        source.fail(token, f"a sum over {again} where {again} is in use already", "another axis name")
    return expr


def _holds(expr: Expr, axis: str) -> bool:
    """Tell whether some product inside the expression holds all occurrences of the axis in each term."""
    match expr:
        case Mul((number, inner)) if number == MINUS:  # a sign is no product
            return _holds(inner, axis)
        case Mul():
            return True
        case Add(terms):
            return all(_holds(term, axis) for term in terms if axis in free_axes(term))
        case Softmax(own, argument, until):
            return axis not in (own, until) and _holds(argument, axis)
        case Apply() | Power() | Sum():
            return _holds(children(expr)[0], axis)
        case _:
            return False


def _place(expr: Expr, dummies: list[str], source: Source) -> Expr:
    """Put the sum over each dummy axis where the rule of implicit summation wants it."""
    free = free_axes(expr)
    dummies = [axis for axis in dummies if axis in free]
    match expr:
        case Add(terms):
            return Add(tuple(_place(term, dummies, source) for term in terms))
        case Mul((number, inner)) if number == MINUS:
            return Mul((number, _place(inner, dummies, source)))
        case Mul(factors):
            here, inside = [], [[] for _ in factors]
            for axis in dummies:
                holders = [number for number, factor in enumerate(factors) if axis in free_axes(factor)]
                if len(holders) == 1 and _holds(factors[holders[0]], axis):
                    inside[holders[0]].append(axis)
                else:
                    here.append(axis)
            body = Mul(tuple(_place(factor, inner, source) for factor, inner in zip(factors, inside, strict=True)))
            return Sum(tuple(here), body) if here else body
        case Ref():
            return Sum(tuple(dummies), expr) if dummies else expr
    for axis in dummies:
        if not _holds(expr, axis):
            hint = f"Write sum[{axis}](...) or mean[{axis}](...) where the sum is meant, or put {axis} on the left."
            source.fail(source.reader(expr, axis), f"index {axis}, which no product holds", "a sum over it", hint)
    match expr:
        case Sum(axes, body, mean):
            return Sum(axes, _place(body, dummies, source), mean)
        case Apply(function, argument):
            return Apply(function, _place(argument, dummies, source))
        case Power(base, exponent):
            return Power(_place(base, dummies, source), exponent)
        case Softmax(axis, argument, until):
            return Softmax(axis, _place(argument, dummies, source), until)
        case _:
            return expr


def first_over(expr: Expr, axis: str) -> Expr:
    """Return the first node below an expression over which an axis runs: a tensor read at it, or a softmax over it."""
    return next(
        node
        for node in walk(expr)
        if (isinstance(node, Ref) and axis in free_axes(node))
        or (isinstance(node, Softmax) and axis in (node.axis, node.until))
    )


def _bound_twice(expr: Expr, bound: frozenset[str]) -> str | None:
    """Return an axis that is summed although it is on the left or summed further out already, or None."""
    if isinstance(expr, Sum):
        again = bound & set(expr.axes)
        if again or len(set(expr.axes)) < len(expr.axes):
            return min(again or {axis for axis in expr.axes if expr.axes.count(axis) > 1})
        bound = bound | set(expr.axes)
    return next((found for child in children(expr) if (found := _bound_twice(child, bound))), None)
