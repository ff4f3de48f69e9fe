"""Every function with its two derivatives: against its own series, SymPy, JAX, and in both arithmetics."""

from __future__ import annotations

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from flint import arb

from invman.architecture.activations import PRIMITIVES, REGISTERED
from invman.architecture.evaluate import _table
from invman.architecture.scalars import _sympy_table
from invman.orbit.balls import BallRing
from invman.orbit.functions import jet, power
from invman.orbit.residues import ModularRing
from invman.symmetry.infinitesimal.tower import RedrawError, draw_tower

LENGTH = 6
TOWER = draw_tower(np.random.default_rng(3), 2)
NAMES = [*REGISTERED, *PRIMITIVES]
GATED = ["relu", "abs"]
SMOOTH = [name for name in NAMES if name not in GATED]
POINTS = {"log": [Fraction(1, 3), Fraction(9, 4)], "tan": [Fraction(1, 3), Fraction(-5, 4)]}
ANYWHERE = [Fraction(1, 3), Fraction(-5, 4), Fraction(9, 4)]
CASES = [(name, point) for name in NAMES for point in POINTS.get(name, ANYWHERE)]
EXPONENTS = [*map(Fraction, (0, 1, 2, 3, -1, -2)), Fraction(1, 2), Fraction(-1, 2), Fraction(3, 2), Fraction(-1, 4)]
DIGITS = 40


def is_slope(ring, function, slope, u):
    """Tell whether f(u)' = f'(u) u' as far as the series go."""

    def derivative(v):
        found = [c * n for n, c in enumerate(ring.coefficients(v))][1:]
        return ring.series(found if isinstance(ring, BallRing) else [c % TOWER.primes[0] for c in found])

    left = ring.coefficients(derivative(function))[: LENGTH - 1]
    right = ring.coefficients(slope * derivative(u))[: LENGTH - 1]
    if isinstance(ring, ModularRing):
        return left == right
    return all(a.overlaps(b) and max(a.rad(), b.rad()) < 1e-20 for a, b in zip(left, right, strict=True))


def encloses(coefficient, value):
    """Tell whether a narrow ball agrees with a number of SymPy to its 40 digits."""
    return coefficient.rad() < 1e-25 and abs(coefficient - arb(str(value.evalf(DIGITS)))).abs_lower() < 1e-30


def near(ring, point):
    return ring.series([ring.embed(c) for c in (point, Fraction(1), Fraction(-2, 3))])


@pytest.mark.parametrize(("name", "point"), CASES, ids=str)
def test_balls_are_derivatives_of_each_other(name, point):
    ring = BallRing(LENGTH, 160, seed=0)
    with ring.active():
        for u in (near(ring, point), ring.series([ring.embed(point), ring.embed(Fraction(1))])):
            value, slope, second = jet(ring, name, u)
            assert is_slope(ring, value, slope, u)
            assert is_slope(ring, slope, second, u)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_residues_are_derivatives_of_each_other(name, seed):
    ring = ModularRing(LENGTH, TOWER, seed)
    for _ in range(50):
        u = ring.series([ring.draw() for _ in range(LENGTH)])
        try:
            value, slope, second = jet(ring, name, u)
        except RedrawError:  # asinh takes a root, which half of all residues have
            continue
        assert is_slope(ring, value, slope, u)
        assert is_slope(ring, slope, second, u)
        return
    pytest.fail("no point was found")


@pytest.mark.parametrize(("name", "point"), [case for case in CASES if case[0] not in GATED], ids=str)
def test_balls_enclose_sympy(name, point):
    ring, v = BallRing(1, 160, seed=0), sympy.Symbol("v", real=True)
    formula = _sympy_table()[name](v)
    with ring.active():
        found = jet(ring, name, ring.number(point))
        for order, value in enumerate(found):
            wanted = formula.diff(v, order) if order else formula
            assert encloses(ring.coefficients(value)[0], wanted.subs(v, sympy.Rational(str(point))))


@pytest.mark.parametrize(("name", "point"), CASES, ids=str)
def test_balls_agree_with_jax(name, point):
    ring = BallRing(1, 160, seed=0)
    with jax.enable_x64(True):
        wanted = float(_table()[name](jnp.asarray(float(point))))
    with ring.active():
        found = jet(ring, name, ring.number(point))[0]
    assert float(ring.coefficients(found)[0]) == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", GATED)
