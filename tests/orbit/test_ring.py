"""Power series over balls and modulo primes: the defining equation of every function, and the laws of a ring."""

from __future__ import annotations

import operator
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from invman.orbit.balls import SPAN, BallRing
from invman.orbit.residues import ModularRing
from invman.symmetry.infinitesimal.tower import RedrawError, draw_tower

LENGTH = 5
TOWER = draw_tower(np.random.default_rng(0), 2)
rationals = st.fractions(-3, 3, max_denominator=20)
series = st.lists(rationals, min_size=LENGTH, max_size=LENGTH)


def balls(length=LENGTH, bits=128, seed=0):
    return BallRing(length, bits, seed)


def residues(length=LENGTH, seed=0):
    return ModularRing(length, TOWER, seed)


def embedded(ring, coefficients):
    return ring.series([ring.embed(Fraction(c)) for c in coefficients])


def same(ring, left, right, length=LENGTH):
    pairs = list(zip(ring.coefficients(left)[:length], ring.coefficients(right)[:length], strict=True))
    if isinstance(ring, ModularRing):
        return all(a == b for a, b in pairs)
    return all(a.overlaps(b) and a.rad() < 1e-15 and b.rad() < 1e-15 for a, b in pairs)


def derivative(ring, u):
    """Return u' with one coefficient less."""
    found = [c * n for n, c in enumerate(ring.coefficients(u))][1:]
    return ring.series(found if isinstance(ring, BallRing) else [c % TOWER.primes[0] for c in found])


def is_number(ring, coefficient, wanted):
    """Tell whether a coefficient is, or encloses narrowly, a rational number."""
    if isinstance(ring, ModularRing):
        return coefficient == ring.embed(wanted)[0]
    return (coefficient * wanted.denominator - wanted.numerator).contains(0) and coefficient.rad() < 1e-12


def holds(ring, value, wanted):
    return all(is_number(ring, c, w) for c, w in zip(ring.coefficients(value), wanted, strict=True))


def convolved(a, b):
    return [sum((a[k] * b[n - k] for k in range(n + 1)), Fraction(0)) for n in range(LENGTH)]


@given(series, series)
def test_operators_match_rational_arithmetic(a, b):
    ring = balls()
    with ring.active():
        check_operators(ring, a, b)
    check_operators(residues(), a, b)


def check_operators(ring, a, b):
    u, v = embedded(ring, a), embedded(ring, b)
    for operate in (operator.add, operator.sub):
        assert holds(ring, operate(u, v), [operate(x, y) for x, y in zip(a, b, strict=True)])
    assert holds(ring, u * v, convolved(a, b))
    assert holds(ring, -u, [-x for x in a])
    assert holds(ring, 2 - u, [2 - a[0], *(-x for x in a[1:])])
    assert holds(ring, 1 + u * 3, [1 + 3 * a[0], *(3 * x for x in a[1:])])


@given(series, series, series)
def test_ring_laws_modulo_a_prime(a, b, c):
    ring = residues()
    u, v, w = (embedded(ring, x) for x in (a, b, c))
    for left, right in [(u * v, v * u), (u * (v * w), (u * v) * w), (u * (v + w), u * v + u * w), (u - u, w * 0)]:
        assert same(ring, left, right)
        assert left.tail == right.tail


@given(series, st.fractions(Fraction(1, 4), 3, max_denominator=20))
def test_functions_solve_their_equations(a, start):
    ring = balls()
    with ring.active():
        check_equations(ring, embedded(ring, [start, *a[1:]]))
    check_equations(residues(), embedded(residues(), [start, *a[1:]]))


def check_equations(ring, u):
    one = ring.number(Fraction(1))
    assert same(ring, u * ring.inverse(u), one)
    root = ring.root(u * u)
    assert same(ring, root * root, u * u)
    y = ring.exp(u)
    assert same(ring, derivative(ring, y), derivative(ring, u) * y, LENGTH - 1)
    assert same(ring, y * ring.exp(-u), one)
    s, c = ring.waves(u)
    assert same(ring, s * s + c * c, one)
    assert same(ring, derivative(ring, s), derivative(ring, u) * c, LENGTH - 1)
    assert same(ring, derivative(ring, c), -(derivative(ring, u) * s), LENGTH - 1)


