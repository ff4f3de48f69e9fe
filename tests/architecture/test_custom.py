"""Custom activations: what is derived, against SymPy's series; what is refused."""

from __future__ import annotations

import time

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from invman.architecture import REGISTERED, parse_program
from invman.architecture.expressions import parse_scalar, read_activation
from invman.architecture.scalars import sympy_scalar
from invman.architecture.taylor import taylor
from invman.architecture.tokens import Scanner

u = sympy.Symbol("u", real=True)


def read(expression):
    return read_activation(Scanner(f"custom({expression})"), "an activation")


@pytest.mark.parametrize(
    ("expression", "parity", "low", "start", "tail", "degree"),
    [
        ("u+u^2", "none", {1, 2}, 3, "none", None),
        ("2*u^5", "odd", {5}, 6, "none", 5),
        ("u^2/2 - u^4", "even", {2, 4}, 5, "none", None),
        ("(1+u)^2 - 1 - 2*u", "even", {2}, 3, "none", 2),
        ("custom(u^2)(u)+u", "none", {1, 2}, 3, "none", None),
        ("tanh(u)", "odd", {1, 3, 5, 7, 9, 11}, 13, "unknown", None),
        ("1/(1+exp(-u^2))", "even", {0, 2, 6, 10}, 13, "unknown", None),
        ("log(cosh(u))", "even", {2, 4, 6, 8, 10, 12}, 13, "unknown", None),
        ("exp(sin(u))", "none", {0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 13, "unknown", None),
        ("softplus(u) - u/2", "even", {0, 2, 4, 6, 8, 10, 12}, 13, "unknown", None),
        ("u/sqrt(1+u^2)", "odd", {1, 3, 5, 7, 9, 11}, 13, "unknown", None),
    ],
)
def test_what_is_derived(expression, parity, low, start, tail, degree):
    activation = read(expression)
    assert activation.parity == parity
    assert activation.support.low == low
    assert (activation.support.start, activation.support.tail, activation.degree) == (start, tail, degree)
    assert read(activation.name[7:-1]).name == activation.name


@pytest.mark.parametrize("name", [name for name, activation in REGISTERED.items() if activation.expression])
def test_a_registered_activation_written_out_is_derived_alike(name):
    activation = read(REGISTERED[name].expression)
    assert activation.parity == REGISTERED[name].parity
    assert activation.degree == REGISTERED[name].degree
    assert [n in activation.support for n in range(13)] == [n in REGISTERED[name].support for n in range(13)]


@pytest.mark.parametrize(
    "expression",
    [
        "tan(u)*asinh(u)",
        "atan(u + 1)",
        "erf(u/2 - 1)",
        "log(3 + u)",
        "(2+u)^(-3/2)",
        "cosh(1-u)*sin(u+2)",
        "tanh(u-1)^2",
    ],
)
def test_taylor_against_numerical_derivatives(expression):
    """Oracle: mpmath's Taylor coefficients (numerical differentiation) at 50 digits."""
    import mpmath

    parsed = parse_scalar(expression)
    function = sympy.lambdify(u, sympy_scalar(parsed, u), "mpmath")
    with mpmath.workdps(50):
        expected = mpmath.taylor(function, 0, 6)
        assert all(
            abs(a - mpmath.mpf(str(sympy.N(b, 40)))) < 1e-15 for a, b in zip(expected, taylor(parsed, 6), strict=True)
        )


@settings(max_examples=30, deadline=None)
@given(st.lists(st.fractions(-3, 3, max_denominator=4), min_size=2, max_size=5))
def test_polynomials(coefficients):
    text = " + ".join(f"({c})*u^{n}" if n else f"({c})" for n, c in enumerate(coefficients))
    orders = {n for n, c in enumerate(coefficients) if c}
    if not orders - {0}:
        return
    activation = read(text)
    assert {n for n in range(8) if n in activation.support} == orders
    assert activation.parity == (
        "odd" if all(n % 2 for n in orders) else "even" if not any(n % 2 for n in orders) else "none"
    )
    assert activation.degree == (min(orders) if len(orders) == 1 else None)


def test_nesting_is_derived_at_once():
    start = time.perf_counter()
    read("silu(silu(tanh(sin(u) + u^2)))")
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("1/u", "singular where u is zero"),
        ("1/(u-1)", "singular where u - 1 is zero"),
        ("1/(1 - 2*tanh(u))", "singular where 1 - 2*tanh(u) is zero"),
        ("tan(u)", "singular where cos(u) is zero"),
        ("log(u)", "singular where u is zero or negative"),
        ("log(u^2 - 2)", "singular where u**2 - 2 is zero or negative"),
        ("log(-1 - u^2)", "zero or negative"),
        ("sqrt(u)", "singular where u is zero or negative"),
        ("u^(1/3)", "singular where u is zero or negative"),
        ("sqrt(u^2)", "root of a square"),
        ("sqrt(sin(u)^2)", "root of a square"),
        ("(u^4+u^2)^(3/2)", "is zero or negative"),
        ("relu(u) + u", "relu is not analytic inside a custom activation"),
        ("abs(u)", "abs is not analytic"),
        ("3", "does not contain u"),
        ("u - u", "constant"),
        ("sin(u)^2 + cos(u)^2", "constant"),
    ],
)
def test_what_is_no_analytic_function(problem, expression, reason):
    message = problem(lambda text: read_activation(Scanner(text), ""), f"custom(‸{expression})")
    assert "expected an analytic function of u" in message
    assert reason in message


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("custom(u + ‸v)", "'u', the only variable"),
        ("custom(‸u[0])", "'u', the only variable"),
        ("custom(sum[‸k](u))", "no axis, since a custom activation acts on each entry"),
        ("custom(softmax[‸s](u))", "no axis"),
        ("custom(‸asinhh(u))", "Did you mean 'asinh'?"),
        ("custom‸", "'(' and an expression in u, as in custom(u+u^2)"),
        ("custom(u ‸u)", "an operator or ')'"),
        ("custom(‸)", "a number, a tensor, a function or '('"),
    ],
)
def test_texts_that_do_not_fit(problem, marked, expected):
    assert expected in problem(lambda text: read_activation(Scanner(text), ""), marked)


def test_in_a_program(agree):
    program = parse_program("input x[i]; f = a[k]*custom(u + u^2/2)(w[k,i]*x[i] + b[k]); size i=2, k=3")
    assert "custom(u + u^2/2)(w[k,i]*x[i] + b[k])" in program.text

    def by_hand(a, w, b, x):
        z = w @ x + b
        return a @ (z + z**2 / 2)

    agree(program, by_hand)