def test_gates_of_balls(name):
    ring = BallRing(LENGTH, 160, seed=0)
    with ring.active():
        for point in (Fraction(2), Fraction(-2), Fraction(0)):
            u = near(ring, point) if point else ring.number(point)
            value, slope, second = jet(ring, name, u)
            factor = {1: 1, -1: 0 if name == "relu" else -1, 0: 0}[(point > 0) - (point < 0)]
            assert [float(c) for c in ring.coefficients(value)] == [factor * float(c) for c in ring.coefficients(u)]
            assert [float(c) for c in ring.coefficients(slope)] == [factor, *[0] * (LENGTH - 1)]
            assert all(c.is_zero() for c in ring.coefficients(second))


@pytest.mark.parametrize("name", GATED)
def test_gates_of_residues(name):
    ring = ModularRing(LENGTH, TOWER, 0)
    u = ring.series([ring.draw() for _ in range(LENGTH)])
    value, slope, second = jet(ring, name, u)
    assert ring.coefficients(value) == ring.coefficients(slope * u)
    assert ring.coefficients(slope) == ring.coefficients(jet(ring, name, u)[1])
    assert ring.coefficients(slope)[1:] == [0] * (LENGTH - 1)
    assert ring.coefficients(second) == [0] * LENGTH


@pytest.mark.parametrize("name", ["log", "softplus", "asinh", "tan", "arctan"])
def test_residues_of_one_argument_are_the_same_twice(name):
    ring = ModularRing(LENGTH, TOWER, 5)
    u = ring.number(Fraction(0)) if name == "asinh" else ring.number(Fraction(7, 3))
    first, again = jet(ring, name, u), jet(ring, name, u)
    assert [ring.coefficients(v) for v in first] == [ring.coefficients(v) for v in again]


@pytest.mark.parametrize("name", ["log", "tan"])
def test_poles_ask_for_another_point(name):
    ring = BallRing(LENGTH, 160, seed=0)
    with ring.active():
        start = arb.pi() / 2 if name == "tan" else arb(0)
        with pytest.raises(RedrawError):
            jet(ring, name, ring.series([start, arb(1)]))


@pytest.mark.parametrize("exponent", EXPONENTS, ids=str)
def test_powers_of_balls(exponent):
    ring, v = BallRing(LENGTH, 160, seed=0), sympy.Symbol("v", positive=True)
    point, formula = Fraction(7, 3), v ** sympy.Rational(str(exponent))
    with ring.active():
        u = near(ring, point)
        found = power(ring, u, exponent)
        assert is_slope(ring, found[0], found[1], u)
        assert is_slope(ring, found[1], found[2], u)
        for order, value in enumerate(found):
            wanted = formula.diff(v, order) if order else formula
            assert encloses(ring.coefficients(value)[0], wanted.subs(v, sympy.Rational(str(point))))


@pytest.mark.parametrize("exponent", [e for e in EXPONENTS if e.denominator == 1], ids=str)
def test_whole_powers_of_negative_balls(exponent):
    ring = BallRing(LENGTH, 160, seed=0)
    with ring.active():
        found = power(ring, near(ring, Fraction(-3, 2)), exponent)[0]
    assert float(ring.coefficients(found)[0]) == pytest.approx((-1.5) ** int(exponent), rel=1e-14)


@pytest.mark.parametrize("exponent", [*map(Fraction, range(4))], ids=str)
def test_natural_powers_at_zero(exponent):
    ring, n = BallRing(LENGTH, 160, seed=0), int(exponent)
    with ring.active():
        u = ring.series([arb(0), arb(1)])
        found = [[float(c) for c in ring.coefficients(v)] for v in power(ring, u, exponent)]
    wanted = [[float(k == n), float(n * (k == n - 1)), float(n * (n - 1) * (k == n - 2))] for k in range(LENGTH)]
    assert found == [list(column) for column in zip(*wanted, strict=True)]


@pytest.mark.parametrize("exponent", EXPONENTS, ids=str)
def test_powers_of_residues(exponent):
    ring = ModularRing(LENGTH, TOWER, 0)
    base = ring.series([ring.draw() for _ in range(LENGTH)])
    u = base * base
    u = u * u if exponent.denominator == 4 else u
    try:
        value, slope, second = power(ring, u, exponent)
    except RedrawError:  # the smaller root of a fourth power need not be a square
        assert exponent.denominator == 4
        return
    assert is_slope(ring, value, slope, u)
    assert is_slope(ring, slope, second, u)
    raised = value
    for _ in range(exponent.denominator - 1):
        raised = raised * value
    assert ring.coefficients(raised) == ring.coefficients(power(ring, u, Fraction(exponent.numerator))[0])
