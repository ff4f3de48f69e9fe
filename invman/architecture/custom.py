"""Custom activations: parity, support at 0 and homogeneity derived from the expression, exactly."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn

from invman.architecture.activations import Activation, Parity, Support
from invman.architecture.program import Apply, Expr, Ref, walk

if TYPE_CHECKING:
    import sympy

ORDERS = 12
"""Derivatives at 0 are derived up to this order for a function that is no polynomial."""


def derive(expression: Expr, fail: Callable[[str], NoReturn]) -> Activation:
    """Derive what the theory needs from an expression in ``u``.

    Parity is decided by symbolic simplification; where SymPy cannot decide it, parity is "none", which loses
    manifolds but never invents one.

    Parameters
    ----------
    expression : Expr
        Scalar expression in the tensor ``u``.
    fail : callable
        Called with what is wrong; must raise.

    Returns
    -------
    Activation
        Named ``custom(...)`` in canonical form.
    """
    import sympy

    from invman.architecture.printer import print_expression
    from invman.architecture.scalars import sympy_scalar
    from invman.architecture.taylor import taylor

    for node in walk(expression):
        if isinstance(node, Apply) and not node.function.analytic:
            fail(f"{node.function} is not analytic inside a custom activation; use relu or abs by themselves.")
    if not any(isinstance(node, Ref) for node in walk(expression)):
        fail("The expression does not contain u.")
    u = sympy.Symbol("u", real=True)
    function = sympy_scalar(expression, u)
    if not function.has(u) or _vanishes(sympy.diff(function, u)):
        fail("The expression is constant.")
    _check_analytic(function, u, fail)
    name = f"custom({print_expression(expression)})"
    parity: Parity = "none"
    if _vanishes(function + function.subs(u, -u)):
        parity = "odd"
    elif _vanishes(function - function.subs(u, -u)):
        parity = "even"
    polynomial = function.as_poly(u)
    if polynomial is not None and polynomial.gens == (u,):
        orders = frozenset(order for (order,) in polynomial.monoms())
        degree = min(orders) if len(orders) == 1 else None
        return Activation(name, name[7:-1], parity, Support(orders, max(orders) + 1), degree)
    low = set()
    for order, value in enumerate(taylor(expression, ORDERS)):
        if not value.is_finite:
            fail(f"Its derivative of order {order} at 0 is {value}.")
        if not _vanishes(value):
            low.add(order)
    return Activation(name, name[7:-1], parity, Support(frozenset(low), ORDERS + 1, "unknown"))


def _check_analytic(function: sympy.Expr, u: sympy.Symbol, fail: Callable[[str], NoReturn]) -> None:
    """Reject what has a singularity on the real line, as far as SymPy can tell."""
    import sympy

    if function.has(sympy.Abs, sympy.sign):
        fail("It contains the root of a square, |u|, which is not analytic at 0.")
    for node in sympy.preorder_traversal(function):
        if isinstance(node, sympy.log):
            base, positive = node.args[0], True
        elif isinstance(node, sympy.tan):
            base, positive = sympy.cos(node.args[0]), False
        elif isinstance(node, sympy.Pow) and not node.exp.is_nonnegative:
            base, positive = node.base, not node.exp.is_integer
        elif isinstance(node, sympy.Pow) and not node.exp.is_integer:
            base, positive = node.base, True
        else:
            continue
        if _has_zero(base, u) or (positive and base.subs(u, 0).is_positive is False):
            fail(f"It is singular where {base} is zero{' or negative' if positive else ''}.")


def _has_zero(expr: sympy.Expr, u: sympy.Symbol) -> bool:
    """Tell whether an expression is known to vanish at some real u."""
    import sympy

    if expr.is_nonzero or not expr.has(u):
        return bool(expr.is_zero)
    empty = sympy.solveset(expr, u, sympy.S.Reals).is_empty
    if empty is not None:
        return not empty
    signs = {sympy.sign(expr.subs(u, sympy.Rational(point, 7)).evalf()) for point in range(-70, 71)}
    return len(signs & {sympy.S.One, sympy.S.NegativeOne}) > 1


def _vanishes(expr: sympy.Expr) -> bool:
    """Tell whether an expression is identically zero: True is a proof, False is one too or means "not decided"."""
    import sympy

    number = sympy.N(expr.subs({symbol: sympy.Rational(7, 10) for symbol in expr.free_symbols}), 40)
    if number.is_number and number.is_finite and abs(number) > Fraction(1, 10**25):
        return False
    return any(
        step(expr) == 0 for step in (sympy.expand, sympy.simplify, lambda e: sympy.simplify(e.rewrite(sympy.exp)))
    )
