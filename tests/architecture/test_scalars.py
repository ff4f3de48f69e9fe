"""The map written out in scalars."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy

from invman.architecture import parse_program, read_architecture
from invman.architecture.scalars import BUDGET, expand, sympy_map
from invman.errors import OverBudgetError


class Rationals:
    """Exact arithmetic of Fractions, for polynomial maps."""

    def number(self, value):
        return value

    def add(self, terms):
        return sum(terms, Fraction(0))

    def power(self, base, exponent):
        return base ** int(exponent)

    def multiply(self, factors):
        product = Fraction(1)
        for factor in factors:
            product *= factor
        return product

    def apply(self, function, argument):
        return argument ** {"square": 2, "cube": 3}[function.name]


def test_the_expression_of_a_net():
    theta, x, (f,) = sympy_map(read_architecture("2-2tanh-1+bias"))
    names = ["w[0,0]", "w[0,1]", "w[1,0]", "w[1,1]", "b[0]", "b[1]", "a[0]", "a[1]", "c"]
    assert [symbol.name for symbol in theta] == names
    assert all(symbol.is_real for symbol in [*theta, *x])
    w00, w01, w10, w11, b0, b1, a0, a1, c = theta
    hidden = [sympy.tanh(w00 * x[0] + w01 * x[1] + b0), sympy.tanh(w10 * x[0] + w11 * x[1] + b1)]
    assert sympy.expand(f - a0 * hidden[0] - a1 * hidden[1] - c) == 0


def test_softmax_and_mean():
    _, _, outputs = sympy_map(
        parse_program("input x[s]; p[s] = softmax[s](a*x[s]); m = mean[s](a*x[s]); output p, m; size s=2")
    )
    a, x0, x1 = sympy.symbols("a x[0] x[1]", real=True)
    e0, e1 = sympy.exp(a * x0), sympy.exp(a * x1)
    expected = [e0 / (e0 + e1), e1 / (e0 + e1), a * (x0 + x1) / 2]
    assert all(sympy.simplify(got - wanted) == 0 for got, wanted in zip(outputs, expected, strict=True))


@pytest.mark.parametrize(("s", "t"), [(2, 2), (2, 4), (4, 2)])
def test_causal_softmax_of_unequal_lengths(agree, s, t):
    """Row t attends to the positions up to t; beyond the last position it attends to all."""
    import numpy as np

    program = parse_program(f"input x[s]; p[t,s] = softmax[s<=t](a[t]*x[s]); output p; size s={s}, t={t}")

    def by_hand(a, x):
        weights = np.exp(np.outer(a, x)) * (np.arange(s)[None, :] <= np.arange(t)[:, None])
        return weights / weights.sum(axis=1, keepdims=True)

    agree(program, by_hand)


def test_another_algebra_is_exact():
    program = parse_program("input x[i]; f = a[k]*square(w[k,i]*x[i] + 1/3)/2; size i=2, k=2")
    theta = [Fraction(n, 7) for n in range(1, 7)]
    x = [Fraction(1, 2), Fraction(-3)]
    w, a = [theta[2:4], theta[4:6]], theta[:2]
    expected = sum(a[k] * (w[k][0] * x[0] + w[k][1] * x[1] + Fraction(1, 3)) ** 2 / 2 for k in range(2))
    assert expand(program, Rationals(), theta, x) == [expected]


def test_budget():
    program = read_architecture("2-300tanh-1000")
    with pytest.raises(OverBudgetError, match="parameters of the program written out: got 300,600") as caught:
        sympy_map(program)
    assert (caught.value.size, caught.value.budget) == (300_600, BUDGET)
    few = parse_program("input x[i]; f = mean[i,j,k](tanh(a*x[i])); size i=100, j=100, k=100")
    with pytest.raises(OverBudgetError, match="scalar operations of the program written out: got 5,000,000, expected"):
        sympy_map(few)
    with pytest.raises(OverBudgetError, match="expected at most 5"):
        sympy_map(read_architecture("2-3tanh-1"), budget=5)
