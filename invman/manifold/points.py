"""Signed polydiagonals as partitions of the 2D signed points, many at once: one row each, an array of leaders.

The leader of a point is the smallest point equal to it. Opposite points have opposite leaders, except where a
parameter is zero: all zero points, of both signs, are one block. Equal subspaces have equal rows, the intersection of
subspaces is the join of partitions, and a signed permutation of the parameters permutes the points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from invman.manifold.subspace import Polydiagonal
from invman.symmetry.points import orbit_leaders

CHUNK = 50_000
"""Rows that are worked on at a time, so that memory stays bounded."""


def _in_chunks(work: Callable[[np.ndarray], np.ndarray], rows: np.ndarray) -> np.ndarray:
    if len(rows) <= CHUNK:
        return work(rows)
    return np.concatenate([work(rows[start : start + CHUNK]) for start in range(0, len(rows), CHUNK)])


def whole(degree: int) -> np.ndarray:
    """Return the whole space: every point is its own leader."""
    return np.arange(degree, dtype=np.uint8 if degree < 256 else np.uint16)


def normalised(labels: np.ndarray) -> np.ndarray:
    """Return the leaders of partitions given by any labels, rows (K, 2D); labels below 2D, opposite for opposites.

    Examples
    --------
    >>> normalised(np.array([[1, 1, 3, 3], [0, 2, 2, 0], [2, 1, 2, 3]])).tolist()
    [[0, 0, 2, 2], [0, 1, 1, 0], [0, 1, 0, 3]]
    """
    return _in_chunks(_normalised, labels)


def _normalised(labels: np.ndarray) -> np.ndarray:
    count, degree = labels.shape
    rows = np.arange(count)
    first = np.zeros((count, degree), dtype=whole(degree).dtype)
    for point in reversed(range(degree)):
        first[rows, labels[:, point]] = point
    leaders = np.take_along_axis(first, labels.astype(np.intp), axis=1)
    half = degree // 2
    zero = leaders[:, :half] == leaders[:, half:]
    lowest = zero.argmax(axis=1).astype(leaders.dtype)[:, None]
    return np.where(np.hstack([zero, zero]), lowest, leaders)


def fixed_set(generators: Sequence[np.ndarray], degree: int) -> np.ndarray:
    """Return the fixed set of the group of some permutations of the points, one row of leaders."""
    return normalised(orbit_leaders(generators, degree)[None])[0]


def moved(rows: np.ndarray, permutation: np.ndarray) -> np.ndarray:
    """Move subspaces by a permutation of the points."""
    labels = np.empty_like(rows)
    labels[:, permutation] = rows
    return normalised(labels)


def meets(one: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the different intersections of one subspace with many, sorted; blocks are merged column by column."""
    return distinct(_in_chunks(lambda chunk: distinct(_meets(one, chunk)), rows))


def _meets(one: np.ndarray, rows: np.ndarray) -> np.ndarray:
    firsts, block = np.unique(one, return_inverse=True)
    labels = np.repeat(np.arange(len(firsts), dtype=rows.dtype)[:, None], len(rows), axis=1)
    columns = np.ascontiguousarray(rows.T).astype(np.intp)
    every = np.arange(len(rows))
    for point in range(len(one)):
        other = block[columns[point]]
        if not np.any(other != block[point]):
            continue
        left, right = labels[block[point]], labels[other, every]
        low, high = np.minimum(left, right), np.maximum(left, right)
        np.copyto(labels, low, where=labels == high)
    return normalised(firsts.astype(rows.dtype)[labels[block]].T)


def meet_of_all(rows: np.ndarray) -> np.ndarray:
    """Return the intersection of many subspaces; of none, the whole space.

    Examples
    --------
    >>> meet_of_all(np.array([[0, 0, 2, 3, 3, 5], [0, 1, 1, 3, 4, 4]], dtype=np.uint8)).tolist()
    [0, 0, 0, 3, 3, 3]
    """
    count, degree = rows.shape
    pairs = np.unique(np.arange(degree) * degree + rows.astype(np.int64)) if count else np.zeros(0, dtype=np.int64)
    left, right = np.divmod(pairs, degree)
    labels = np.arange(degree)
    while True:
        before = labels.copy()
        low = np.minimum(labels[left], labels[right])
        np.minimum.at(labels, left, low)
        np.minimum.at(labels, right, low)
        labels = labels[labels]
        if np.array_equal(before, labels):
            return normalised(labels[None])[0]


def contained(one: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Tell in which of many subspaces one lies, booleans of shape (K,)."""
    return np.all(one[rows] == one, axis=1)


def dimensions(rows: np.ndarray) -> np.ndarray:
    """Return the dimension of each subspace: half the number of blocks that are not zero."""
    degree = rows.shape[1]
    return (rows == whole(degree)).sum(axis=1) // 2


def distinct(rows: np.ndarray) -> np.ndarray:
    """Return the different rows, sorted."""
    return np.unique(keys(rows)).view(rows.dtype).reshape(-1, rows.shape[1])


def keys(rows: np.ndarray) -> np.ndarray:
    """View each row as one value that can be sorted and compared."""
    whole_rows = np.ascontiguousarray(rows.astype(rows.dtype.newbyteorder(">")))
    return whole_rows.view(np.dtype((np.void, rows.shape[1] * rows.dtype.itemsize))).ravel()


def places(rows: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return where each row stands in the sorted keys of a table; every row must be there."""
    return np.searchsorted(table, keys(rows))


def orbit(row: np.ndarray, generators: Sequence[np.ndarray]) -> np.ndarray:
    """Return all images of a subspace under a group, sorted rows."""
    found = row[None]
    frontier = found
    while len(frontier):
        images = distinct(np.concatenate([moved(frontier, generator) for generator in generators] or [frontier]))
        frontier = images[~np.isin(keys(images), keys(found))]
        found = distinct(np.concatenate([found, frontier]))
    return found


def polydiagonal(row: np.ndarray) -> Polydiagonal:
    """Write a row of leaders as classes and signs of the parameters."""
    half = len(row) // 2
    up, down = row[:half].astype(np.int64), row[half:].astype(np.int64)
    first = np.minimum(up, down)
    signs = np.where(up == down, 0, np.where(up == first, 1, -1)).astype(np.int8)
    classes = np.full(half, -1, dtype=np.int32)
    alive = signs != 0
    classes[alive] = np.unique(first[alive], return_inverse=True)[1]
    return Polydiagonal(classes, signs)


def leaders(subspace: Polydiagonal) -> np.ndarray:
    """Write classes and signs of the parameters as a row of leaders."""
    classes, signs = subspace.classes.astype(np.int64), subspace.signs
    count = subspace.dimension
    up = np.where(signs == 0, 2 * count, np.where(signs > 0, classes, classes + count))
    down = np.where(signs == 0, 2 * count, np.where(signs > 0, classes + count, classes))
    labels = np.concatenate([up, down])
    # labels are at most 2D - 1: a zero class takes the place of at least one other
    return normalised(labels[None])[0]
