"""How many condensed manifolds there are, exactly, without listing them: Bell, Dowling and partition numbers.

One hidden axis is counted by recurrences. Several axes multiply, except where a tuple of partitions is not closed
(its neighbours hide part of it); that depends only on whether each axis has a live value, a zero one at best, or dead
ones alone, so the product is summed over these three states, axis after axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from invman.errors import OverBudgetError
from invman.manifold.condensed import CondensedSpace
from invman.manifold.partition import Kind, PartitionRules

WIDEST = 1000
"""Widest axis that is counted; the numbers have some two thousand digits there."""


class Count(NamedTuple):
    """Number of manifolds and number of classes of conjugate ones."""

    manifolds: int
    classes: int

    def times(self, other: Count) -> Count:
        """Count pairs."""
        return Count(self.manifolds * other.manifolds, self.classes * other.classes)

    def plus(self, other: Count) -> Count:
        """Count either."""
        return Count(self.manifolds + other.manifolds, self.classes + other.classes)


NONE, ONE = Count(0, 0), Count(1, 1)


@lru_cache(maxsize=4)
def signed_partitions(largest: int, signs: int) -> tuple[int, ...]:
    """Count the partitions of 0..largest values whose blocks carry relative signs (signs = 2) or none (signs = 1).

    ``T(n+1) = sum_k C(n, k) signs^k T(n-k)``, by the block of the last value; Bell numbers for signs = 1.

    Examples
    --------
    >>> signed_partitions(4, 1), signed_partitions(4, 2)
    ((1, 1, 2, 5, 15), (1, 1, 3, 11, 49))
    """
    counts = [1]
    for n in range(largest):
        binomial, total = 1, 0
        for k in range(n + 1):
            total += binomial * signs**k * counts[n - k]
            binomial = binomial * (n - k) // (k + 1)
        counts.append(total)
    return tuple(counts)


@lru_cache(maxsize=4)
def integer_partitions(largest: int) -> tuple[int, ...]:
    """Count the integer partitions of 0..largest.

    Examples
    --------
    >>> integer_partitions(8)
    (1, 1, 2, 3, 5, 7, 11, 15, 22)
    """
    counts = [1] + [0] * largest
    for part in range(1, largest + 1):
        for total in range(part, largest + 1):
            counts[total] += counts[total - part]
    return tuple(counts)


def count_axis(rules: PartitionRules, *, inner: bool, outer: bool) -> dict[Kind, Count]:
    """Count the closed partitions of one axis by the most alive kind of value that they have.

    Parameters
    ----------
    rules : PartitionRules
        The axis.
    inner, outer : bool
        Whether the parameters that a sign acts on, and the others, show at all (do not vanish because of other axes).

    Returns
    -------
    dict of Kind to Count
    """
    n = rules.size
    dead = ONE if rules.has_dead else NONE
    if not inner and not outer:
        alone = Kind.DEAD if rules.has_dead else Kind.ZERO if rules.has_zero else Kind.LIVE
        return {kind: ONE if kind is alone else NONE for kind in Kind}
    bell, parts = signed_partitions(n, 1), integer_partitions(n)
    live = signed_partitions(n, 2) if rules.signed else bell
    most_dead = n if rules.has_dead else 0

    def one_kind(counts: tuple[int, ...], size: int) -> Count:
        return Count(math.comb(n, size) * counts[size], parts[size])

    def sizes(smallest: int) -> range:
        return range(max(smallest, n - most_dead), n + 1)

    if not rules.has_zero:
        alive = [one_kind(live, size) for size in sizes(1)]
        return {Kind.LIVE: _total(alive), Kind.ZERO: NONE, Kind.DEAD: dead}
    zeros = [one_kind(bell, size) for size in sizes(1)]
    if not inner:
        return {Kind.LIVE: NONE, Kind.ZERO: _total(zeros), Kind.DEAD: dead}
    if not outer:
        some = [one_kind(live, size) for size in range(1, n + 1)]
        return {Kind.LIVE: _total(some), Kind.ZERO: NONE if rules.has_dead else ONE, Kind.DEAD: dead}
    mixed = []
    for size in sizes(1):
        for zero in range(size):
            chosen = math.comb(size, zero) * math.comb(n, size)
            mixed.append(Count(chosen * live[size - zero] * bell[zero], parts[size - zero] * parts[zero]))
    return {Kind.LIVE: _total(mixed), Kind.ZERO: _total(zeros), Kind.DEAD: dead}


def _total(counts: list[Count]) -> Count:
    total = NONE
    for count in counts:
        total = total.plus(count)
    return total


def count_condensed(space: CondensedSpace) -> Count:
    """Count the condensed manifolds of an architecture and their classes, exactly.

    Parameters
    ----------
    space : CondensedSpace
        The family.

    Returns
    -------
    Count
        ``manifolds``, all of them, and ``classes`` up to the symmetry of the hidden axes.

    Raises
    ------
    OverBudgetError
        An axis is wider than numbers are worked out for.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> count_condensed(CondensedSpace.of(read_architecture("2-6tanh-1")))
    Count(manifolds=4088, classes=30)
    """
    for rule in space.rules:
        if rule.size > WIDEST:
            raise OverBudgetError(
                f"width of axis {rule.symmetry.axis.name} for an exact count", rule.size, WIDEST, "Use a smaller width."
            )
    near = [{number, *space.neighbours[number]} for number in range(len(space.rules))]
    done_at = [max(group) for group in near]
    last_use = [max(done_at[other] for other in group) for group in near]
    states: dict[tuple[tuple[int, Kind], ...], Count] = {(): ONE}
    cached = lru_cache(maxsize=None)(lambda n, inner, outer: count_axis(space.rules[n], inner=inner, outer=outer))
    for number, rule in enumerate(space.rules):
        following: dict[tuple[tuple[int, Kind], ...], Count] = {}
        for state, count in states.items():
            for kind in _kinds(rule):
                chosen = {**dict(state), number: kind}
                total = count
                for axis in (axis for axis, done in enumerate(done_at) if done == number):
                    total = total.times(_factor(space, axis, chosen, cached))
                left = tuple((axis, k) for axis, k in chosen.items() if last_use[axis] > number)
                if total.manifolds:
                    following[left] = following.get(left, NONE).plus(total)
        states = following
    return _total(list(states.values()))


def _kinds(rules: PartitionRules) -> list[Kind]:
    return [Kind.LIVE, *([Kind.ZERO] if rules.has_zero else []), *([Kind.DEAD] if rules.has_dead else [])]


def _factor(
    space: CondensedSpace, axis: int, chosen: dict[int, Kind], counts: Callable[[int, bool, bool], dict[Kind, Count]]
) -> Count:
    strongest = [chosen.get(number, Kind.LIVE) for number in range(len(space.rules))]
    visible, flip = space.visible(axis, strongest), space.rules[axis].flip
    if space.rules[axis].has_zero:
        return counts(axis, bool(visible & flip), bool(visible - flip))[chosen[axis]]
    return counts(axis, bool(visible), bool(visible))[chosen[axis]]
