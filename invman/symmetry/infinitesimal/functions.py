"""Activations in terms of four primitives: the exponential, odd and reflected functions known by their slope, gates.

By Ax's theorem (Ann. Math. 93, 1971) exponentials of functions that are linearly independent over Q modulo constants
are algebraically independent. So an identity among them holds if and only if it holds for an exponential that obeys
``exp(u + v) = exp(u) exp(v)`` and nothing else, such as that of :mod:`invman.symmetry.infinitesimal.tower`.
Trigonometric and hyperbolic functions are built from it. erf, arctan, log and softplus take random values, with their
true derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, Protocol, TypeVar

from invman.architecture.activations import Activation
from invman.architecture.scalars import Algebra, custom_body, substitute

T = TypeVar("T")
Symmetry = Literal["odd", "reflected", "inverse"]
"""``s(-u) = -s(u)``, ``s(-u) = s(u) - u`` or ``s(1/u) = -s(u)``."""


class Primitives(Algebra[T], Protocol[T]):
    """An algebra with the primitives of which activations are built."""

    def exp(self, argument: T) -> T:
        """Return the exponential."""
        ...

    def imaginary(self) -> T:
        """Return a square root of -1."""
        ...

    def random(self, name: str, symmetry: Symmetry, argument: T, slope: T) -> T:
        """Return an otherwise random function with this derivative."""
        ...

    def transcendental(self, name: str) -> T:
        """Return a constant of which nothing is assumed."""
        ...

    def gate(self, name: str, argument: T) -> T:
        """Return the argument times a factor that is free for every function and every value of its argument."""
        ...


def apply(algebra: Primitives[T], function: Activation, u: T) -> T:
    """Apply an activation through the primitives.

    Parameters
    ----------
    algebra : Primitives
        Arithmetic of the scalars.
    function : Activation
        Registered, or custom.
    u : T
        The argument.

    Returns
    -------
    T
    """
    if function.name.startswith("custom("):
        return substitute(custom_body(function), algebra, u)
    if not function.analytic:
        return algebra.gate(function.name, u)
    return _TABLE[function.name](_Calculus(algebra), u)


class _Calculus:
    """Short names for the operations of an algebra."""

    def __init__(self, algebra: Primitives) -> None:
        self.algebra = algebra
        self.exp = algebra.exp

    def number(self, value: Fraction | int) -> Any:
        return self.algebra.number(Fraction(value))

    def times(self, *factors: Any) -> Any:
        return self.algebra.multiply([self.number(f) if isinstance(f, int | Fraction) else f for f in factors])

    def plus(self, *terms: Any) -> Any:
        return self.algebra.add([self.number(t) if isinstance(t, int | Fraction) else t for t in terms])

    def power(self, base: Any, exponent: Fraction | int) -> Any:
        return self.algebra.power(base, Fraction(exponent))

    def over(self, above: Any, below: Any) -> Any:
        return self.times(above, self.power(below, -1))

    def waves(self, u: Any) -> tuple[Any, Any]:
        """Return cosine and sine."""
        i = self.algebra.imaginary()
        forth, back = self.exp(self.times(i, u)), self.exp(self.times(-1, i, u))
        sine = self.times(Fraction(-1, 2), i, self.plus(forth, self.times(-1, back)))
        return self.times(Fraction(1, 2), self.plus(forth, back)), sine

    def hyperbola(self, u: Any, sign: int) -> Any:
        return self.times(Fraction(1, 2), self.plus(self.exp(u), self.times(sign, self.exp(self.times(-1, u)))))

    def sigmoid(self, u: Any) -> Any:
        return self.power(self.plus(1, self.exp(self.times(-1, u))), -1)

    def tanh(self, u: Any) -> Any:
        double = self.exp(self.times(2, u))
        return self.over(self.plus(double, -1), self.plus(double, 1))

    def erf(self, u: Any) -> Any:
        bell = self.exp(self.times(-1, u, u))
        slope = self.times(self.algebra.transcendental("2/sqrt(pi)"), bell)
        return self.algebra.random("erf", "odd", u, slope)

    def gelu(self, u: Any) -> Any:
        scaled = self.over(u, self.power(self.number(2), Fraction(1, 2)))
        return self.times(Fraction(1, 2), u, self.plus(1, self.erf(scaled)))

    def arctan(self, u: Any) -> Any:
        slope = self.power(self.plus(1, self.times(u, u)), -1)
        return self.algebra.random("arctan", "odd", u, slope)

    def log(self, u: Any) -> Any:
        return self.algebra.random("log", "inverse", u, self.power(u, -1))

    def asinh(self, u: Any) -> Any:
        root = self.power(self.plus(1, self.times(u, u)), Fraction(1, 2))
        return self.log(self.plus(u, root))

    def softplus(self, u: Any) -> Any:
        return self.algebra.random("softplus", "reflected", u, self.sigmoid(u))


_TABLE: dict[str, Callable[[_Calculus, Any], Any]] = {
    "tanh": _Calculus.tanh,
    "sin": lambda c, u: c.waves(u)[1],
    "erf": _Calculus.erf,
    "arctan": _Calculus.arctan,
    "sinh": lambda c, u: c.hyperbola(u, -1),
    "sigmoid": _Calculus.sigmoid,
    "softplus": _Calculus.softplus,
    "silu": lambda c, u: c.times(u, c.sigmoid(u)),
    "gelu": _Calculus.gelu,
    "exp": lambda c, u: c.exp(u),
    "cos": lambda c, u: c.waves(u)[0],
    "cosh": lambda c, u: c.hyperbola(u, 1),
    "gaussian": lambda c, u: c.exp(c.times(-1, u, u)),
    "square": lambda c, u: c.power(u, 2),
    "cube": lambda c, u: c.power(u, 3),
    "identity": lambda _, u: u,
    "log": _Calculus.log,
    "tan": lambda c, u: c.over(*reversed(c.waves(u))),
    "asinh": _Calculus.asinh,
    "atan": _Calculus.arctan,
}
