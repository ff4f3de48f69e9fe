"""Entry-by-entry operations with a meaning beyond arithmetic: masks, comparisons, branches, clamps."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from invman.architecture.importers import algebra
from invman.architecture.importers.builder import ArrayBuilder, Symbolic, Value, compact
from invman.architecture.importers.masking import keeps
from invman.architecture.importers.nodes import Compare, Mask, Masked, Maximum, Token
from invman.architecture.importers.signs import nonnegative
from invman.architecture.program import Expr, Mul, Number

LOW = -1e4
"""A constant below it, added to or put in the place of a score, means "not this one"."""


def unary(b: ArrayBuilder, name: str, value: Symbolic) -> Symbolic:
    """Apply a function to every entry."""
    return b.elementwise(lambda u: algebra.apply(name, u), value)


def raised(b: ArrayBuilder, value: Symbolic, exponent: Fraction) -> Symbolic:
    """Raise every entry to a power."""
    return b.elementwise(lambda u: algebra.power(u, exponent), value)


def added(b: ArrayBuilder, left: Value, right: Value) -> Value:
    """Add; a constant of zeros and large negative numbers is a mask."""
    for value, other in ((left, right), (right, left)):
        if isinstance(value, np.ndarray) and isinstance(other, Symbolic) and value.dtype.kind == "f":
            low = value < LOW
            if low.any() and (value[~low] == 0).all():
                return masked(b, ~low, other)
    if any(isinstance(value, Symbolic) and isinstance(value.expr, Token) for value in (left, right)):
        return compared(b, "+", left, right)
    return b.elementwise(algebra.add, left, right)


def multiplied(b: ArrayBuilder, left: Value, right: Value) -> Symbolic:
    """Multiply."""
    return b.elementwise(lambda u, v: algebra.mul(u, v, sizes=b.sizes), left, right)


def divided(b: ArrayBuilder, left: Value, right: Value) -> Symbolic:
    """Divide; by a constant means to multiply by its exact inverse."""
    if isinstance(right, np.ndarray) and right.size and (right == right.flat[0]).all() and right.flat[0]:
        inverse = Number(1 / Fraction(float(right.flat[0])))
        wide = b.elementwise(lambda u, _: u, left, right)
        return Symbolic(wide.dims, algebra.mul(inverse, wide.expr, sizes=b.sizes))
    return b.elementwise(lambda u, v: algebra.mul(u, algebra.power(v, Fraction(-1)), sizes=b.sizes), left, right)


def masked(b: ArrayBuilder, keep: np.ndarray, value: Symbolic) -> Symbolic:
    """Put minus infinity where a constant is false."""
    if compact(keep).all():
        return value
    value = b.readable(value)
    value = b.spread(value, np.broadcast_shapes(keep.shape, b.shape(value)))
    mask = b.constant(np.broadcast_to(keep, b.shape(value)), value.dims, mask=True)
    return Symbolic(value.dims, Masked((value.expr, mask), where=b.where) if isinstance(mask, Mask) else mask)


def maximum(b: ArrayBuilder, left: Value, right: Value) -> Symbolic:
    """Take the larger one: relu against 0, nothing where one side is certainly the larger."""
    if isinstance(left, np.ndarray):
        left, right = right, left
    assert isinstance(left, Symbolic)  # noqa: S101 - for the type checker
    if isinstance(right, np.ndarray) and (right < -1e30).all():
        return b.elementwise(lambda u, _: u, left, np.zeros(right.shape))
    if isinstance(left.expr, Token) and isinstance(right, np.ndarray) and (right <= 0).all():
        return left
    left, right = b.named(left), b.named(right)
    return b.elementwise(lambda u, v: algebra.add(v, relu(b, algebra.add(u, algebra.minus(v)))), left, right)


def minimum(b: ArrayBuilder, left: Value, right: Value) -> Symbolic:
    """Take the smaller one, ``u - relu(u - v)``."""
    for value, other in ((left, right), (right, left)):
        if isinstance(value, Symbolic) and isinstance(value.expr, Token) and isinstance(other, np.ndarray):
            return value
    left, right = b.named(left), b.named(right)
    return b.elementwise(
        lambda u, v: algebra.add(u, algebra.minus(relu(b, algebra.add(u, algebra.minus(v))))), left, right
    )


def relu(b: ArrayBuilder, expr: Expr) -> Expr:
    """Return relu of an expression, which is the expression where that is not negative."""
    return expr if nonnegative(b, expr) else algebra.apply("relu", expr)


def absolute(b: ArrayBuilder, value: Symbolic) -> Symbolic:
    """Take the absolute value."""
    return b.elementwise(lambda u: u if nonnegative(b, u) else algebra.apply("abs", u), value)


def softplus_of_difference(b: ArrayBuilder, left: Value, right: Value) -> Symbolic:
    """Return ``log(exp(u) + exp(v)) = v + softplus(u - v)``."""
    right = b.named(right)
    return b.elementwise(
        lambda u, v: algebra.add(v, algebra.apply("softplus", algebra.add(u, algebra.minus(v)))), left, right
    )


def compared(b: ArrayBuilder, relation: str, left: Value, right: Value) -> Value:
    """Compare: known for an integer input against 0 and u against itself, one-hot against 0, 1, ..., else kept."""
    shape = np.broadcast_shapes(b.shape(left), b.shape(right))
    if isinstance(left, Symbolic) and isinstance(right, Symbolic) and left == right:
        return np.full(shape, relation in ("eq", "le", "ge"))
    for value, other, mirrored in ((left, right, False), (right, left, True)):
        if not (isinstance(value, Symbolic) and isinstance(value.expr, Token) and isinstance(other, np.ndarray)):
            continue
        sign = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}.get(relation, relation) if mirrored else relation
        if sign in ("lt", "ge") and (other == 0).all():
            return np.full(shape, sign == "ge")
        if sign == "eq" and (hot := _one_hot(b, value, other, shape)) is not None:
            return hot
    return b.elementwise(lambda u, v: Compare((u, v), relation, b.where), left, right)


def _one_hot(b: ArrayBuilder, value: Symbolic, other: np.ndarray, shape: tuple[int, ...]) -> Symbolic | None:
    """Compare an integer input with 0, 1, ..., n-1 along a dimension in which it does not vary."""
    assert isinstance(value.expr, Token)  # noqa: S101 - for the type checker
    other = np.broadcast_to(other, shape)
    for place, size in enumerate(shape):
        steps = np.arange(size).reshape([-1 if n == place else 1 for n in range(len(shape))])
        wide = b.spread(value, shape)
        if np.array_equal(other, np.broadcast_to(steps, shape)) and not b.uses(wide, wide.dims[place]):
            hot, axis = b.one_hot(value.expr, size)
            return Symbolic((*wide.dims[:place], (axis,), *wide.dims[place + 1 :]), hot)
    return None


def select(b: ArrayBuilder, choice: Value, false: Value, true: Value) -> Value:
    """Choose between two arrays by a constant (a mask) or by a comparison (a piecewise linear map)."""
    if isinstance(choice, np.ndarray):
        return _by_constant(b, choice if choice.dtype == bool else choice != 0, false, true)
    if isinstance(choice.expr, Compare):
        return b.elementwise(lambda test, v, u: _branches(b, test, u, v), choice, false, true)
    raise b.fail("a choice that depends on data", "a constant mask, or a comparison that makes relu or leaky_relu")


def _by_constant(b: ArrayBuilder, choice: np.ndarray, false: Value, true: Value) -> Value:
    core = compact(choice)
    if core.all() or not core.any():
        value = true if core.all() else false
        shape = np.broadcast_shapes(choice.shape, b.shape(true), b.shape(false))
        return b.spread(value, shape) if isinstance(value, Symbolic) else np.broadcast_to(value, shape)
    for other, value, swapped in ((false, true, False), (true, false, True)):
        if not isinstance(other, np.ndarray) or not isinstance(value, Symbolic):
            continue
        core, keep = compact(other), ~choice if swapped else choice
        if (core < LOW).all():
            return masked(b, keep, value)
        if (core == 0).all():
            shape = np.broadcast_shapes(keep.shape, b.shape(value))
            value = b.spread(value, shape)
            mask = b.constant(np.broadcast_to(keep, shape), value.dims, mask=True)
            if isinstance(mask, Mask) and keeps(value.expr, mask):
                return value
            return Symbolic(value.dims, algebra.mul(mask, value.expr))
    number = choice.astype(np.float64)
    return b.elementwise(
        lambda m, n, u, v: algebra.add(algebra.mul(m, u), algebra.mul(n, v)), number, 1 - number, true, false
    )


def _branches(b: ArrayBuilder, test: Expr, true: Expr, false: Expr) -> Expr:
    """Recognise ``u if u > 0 else c*u`` and its mirror images."""
    if isinstance(test, Compare) and test.relation in ("gt", "ge", "lt", "le"):
        one, other = test.terms
        if test.relation in ("lt", "le"):
            true, false = false, true
        if one == algebra.ZERO:
            one, other, true, false = other, one, false, true
        scale, u = _scale(one)
        above, below = (_slope(branch, u) for branch in (true, false))
        if other == algebra.ZERO and above is not None and below is not None:
            rest = algebra.mul(algebra.add(above, algebra.minus(below)), relu(b, u))
            return algebra.add(algebra.mul(below, u), rest)
        late = isinstance(other, Number) and other.value >= 15  # exp would overflow, and softplus is u by then
        softplus = algebra.mul(Number(1 / scale), algebra.apply("softplus", one))
        if late and above is not None and false == algebra.mul(above, softplus):
            return false
    raise b.fail("branches that are no multiples of what is compared with 0", "relu, leaky_relu or abs")


def _scale(expr: Expr) -> tuple[Fraction, Expr]:
    """Take a positive number out of what is compared."""
    match expr:
        case Mul((Number(value), *rest)) if value > 0 and type(expr) is Mul:
            return value, algebra.mul(*rest)
    return Fraction(1), expr


def _slope(branch: Expr, u: Expr) -> Expr | None:
    """Return c when the branch is ``c*u``."""
    if branch == algebra.ZERO:
        return algebra.ZERO
    if branch == u:
        return algebra.ONE
    if type(branch) is not Mul:
        return None
    if isinstance(branch.factors[0], Number) and algebra.mul(*branch.factors[1:]) == u:
        return branch.factors[0]
    rest = [factor for factor in branch.factors if factor != u]
    return algebra.mul(*rest) if len(rest) == len(branch.factors) - 1 else None


def kept(b: ArrayBuilder, value: Symbolic) -> Symbolic:
    """Stop the gradient, which a program cannot say, except on the maximum that a softmax subtracts."""
    if isinstance(value.expr, Maximum | Token | Compare):
        return value
    raise b.fail("a value whose gradient is stopped", "a map that is trained as it is: the gradient of F in full")