@given(series, series)
def test_exponential_takes_sums_to_products(a, b):
    ring = residues()
    u, v = embedded(ring, a), embedded(ring, b)
    found, wanted = ring.exp(u + v), ring.exp(u) * ring.exp(v)
    assert same(ring, found, wanted)
    assert found.tail == wanted.tail


@pytest.mark.parametrize(("name", "symmetry"), [("erf", "odd"), ("arctan", "odd"), ("log", "inverse")])
def test_integrated_functions_have_their_slope_and_symmetry(name, symmetry):
    ring = residues()
    u = ring.series([ring.draw() for _ in range(LENGTH)])
    slope = ring.exp(u)
    y = ring.integrated(name, symmetry, u, slope)
    assert same(ring, derivative(ring, y), derivative(ring, u) * slope, LENGTH - 1)
    mirrored = ring.integrated(name, symmetry, ring.inverse(u) if symmetry == "inverse" else -u, slope)
    assert ring.coefficients(mirrored + y)[0] == 0


@pytest.mark.parametrize("ring", [balls(), residues()], ids=["balls", "residues"])
def test_coefficients_beyond_the_length_are_dropped(ring):
    ring.length = 3
    with balls(3).active():
        t = embedded(ring, [1, 2, 3])
        wanted = embedded(ring, [1, 4, 10])
        assert same(ring, t * t, wanted, 3)
        assert len(ring.coefficients(t * t * t)) == 3
        assert len(ring.coefficients(ring.number(Fraction(1)))) == 3
        zero = ring.coefficients(ring.number(Fraction(0)))
    assert all(c == 0 for c in zero)


def test_precision_and_truncation_are_restored():
    before = ctx.prec, ctx.cap
    with balls(3, bits=200).active():
        assert (ctx.prec, ctx.cap) == (200, 3)
    assert (ctx.prec, ctx.cap) == before
    ring = balls(3, bits=200)
    with pytest.raises(RedrawError), ring.active():
        ring.inverse(ring.number(Fraction(0)))
    assert (ctx.prec, ctx.cap) == before


def test_drawn_balls_are_small_rationals_and_not_zero():
    ring = balls()
    drawn = [ring.draw() for _ in range(2000)]
    assert all(c.rad() == 0 and not c.contains(0) and abs(c) <= 1 for c in drawn)
    assert all((c * SPAN).is_integer() for c in drawn)
    assert any(c > 0 for c in drawn)
    assert any(c < 0 for c in drawn)


def test_drawn_residues_are_not_zero():
    ring = residues()
    assert all(0 < r < p for _ in range(500) for r, p in zip(ring.draw(), TOWER.primes, strict=True))


@pytest.mark.parametrize("make", [balls, residues])
def test_the_seed_decides(make):
    first, again, other = make(seed=1), make(seed=1), make(seed=2)
    drawn = [[str(ring.draw()) for _ in range(5)] for ring in (first, again, other)]
    assert drawn[0] == drawn[1] != drawn[2]


@given(rationals, st.integers(1, 40))
def test_over_divides(value, divisor):
    ring = residues()
    assert is_number(ring, ring.over(ring.embed(value)[0], divisor), value / divisor)
    assert is_number(balls(), balls().over(balls().embed(value), divisor), value / divisor)


def test_numbers_have_the_precision_of_the_ring():
    ring = balls(bits=256)
    assert ring.embed(Fraction(1, 3)).rad() < 1e-70
    assert ring.over(ring.embed(Fraction(1)), 3).rad() < 1e-70


def test_matrices_multiply():
    ring = residues()
    assert (ring.matrix([[1, 2], [3, 4]]) * ring.matrix([[1], [-1]])).tolist() == [[-1], [-1]]
    with balls().active():
        assert (balls().matrix([[1, 2], [3, 4]]) * balls().matrix([[1], [-1]])).tolist() == [[-1], [-1]]


