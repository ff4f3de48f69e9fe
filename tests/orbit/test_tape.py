"""Gradients and Hessians of programs against SymPy, and residues against fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from flint import arb

from invman.architecture import parse_program, read_architecture
from invman.architecture.scalars import expand, sympy_map
from invman.errors import UnsupportedError
from invman.orbit.balls import BallRing
from invman.orbit.residues import ModularRing
from invman.orbit.tape import Tape
from invman.symmetry.infinitesimal.tower import draw_tower

TOWER = draw_tower(np.random.default_rng(1), 2)
REPEATED = "input x[i]\nh[k] = square(w[k,i]*x[i])*w2[k]*w2[k]\nf = a[k]*h[k]*h[k]\nsize i=1, k=2"
TWICE = "input x; h = w*x + v; f = h*h*h*w + w*w*(h + h + w) + 3*(w + v)*(w + v)"
POLYNOMIAL = [
    "2-2square-2",
    "1-2cube-2identity-1",
    "2-1custom(1 + u + 2*u^2 - u^3/3)-2+bias",
    "1-2custom(u^4 - u*(u + 1)^2)-1",
    REPEATED,
    TWICE,
]
SMOOTH = [
    "1-2tanh-1",
    "2-2sigmoid-1+bias",
    "1-2tanh-2sin-1",
    "1-2custom(u + u^2*exp(u))-1",
    "1-1custom(exp(u)*exp(u) + u*tanh(u)*tanh(u))-1",
    "1-1gelu-1",
    "attention(d=2,heads=1,dk=1,seq=2)",
    "input x; f = a*a*exp(w*w*x + b)/sqrt(1 + a^2*x^2)",
    "input x; y = tanh(w*x); f = y*y + exp(y)*y*w + sin(y*y)",
]


def numbers(program, seed):
    rng = np.random.default_rng(seed)
    count = program.parameter_count + program.input_count
    drawn = [Fraction(int(v), 12) for v in rng.choice([-17, -11, -7, -5, 5, 7, 11, 13], count)]
    return drawn[: program.parameter_count], drawn[program.parameter_count :]


def differentiate(ring, program, theta, x):
    """Return value, gradient and dense Hessian of every output as constant terms."""
    found = []
    for number in range(program.output_count):
        tape = Tape(ring)
        variables = [tape.variable(ring.number(value)) for value in theta]
        output = expand(program, tape, variables, [tape.constant(ring.number(value)) for value in x])[number]
        gradient, rows = tape.hessian(output, len(theta))
        assert [read(ring, v) for v in gradient] == [read(ring, v) for v in tape.gradient(output, len(theta))]
        dense = [[read(ring, row.get(j)) for j in range(len(theta))] for row in rows]
        found.append((read(ring, output.value), [read(ring, v) for v in gradient], dense))
    return found


class Exact:
    """A ball or residue that is compared by what it is, so that lists of them can be."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return str(self.value) == str(other.value)

    __hash__ = None  # type: ignore[assignment]


def read(ring, value):
    zero = arb(0) if isinstance(ring, BallRing) else 0
    return Exact(zero if value is None else ring.coefficients(value)[0])


def reference(program, theta, x, exact):
    """Yield value, gradient and Hessian of every output in one list, as rational numbers or with 50 digits."""
    names, inputs, outputs = sympy_map(program)
    symbols, values = [*names, *inputs], [*theta, *x]
    for output in outputs:
        gradient = [output.diff(v) for v in names]
        formulas = flat(output, gradient, [[g.diff(v) for v in names] for g in gradient])
        if exact:
            place = {s: sympy.Rational(str(v)) for s, v in zip(symbols, values, strict=True)}
            yield [Fraction(str(f.subs(place))) for f in formulas]
        else:
            floats = [mpmath.mpf(v.numerator) / v.denominator for v in values]
            yield sympy.lambdify(symbols, formulas, "mpmath", cse=True)(*floats)


def flat(value, gradient, dense):
    return [value, *gradient, *itertools.chain(*dense)]


