"""Listing condensed manifolds one by one, all of them or one a class, in a fixed order and lazily."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from invman.manifold.condensed import CondensedManifold, CondensedSpace
from invman.manifold.partition import Labels, PartitionRules, coarsenings, finer, representative


def partitions(rules: PartitionRules) -> Iterator[Labels]:
    """Yield all partitions of one hidden axis, each once, value by value (restricted growth).

    Parameters
    ----------
    rules : PartitionRules
        The axis.

    Yields
    ------
    tuple of int
        Labels, the finest partition first.
    """
    choices = [0] if rules.has_dead else []
    labels: list[int] = []

    def grow(used: list[int]) -> Iterator[Labels]:
        if len(labels) == rules.size:
            yield tuple(labels)
            return
        number = len(used) + 1
        new = [2 * number, *([2 * number + 1] if rules.has_zero else [])]
        old = [v for label in used for v in ((label, -label) if rules.signed and not label & 1 else (label,))]
        for label in [*new, *old, *choices]:
            labels.append(label)
            yield from grow([*used, label] if label in new else used)
            labels.pop()

    yield from grow([])


def classes_of_partitions(rules: PartitionRules) -> Iterator[Labels]:
    """Yield one partition a class under permutations and signs, the finest first."""
    for dead in range((rules.size if rules.has_dead else 0) + 1):
        for zero in range((rules.size - dead if rules.has_zero else 0) + 1):
            for live_sizes in partitions_of_integer(rules.size - dead - zero):
                for zero_sizes in partitions_of_integer(zero):
                    yield representative(live_sizes, zero_sizes, dead)


def partitions_of_integer(total: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """Yield the partitions of an integer with parts in decreasing order, most parts first.

    Examples
    --------
    >>> list(partitions_of_integer(4))
    [(1, 1, 1, 1), (2, 1, 1), (2, 2), (3, 1), (4,)]
    """
    largest = total if largest is None else min(largest, total)
    if total == 0:
        yield ()
        return
    for first in range(1, largest + 1):
        for rest in partitions_of_integer(total - first, first):
            yield (first, *rest)


def enumerate_condensed(space: CondensedSpace, *, classes: bool = False) -> Iterator[CondensedManifold]:
    """Yield the condensed manifolds of an architecture, or with ``classes`` one a class of conjugate ones.

    Lazy: nothing is held but the partitions of the axes after the first. With ``classes`` only the representatives
    are ever visited.
    """
    source = classes_of_partitions if classes else partitions
    if not space.rules:
        yield space.whole
        return
    first, *rest = space.rules
    others = list(itertools.product(*(source(rules) for rules in rest)))
    for labels in source(first):  # itertools.product would hold all of these
        for other in others:
            chosen = (labels, *other)
            if space.closure(chosen) == chosen:
                yield CondensedManifold(space, chosen)


def covers(manifold: CondensedManifold, *, classes: bool = False) -> list[CondensedManifold]:
    """Return the largest condensed manifolds properly inside a manifold (the edges below it in the Hasse diagram).

    One step on one axis; where the step is not closed, its closure, and then only the least condensed of these. With
    ``classes`` at least one of each class of conjugate ones, in much less time.
    """
    space, own = manifold.space, manifold.partitions
    steps = [
        (*own[:axis], coarser, *own[axis + 1 :])
        for axis, rules in enumerate(space.rules)
        for coarser in coarsenings(rules, own[axis], classes=classes)
    ]
    closed = [space.closure(step) for step in steps]
    if classes and closed != steps:  # the least condensed must be found among all
        return covers(manifold)
    below = list(dict.fromkeys(closed))
    if closed != steps:
        below = [b for b in below if not any(o != b and all(map(finer, o, b)) for o in below)]
    return [CondensedManifold(space, partitions) for partitions in below]
