"""Where the nodes of a Hasse diagram stand: a level a dimension, the largest at the top, few crossings."""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from dataclasses import dataclass

from invman.report.document import Document, checked, covers, manifolds
from invman.report.text import abbreviate, columns

FONT = 12.0
"""Size of the labels in user units (pixels at scale one)."""
COLUMN = 0.602 * FONT
"""Width of one column of the fixed-width font."""
LABEL_COLUMNS = 24
PADDING = 8.0
MARK = 15.0
HEIGHT = 24.0
GAP = 12.0
WIDEST_GAP = 56.0
BRICK = 22.0
ROW_GAP = 14.0
SWEEPS = 8


@dataclass(frozen=True)
class Box:
    """One node: its label and the rectangle it fills.

    Attributes
    ----------
    id, label : str
        Id of the manifold, and its name shortened to what the box shows.
    x, y, width, height : float
        Left, top, and the two sizes, in user units.
    """

    id: str
    label: str
    x: float
    y: float
    width: float
    height: float = HEIGHT

    @property
    def centre(self) -> float:
        """Horizontal middle."""
        return self.x + self.width / 2


@dataclass(frozen=True)
class Level:
    """All nodes of one dimension: how many, and the strip that holds their rows."""

    dimension: int
    count: int
    top: float
    bottom: float


@dataclass(frozen=True)
class Layout:
    """A drawing without ink: the boxes by id in reading order, the levels from the top, and the size of it all."""

    boxes: dict[str, Box]
    levels: tuple[Level, ...]
    width: float
    height: float


def arrange(document: Document, width: float = 1400.0, aspect: float = 1.7) -> Layout:
    """Lay out the Hasse diagram of a lattice document.

    Levels are the dimensions. A level wider than the drawing is wrapped over several rows; neighbours in the order of
    the level then stand one below the other, so that a node stays near the nodes it is joined to. The order in a level
    comes from barycentre sweeps, of which the one with the fewest crossings is kept. The same document gives the same
    layout.

    Parameters
    ----------
    document : Mapping
        The lattice document.
    width : float
        No level narrower than this is wrapped.
    aspect : float
        Wanted ratio of width to height; a large diagram becomes wider than `width` to reach it.

    Returns
    -------
    Layout
        Boxes that never overlap; coordinates start at zero.
    """
    nodes = manifolds(document)
    mark = MARK if checked(document) else 0.0
    labels = {node["id"]: abbreviate(node["name"], LABEL_COLUMNS) or "?" for node in nodes}
    widths = {name: columns(label) * COLUMN + 2 * PADDING + mark for name, label in labels.items()}
    by_dimension: dict[int, list[str]] = {}
    for node in nodes:
        by_dimension.setdefault(node["dimension"], []).append(node["id"])
    dimensions = sorted(by_dimension, reverse=True)
    levels = [by_dimension[dimension] for dimension in dimensions]

    limit = _row_width([[widths[name] for name in level] for level in levels], width, aspect)
    rows = [_row_count([widths[name] for name in level], limit) for level in levels]
    levels, position = _untangle(levels, rows, widths, covers(document))
    half = max((abs(position[name]) + widths[name] / 2 for name in position), default=0.0)
    gap = _level_gap(2 * half, sum(rows), len(rows), aspect)
    boxes: dict[str, Box] = {}
    strips = []
    top = 0.0
    for dimension, level, count in zip(dimensions, levels, rows, strict=True):
        for row, members in enumerate(_rows(level, count)):
            y = top + row * (HEIGHT + ROW_GAP)
            for name in members:
                boxes[name] = Box(name, labels[name], position[name] - widths[name] / 2 + half, y, widths[name])
        bottom = top + count * (HEIGHT + ROW_GAP) - ROW_GAP
        strips.append(Level(dimension, len(level), top, bottom))
        top = bottom + gap
    return Layout(boxes, tuple(strips), 2 * half, max(top - gap, 0.0) if strips else 0.0)


def crossings(edges: list[tuple[float, float]]) -> int:
    """Count the crossings of straight edges between two lines, each edge given by its two horizontal positions.

    Examples
    --------
    >>> crossings([(0.0, 1.0), (1.0, 0.0), (2.0, 2.0)])
    1
    """
    total = 0
    seen: list[float] = []
    for _, lower in sorted(edges):
        total += len(seen) - bisect_right(seen, lower)
        insort(seen, lower)
    return total


