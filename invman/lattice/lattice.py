"""The lattice of a family: manifolds with ids, covers as edges, a networkx graph at the border."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx

from invman.architecture.program import Program
from invman.errors import ManifoldError, OverBudgetError, shown
from invman.lattice.counting import Count, count_condensed
from invman.lattice.enumeration import covers, enumerate_condensed
from invman.lattice.invariant import ORDERED, arrange_invariant, count_invariant
from invman.lattice.symmetric import BUDGET, count_symmetric, list_symmetric
from invman.manifold.balanced import BalancedManifold, BalancedSpace
from invman.manifold.condensed import CondensedManifold, CondensedSpace
from invman.manifold.symmetric import SymmetricManifold, SymmetricSpace

Progress = Callable[[int, int], None]
"""Called now and then with how much is done and how much there is."""

Space = CondensedSpace | BalancedSpace | SymmetricSpace
"""A family of manifolds of one architecture."""

Manifold = CondensedManifold | BalancedManifold | SymmetricManifold
"""A manifold of a family."""

Edges = list[tuple[int, int]]


@dataclass(frozen=True)
class Lattice:
    """A family of manifolds, ordered by inclusion.

    Attributes
    ----------
    space : CondensedSpace, BalancedSpace or SymmetricSpace
        The family.
    count : Count
        Exact numbers of manifolds and of classes, also when only representatives are listed.
    manifolds : tuple of CondensedManifold, of BalancedManifold or of SymmetricManifold
        By decreasing dimension; the position is the id (``m0``, ``m1``, ...). With classes, one a class.
    covers : tuple of (int, int)
        Positions of a manifold and of one just below it. With classes: of two classes that have such members.
    """

    space: Any
    count: Count
    manifolds: tuple[Any, ...]  # all of one family
    covers: tuple[tuple[int, int], ...]

    @property
    def family(self) -> str:
        """Name of the family."""
        return self.space.family

    @property
    def program(self) -> Program:
        """The architecture."""
        return self.space.program

    def __repr__(self) -> str:
        """Say what it is and how large."""
        return (
            f"Lattice({self.program!r}, family={self.family!r}, manifolds={self.count.manifolds}, "
            f"classes={self.count.classes}, covers={len(self.covers)})"
        )

    def __len__(self) -> int:
        """Return the number of listed manifolds."""
        return len(self.manifolds)

    @cached_property
    def class_of(self) -> tuple[int, ...]:
        """For each manifold the number of its class, in the order of first members."""
        numbers: dict[object, int] = {}
        return tuple(numbers.setdefault(manifold.shape, len(numbers)) for manifold in self.manifolds)

    def named(self, name: str) -> Any:
        """Return a manifold by name or by id (SyntaxProblem or ManifoldError if there is none)."""
        if name[:1] == "m" and name[1:].isdecimal():
            place = int(name[1:20])  # an id of more digits is out of range, whatever they are
            if len(name) > 20 or place >= len(self.manifolds):
                msg = f"manifold {name}: got no such id, expected m0 to m{len(self.manifolds) - 1}"
                raise ManifoldError(msg)
            return self.manifolds[place]
        return self.space.named(name)

    @cached_property
    def graph(self) -> nx.DiGraph:
        """The Hasse diagram: nodes are ids with name, dimension, orbit_size and origin, edges lead downwards."""
        graph = nx.DiGraph(architecture=repr(self.program), family=self.family)
        for number, manifold in enumerate(self.manifolds):
            graph.add_node(
                f"m{number}",
                name=manifold.name,
                dimension=manifold.dimension,
                orbit_size=manifold.orbit_size,
                origin=manifold.origin.value,
            )
        graph.add_edges_from((f"m{upper}", f"m{lower}") for upper, lower in self.covers)
        return graph


def space_of(program: Program, family: str = "condensed") -> Space:
    """Return a family of manifolds of an architecture.

    Raises
    ------
    ManifoldError
        There is no such family.
    UnsupportedError
        The architecture has no manifolds of this family.
    """
    if family not in FAMILIES:
        msg = f"family: got {family!r}, expected one of {', '.join(FAMILIES)}"
        raise ManifoldError(msg)
    return FAMILIES[family].space(program)


def count_manifolds(space: Space) -> Count:
    """Count the manifolds of a family and their classes, exactly and without listing them."""
    return FAMILIES[space.family].count(space)


def build_lattice(
    source: Program | Space,
    *,
    family: str = "condensed",
    classes: bool = False,
    budget: int = BUDGET,
    progress: Progress | None = None,
) -> Lattice:
    """List the manifolds of a family of an architecture and order them.

    Parameters
    ----------
    source : Program, CondensedSpace, BalancedSpace or SymmetricSpace
        The architecture, or a family of it.
    family : {"condensed", "invariant", "symmetric"}
        Which manifolds of a Program: condensed ones, balanced ones with their leaves, or all fixed sets of the discrete
        symmetry.
    classes : bool
        One manifold a class of conjugate ones; of condensed manifolds without visiting the others.
    budget : int
        Largest number of manifolds (or classes) that are listed.
    progress : callable, optional
        Called with the number done and the total.

    Returns
    -------
    Lattice

    Raises
    ------
    OverBudgetError
        There are more than the budget allows; nothing has been listed then.
    ManifoldError
        There is no such family.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> build_lattice(read_architecture("2-3tanh-1"))
    Lattice(2-3tanh-1, family='condensed', manifolds=24, classes=7, covers=58)
    """
    space = space_of(source, family) if isinstance(source, Program) else source
    if isinstance(space, SymmetricSpace):
        counted, listed, pairs = list_symmetric(space, classes=classes, budget=budget, progress=progress)
        return Lattice(space, counted, tuple(listed), tuple(pairs))
    chosen = FAMILIES[space.family]
    count = chosen.count(space)
    by_class = classes and not chosen.ordered  # where all are ordered, all must be listed
    size = count.classes if by_class else count.manifolds
    limit = min(budget, chosen.ordered or budget)
    if size > limit:
        what = f"{'classes of ' if by_class else ''}{space.family} manifolds of {space.program!r}"
        ask = (
            ""
            if classes or chosen.ordered
            else (f"Ask for one a class with --classes ({shown(count.classes)} of them). ")
        )
        more = ", or raise the budget with --budget" if limit == budget else ""
        raise OverBudgetError(what, size, limit, f"{ask}Count them with --count{more}.")
    found, edges = chosen.arrange(space, classes, progress)
    return Lattice(space, count, tuple(found), tuple(edges))


@dataclass(frozen=True)
class Family:
    """How the manifolds of one family are found.

    Attributes
    ----------
    space : callable
        From a program to the family.
    count : callable
        From the family to the exact numbers.
    arrange : callable
        From the family, whether to list classes, and the progress, to the listed manifolds and the edges.
    ordered : int
        How many can be ordered, where all must be listed to order some; else 0.
    """

    space: Callable[[Program], Any]
    count: Callable[[Any], Count]
    arrange: Callable[[Any, bool, Progress | None], tuple[list[Any], Edges]]
    ordered: int = 0


def _arrange_condensed(
    space: CondensedSpace, classes: bool, progress: Progress | None
) -> tuple[list[CondensedManifold], Edges]:
    count = count_condensed(space)
    size = count.classes if classes else count.manifolds
    found = []
    for number, manifold in enumerate(enumerate_condensed(space, classes=classes)):
        found.append(manifold)
        if progress is not None and number % 256 == 0:
            progress(number, 2 * size)
    found.sort(key=_order)
    return found, _edges(found, classes, progress)


def _order(manifold: CondensedManifold) -> tuple[object, ...]:
    """Sort by decreasing dimension, then class by class, then by the labels: ids are reproducible."""
    labels = tuple(tuple((abs(label), label < 0) for label in axis) for axis in manifold.partitions)
    return -manifold.dimension, manifold.shape, labels


def _edges(found: Sequence[CondensedManifold], classes: bool, progress: Progress | None) -> list[tuple[int, int]]:
    place = {m.shape if classes else m.partitions: number for number, m in enumerate(found)}
    edges: list[tuple[int, int]] = []
    for number, manifold in enumerate(found):
        below = {place[lower.shape if classes else lower.partitions] for lower in covers(manifold, classes=classes)}
        edges += [(number, lower) for lower in sorted(below)]
        if progress is not None and number % 256 == 0:
            progress(len(found) + number, 2 * len(found))
    return edges


def _arrange_symmetric(
    space: SymmetricSpace, classes: bool, progress: Progress | None
) -> tuple[list[SymmetricManifold], Edges]:
    _, listed, edges = list_symmetric(space, classes=classes, budget=BUDGET, progress=progress)
    return list(listed), list(edges)


FAMILIES = {
    "condensed": Family(CondensedSpace.of, count_condensed, _arrange_condensed),
    "invariant": Family(BalancedSpace.of, count_invariant, arrange_invariant, ORDERED),
    "symmetric": Family(SymmetricSpace.of, count_symmetric, _arrange_symmetric),
}
"""The families by name."""
