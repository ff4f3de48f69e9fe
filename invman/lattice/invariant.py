"""The family of balanced manifolds: counted, listed, and ordered by exact tests of inclusion."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from invman.errors import OverBudgetError
from invman.lattice.counting import ONE, WIDEST, Count, count_axis
from invman.lattice.enumeration import partitions
from invman.manifold.balanced import BalancedManifold, BalancedSpace
from invman.manifold.layers import Layer, incoming
from invman.manifold.partition import Kind

ORDERED = 5_000
"""Manifolds that are ordered at most: inclusion is tested for every two."""

DEEPEST = 16
"""Hidden layers of a net whose count needs every combination of null layers."""

LARGE = 1 << 24
"""Coordinates of generic points are built from random integers below this."""

SMALL = 1 << 14
"""Equations are combined with random integers below this."""


def count_invariant(space: BalancedSpace) -> Count:
    """Count the balanced manifolds of an architecture and their classes under permutations and signs, exactly.

    The product of the layers' numbers, less the tuples that a coarser one describes: where nothing reaches a layer,
    its partition can say nothing.

    Parameters
    ----------
    space : BalancedSpace
        The family.

    Returns
    -------
    Count

    Raises
    ------
    OverBudgetError
        A layer is wider, or the net deeper, than numbers are worked out for.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> count_invariant(BalancedSpace.of(read_architecture("1-3sigmoid-3sigmoid-1")))
    Count(manifolds=25, classes=9)
    """
    counts = [_layer_counts(layer) for layer in space.rules]
    total = ONE
    if all(_reached(space, number) for number in range(len(counts))):
        for coarse, rest in counts:
            total = total.times(coarse.plus(rest))
        return total
    if len(counts) > DEEPEST:
        what = f"hidden layers of {space.program!r} for an exact count"
        raise OverBudgetError(what, len(counts), DEEPEST, "Use fewer layers, or biases.")
    total = Count(0, 0)
    for chosen in itertools.product((True, False), repeat=len(counts)):
        # closedness depends only on which layers have their coarsest partition
        sample = tuple(
            layer.coarsest if coarse else layer.free for layer, coarse in zip(space.rules, chosen, strict=True)
        )
        if any(not coarse and layer.free == layer.coarsest for layer, coarse in zip(space.rules, chosen, strict=True)):
            continue
        if space.closure(sample) == sample:
            term = ONE
            for own, coarse in zip(counts, chosen, strict=True):
                term = term.times(own[not coarse])
            total = total.plus(term)
    return total


def _layer_counts(layer: Layer) -> tuple[Count, Count]:
    """Count the coarsest partition of a layer, and the others."""
    if layer.size > WIDEST:
        what = f"width of axis {layer.symmetry.axis.name} for an exact count"
        raise OverBudgetError(what, layer.size, WIDEST, "Use a smaller width.")
    found = count_axis(layer, inner=True, outer=True)
    total = found[Kind.LIVE].plus(found[Kind.DEAD])
    return ONE, Count(total.manifolds - 1, total.classes - 1)


def _reached(space: BalancedSpace, number: int) -> bool:
    """Tell whether something reaches a layer however null the layers before it are."""
    sources = [edge.source for edge in incoming(space.net.edges, number)]
    return any(source is None or space.rules[source].constant or not space.rules[source].has_dead for source in sources)


def enumerate_invariant(space: BalancedSpace) -> Iterator[BalancedManifold]:
    """Yield the balanced manifolds of an architecture, each by the coarsest partitions of its generic points."""
    for chosen in itertools.product(*(partitions(layer) for layer in space.rules)):
        if space.closure(chosen) == chosen:
            yield BalancedManifold(space, chosen)


def covers_invariant(found: Sequence[BalancedManifold]) -> list[tuple[int, int]]:
    """Return the edges of the Hasse diagram of balanced manifolds, as positions of a manifold and of one just below it.

    A linear subspace lies in another one when a generic point of it does. The points are random integers, two for each
    manifold, and the tests are exact; the same for every run.

    Parameters
    ----------
    found : sequence of BalancedManifold
        In an order of decreasing dimension.
    """
    count, size = len(found), found[0].space.program.parameter_count
    random = np.random.default_rng(0)
    points = np.stack([m.point(random.integers(1, LARGE, size)) for m in found for _ in range(2)])
    combined = np.zeros((count, size), dtype=np.int64)
    dense: list[np.ndarray] = []
    for number, manifold in enumerate(found):
        rows = np.zeros((len(manifold.rows), size), dtype=np.int64)
        for line, row in enumerate(manifold.rows):
            rows[line, list(row)] = list(row.values())
        dense.append(rows.astype(np.int8))
        combined[number] = random.integers(1, SMALL, len(rows)) @ rows
    kind = np.int64 if _bounded(points, combined) else object
    points, combined = points.astype(kind), combined.astype(kind)
    inside = (points[::2] @ combined.T == 0) & (points[1::2] @ combined.T == 0)
    for number, rows in enumerate(dense):
        chosen = np.flatnonzero(inside[:, number])
        both = np.concatenate([points[2 * chosen], points[2 * chosen + 1]]) @ rows.T.astype(kind)
        inside[chosen, number] = ~np.any((both != 0).reshape(2, len(chosen), len(rows)), axis=(0, 2))
    np.fill_diagonal(inside, False)
    between = inside.astype(np.float32) @ inside.astype(np.float32) > 0
    lower, upper = np.nonzero(inside & ~between)
    return sorted(zip(upper.tolist(), lower.tolist(), strict=True))


def _bounded(points: np.ndarray, combined: np.ndarray) -> bool:
    bound = int(np.abs(points).max(initial=0)) * int(np.abs(combined).max(initial=0)) * points.shape[1]
    return math.log2(bound + 1) < 62


def arrange_invariant(
    space: BalancedSpace, classes: bool, progress: Callable[[int, int], None] | None
) -> tuple[list[BalancedManifold], list[tuple[int, int]]]:
    """List the balanced manifolds by decreasing dimension with the edges between them.

    Parameters
    ----------
    space : BalancedSpace
        The family.
    classes : bool
        Whether to keep the first of each class only; its edges are those of all members.
    progress : callable, optional
        Called with the number done and the total.
    """
    found = list(enumerate_invariant(space))
    found.sort(key=_order)
    if progress is not None:
        progress(len(found), 2 * len(found))
    edges = covers_invariant(found)
    if not classes:
        return found, edges
    place: dict[tuple[object, ...], int] = {}
    for manifold in found:
        place.setdefault(manifold.shape, len(place))
    first = {manifold.shape: manifold for manifold in reversed(found)}
    pairs = {(place[found[upper].shape], place[found[lower].shape]) for upper, lower in edges}
    return [first[shape] for shape in place], sorted(pairs)


def _order(manifold: BalancedManifold) -> tuple[object, ...]:
    labels = tuple(tuple((abs(label), label < 0) for label in axis) for axis in manifold.partitions)
    return -manifold.dimension, -manifold.leaf_dimension, manifold.shape, labels