def test_gate_of_balls():
    ring = balls()
    with ring.active():
        found = {(name, start): ring.coefficients(ring.gate(name, embedded(ring, [start, start])))
                 for name in ("relu", "abs") for start in (2, -2, 0)}  # fmt: skip
        unsure = ring.series([arb(0, 1e-9)])
        for name in ("relu", "abs"):
            with pytest.raises(RedrawError):
                ring.gate(name, unsure)
    heads = {key: float(value[0]) for key, value in found.items()}
    assert heads == {("relu", 2): 1, ("relu", -2): 0, ("relu", 0): 0, ("abs", 2): 1, ("abs", -2): -1, ("abs", 0): 0}
    assert all(c.is_zero() for value in found.values() for c in value[1:])


def test_gate_of_residues_belongs_to_name_and_argument():
    ring = residues()
    u, v = embedded(ring, [2, 1]), embedded(ring, [3, 1])
    first = ring.coefficients(ring.gate("relu", u))
    assert first[0] != 0
    assert first[1:] == [0] * (LENGTH - 1)
    assert ring.coefficients(ring.gate("relu", embedded(ring, [2, 5]))) == first
    assert ring.coefficients(ring.gate("relu", v)) != first
    assert ring.coefficients(ring.gate("abs", u)) != first


POINTS = [Fraction(1, 3), Fraction(7, 2), Fraction(1, 64), Fraction(-5, 4), Fraction(-9), Fraction(0)]


@pytest.mark.parametrize("point", POINTS, ids=str)
def test_balls_enclose_the_taylor_coefficients(point):
    ring = balls()
    functions = {
        "exp": (ring.exp, mpmath.exp),
        "sin": (lambda u: ring.waves(u)[0], mpmath.sin),
        "cos": (lambda u: ring.waves(u)[1], mpmath.cos),
        "erf": (lambda u: ring.integrated("erf", "odd", u, u), mpmath.erf),
        "arctan": (lambda u: ring.integrated("arctan", "odd", u, u), mpmath.atan),
        "softplus": (lambda u: ring.integrated("softplus", "reflected", u, u), lambda v: mpmath.log(1 + mpmath.exp(v))),
    }
    if point > 0:
        functions["root"] = ring.root, mpmath.sqrt
        functions["log"] = lambda u: ring.integrated("log", "inverse", u, u), mpmath.log
    with ring.active(), mpmath.workdps(60):
        for enclosing, reference in functions.values():
            found = ring.coefficients(enclosing(embedded(ring, [point, 1])))
            wanted = mpmath.taylor(reference, mpmath.mpf(point.numerator) / point.denominator, LENGTH - 1)
            for ball, value in zip(found, wanted, strict=True):
                assert ball.rad() < 1e-20
                assert abs(ball - arb(mpmath.nstr(value, 40))).abs_lower() < 1e-25


def test_bell_factor():
    with balls().active():
        factor = balls().coefficients(balls().bell_factor())[0]
        assert (factor * factor * arb.pi()).overlaps(arb(4))
    ring = residues()
    assert ring.coefficients(ring.bell_factor()) == ring.coefficients(ring.bell_factor())


@pytest.mark.parametrize("start", [0, -1])
def test_balls_ask_for_another_point_where_nothing_is_defined(start):
    ring = balls()
    with ring.active():
        u = embedded(ring, [start, 1])
        for function in (ring.root, lambda u: ring.integrated("log", "inverse", u, u)):
            with pytest.raises(RedrawError):
                function(u)
        if start == 0:
            with pytest.raises(RedrawError):
                ring.inverse(u)
        with pytest.raises(RedrawError):
            ring.inverse(ring.series([arb(0, 1e-9), arb(1)]))


def test_residues_ask_for_another_point_where_nothing_is_defined():
    ring = residues()
    u = embedded(ring, [0, 1])
    for function in (ring.inverse, ring.root):
        with pytest.raises(RedrawError):
            function(u)