def _row_count(widths: list[float], limit: float) -> int:
    return max(1, math.ceil((sum(widths) + GAP * (len(widths) - 1)) / limit))


def _level_gap(width: float, rows: int, levels: int, aspect: float) -> float:
    """Choose the space between levels: enough for the edges, more when the drawing would be flat."""
    if levels < 2:
        return 0.0
    spare = (width / aspect - rows * (HEIGHT + ROW_GAP)) / (levels - 1)
    least = max(min(0.09 * width, 64.0), 36.0, 0.045 * width)
    return min(max(spare, least), 64.0 + 0.09 * width)


def _row_width(levels: list[list[float]], least: float, aspect: float) -> float:
    """Find the smallest row width, not below `least`, at which the drawing is as wide as wanted for its height."""
    limit = least
    while True:
        rows = sum(_row_count(level, limit) for level in levels)
        height = rows * (HEIGHT + ROW_GAP) + (len(levels) - 1) * _level_gap(limit, rows, len(levels), aspect)
        if rows <= len(levels) or limit >= 0.97 * aspect * height:
            return limit
        limit *= 1.05


def _rows(level: list[str], rows: int) -> list[list[str]]:
    """Deal a level over its rows, so that neighbours in its order stand one below the other."""
    return [level[row::rows] for row in range(rows)]


def _packed(row: list[str], widths: dict[str, float]) -> float:
    return sum(widths[name] for name in row) + GAP * (len(row) - 1)


def _place(level: list[str], rows: int, widths: dict[str, float], room: float) -> dict[str, float]:
    """Space the rows of a level, laid like bricks, over at most `room` unless packed; give the middle of each node."""
    places = {}
    shift = BRICK if rows > 1 else 0.0
    for index, row in enumerate(_rows(level, rows)):
        spare = (room - 2 * shift - _packed(row, widths)) / max(len(row) - 1, 1)
        gap = GAP + min(max(spare, 0.0), WIDEST_GAP - GAP)
        x = -(_packed(row, widths) + (gap - GAP) * (len(row) - 1)) / 2 + (shift if index % 2 else -shift)
        for name in row:
            places[name] = x + widths[name] / 2
            x += widths[name] + gap
    return places


def _untangle(
    levels: list[list[str]], rows: list[int], widths: dict[str, float], edges: list[tuple[str, str]]
) -> tuple[list[list[str]], dict[str, float]]:
    """Order every level by the mean position of its neighbours, from above and from below in turn; keep the best.

    Gives the ordered levels, and the horizontal middle of every node.
    """
    above: dict[str, list[str]] = {name: [] for level in levels for name in level}
    below: dict[str, list[str]] = {name: [] for level in levels for name in level}
    for bigger, smaller in edges:
        above[smaller].append(bigger)
        below[bigger].append(smaller)
    depth = {name: index for index, level in enumerate(levels) for name in level}
    room = max(
        (_packed(row, widths) for level, count in zip(levels, rows, strict=True) for row in _rows(level, count)),
        default=0.0,
    )
    position = {}
    for level, count in zip(levels, rows, strict=True):
        position.update(_place(level, count, widths, room))

    def cost() -> int:
        groups: dict[tuple[int, int], list[tuple[float, float]]] = {}
        for bigger, smaller in edges:
            key = (depth[bigger], depth[smaller])
            groups.setdefault(key, []).append((position[bigger], position[smaller]))
        return sum(crossings(group) for group in groups.values())

    current = list(levels)
    best, fewest = (list(levels), dict(position)), cost()
    for sweep in range(SWEEPS):
        neighbours = below if sweep % 2 else above
        order = range(len(levels))
        for index in reversed(order) if sweep % 2 else order:

            def barycentre(name: str, neighbours: dict[str, list[str]] = neighbours) -> float:
                near = neighbours[name]
                return round(sum(position[other] for other in near) / len(near), 6) if near else position[name]

            current[index] = sorted(current[index], key=barycentre)
            position.update(_place(current[index], rows[index], widths, room))
        count = cost()
        if count < fewest:
            best, fewest = (list(current), dict(position)), count
        if not fewest:
            break
    return best
