"""A graph on the signed points whose automorphism group is a given group, and canonical forms under that group.

Start from the points, coloured by orbit, each joined to its opposite. While the graph has an automorphism that is not
in the group, add one relation: the orbit of a pair or triple of points that the automorphism breaks, a
vertex each tuple. The order of the group is known exactly, so the end is recognised: (w1[k], w2[l,k]) says which
column belongs to which neuron, (w1[k], a[l], w2[l,k]) how their signs depend on each other.
"""

from __future__ import annotations

import hashlib
import importlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from invman.errors import OverBudgetError
from invman.symmetry.points import PointGroup, orbit_leaders
from invman.symmetry.scalar.schreier import exact_order
from invman.symmetry.signpoints import Characters

VERTICES = 3_000
"""Vertices of the graph, at most."""


@dataclass(frozen=True)
class Form:
    """What a canonical form tells of a partition of the points.

    Attributes
    ----------
    key : bytes
        Equal exactly for partitions that an element of the group maps to each other (a digest of 256 bits).
    generators : list of int arrays
        Generators of the setwise stabiliser.
    order : int
        Its exact order.
    """

    key: bytes
    generators: list[np.ndarray]
    order: int


class SymmetryGraph:
    """The graph of a group.

    Parameters
    ----------
    points : PointGroup
        The group.

    Raises
    ------
    OverBudgetError
        The graph has too many vertices.
    """

    def __init__(self, points: PointGroup) -> None:
        self.points = points
        degree = points.degree
        _within(degree)
        self.generators = points.generators
        self.opposite = np.roll(np.arange(degree), points.parameters)
        self.characters = Characters(points)
        self.vertices = np.array([], dtype=np.int64)
        self.colours: list[int] = []
        self.edges: list[tuple[int, int]] = []
        self._include(degree)
        self._complete()

    def _include(self, size: int) -> None:
        """Add the last points as vertices: coloured by orbit, each joined to its opposite."""
        start = len(self.opposite) - size
        orbits = orbit_leaders(self.generators, len(self.opposite))[start:]
        first, base = len(self.colours), max(self.colours, default=-1) + 1
        self.vertices = np.append(self.vertices, np.arange(first, first + size))
        self.colours += [base + int(c) for c in np.unique(orbits, return_inverse=True)[1]]
        self.edges += [
            (int(self.vertices[p]), int(self.vertices[q])) for p, q in enumerate(self.opposite) if start <= p < q
        ]

    def form(self, leaders: np.ndarray) -> Form:
        """Return the canonical form of a partition of the points and its setwise stabiliser."""
        colours, edges = list(self.colours), list(self.edges)
        top, half = max(colours), len(leaders) // 2
        sizes = np.bincount(leaders, minlength=len(leaders))
        blocks = np.flatnonzero(sizes > 1)
        vertex = {int(leader): len(colours) + place for place, leader in enumerate(blocks)}
        colours += [top + 1 + int(leaders[leader] == leaders[(leader + half) % (2 * half)]) for leader in blocks]
        edges += [(point, vertex[int(leader)]) for point, leader in enumerate(leaders) if int(leader) in vertex]
        result = _canonize(colours, edges)
        digest = hashlib.sha256(f"{len(colours)} {np.bincount(colours).tolist()}".encode())
        digest.update(result.canonical_bytes())
        return Form(digest.digest(), *self._group(result))

    def stabiliser(self, leaders: np.ndarray) -> tuple[list[np.ndarray], int]:
        """Return the elements that map every block of a partition to itself: generators and exact order.

        Blocks are told apart by colours, a point being known by its orbit and its block.
        """
        degree = self.points.degree
        colours = [colour * degree + int(leader) for colour, leader in zip(self.colours, leaders, strict=False)]
        base = degree * (max(self.colours) + 1)
        return self._group(_canonize(colours + [base + colour for colour in self.colours[degree:]], self.edges))

    def _group(self, result: Any) -> tuple[list[np.ndarray], int]:
        degree = self.points.degree
        generators = [np.array(images[:degree], dtype=np.int32) for images in result.generators]
        log10 = math.log10(result.group_size1) + result.group_size2
        order = round(10**result.group_size2 * result.group_size1) if log10 < 14 else exact_order(generators, log10)
        return generators, order

    def _complete(self) -> None:
        """Add relations, and signed points where these do not do, until every automorphism is in the group."""
        wanted = math.log10(self.points.order)
        # what is not broken now will not be broken later, when there are fewer automorphisms
        relations = self._relations()
        while True:
            result = _canonize(self.colours, self.edges)
            if abs(math.log10(result.group_size1) + result.group_size2 - wanted) < 0.1:
                return
            back = {int(vertex): point for point, vertex in enumerate(self.vertices)}
            moves = [np.array([back[images[v]] for v in self.vertices]) for images in result.generators]
            tuples = next((found for found in relations if _broken(found, moves)), None)
            if tuples is None:
                self._extend()
                relations = self._relations()
                continue
            first = len(self.colours)
            _within(first + len(tuples))
            self.colours += [max(self.colours) + 1] * len(tuples)
            self.edges += [(int(self.vertices[p]), first + place) for place, row in enumerate(tuples) for p in row]

    def _extend(self) -> None:
        """Add the signed points of the smallest orbit of characters that is a product of two there are."""
        size, actions = self.characters.extend()
        _within(len(self.colours) + size)
        old = len(self.opposite)
        self.opposite = np.concatenate([self.opposite, old + np.roll(np.arange(size), size // 2)])
        pairs = zip(self.generators, actions, strict=True)
        self.generators = [np.concatenate([g, old + action]) for g, action in pairs]
        self._include(size)

    def _relations(self) -> Iterator[np.ndarray]:
        """Yield orbits of pairs of points, then of triples whose signs multiply to one; small ones first."""
        count = len(self.opposite)
        positive = np.flatnonzero(np.arange(count) < self.opposite).tolist()
        known = orbit_leaders(self.generators, count)
        starts = sorted({int(min(leader, self.opposite[leader])) for leader in known})
        seen: set[tuple[int, ...]] = set()
        pairs = list(self._orbits([(start, point) for start in starts for point in positive], seen))
        yield from sorted(pairs, key=len)
        by_character: dict[int, list[int]] = {}
        for point, character in zip(positive, self.characters.values, strict=True):
            by_character.setdefault(character, []).append(point)
        value = dict(zip(positive, self.characters.values, strict=True))
        value.update({int(self.opposite[point]): character for point, character in value.items()})
        triples = []
        for pair in pairs:
            one, two = pair[0].tolist()
            if value[one] != value[two]:
                triples += [(one, two, third) for third in by_character.get(value[one] ^ value[two], ())]
        yield from sorted(self._orbits(triples, seen), key=len)

    def _orbits(self, rows: list[tuple[int, ...]], seen: set[tuple[int, ...]]) -> Iterator[np.ndarray]:
        """Yield the orbits of some sets of points, each once; those larger than the budget are left out."""
        for points in rows:
            row = tuple(sorted(points))
            apart = {min(point, int(self.opposite[point])) for point in row}
            if len(apart) == len(row) and row not in seen:
                found = _orbit(row, self.generators, VERTICES)
                if found is not None:
                    seen.update(map(tuple, found.tolist()))
                    yield found


def _orbit(row: tuple[int, ...], generators: list[np.ndarray], limit: int) -> np.ndarray | None:
    """Return the orbit of a set of points, its first row the given one; None where it is larger than the limit."""
    found, queue = {row}, [row]
    for one in queue:
        for generator in generators:
            image = tuple(sorted(int(generator[p]) for p in one))
            if image not in found:
                found.add(image)
                queue.append(image)
        if len(queue) > limit:
            return None
    return np.array(queue)


def _broken(tuples: np.ndarray, moves: list[np.ndarray]) -> bool:
    """Tell whether some permutation does not map a set of tuples to itself."""
    known = set(map(tuple, tuples.tolist()))
    return any(set(map(tuple, np.sort(move[tuples], axis=1).tolist())) != known for move in moves)


def _within(vertices: int) -> None:
    if vertices > VERTICES:
        raise OverBudgetError("vertices of the symmetry graph", vertices, VERTICES, "Use fewer or narrower layers.")


def _canonize(colours: list[int], edges: list[tuple[int, int]]) -> Any:
    library: Any = importlib.import_module("canonaut")
    return library.raw.canonize(len(colours), edges, generators=True, colors=colours)
