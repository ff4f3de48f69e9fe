"""Ranks that grow column by column: rigorous with balls, exact modulo a prime."""

from __future__ import annotations

from typing import Any, Protocol

from flint import arb, arb_mat, ctx, nmod_mat

from invman.orbit.minor import proved_rank


class Rank(Protocol):
    """A rank that grows as columns are added."""

    def add(self, matrix: Any) -> int:
        """Add the columns of a matrix (D, K) and return the rank."""
        ...


class ModularRank:
    """The rank of columns modulo a prime.

    Parameters
    ----------
    prime : int
        Below 2^63.
    """

    def __init__(self, prime: int) -> None:
        self.prime = prime
        self.rows: list[list[int]] = []

    @property
    def rank(self) -> int:
        """Rank of what has been added."""
        return len(self.rows)

    def add(self, matrix: nmod_mat) -> int:
        """Add the columns of a matrix (D, K) and return the rank."""
        rows = self.rows + [[int(v) for v in row] for row in matrix.transpose().tolist()]
        reduced, rank = nmod_mat(len(rows), len(rows[0]), [v for row in rows for v in row], self.prime).rref()
        self.rows = [[int(v) for v in row] for row in reduced.tolist()[:rank]]
        return rank


class BallRank:
    """A proved lower bound of the rank of columns of balls, by elimination with pivots that exclude zero.

    Parameters
    ----------
    bits : int
        Precision.
    most : int
        Where to stop.
    """

    def __init__(self, bits: int, most: int) -> None:
        self.bits, self.most = bits, most
        self.pivots: list[tuple[int, list[arb]]] = []

    @property
    def rank(self) -> int:
        """Rank that is proved."""
        return len(self.pivots)

    def add(self, matrix: arb_mat) -> int:
        """Add the columns of a matrix (D, K) and return the rank that is proved."""
        before, ctx.prec = ctx.prec, self.bits
        try:
            for column in matrix.transpose().tolist():
                if self.rank >= self.most:
                    break
                self._insert(column)
        finally:
            ctx.prec = before
        return self.rank

    def _insert(self, column: list[Any]) -> None:
        if not all(v.is_finite() for v in column):
            return
        for place, pivot in self.pivots:
            factor = column[place]
            if factor.is_zero():
                continue
            column = [v if p.is_zero() else v - factor * p for v, p in zip(column, pivot, strict=True)]
            column[place] = arb(0)  # v - v * 1, exactly
        best, place = max((v.abs_lower(), -i) for i, v in enumerate(column))
        if best > 0:
            lead = column[-place]
            scaled = [v if v.is_zero() else v / lead for v in column]
            scaled[-place] = arb(1)
            self.pivots.append((-place, scaled))


class MinorRank:
    """A proved lower bound of the rank of many columns of balls, from one large minor.

    Parameters
    ----------
    bits : int
        Precision.
    most : int
        Where to stop.
    """

    def __init__(self, bits: int, most: int) -> None:
        self.bits, self.most = bits, most
        self.rows: list[list[Any]] = []
        self.rank = 0

    def add(self, matrix: arb_mat) -> int:
        """Add the columns of a matrix (D, K) and return the rank that is proved."""
        self.rows += matrix.transpose().tolist()
        self.rank = max(self.rank, proved_rank(arb_mat(self.rows).transpose(), self.most, self.bits))
        return self.rank
