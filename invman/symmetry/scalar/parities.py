"""Every activation in terms of functions of which nothing but the parity is used.

A sigmoid is one half plus an odd function, a softplus half its argument plus an even one, a square is a product.
Written so, what the parity of an activation implies for the map becomes an identity between polynomials in such *core*
functions, and an identity that holds for arbitrary functions of these parities holds for the functions themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Protocol, TypeVar

from invman.architecture.activations import Activation, Parity
from invman.architecture.program import Add, Apply, Expr, Mul, Number, Power, Ref
from invman.architecture.scalars import Algebra, custom_body, substitute

T = TypeVar("T")
HALF = Fraction(1, 2)
ODD = ("tanh", "sin", "erf", "arctan", "sinh", "tan", "asinh", "atan")
EVEN = ("cos", "cosh", "gaussian", "abs")


class CoreAlgebra(Algebra[T], Protocol[T]):
    """An algebra that also knows functions by their parity alone."""

    def core(self, name: str, parity: Parity, argument: T) -> T:
        """Apply the function of this name, of which only the parity is known."""
        ...


def apply_by_parity(algebra: CoreAlgebra[T], function: Activation, u: T, *, split: bool) -> T:
    """Apply an activation in terms of core functions.

    Parameters
    ----------
    algebra : CoreAlgebra
        Arithmetic of the scalars.
    function : Activation
        What is applied.
    u : scalar
        To what.
    split : bool
        Whether functions without parity are split into parts that have one; the result is longer.

    Returns
    -------
    scalar
    """
    name = function.name
    if name == "identity":
        return u
    if name in ("square", "cube"):
        return algebra.power(u, Fraction(2 if name == "square" else 3))
    if name.startswith("custom("):
        body = custom_body(function)
        if is_polynomial(body) or (split and function.parity == "none"):
            return substitute(body, algebra, u)
        return algebra.core(name, function.parity, u)
    if name in ODD or name in EVEN:
        return algebra.core("arctan" if name == "atan" else name, "odd" if name in ODD else "even", u)
    if split and name in _PARTS:
        return _PARTS[name](algebra, u)
    return algebra.core(name, "none", u)


def is_polynomial(body: Expr) -> bool:
    """Tell whether an expression in ``u`` is written as a polynomial."""
    match body:
        case Number() | Ref():
            return True
        case Add(items) | Mul(items):
            return all(is_polynomial(item) for item in items)
        case Power(base, exponent):
            return exponent.denominator == 1 and exponent >= 0 and is_polynomial(base)
        case Apply(function, argument):
            return function.name in ("identity", "square", "cube") and is_polynomial(argument)
        case _:
            return False


def _half(algebra: CoreAlgebra[T], u: T) -> T:
    return algebra.multiply([algebra.number(HALF), u])


def _sigmoid(algebra: CoreAlgebra[T], u: T) -> T:
    """1/(1 + exp(-u)) = 1/2 + tanh(u/2)/2."""
    return algebra.add([algebra.number(HALF), _half(algebra, algebra.core("tanh", "odd", _half(algebra, u)))])


def _with_even_rest(name: str) -> Callable[[CoreAlgebra[T], T], T]:
    """Half the argument plus an even function, as softplus, SiLU and GELU are."""

    def apply(algebra: CoreAlgebra[T], u: T) -> T:
        return algebra.add([_half(algebra, u), algebra.core(f"{name} - u/2", "even", u)])

    return apply


def _relu(algebra: CoreAlgebra[T], u: T) -> T:
    return algebra.add([_half(algebra, u), _half(algebra, algebra.core("abs", "even", u))])


_PARTS: dict[str, Callable] = {
    "sigmoid": _sigmoid,
    "softplus": _with_even_rest("softplus"),
    "silu": _with_even_rest("silu"),
    "gelu": _with_even_rest("gelu"),
    "relu": _relu,
}
