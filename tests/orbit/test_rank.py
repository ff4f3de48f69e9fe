"""Ranks that grow: the true rank of exact columns, and never more than it for wide balls."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, arb_mat, ctx, fmpq_mat, nmod_mat
from hypothesis import given
from hypothesis import strategies as st

from invman.orbit.rank import BallRank, ModularRank

PRIME = 2**61 - 1
BITS = 128


def drawn(rank, rows, columns, seed):
    """Return an integer matrix that is known to have at most this rank, and its true rank."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-5, 6, (rows, rank)) @ rng.integers(-5, 6, (rank, columns))
    matrix[rng.integers(rows)] *= int(rng.integers(2))
    entries = [[int(v) for v in row] for row in matrix]
    return entries, fmpq_mat(rows, columns, [v for row in entries for v in row]).rank()


def modular(entries):
    return nmod_mat(len(entries), len(entries[0]), [v for row in entries for v in row], PRIME)


sizes = st.tuples(st.integers(0, 6), st.integers(1, 7), st.integers(1, 9), st.integers(0, 10**6))


@given(sizes)
def test_exact_columns_have_their_rank(size):
    entries, rank = drawn(*size)
    ball = BallRank(BITS, len(entries))
    assert ModularRank(PRIME).add(modular(entries)) == rank
    assert ball.add(arb_mat(entries)) == ball.rank == rank


@given(sizes, st.integers(1, 8))
def test_rank_of_columns_that_come_in_parts(size, cut):
    entries, rank = drawn(*size)
    ball, residues = BallRank(BITS, len(entries)), ModularRank(PRIME)
    before = 0
    for part in ([row[:cut] for row in entries], [row[cut:] for row in entries]):
        if part[0]:
            found = ball.add(arb_mat(part))
            assert found == residues.add(modular(part)) == residues.rank >= before
            before = found
    assert before == rank


@given(sizes, st.integers(-40, 8), st.booleans())
def test_balls_never_claim_more_than_the_rank(size, exponent, moved):
    entries, rank = drawn(*size)
    rng, radius = np.random.default_rng(size[3]), 2.0**exponent
    wide = [[arb(v + moved * radius * float(rng.uniform(-1, 1)), radius) for v in row] for row in entries]
    ball = BallRank(BITS, len(entries))
    assert ball.add(arb_mat(wide)) <= rank


@given(sizes)
def test_narrow_balls_prove_the_rank(size):
    entries, rank = drawn(*size)
    third = [[arb(v) * (arb(1) / 3 + arb(0, 2.0**-90)) for v in row] for row in entries]
    ball = BallRank(BITS, len(entries))
    before, ctx.prec = ctx.prec, BITS
    try:
        assert ball.add(arb_mat(third)) == rank
    finally:
        ctx.prec = before


@pytest.mark.parametrize("most", range(5))
def test_most_stops(most):
    ball = BallRank(BITS, most)
    identity = [[int(i == j) for j in range(4)] for i in range(4)]
    assert ball.add(arb_mat(identity)) == most
    assert ball.add(arb_mat(identity)) == most
    ball.most = 3
    assert ball.add(arb_mat(identity)) == max(most, 3)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("radius", [0.0, 2.0**-60, 2.0**-20])
def test_a_remainder_that_holds_zero_adds_nothing(scale, radius):
    ball = BallRank(BITS, 2)
    assert ball.add(arb_mat([[arb(scale), arb(scale)], [arb(scale), arb(scale, scale * radius)]])) == 1


@pytest.mark.parametrize("entry", [arb("nan"), arb(0, float("inf"))], ids=["nan", "infinite"])
def test_columns_that_are_not_finite_add_nothing(entry):
    ball = BallRank(BITS, 2)
    assert ball.add(arb_mat([[entry], [entry]])) == 0


def test_a_column_of_zeros_adds_nothing():
    ball = BallRank(BITS, 3)
    assert ball.add(arb_mat([[0], [0], [0]])) == 0


def test_tiny_but_certain_entries_count():
    ball = BallRank(BITS, 2)
    tiny = float(Fraction(1, 2**100))
    assert ball.add(arb_mat([[arb(1), arb(1)], [arb(1), arb(1) + arb(tiny, tiny / 2)]])) in (1, 2)
    assert ball.add(arb_mat([[arb(0)], [arb(tiny, tiny / 2)]])) == 2


def test_precision_is_restored():
    before = ctx.prec
    BallRank(500, 2).add(arb_mat([[1, 2], [3, 4]]))
    assert ctx.prec == before


def test_the_modular_rank_can_be_smaller():
    entries = [[1, 0], [0, 7]]
    small = ModularRank(7)
    assert small.add(nmod_mat(2, 2, [v for row in entries for v in row], 7)) == 1
