"""Parity, support and degree of every registered activation, derived again with SymPy."""

from __future__ import annotations

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from invman.architecture import REGISTERED, Support
from invman.architecture.activations import nearest
from invman.architecture.expressions import parse_scalar
from invman.architecture.scalars import SympyAlgebra, sympy_scalar
from invman.errors import UnsupportedError

u = sympy.Symbol("u", real=True)
# definitions by hand, from the literature rather than from the code
DEFINITIONS = {
    "tanh": (sympy.exp(u) - sympy.exp(-u)) / (sympy.exp(u) + sympy.exp(-u)),
    "sin": sympy.sin(u), "cos": sympy.cos(u), "arctan": sympy.atan(u), "erf": sympy.erf(u), "exp": sympy.exp(u),
    "sinh": (sympy.exp(u) - sympy.exp(-u)) / 2, "cosh": (sympy.exp(u) + sympy.exp(-u)) / 2,
    "sigmoid": sympy.exp(u) / (1 + sympy.exp(u)), "softplus": sympy.log(1 + sympy.exp(u)),
    "silu": u * sympy.exp(u) / (1 + sympy.exp(u)), "gelu": u * (1 + sympy.erf(u / sympy.sqrt(2))) / 2,
    "gaussian": sympy.exp(-(u**2)), "square": u**2, "cube": u**3, "identity": u,
    "relu": sympy.Max(u, 0), "abs": sympy.Abs(u),
}  # fmt: skip
ANALYTIC = [name for name, activation in REGISTERED.items() if activation.analytic]
ORDER = 11


def test_every_activation_is_checked_here():
    assert set(DEFINITIONS) == set(REGISTERED)


@pytest.mark.parametrize("name", REGISTERED)
def test_the_function_itself(name):
    function = SympyAlgebra().apply(REGISTERED[name], u)
    for value in (sympy.Rational(-13, 10), sympy.Rational(2, 7), 3):
        assert abs(sympy.N((function - DEFINITIONS[name]).subs(u, value), 30)) < 1e-25


@pytest.mark.parametrize("name", ANALYTIC)
def test_the_expression_is_the_function(name):
    difference = sympy_scalar(parse_scalar(REGISTERED[name].expression), u) - DEFINITIONS[name]
    assert all(abs(sympy.N(difference.subs(u, sympy.Rational(n, 5)), 30)) < 1e-25 for n in (-7, 1, 4))


@pytest.mark.parametrize("name", ANALYTIC)
def test_support_by_series(name):
    definition = {"tanh": sympy.tanh(u), "sinh": sympy.sinh(u), "cosh": sympy.cosh(u)}.get(name, DEFINITIONS[name])
    series = sympy.series(definition, u, 0, ORDER).removeO()
    for order in range(ORDER):
        assert (sympy.simplify(series.coeff(u, order)) != 0) == (order in REGISTERED[name].support), order
    assert REGISTERED[name].vanishes == (series.coeff(u, 0) == 0)


@pytest.mark.parametrize("name", REGISTERED)
def test_parity(name):
    function = DEFINITIONS[name]
    odd, even = (
        all(abs(sympy.N((function + sign * function.subs(u, -u)).subs(u, n), 30)) < 1e-25 for n in (1, 2))
        for sign in (1, -1)
    )
    assert REGISTERED[name].parity == ("odd" if odd else "even" if even else "none")


@pytest.mark.parametrize("name", REGISTERED)
def test_degree(name):
    def scales(p):
        cases = [(value, factor) for value in (sympy.Rational(-13, 10), 1) for factor in (2, 3)]
        differences = (f.subs(u, value * factor) - factor**p * f.subs(u, value) for value, factor in cases)
        return all(abs(sympy.N(difference, 30)) < 1e-25 for difference in differences)

    f = DEFINITIONS[name]
    degrees = [p for p in range(5) if scales(p)]
    assert degrees == ([] if REGISTERED[name].degree is None else [REGISTERED[name].degree])


def test_only_relu_and_abs_are_not_analytic():
    assert [name for name in REGISTERED if name not in ANALYTIC] == ["relu", "abs"]
    assert REGISTERED["relu"].vanishes
    assert REGISTERED["abs"].vanishes
    assert str(REGISTERED["gelu"]) == "gelu"


@given(
    st.sets(st.integers(0, 4)), st.integers(0, 5), st.sampled_from(["none", "odd", "even", "all"]), st.integers(0, 9)
)
def test_membership(low, start, tail, order):
    regular = {"none": False, "odd": order % 2 == 1, "even": order % 2 == 0, "all": True}[tail]
    assert (order in Support(frozenset(low), start, tail)) == (order in low if order < start else regular)


def test_an_order_that_was_not_derived():
    support = Support(frozenset({1}), 13, "unknown")
    assert 1 in support
    assert 2 not in support
    with pytest.raises(UnsupportedError, match="order 13 at 0: this custom activation was derived up to order 12 only"):
        assert 13 in support


def test_nearest_name():
    assert nearest("sigmoud", list(REGISTERED)) == "Did you mean 'sigmoid'?"
    assert nearest("zzzz", list(REGISTERED)) == ""
