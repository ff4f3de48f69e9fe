"""The lattice of all fixed sets of the discrete symmetry, or of one a class of conjugate ones."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from invman.errors import OverBudgetError, shown
from invman.lattice.counting import Count
from invman.lattice.expansion import expand
from invman.lattice.isotropy import FixedClass, Progress, atom_classes, isotropy_classes
from invman.manifold import points
from invman.manifold.symmetric import SymmetricManifold, SymmetricSpace

BUDGET = 250_000
"""Manifolds, or classes, that are listed before refusing."""

Listing = tuple[Count, list[SymmetricManifold], list[tuple[int, int]]]


def count_symmetric(space: SymmetricSpace, *, budget: int = BUDGET, progress: Progress | None = None) -> Count:
    """Count the fixed sets of an architecture and their classes, exactly.

    Only one fixed set a class is visited; the numbers of conjugates add up.

    Parameters
    ----------
    space : SymmetricSpace
        The family.
    budget : int
        Largest number of classes.
    progress : callable, optional
        Called with the number of classes that are done and that are known.

    Returns
    -------
    Count

    Raises
    ------
    OverBudgetError
        There are more classes.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> count_symmetric(SymmetricSpace.of(read_architecture("1-2tanh-2tanh-1")), budget=1000)
    Count(manifolds=135, classes=48)
    """
    return _count(space, isotropy_classes(space, budget=budget, progress=progress))


def list_symmetric(
    space: SymmetricSpace, *, classes: bool = False, budget: int, progress: Progress | None = None
) -> Listing:
    """List the fixed sets of an architecture and what covers what.

    Parameters
    ----------
    space : SymmetricSpace
        The family.
    classes : bool
        One manifold a class of conjugate ones; the others are not visited, nor is the group listed.
    budget : int
        Largest number of manifolds (or classes) that are listed.
    progress : callable, optional
        Called with the number done and the total.

    Returns
    -------
    count : Count
    manifolds : list of SymmetricManifold
        By decreasing dimension, then class by class, then by their leaders.
    covers : list of (int, int)

    Raises
    ------
    OverBudgetError
        There are more than the budget allows: before the search where the fixed sets of single elements are too many,
        and before the members of the classes are listed with the exact number.
    """
    if not classes:
        at_least = 1 + sum(size for leaders, size in atom_classes(space) if not _is_whole(leaders))
        if at_least > budget:
            raise _over(space, at_least, budget, "There are at least so many. ")
    found = isotropy_classes(space, budget=budget, progress=progress)
    ordered = dict(sorted(found.items(), key=lambda item: _order(space, item[1])))
    count = _count(space, found)
    if classes:
        place = {key: number for number, key in enumerate(ordered)}
        edges = [(number, place[key]) for number, one in enumerate(ordered.values()) for key in sorted(one.covers)]
        return count, [_manifold(space, one.leaders, one) for one in ordered.values()], sorted(edges)
    if count.manifolds > budget:
        raise _over(space, count.manifolds, budget, f"There are {shown(count.classes)} classes. ")
    expansion = expand(space, ordered, progress)
    pairs = zip(ordered.values(), expansion.rows, strict=True)
    return count, [_manifold(space, row, one) for one, rows in pairs for row in rows], expansion.covers


def _order(space: SymmetricSpace, one: FixedClass) -> tuple[int, int, bytes]:
    """Sort by decreasing dimension, then by number of conjugates, then by the representative."""
    dimension = int(points.dimensions(one.leaders[None])[0])
    return -dimension, space.points.order // one.form.order, points.keys(one.leaders[None])[0].tobytes()


def _count(space: SymmetricSpace, found: Mapping[bytes, FixedClass]) -> Count:
    return Count(sum(space.points.order // one.form.order for one in found.values()), len(found))


def _manifold(space: SymmetricSpace, leaders: np.ndarray, one: FixedClass) -> SymmetricManifold:
    return SymmetricManifold(space, tuple(leaders.tolist()), one.form)


def _is_whole(leaders: np.ndarray) -> bool:
    return bool(np.array_equal(leaders, points.whole(len(leaders))))


def _over(space: SymmetricSpace, size: int, budget: int, how: str) -> OverBudgetError:
    advice = f"{how}Ask for one a class with --classes, or raise the budget with --budget."
    return OverBudgetError(f"symmetric manifolds of {space.program!r}", size, budget, advice)
