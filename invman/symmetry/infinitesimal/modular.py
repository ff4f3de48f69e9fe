"""Exact linear algebra: kernels modulo a prime, echelon forms, rational reconstruction."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, isqrt, lcm

from flint import fmpq, fmpq_mat, nmod_mat

from invman.errors import UnsupportedError

LARGEST_PART = 2**20
"""Largest numerator and denominator of a coefficient."""


def kernel(rows: Sequence[Sequence[int]], width: int, prime: int) -> list[list[int]]:
    """Return the reduced echelon basis of ``{v : rows v = 0}`` modulo a prime.

    Parameters
    ----------
    rows : sequence of sequences of int, shape (m, width)
        Residues.
    width : int
        Number of unknowns.
    prime : int
        Below 2^63.

    Returns
    -------
    list of lists of int, shape (nullity, width)

    Examples
    --------
    >>> kernel([[1, 2, 3]], 3, 7)
    [[1, 0, 2], [0, 1, 4]]
    """
    if not rows:
        return [[int(i == j) for j in range(width)] for i in range(width)]
    flat = [entry for row in rows for entry in row]
    basis, nullity = nmod_mat(len(rows), width, flat, prime).nullspace()  # the basis stands in the first columns
    if not nullity:
        return []
    columns = [[int(entry) for entry in row[:nullity]] for row in basis.tolist()]
    return echelon([list(vector) for vector in zip(*columns, strict=True)], prime)


def echelon(rows: Sequence[Sequence[int]], prime: int) -> list[list[int]]:
    """Return the non-zero rows of the reduced echelon form modulo a prime."""
    if not rows:
        return []
    reduced, size = nmod_mat(len(rows), len(rows[0]), [entry for row in rows for entry in row], prime).rref()
    return [[int(entry) for entry in row] for row in reduced.tolist()[:size]]


def rank(rows: Sequence[Sequence[int]], prime: int) -> int:
    """Return the rank modulo a prime."""
    if not rows or not rows[0]:
        return 0
    return nmod_mat(len(rows), len(rows[0]), [entry for row in rows for entry in row], prime).rank()


def annihilates(rows: Sequence[Sequence[int]], basis: Sequence[Sequence[int]], prime: int) -> bool:
    """Tell whether all rows vanish on all vectors of a basis."""
    if not rows or not basis:
        return True
    left = nmod_mat(len(rows), len(rows[0]), [entry for row in rows for entry in row], prime)
    right = nmod_mat(len(basis), len(basis[0]), [entry for row in basis for entry in row], prime).transpose()
    return (left * right).rank() == 0


def rational(value: int, prime: int) -> Fraction:
    """Return the fraction ``a/b`` with ``a, b <= 2^20`` that a residue stands for (Wang 1981).

    The bound is far below ``sqrt(prime/2)``, so that hardly any other residue passes.

    Raises
    ------
    UnsupportedError
        When there is none: the number is irrational, or too large for the prime.

    Examples
    --------
    >>> rational(2**60, 2**61 - 1)
    Fraction(1, 2)
    """
    bound = min(isqrt(prime // 2), LARGEST_PART)
    above, below = (prime, value % prime), (0, 1)
    while above[1] > bound:
        quotient = above[0] // above[1]
        above = (above[1], above[0] - quotient * above[1])
        below = (below[1], below[0] - quotient * below[1])
    if not below[1] or abs(below[1]) > bound or gcd(above[1], below[1]) != 1:
        msg = f"rational reconstruction: got no fraction with parts below {bound:,}, expected rational coefficients"
        raise UnsupportedError(msg)
    return Fraction(above[1], below[1])


def rational_echelon(rows: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    """Return the non-zero rows of the reduced echelon form over the rational numbers.

    Examples
    --------
    >>> rational_echelon([[Fraction(2), Fraction(1)], [Fraction(4), Fraction(2)]])
    [[Fraction(1, 1), Fraction(1, 2)]]
    """
    if not rows or not rows[0]:
        return []
    flat = [fmpq(entry.numerator, entry.denominator) for row in rows for entry in row]
    reduced, size = fmpq_mat(len(rows), len(rows[0]), flat).rref()
    return [[Fraction(int(entry.p), int(entry.q)) for entry in row] for row in reduced.tolist()[:size]]


def primitive(row: Sequence[Fraction]) -> list[Fraction]:
    """Scale to coprime integers of which the first that is not zero is positive.

    Examples
    --------
    >>> [str(value) for value in primitive([Fraction(0), Fraction(-1, 2), Fraction(1, 3)])]
    ['0', '3', '-2']
    """
    multiple = lcm(*(value.denominator for value in row))
    divisor = gcd(*(int(value * multiple) for value in row)) or 1
    sign = next((-1 if value < 0 else 1 for value in row if value), 1)
    return [value * multiple / divisor * sign for value in row]
