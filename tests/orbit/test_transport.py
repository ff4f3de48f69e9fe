"""Formal transport against iterated Lie brackets in SymPy, known dimensions, and itself in the other arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from flint import fmpq, fmpq_mat
from sympy.polys.domains import QQ
from sympy.polys.rings import ring as polynomials

from invman.architecture import read_architecture
from invman.architecture.scalars import sympy_map
from invman.orbit.balls import BallRing
from invman.orbit.exact import ExactFamily
from invman.orbit.rank import BallRank, ModularRank
from invman.orbit.residues import ModularRing
from invman.orbit.transport import STAGES, transport
from invman.symmetry.infinitesimal.tower import draw_tower

BITS = 256


def family(program, ring, theta, controls=4) -> Any:
    samples = -(-program.parameter_count // program.output_count) + 2
    return ExactFamily(program, ring, theta, samples, controls, 10**6)


def ball_profile(text, theta=None, order=8, seed=0):
    """Return the ranks order by order, until they are the number of parameters."""
    program, ring = read_architecture(text, one_region=True), BallRing(1, BITS, seed)
    count = program.parameter_count
    if theta is None:
        theta = [Fraction(int(v), 64) for v in np.random.default_rng(seed).integers(-100, 100, count)]
    rank, found = BallRank(BITS, count), []
    with ring.active():
        start = [ring.embed(Fraction(v)) for v in theta]
    for matrix in transport(family(program, ring, start), order):
        found.append(rank.add(matrix))
        if found[-1] == count:
            break
    return found


def modular_profile(text, theta=None, order=8, seed=0):
    """Return the ranks order by order; at a generic point until they stand still, which ends the search."""
    program, tower = read_architecture(text, one_region=True), draw_tower(np.random.default_rng(seed), 2)
    ring, count = ModularRing(1, tower, seed), program.parameter_count
    start = [ring.draw() if theta is None else ring.embed(Fraction(theta[i])) for i in range(count)]
    rank, found = ModularRank(tower.primes[0]), []
    for matrix in transport(family(program, ring, start), order):
        found.append(rank.add(matrix))
        if found[-1] == count or (theta is None and found[-2:-1] == found[-1:]):
            break
    return found


def trimmed(profile):
    """Drop the orders after the last one that adds something."""
    return profile[: profile.index(profile[-1]) + 1]


# --- an oracle that shares nothing with the code: brackets of polynomial fields


def at(field, values):
    numbers = [QQ.convert(c.evaluate(values)) for c in field]
    return [fmpq(int(c.numerator), int(c.denominator)) for c in numbers]


def bracket_profile(text, theta, depth):
    """Return the ranks at a rational point of all brackets of up to 1, 2, ... fields, over the rational numbers."""
    names, inputs, outputs = sympy_map(read_architecture(text))
    space, *symbols = polynomials([f"v{i}" for i in range(len(names))], QQ)
    potentials = [
        sympy.Poly(coefficient, *names).as_dict()
        for output in outputs
        for coefficient in sympy.Poly(sympy.expand(output), *inputs).coeffs()
    ]
    fields: list[Any] = [[space.from_dict(p).diff(v) for v in symbols] for p in potentials]
    level, vectors, found = fields, [], []
    for _ in range(depth):
        vectors += [at(field, list(zip(symbols, theta, strict=True))) for field in level]
        found.append(fmpq_mat(vectors).rank())
        level = [b for b in (bracket(v, w, symbols) for v in fields for w in level) if any(b)]
        if not level:
            break
    return found


def bracket(v, w, symbols):
    pairs = list(zip(v, w, symbols, strict=True))
    return [sum((a * right.diff(s) - b * left.diff(s) for a, b, s in pairs), left * 0)
            for left, right in zip(v, w, strict=True)]  # fmt: skip


QUARTIC = "1-2custom(1+u+u^2+u^3+u^4)-1"
ODD, CUBIC = "1-2custom(u+u^3+u^5)-1", "1-2custom(u+u^2+u^3)-1"
SPECIAL = [  # theta in the order w1, w2, a1, a2
    (QUARTIC, ("1/2", "1/2", "3/4", "1/3"), 4),
    (QUARTIC, ("1/2", "1/2", "3/4", "-3/4"), 4),
    (QUARTIC, ("1/2", "-2/3", 0, 0), 4),
    (QUARTIC, ("1/2", "1/2", 0, 0), 2),
    (QUARTIC, ("1/2", 0, "3/4", 0), 4),
    (QUARTIC, ("1/2", "1/2", "3/4", "3/4"), 2),
    (ODD, ("1/2", "-1/2", "3/4", "-3/4"), 2),
    (ODD, ("1/2", "-1/2", "3/4", "1/3"), 4),
    (CUBIC, ("1/2", 0, "3/4", 0), 2),
    (CUBIC, ("1/2", "1/3", "3/4", "-1"), 4),
]


@pytest.mark.parametrize(("text", "point", "dimension"), SPECIAL, ids=str)
def test_transport_against_brackets(text, point, dimension):
    theta = [Fraction(v) for v in point]
    brackets = bracket_profile(text, theta, 4)
    profiles = ball_profile(text, theta), modular_profile(text, theta)
    assert brackets[-1] == dimension
    assert trimmed(profiles[0]) == trimmed(profiles[1])
    for profile in profiles:
        assert profile[-1] == dimension
        assert all(rank <= most for rank, most in zip(profile, brackets, strict=False))


@pytest.mark.parametrize(
    ("text", "depth"), [("2-2identity-2", 3), ("1-2identity-2identity-1", 4), ("2-2square-1", 3), ("1-2cube-1+bias", 3)]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_transport_against_brackets_at_random_points(text, depth, seed):
    count = read_architecture(text).parameter_count
    theta = [Fraction(int(v), 4) for v in np.random.default_rng(seed).integers(-9, 10, count)]
    brackets = bracket_profile(text, theta, depth)
    profile = modular_profile(text, theta, order=5)
    assert trimmed(profile) == trimmed(ball_profile(text, theta, order=5))
    assert profile[-1] == brackets[-1]
    assert all(rank <= most for rank, most in zip(profile, brackets, strict=False))


# --- known dimensions


def test_the_rank_stands_still_and_rises_again():
    theta = [Fraction(v) for v in ("1/2", "1/2", "3/4", "-3/4")]
    for text in ("1-2tanh-1", QUARTIC):
        assert ball_profile(text, theta) == [2, 3, 3, 4]
    assert modular_profile(QUARTIC, theta) == [2, 3, 3, 4]


def test_dead_inputs_of_tanh():
    assert ball_profile("1-2tanh-1", [0, 0, Fraction(3, 4), Fraction(1, 3)]) == [1, 1, 2, 3, 3, 4]


def test_equal_neurons_stay_equal():
    assert set(ball_profile("1-2tanh-1", [Fraction(1, 2), Fraction(1, 2), Fraction(3, 4), Fraction(3, 4)])) == {2}


GENERIC = [
    ("2-2identity-2", [4, 5]),
    ("3-3identity-3", [9, 12]),
    ("4-4identity-4", [16, 22]),
    ("3-3identity-3identity-3", [9, 15]),
    ("2-3square-2", [6, 9]),
    ("2-3cube-2", [8, 9]),
    ("attention(d=3,heads=1,dk=2,seq=3)", [16, 18]),
    ("input x; f = a*exp(w*x + b)", [2]),
    ("1-1exp-1+bias", [3]),
]


@pytest.mark.parametrize(("text", "wanted"), GENERIC, ids=str)
def test_generic_profiles_in_both_arithmetics(text, wanted):
    assert trimmed(ball_profile(text, order=3)) == wanted
    assert modular_profile(text) == [*wanted, wanted[-1]]


@pytest.mark.parametrize(
    ("text", "wanted"), [("6-6identity-6", [36, 51, 51]), ("8-8identity-8", [64, 92, 92])], ids=str
)
def test_wide_linear_nets(text, wanted):
    assert modular_profile(text) == wanted


@pytest.mark.parametrize(
    ("text", "dimension"),
    [
        ("2-2identity-2identity-2", 6),
        ("2-3relu-2", 9),
        ("4-6relu-4", 42),
        ("2-2relu-2relu-2", 8),
        ("3-3relu-3relu-3", 21),
        ("attention(d=3,heads=2,dk=1,seq=3)", 20),
        ("attention(d=4,heads=1,dk=2,seq=3)", 26),
    ],
)
def test_generic_dimensions(text, dimension):
    assert modular_profile(text)[-1] == dimension


def test_two_heads_in_both_arithmetics():
    text = "attention(d=4,heads=2,dk=2,seq=3)"
    assert modular_profile(text) == [48, 52, 52]
    assert ball_profile(text, order=2) == [48, 52, 52]


@pytest.mark.parametrize("text", ["2-3relu-2", "2-2abs-1+bias", "2-2relu-2relu-2"])
def test_gates_of_balls_show_no_more_than_the_path_model(text):
    most = modular_profile(text)[-1]
    found = [ball_profile(text, order=4, seed=seed)[-1] for seed in range(4)]
    assert 0 < max(found) <= most


# --- one arithmetic against the other

SMOOTH = (
    "tanh",
    "sin",
    "erf",
    "arctan",
    "sinh",
    "sigmoid",
    "softplus",
    "silu",
    "gelu",
    "exp",
    "cos",
    "cosh",
    "gaussian",
)
RATIONAL = ("square", "cube", "identity", "custom(u^2+u)", "custom(1/(1+u^2))")


def random_architecture(seed):
    rng = np.random.default_rng(seed)
    widths = [int(v) for v in rng.integers(1, 4, int(rng.integers(3, 5)))]
    inner = [f"{width}{rng.choice(SMOOTH if rng.integers(2) else RATIONAL)}" for width in widths[1:-1]]
    return "-".join([str(widths[0]), *inner, str(widths[-1])]) + ("+bias" if rng.integers(3) == 0 else "")


@pytest.mark.parametrize("text", [random_architecture(seed) for seed in range(15)])
def test_arithmetics_agree_on_random_programs(text):
    modular = modular_profile(text, seed=1)
    assert ball_profile(text, order=len(modular) - 1, seed=2) == modular


@pytest.mark.parametrize("controls", [1, 2, 6])
def test_more_controls_change_nothing_at_a_generic_point_of_a_linear_net(controls):
    program, tower = read_architecture("2-2identity-2"), draw_tower(np.random.default_rng(7), 0)
    ring, rank = ModularRing(1, tower, 7), ModularRank(tower.primes[0])
    theta = [ring.draw() for _ in range(8)]
    assert [rank.add(m) for m in transport(family(program, ring, theta, controls), 3)][-1] == 5


def test_the_precision_of_the_ring_is_kept():
    program, ring = read_architecture("1-2tanh-1"), BallRing(1, 512, 0)
    start = [ring.embed(Fraction(v)) for v in (1, 2, 3, 4)]
    for matrix in transport(family(program, ring, start), 4):
        assert all(v.rad() < 1e-130 for v in matrix.entries())


def test_equal_neurons_with_different_outputs_leave_each_other():
    theta = [Fraction(1, 4)] * 6 + [Fraction(k + 1, 4) for k in range(6)]
    assert ball_profile("1-6tanh-1", theta, order=6) == [2, 4, 6, 9, 11, 12]


# --- the recursion itself


class Rotation:
    """Fields e1 cos t, e2 t carried along a constant A: Psi = exp(-A t), here in fractions."""

    parameters = 2
    bend = fmpq_mat(2, 2, [0, 1, -3, 2])

    def __init__(self):
        self.lengths = []

    def field(self, n):
        cosine = 0 if n % 2 else fmpq((-1) ** (n // 2), int(sympy.factorial(n)))
        return fmpq_mat(2, 2, [cosine, 0, 0, int(n == 1)])

    def prolong(self, length):
        self.lengths.append(length)
        return [self.field(n) for n in range(length)], [self.bend * (n == 0) for n in range(length - 1)]

    def add(self, left, right):
        return left + right

    def product(self, left, right):
        return left * right

    def divide(self, matrix, divisor):
        return matrix * fmpq(1, divisor)


def test_transport_solves_its_equation():
    one = Rotation()
    found = list(transport(one, 13))
    power, inverse = fmpq_mat(2, 2, [1, 0, 0, 1]), []
    for n in range(14):
        inverse.append(power)
        power = power * one.bend * fmpq(-1, n + 1)
    for n, matrix in enumerate(found):
        wanted = fmpq_mat(2, 2, [0] * 4)
        for k in range(n + 1):
            wanted = wanted + inverse[k] * one.field(n - k)
        assert matrix == wanted


@pytest.mark.parametrize("order", [0, 1, 4, 11, 35])
def test_orders_are_counted_and_prolonged_in_stages(order):
    one = Rotation()
    assert len(list(transport(one, order))) == order + 1
    assert one.lengths == sorted({min(stage, order + 1) for stage in (*STAGES, order + 1)})
