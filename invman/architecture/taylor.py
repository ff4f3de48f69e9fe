"""Taylor coefficients at 0, exactly: truncated power series with coefficients that are SymPy numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from invman.architecture.activations import REGISTERED, Activation
from invman.architecture.program import Expr
from invman.architecture.scalars import custom_body, substitute

if TYPE_CHECKING:
    import sympy

Series = tuple["sympy.Expr", ...]
"""Coefficients of 1, u, u^2, ..., all of one length."""


class TaylorAlgebra:
    """Power series in ``u``, truncated; an algebra for :func:`invman.architecture.scalars.expand`.

    A function of a series v is the solution of its differential equation, tanh(v)' = (1 - tanh(v)^2) v' say,
    coefficient by coefficient (Griewank and Walther, Evaluating Derivatives, chapter 13).

    Parameters
    ----------
    order : int
        Highest power that is kept.
    """

    def __init__(self, order: int) -> None:
        self.length = order + 1

    def variable(self) -> Series:
        """Return the series of u itself."""
        import sympy

        return tuple(sympy.Integer(int(n == 1)) for n in range(self.length))

    def number(self, value: Fraction) -> Series:
        """Embed a rational number."""
        import sympy

        head = sympy.Rational(value.numerator, value.denominator)
        return (head, *(sympy.Integer(0) for _ in range(self.length - 1)))

    def add(self, terms: Sequence[Series]) -> Series:
        """Add coefficient by coefficient."""
        return tuple(_tidy(sum(column)) for column in zip(*terms, strict=True))

    def multiply(self, factors: Sequence[Series]) -> Series:
        """Multiply, dropping what is beyond the last order."""
        product = factors[0]
        for factor in factors[1:]:
            product = tuple(_tidy(_convolve(product, factor, n)) for n in range(self.length))
        return product

    def power(self, base: Series, exponent: Fraction) -> Series:
        """Raise to a rational power; the base must not vanish at 0 unless the exponent is a natural number."""
        import sympy

        if exponent.denominator == 1 and exponent >= 0:
            return self.multiply([self.number(Fraction(1)), *[base] * int(exponent)])
        power = sympy.Rational(exponent.numerator, exponent.denominator)
        result = [base[0] ** power]
        for n in range(1, self.length):
            total = sum((power * m - (n - m)) * base[m] * result[n - m] for m in range(1, n + 1))
            result.append(_tidy(total / (n * base[0])))
        return tuple(result)

    def apply(self, function: Activation, argument: Series) -> Series:
        """Apply a function: an elementary one by its differential equation, any other by its expression."""
        import sympy

        one, v, name = self.number(Fraction(1)), argument, function.name
        squared = self.multiply([v, v])
        match name:
            case "exp":
                return self._solve(sympy.exp(v[0]), v, lambda n, y: y[n])
            case "tanh":
                return self._solve(
                    sympy.tanh(v[0]).rewrite(sympy.exp) if v[0] != 0 else v[0],
                    v,
                    lambda n, y: one[n] - _convolve(y, y, n),
                )
            case "erf":
                bell = self.apply(REGISTERED["exp"], self.multiply([self.number(Fraction(-1)), squared]))
                return self._solve(sympy.erf(v[0]), v, lambda n, _: 2 * bell[n] / sympy.sqrt(sympy.pi))
            case "log":
                inverse = self.power(v, Fraction(-1))
                return self._solve(sympy.log(v[0]), v, lambda n, _: inverse[n])
            case "arctan" | "atan":
                inverse = self.power(self.add([one, squared]), Fraction(-1))
                return self._solve(sympy.atan(v[0]), v, lambda n, _: inverse[n])
            case "asinh":
                inverse = self.power(self.add([one, squared]), Fraction(-1, 2))
                return self._solve(sympy.asinh(v[0]), v, lambda n, _: inverse[n])
            case "sin" | "cos" | "sinh" | "cosh":
                return self._wave(name, v)
            case "tan":
                return self.multiply([self._wave("sin", v), self.power(self._wave("cos", v), Fraction(-1))])
            case _:
                return substitute(custom_body(function), self, v)

    def _solve(self, start: sympy.Expr, v: Series, slope: Callable[[int, list[sympy.Expr]], sympy.Expr]) -> Series:
        """Solve y' = r v' with y(0) = start; ``slope(n, y)`` is coefficient n of r, from those of y up to n."""
        result, rates = [start], []
        for n in range(1, self.length):
            rates.append(_tidy(slope(n - 1, result)))
            result.append(_tidy(sum((m + 1) * v[m + 1] * rates[n - 1 - m] for m in range(n)) / n))
        return tuple(result)

    def _wave(self, name: str, v: Series) -> Series:
        """Solve for sine and cosine, or their hyperbolic forms, together."""
        import sympy

        hyperbolic = name.endswith("h")
        sine, cosine = (sympy.sinh, sympy.cosh) if hyperbolic else (sympy.sin, sympy.cos)
        s, c = [sine(v[0])], [cosine(v[0])]
        for n in range(1, self.length):
            turn = [sum((m + 1) * v[m + 1] * other[n - 1 - m] for m in range(n)) / n for other in (c, s)]
            s.append(_tidy(turn[0]))
            c.append(_tidy(turn[1] if hyperbolic else -turn[1]))
        return tuple(s if name.startswith("sin") else c)


def taylor(expression: Expr, order: int) -> Series:
    """Return the Taylor coefficients at 0 of an expression in ``u``.

    Parameters
    ----------
    expression : Expr
        Analytic at 0, in the one variable ``u``.
    order : int
        Highest power.

    Returns
    -------
    tuple of SymPy numbers of length ``order + 1``

    Examples
    --------
    >>> from invman.architecture.expressions import parse_scalar
    >>> taylor(parse_scalar("exp(u)*(1 - u)"), 3)
    (1, 0, -1/2, -1/3)
    """
    algebra = TaylorAlgebra(order)
    return substitute(expression, algebra, algebra.variable())


def _convolve(left: Sequence[sympy.Expr], right: Sequence[sympy.Expr], n: int) -> Any:
    return sum(left[m] * right[n - m] for m in range(n + 1) if left[m] != 0 and right[n - m] != 0)


def _tidy(value: Any) -> sympy.Expr:
    """Bring a number to a short form; rational numbers pass through."""
    import sympy

    number: Any = sympy.sympify(value)
    return number if number.is_Rational else sympy.cancel(sympy.expand(number))
