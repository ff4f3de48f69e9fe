"""Ranks proved by one minor: what is regular is proved, what is not never is."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from invman.architecture import read_architecture
from invman.orbit.balls import BallRing
from invman.orbit.exact import ExactFamily
from invman.orbit.minor import proved_rank
from invman.orbit.rank import BallRank

BITS = 128


def balls(rows, radius=0.0):
    return arb_mat([[arb(float(v), radius) for v in row] for row in rows])


def gradients(text, theta=None, bits=BITS):
    """Return D and the gradients of a net at a rational point, as balls."""
    program = read_architecture(text)
    count = program.parameter_count
    if theta is None:
        theta = [Fraction(int(v), 64) for v in np.random.default_rng(5).integers(-100, 100, count)]
    ring = BallRing(1, bits, seed=0)
    with ring.active():
        start = [ring.embed(v) for v in theta]
    family = ExactFamily(program, ring, start, -(-count // program.output_count) + 2, 2, 10**6)
    return count, family.prolong(1)[0][0]


@pytest.mark.parametrize(
    ("rows", "rank"),
    [
        ([[0, 0], [0, 0]], 0),
        ([[3]], 1),
        ([[1, 2], [2, 4]], 1),
        ([[0, 1], [1, 0]], 2),
        ([[0, 0, 1, 2], [0, 0, 0, 1]], 2),
        ([[1, 0], [0, 1], [1, 1]], 2),
        ([[1e30, 0], [0, 1e-30]], 2),
        ([[1, 1], [1, 1 + 2.0**-30]], 2),
    ],
)
def test_by_hand(rows, rank):
    assert proved_rank(balls(rows), most=9, bits=BITS) == rank


def test_no_more_than_asked():
    assert proved_rank(balls(np.eye(5)), most=3, bits=BITS) == 3


def test_the_balls_count_and_not_their_middles():
    rows = [[1, 1], [1, 1.5]]
    assert proved_rank(balls(rows, 0.01), 2, BITS) == 2
    assert proved_rank(balls(rows, 0.2), 2, BITS) < 2  # holds [[1.1, 1.2], [1.1, 1.2]]
    assert proved_rank(balls([[float("nan"), 1]]), 1, BITS) == 0
    assert proved_rank(balls([[1]], float("inf")), 1, BITS) == 0


@pytest.mark.parametrize("seed", range(20))
def test_a_singular_matrix_is_never_proved_regular(seed):
    rng = np.random.default_rng(seed)
    size, rank = 8, int(rng.integers(1, 8))
    left = fmpq_mat(size, rank, [fmpq(int(v), 7) for v in rng.integers(-50, 51, size * rank)])
    right = fmpq_mat(rank, size, [fmpq(int(v), 9) for v in rng.integers(-50, 51, size * rank)])
    assert proved_rank(arb_mat(left * right), size, BITS) == (left * right).rank()


def test_nearly_singular_beyond_floats():
    """The middles differ from a singular matrix by less than a float can tell: nothing false is said."""
    before, ctx.prec = ctx.prec, BITS
    try:
        rows = arb_mat([[arb(1), arb(1)], [arb(1), arb(1) + arb(2) ** -90]])
    finally:
        ctx.prec = before
    assert proved_rank(rows, 2, BITS) in (0, 1)


@pytest.mark.parametrize("text", ["3-3identity-3", "2-5tanh-1", "3-4gelu-2", "attention(d=3,heads=1,dk=2,seq=3)"])
def test_agrees_with_the_elimination(text):
    count, matrix = gradients(text)
    wanted = BallRank(BITS, count)
    assert proved_rank(matrix, count, BITS) == wanted.add(matrix)


def test_two_equal_neurons():
    """1-3tanh-1 with two equal neurons has only four different parameters."""
    theta = [Fraction(v, 8) for v in (3, 3, 5, 7, 7, 2)]
    assert proved_rank(gradients("1-3tanh-1", theta)[1], 6, BITS) == 4
    assert proved_rank(gradients("1-3tanh-1")[1], 6, BITS) == 6


def test_precision_is_restored():
    before = ctx.prec
    proved_rank(balls(np.eye(3)), 3, 300)
    assert ctx.prec == before


def test_large():
    count, matrix = gradients("12-16tanh-1", bits=64)
    assert proved_rank(matrix, count, 64) == count == 208
