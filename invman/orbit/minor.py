"""A proved lower bound of the rank of a large matrix of balls, from one minor and its inverse in floats.

Columns and rows are chosen in floats; what is proved does not depend on the choice. If B is any matrix with
``|C B - 1| < 1`` for all C in a square ball matrix, every such C is regular. B is the inverse in floats, which are exact
dyadic numbers, and the product and its norm are enclosed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx
from jaxtyping import Float

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
    tried = shape[0] + 1
    for threshold in THRESHOLDS:
        rows, columns = _choose(middle, most, threshold)
        if len(rows) == tried:
            continue
        tried = len(rows)
        if tried and _regular(entries, shape[1], middle, rows, columns, bits):
            return tried
    return 0


def _choose(
    middle: Float[np.ndarray, "D K"], most: int, threshold: float
) -> tuple[Float[np.ndarray, " r"], Float[np.ndarray, " r"]]:
    """Return the rows and columns of a minor that floats take for regular."""
    columns = _independent(middle, most, threshold)
    if len(columns) == len(middle):
        return np.arange(len(middle)), columns
    rows = _independent(middle[:, columns].T, len(columns), 0.0)
    return rows, columns[: len(rows)]


def _independent(matrix: Float[np.ndarray, "D K"], most: int, threshold: float) -> Float[np.ndarray, " r"]:
    """Return columns that are independent, the most independent ones first."""
    from scipy.linalg import qr  # comes with JAX

    lengths = np.linalg.norm(matrix, axis=0)
    found: Any = qr(matrix / np.where(lengths > 0, lengths, 1.0), mode="r", pivoting=True)
    pivots = np.abs(np.diag(found[0]))
    count = int(np.sum(pivots > threshold * pivots[0]))
    return found[1][: min(count, most)]


def _regular(
    entries: list[arb],
    width: int,
    middle: Float[np.ndarray, "D K"],
    rows: Float[np.ndarray, " r"],
    columns: Float[np.ndarray, " r"],
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
