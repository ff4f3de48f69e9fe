"""What is certainly not negative, so that relu and abs leave it as it is: squares, their means, variances."""

from __future__ import annotations

from dataclasses import replace

from invman.architecture.importers.builder import ArrayBuilder
from invman.architecture.importers.nodes import canonical, substitute
from invman.architecture.program import Add, Apply, Expr, Mul, Number, Power, Ref, Softmax, Sum, children, free_axes

POSITIVE = ("exp", "sigmoid", "softplus", "relu", "abs", "gaussian")


def _same(b: ArrayBuilder, left: Expr, right: Expr) -> bool:
    """Tell whether two expressions are the same, looking through one statement on the right."""
    if isinstance(right, Ref) and right.tensor in b.statements:
        statement = b.statements[right.tensor]
        right = substitute(statement.expr, dict(zip(statement.axes, right.indices, strict=True)))
    axes = free_axes(left)
    return set(axes) == set(free_axes(right)) and canonical(left, axes, b.size) == canonical(right, axes, b.size)


def nonnegative(b: ArrayBuilder, expr: Expr) -> bool:
    """Tell whether an expression is certainly not negative."""
    match expr:
        case Number(value):
            return value >= 0
        case Power(base, exponent):
            return exponent.denominator == 2 or exponent % 2 == 0 or nonnegative(b, base)
        case Ref(tensor, _):
            if tensor in b.constants:
                return bool((b.constants[tensor] >= 0).all())
            return tensor in b.statements and nonnegative(b, b.statements[tensor].expr)
        case Sum(_, body, _):
            return nonnegative(b, body)
        case Softmax():
            return True
        case Add((Sum(_, Power(u, square), True) as mean, Mul((Number(sign), Power(other, twice))))):
            return (square, twice, sign) == (2, 2, -1) and _same(b, replace(mean, body=u), other)
        case _ if isinstance(expr, Add | Mul):
            return all(nonnegative(b, part) for part in children(expr))
    return isinstance(expr, Apply) and expr.function.name in POSITIVE
