"""Towers, tapes and exact linear algebra against direct computation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from invman.architecture import REGISTERED, parse_program, read_architecture
from invman.architecture.scalars import sympy_map
from invman.errors import OverBudgetError, UnsupportedError
from invman.symmetry.infinitesimal import Fields
from invman.symmetry.infinitesimal.algebra import FieldAlgebra
from invman.symmetry.infinitesimal.census import take_census
from invman.symmetry.infinitesimal.modular import annihilates, echelon, kernel, primitive, rank, rational
from invman.symmetry.infinitesimal.tape import residue
from invman.symmetry.infinitesimal.tower import RedrawError, draw_tower, square_root

PRIME = 2**61 - 1


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_tower(depth):
    tower = draw_tower(np.random.default_rng(depth), depth)
    assert len(tower.primes) == depth + 1
    assert tower.primes[0] < 2**63
    for prime, unit in zip(tower.primes, tower.units, strict=True):
        assert sympy.isprime(prime)
        assert unit * unit % prime == prime - 1
        assert all(square_root(k, prime) ** 2 % prime == k for k in (2, 3, 4, 6))
    for big, small, base in zip(tower.primes, tower.primes[1:], tower.bases, strict=False):
        assert (big - 1) % small == 0
        assert base != 1
        assert pow(base, small, big) == 1


def test_square_root_of_no_square():
    with pytest.raises(RedrawError):
        square_root(3, 7)


FUNCTIONS = ["tanh", "sin", "erf", "arctan", "sinh", "cos", "cosh", "gaussian", "cube", "square", "identity"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parity_is_respected(name):
    program = parse_program(f"input x; f = w*{name}(x) + w*{name}(-x)")
    assert (Fields(program).sample().outputs[0] == 0) == (REGISTERED[name].parity == "odd")


IDENTITIES = [
    "exp(x+y) - exp(x)*exp(y)",
    "sin(x+y) - sin(x)*cos(y) - cos(x)*sin(y)",
    "cos(2*x) - 2*cos(x)^2 + 1",
    "tanh(x)*cosh(x) - sinh(x)",
    "2*sigmoid(2*x) - 1 - tanh(x)",
    "softplus(x) - softplus(-x) - x",
    "silu(x) - x*sigmoid(x)",
    "gelu(x) - gelu(-x) - x",
    "gaussian(x)*exp(x^2) - 1",
    "exp(exp(x)+y) - exp(exp(x))*exp(y)",
    "sqrt(x^2+1)^2 - x^2 - 1",
]


@pytest.mark.parametrize("identity", IDENTITIES)
def test_identities_hold_modulo_the_primes(identity):
    fields = Fields(parse_program(f"input x, y; f = w*({identity}) + 0*x*y"))
    for _ in range(3):
        assert fields.sample().outputs == (0,)
        assert fields.sample().gradients == ([0],)


@pytest.mark.parametrize(
    "falsehood", ["exp(x*y) - exp(x)*exp(y)", "tanh(x) - x", "gelu(x) - silu(x)", "sin(x) - cos(x)"]
)
def test_falsehoods_do_not_hold(falsehood):
    assert Fields(parse_program(f"input x, y; f = w*({falsehood}) + 0*x*y")).sample().outputs[0]


@pytest.mark.parametrize(
    "text", ["2-3square-2cube-1+bias", "2-2identity-2", "input x; f = a*custom(u+u^3)(w*x)/(1 + w^2) + b/(x+a)"]
)
def test_gradients_agree_with_sympy(text):
    program = read_architecture(text)
    fields = Fields(program, seed=3)
    theta, x, outputs = sympy_map(program)
    sample = fields.sample()
    values = map(sympy.Integer, [*sample.theta, *sample.free])
    point = dict(zip([*theta, *x], values, strict=True))
    for output, own, free in zip(outputs, sample.gradients, sample.free_gradients, strict=True):
        for symbol, value in zip([*theta, *x], [*own, *free], strict=True):
            derivative = Fraction(str(sympy.diff(output, symbol).xreplace(point)))
            assert residue(derivative, fields.prime) == value


def test_gradient_of_activations_follows_the_chain_rule():
    # f = tanh: f' = 1 - f^2; both through the same exponential
    tower = draw_tower(np.random.default_rng(1), 1)
    algebra = FieldAlgebra(tower, b"salt", np.random.default_rng(0))
    u = algebra.variable((12345, 678))
    value = algebra.apply(REGISTERED["tanh"], u)
    assert algebra.gradient(value)[0] == (1 - value.residues[0] ** 2) % tower.primes[0]


def test_gates_are_free_inputs():
    sample = Fields(read_architecture("1-2relu-1", one_region=True)).sample()
    assert len(sample.free) == 1 + 2


def test_census():
    census = take_census(read_architecture("attention(d=3,heads=1,dk=2,seq=2)"))
    assert census.depth == 1
    assert census.kinds == {"root", "exp"}
    assert take_census(read_architecture("1-2tanh-2tanh-1")).depth == 2
    with pytest.raises(OverBudgetError, match="scalar operations of the program written out"):
        Fields(read_architecture("2-3tanh-1"), budget=10)


def test_cube_roots_are_refused():
    with pytest.raises(UnsupportedError, match="a root of order 3, expected 2, 4, 8"):
        Fields(parse_program("input x; f = w*(1 + x^2)^(1/3)"))


def test_the_model_says_what_it_is():
    def model(text):
        return Fields(read_architecture(text, one_region=True)).arithmetic.model

    assert model("1-1cube-1") == "exact modulo a random prime"
    assert "Ax's theorem" in model("1-1tanh-1")
    assert "path model" in model("1-1relu-1")
    assert "random functions with their true derivative" in model("1-1softplus-1")
    assert "beyond" not in model("1-1tanh-1tanh-1")
    assert "unless their arguments" in model("1-1tanh-1tanh-1tanh-1tanh-1")


@given(st.fractions(max_denominator=10**6).filter(lambda f: abs(f.numerator) < 10**6))
def test_rational_reconstruction(value):
    assert rational(residue(value, PRIME), PRIME) == value


def test_rational_reconstruction_refuses_what_is_no_small_fraction():
    root = square_root(2, draw_tower(np.random.default_rng(0), 0).primes[0])
    with pytest.raises(UnsupportedError, match="no fraction with parts below"):
        rational(root, draw_tower(np.random.default_rng(0), 0).primes[0])


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10**6))
def test_kernel(rows, width, seed):
    rng = np.random.default_rng(seed)
    matrix = [[int(v) for v in row] for row in rng.integers(0, 3, (rows, width))]
    basis = kernel(matrix, width, PRIME)
    assert len(basis) == width - rank(matrix, PRIME) == width - np.linalg.matrix_rank(np.array(matrix, float))
    assert annihilates(matrix, basis, PRIME)
    assert echelon(basis, PRIME) == basis


def test_kernel_of_nothing_is_everything():
    assert kernel([], 2, 7) == [[1, 0], [0, 1]]
    assert rank([], 7) == 0


def test_primitive():
    assert primitive([Fraction(-2, 3), Fraction(4, 9)]) == [3, -2]
    assert primitive([Fraction(0)]) == [0]
