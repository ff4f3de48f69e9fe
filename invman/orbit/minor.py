"""A proved lower bound of the rank of a large matrix of balls, from one minor and its inverse in floats.

Columns and rows are chosen in floats; what is proved does not depend on the choice. If B is any matrix with
``|C B - 1| < 1`` for all C in a square ball matrix, every such C is regular. B is the inverse in floats, which are
exact dyadic numbers, and the product and its norm are enclosed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx
from jaxtyping import Float, Int

THRESHOLDS = (1e-13, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3)
"""Pivots that count, relative to the largest one; the next one is tried where the proof fails."""


def proved_rank(matrix: arb_mat, most: int, bits: int) -> int:
    """Return a number that the rank of every matrix in a matrix of balls is proved to reach.

    Parameters
    ----------
    matrix : arb_mat of shape (D, K)
        The balls.
    most : int
        Where to stop.
    bits : int
        Precision.

    Returns
    -------
    int
        The size of a minor that is proved regular; 0 where no proof succeeds.

    Examples
    --------
    >>> proved_rank(arb_mat([[1, 2, 3], [2, 4, 6], [0, 1, 0]]), most=3, bits=64)
    2
    """
    shape = matrix.nrows(), matrix.ncols()
    entries = matrix.entries()
    middle = np.array([float(v) for v in entries], dtype=np.float64).reshape(shape)
    if not middle.size or not np.isfinite(middle).all():
        return 0
    order, pivots = _pivoted(middle)
    tried = 0
    for threshold in THRESHOLDS:
        count = min(int(np.sum(pivots > threshold * pivots[0])), most)
        if count == tried or not count:
            continue
        tried, columns = count, order[:count]
        rows = np.arange(count) if count == shape[0] else _pivoted(middle[:, columns].T)[0][:count]
        if _regular(entries, shape[1], middle, rows, columns, bits):
            return count
    return 0


def _pivoted(matrix: Float[np.ndarray, "D K"]) -> tuple[Int[np.ndarray, " K"], Float[np.ndarray, " r"]]:
    """Return the columns, the most independent ones first, and how far each is from those before it."""
    from scipy.linalg import qr  # comes with JAX

    lengths = np.linalg.norm(matrix, axis=0)
    found: Any = qr(matrix / np.where(lengths > 0, lengths, 1.0), mode="r", pivoting=True)
    return found[1], np.abs(np.diag(found[0]))


def _regular(
    entries: list[arb],
    width: int,
    middle: Float[np.ndarray, "D K"],
    rows: Int[np.ndarray, " r"],
    columns: Int[np.ndarray, " r"],
    bits: int,
) -> bool:
    """Prove that a minor is regular; False says nothing."""
    size = len(rows)
    try:
        inverse = np.linalg.inv(middle[np.ix_(rows, columns)])
    except np.linalg.LinAlgError:
        return False
    if not np.isfinite(inverse).all():
        return False
    before, ctx.prec = ctx.prec, bits
    try:
        picked = columns.tolist()
        minor = arb_mat(size, size, [entries[i * width + j] for i in rows.tolist() for j in picked])
        defect = minor * arb_mat(size, size, [arb(v) for v in inverse.ravel().tolist()])
        for i in range(size):
            defect[i, i] = defect[i, i] - 1
        values = defect.entries()
        norms = (sum(map(abs, values[i : i + size]), arb(0)) for i in range(0, size * size, size))
        return all(norm < 1 for norm in norms)
    finally:
        ctx.prec = before
