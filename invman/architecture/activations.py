"""Activation functions: what the theory needs to know of each, stated for the registered ones, derived for custom ones.

The theory asks four things of an activation sigma: its parity, whether sigma(0) = 0, the support
``I = {n : sigma^(n)(0) != 0}``, and its degree of homogeneity. This file holds them as plain data and loads
neither SymPy nor JAX; the functions themselves are built in :mod:`invman.architecture.evaluate`.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import Literal

from invman.errors import UnsupportedError

Parity = Literal["odd", "even", "none"]


@dataclass(frozen=True)
class Support:
    """The set I of orders whose derivative at 0 does not vanish.

    Attributes
    ----------
    low : frozenset of int
        The members below ``start``.
    start : int
        Where the regular tail begins.
    tail : {"none", "odd", "even", "all", "unknown"}
        Which orders from ``start`` on belong to I; "unknown" for a custom function beyond the derived orders.

    Examples
    --------
    >>> [n in Support(frozenset({0}), 1, "odd") for n in range(5)]
    [True, True, False, True, False]
    """

    low: frozenset[int]
    start: int = 0
    tail: Literal["none", "odd", "even", "all", "unknown"] = "none"

    def __contains__(self, order: int) -> bool:
        """Tell whether the derivative of this order is non-zero at 0."""
        if order < self.start:
            return order in self.low
        if self.tail == "unknown":
            msg = (
                f"derivative of order {order} at 0: this custom activation was derived up to order {self.start - 1} "
                "only; expected a polynomial or an order below that"
            )
            raise UnsupportedError(msg)
        return self.tail == "all" or (self.tail == "odd" and order % 2 == 1) or (self.tail == "even" and order % 2 == 0)


@dataclass(frozen=True)
class Activation:
    """One activation function and the facts about it that the theory uses.

    Attributes
    ----------
    name : str
        Registered name, or ``custom(EXPRESSION)`` in canonical form.
    expression : str
        The function of ``u`` in the notation of :mod:`invman.architecture.text`; "" for a non-analytic one.
    parity : {"odd", "even", "none"}
        Proved, or "none".
    support : Support
        Orders of the non-vanishing derivatives at 0.
    degree : int or None
        p when sigma(t u) = t^p sigma(u) for t > 0, else None.
    analytic : bool
        False for relu and abs, whose manifolds are valid on one activation region only.
    """

    name: str
    expression: str = field(compare=False)
    parity: Parity = field(compare=False)
    support: Support = field(compare=False)
    degree: int | None = field(default=None, compare=False)
    analytic: bool = field(default=True, compare=False)

    @property
    def vanishes(self) -> bool:
        """Whether sigma(0) = 0, so that a neuron without weights is silent and stays so."""
        return 0 not in self.support

    def __str__(self) -> str:
        """Print the name as it is written in an architecture."""
        return self.name


def _registered() -> dict[str, Activation]:
    odd, even, every = Support(frozenset(), 0, "odd"), Support(frozenset(), 0, "even"), Support(frozenset(), 0, "all")
    gated = Support(frozenset({1}), 2, "even")  # u sigma(u): n sigma^(n-1)(0), and sigma - 1/2 is odd
    table = [
        Activation("tanh", "tanh(u)", "odd", odd),
        Activation("sin", "sin(u)", "odd", odd),
        Activation("erf", "erf(u)", "odd", odd),
        Activation("arctan", "arctan(u)", "odd", odd),
        Activation("sinh", "sinh(u)", "odd", odd),
        Activation("sigmoid", "1/(1 + exp(-u))", "none", Support(frozenset({0}), 1, "odd")),
        Activation("softplus", "log(1 + exp(u))", "none", Support(frozenset({0, 1}), 2, "even")),
        Activation("silu", "u/(1 + exp(-u))", "none", gated),
        Activation("gelu", "u*(1 + erf(u/sqrt(2)))/2", "none", gated),
        Activation("exp", "exp(u)", "none", every),
        Activation("cos", "cos(u)", "even", even),
        Activation("cosh", "cosh(u)", "even", even),
        Activation("gaussian", "exp(-u^2)", "even", even),
        Activation("square", "u^2", "even", Support(frozenset({2}), 3), degree=2),
        Activation("cube", "u^3", "odd", Support(frozenset({3}), 4), degree=3),
        Activation("identity", "u", "odd", Support(frozenset({1}), 2), degree=1),
        Activation("relu", "", "none", Support(frozenset(), 1), degree=1, analytic=False),
        Activation("abs", "", "even", Support(frozenset(), 1), degree=1, analytic=False),
    ]
    return {activation.name: activation for activation in table}


REGISTERED: dict[str, Activation] = _registered()

_UNKNOWN = Support(frozenset(), 0, "unknown")
PRIMITIVES: dict[str, Activation] = {
    name: Activation(name, f"{name}(u)", "none", _UNKNOWN) for name in ("log", "tan", "asinh", "atan")
}
"""Functions that may stand inside ``custom(...)`` beside the registered ones."""


def nearest(name: str, candidates: list[str]) -> str:
    """Return " did you mean ...?" for a misspelt name, or "" when nothing is near.

    Examples
    --------
    >>> nearest("tahn", ["tanh", "sin"])
    "Did you mean 'tanh'?"
    """
    close = difflib.get_close_matches(name, candidates, n=1, cutoff=0.5)
    return f"Did you mean '{close[0]}'?" if close else ""
