"""Every registered function with its first two derivatives, over any ring of power series."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from invman.orbit.ring import Ring

Jet = tuple[Any, Any, Any]
"""f(u), f'(u), f''(u)."""


def jet(ring: Ring, name: str, u: Any) -> Jet:
    """Return a function of a series and its first two derivatives there.

    Parameters
    ----------
    ring : Ring
        Arithmetic of the series.
    name : str
        A registered activation, or log, tan, asinh, atan.
    u : series
        The argument.

    Returns
    -------
    tuple of three series

    Raises
    ------
    RedrawError
        The function is not defined there, or that cannot be told.

    Examples
    --------
    >>> from invman.orbit.balls import BallRing
    >>> ring = BallRing(2, 64, seed=0)
    >>> [str(v) for v in jet(ring, "square", ring.number(Fraction(3)))[1:]]
    ['6.00000000000000 + O(x^10)', '2.00000000000000 + O(x^10)']
    """
    one = ring.number(Fraction(1))
    match name:
        case "identity":
            return u, one, one * 0
        case "square":
            return u * u, u * 2, one * 2
        case "cube":
            return u * u * u, u * u * 3, u * 6
        case "exp":
            y = ring.exp(u)
            return y, y, y
        case "gaussian":
            y = ring.exp(-(u * u))
            return y, -2 * u * y, (u * u * 4 - 2) * y
        case "tanh":
            y = 1 - ring.inverse(ring.exp(u * 2) + 1) * 2
            slope = 1 - y * y
            return y, slope, -2 * y * slope
        case "sigmoid" | "softplus" | "silu":
            return _logistic(ring, name, u)
        case "sin" | "cos" | "tan":
            s, c = ring.waves(u)
            if name == "tan":
                t = s * ring.inverse(c)
                return t, 1 + t * t, 2 * t * (1 + t * t)
            return (s, c, -s) if name == "sin" else (c, -s, -c)
        case "sinh" | "cosh":
            forth, back = ring.exp(u), ring.exp(-u)
            half = ring.number(Fraction(1, 2))
            s, c = half * (forth - back), half * (forth + back)
            return (s, c, s) if name == "sinh" else (c, s, c)
        case "erf":
            slope = ring.bell_factor() * ring.exp(-(u * u))
            return ring.integrated("erf", "odd", u, slope), slope, -2 * u * slope
        case "gelu":
            root = ring.root(ring.number(Fraction(1, 2)))
            area, bell, _ = jet(ring, "erf", u * root)
            area, bell = (area + 1) * ring.number(Fraction(1, 2)), bell * root * ring.number(Fraction(1, 2))
            return u * area, area + u * bell, (2 - u * u) * bell
        case "arctan" | "atan":
            slope = ring.inverse(1 + u * u)
            return ring.integrated("arctan", "odd", u, slope), slope, -2 * u * slope * slope
        case "log":
            slope = ring.inverse(u)
            return ring.integrated("log", "inverse", u, slope), slope, -(slope * slope)
        case "asinh":
            root = ring.root(1 + u * u)
            slope = ring.inverse(root)
            value = ring.integrated("log", "inverse", u + root, ring.inverse(u + root))
            return value, slope, -(u * slope * slope * slope)
        case _:  # relu and abs
            gate = ring.gate(name, u)
            return gate * u, gate, one * 0


def _logistic(ring: Ring, name: str, u: Any) -> Jet:
    s = ring.inverse(ring.exp(-u) + 1)
    slope = s * (1 - s)
    second = slope * (1 - 2 * s)
    if name == "sigmoid":
        return s, slope, second
    if name == "softplus":
        return ring.integrated("softplus", "reflected", u, s), s, slope
    return u * s, s + u * slope, slope * 2 + u * second


def power(ring: Ring, u: Any, exponent: Fraction) -> Jet:
    """Return a rational power of a series and its first two derivatives; the denominator is 1, 2, 4, 8, ..."""
    if exponent.denominator == 1 and exponent >= 0:
        n = int(exponent)
        lower = [ring.number(Fraction(1))]
        for _ in range(n):
            lower.append(lower[-1] * u)
        zero = lower[0] * 0
        return lower[n], lower[n - 1] * n if n else zero, lower[n - 2] * (n * (n - 1)) if n > 1 else zero
    base, top, bottom = u, exponent.numerator, exponent.denominator
    while bottom > 1:
        base, bottom = ring.root(base), bottom // 2
    if top < 0:
        base, top = ring.inverse(base), -top
    value = base
    for _ in range(top - 1):
        value = value * base
    over = ring.inverse(u)
    slope = value * over * ring.number(exponent)
    return value, slope, slope * over * ring.number(exponent - 1)