@pytest.mark.parametrize("text", [*SMOOTH, *POLYNOMIAL])
def test_balls_enclose_sympy(text):
    program, ring = read_architecture(text), BallRing(1, 200, seed=0)
    theta, x = numbers(program, 1)
    with ring.active(), mpmath.workdps(50):
        outputs = reference(program, theta, x, exact=False)
        for found, wanted in zip(differentiate(ring, program, theta, x), outputs, strict=True):
            for ball, value in zip(flat(*found), wanted, strict=True):
                assert ball.value.rad() < 1e-30
                assert abs(ball.value - arb(mpmath.nstr(mpmath.mpf(value), 45))).abs_lower() < 1e-30


@pytest.mark.parametrize("text", POLYNOMIAL)
@pytest.mark.parametrize("seed", [2, 3])
def test_residues_are_those_of_the_fractions(text, seed):
    program, ring = read_architecture(text), ModularRing(1, TOWER, 0)
    theta, x = numbers(program, seed)
    outputs = reference(program, theta, x, exact=True)
    for found, wanted in zip(differentiate(ring, program, theta, x), outputs, strict=True):
        for residue, value in zip(flat(*found), wanted, strict=True):
            assert residue.value == ring.embed(value)[0]


@pytest.mark.parametrize("text", [*SMOOTH, "2-2relu-2"])
def test_hessian_modulo_a_prime_is_symmetric(text):
    program, ring = read_architecture(text, one_region=True), ModularRing(3, TOWER, 4)
    tape, count = Tape(ring), program.parameter_count
    theta = [tape.variable(ring.series([ring.draw() for _ in range(3)])) for _ in range(count)]
    x = [tape.constant(ring.series([ring.draw()])) for _ in range(program.input_count)]
    if "sqrt" in text:  # half of all residues have a root; 1 + a^2 x^2 has one at a = 0
        theta[0] = tape.variable(ring.series([0, 1]))
    _, rows = tape.hessian(tape.add(expand(program, tape, theta, x)), count)
    for i, row in enumerate(rows):
        assert all(0 <= j < count for j in row)
        for j, value in row.items():
            assert ring.coefficients(value) == ring.coefficients(rows[j][i])


@pytest.mark.parametrize("text", [*POLYNOMIAL, "1-2tanh-2sin-1", "attention(d=2,heads=1,dk=1,seq=2)"])
def test_hessian_is_the_derivative_of_the_gradient(text):
    program = read_architecture(text)
    ring, count = ModularRing(2, TOWER, 6), program.parameter_count
    start, x = [ring.draw() for _ in range(count)], [ring.draw() for _ in range(program.input_count)]

    def swept(moving):
        tape = Tape(ring)
        theta = [tape.variable(ring.series([v, 1] if i == moving else [v])) for i, v in enumerate(start)]
        output = tape.add(expand(program, tape, theta, [tape.constant(ring.series([v])) for v in x]))
        return tape.hessian(output, count)

    rows = swept(None)[1]
    for j in range(count):
        gradient, _ = swept(j)
        slopes = [0 if g is None else ring.coefficients(g)[1] for g in gradient]
        assert slopes == [ring.coefficients(row[j])[0] if j in row else 0 for row in rows]


def test_an_output_that_is_a_variable_or_a_constant():
    ring = ModularRing(1, TOWER, 0)
    tape = Tape(ring)
    u, v = (tape.variable(ring.number(Fraction(k))) for k in (2, 3))
    gradient, rows = tape.hessian(v, 2)
    assert gradient[0] is None
    assert ring.coefficients(gradient[1]) == [1]
    assert rows == [{}, {}]
    assert tape.hessian(tape.multiply([tape.number(Fraction(5)), tape.number(Fraction(7))]), 2) == (
        [None, None],
        [{}, {}],
    )
    assert tape.gradient(tape.add([u, u]), 2)[1] is None


def test_constants_leave_no_trace():
    ring = ModularRing(1, TOWER, 0)
    tape = Tape(ring)
    program = parse_program("input x; f = w*exp(x)*tanh(x^2 + 1) + x")
    w, x = tape.variable(ring.number(Fraction(2))), tape.constant(ring.number(Fraction(3)))
    (output,) = expand(program, tape, [w], [x])
    gradient, rows = tape.hessian(output, 1)
    assert rows == [{}]
    assert gradient[0] is not None


def test_a_cube_root_is_refused():
    tape = Tape(ModularRing(1, TOWER, 0))
    with pytest.raises(UnsupportedError, match="root of order 3"):
        tape.power(tape.number(Fraction(8)), Fraction(1, 3))
