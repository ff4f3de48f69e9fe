"""The axes of an import: which are one and the same, where each comes from, and how one is split at its source."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from invman.errors import UnsupportedError

Key = tuple[object, ...]


class Resplit(Exception):  # noqa: N818 - a signal between the builder and `replay`, never shown
    """An axis was split; start again."""


@dataclass
class Memory:
    """What survives a restart: the splits found so far, and the number of values of each integer input."""

    splits: dict[Key, tuple[int, ...]] = field(default_factory=dict)
    values: dict[str, int] = field(default_factory=dict)


class Axes:
    """Hands out axes and keeps the account of them; also knows which operation is being replayed.

    Parameters
    ----------
    memory : Memory
        Splits known from the earlier attempts.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.sizes: dict[str, int] = {}
        self.place: str = ""
        self.where: str = ""
        self._step: Key = ()
        self._born = 0
        self._parent: dict[str, str] = {}
        self._keys: dict[str, tuple[Key, int]] = {}

    def begin(self, step: Key, place: str, where: str) -> None:
        """Start an operation: its number, its name, and the line of the user's code that it comes from."""
        self._step, self._born, self.place, self.where = step, 0, place, where

    def fail(self, got: str, expected: str) -> UnsupportedError:
        """Return the error that an operation is not supported, with its place in the user's code."""
        at = f" at {self.where}" if self.where else ""
        return UnsupportedError(f"operation {self.place!r}{at}: got {got}, expected {expected}")

    def size(self, axes: str | Sequence[str]) -> int:
        """Return the size of an axis, or the product of several."""
        if isinstance(axes, str):
            return self.sizes[axes.removesuffix(".sum")]
        return math.prod(self.size(axis) for axis in axes)

    def fresh(self, size: int) -> str:
        """Return a new axis."""
        name = f"a{len(self.sizes)}"
        self.sizes[name] = size
        return name

    def dimension(self, size: int, key: Key | None = None) -> tuple[str, ...]:
        """Return the axes of a dimension that begins here: one, or what earlier attempts have split it into."""
        if key is None:
            key = ("born", *self._step, self._born)
            self._born += 1
        parts = self.memory.splits.get(key, ())
        if math.prod(parts) != size or not parts:
            parts = self.memory.splits[key] = (size,)
        axes = tuple(self.fresh(part) for part in parts)
        for number, axis in enumerate(axes):
            self._keys[axis] = (key, number)
        return axes

    def _find(self, axis: str) -> str:
        while (parent := self._parent.get(axis, axis)) != axis:
            axis = parent
        return axis

    def unite(self, left: str, right: str) -> None:
        """Note that two axes are one and the same."""
        left, right = self._find(left), self._find(right)
        if left != right:
            self._parent[left] = right

    def split(self, axis: str, inner: int) -> None:
        """Split an axis into (size/inner, inner) wherever it comes from, and start again."""
        root, outer = self._find(axis), self.size(axis) // inner
        members = [self._keys[name] for name in self.sizes if name in self._keys and self._find(name) == root]
        if not members:
            raise self.fail(f"a reshape that splits an axis of size {outer * inner}", "an axis of a parameter or input")
        for key, number in sorted(set(members), key=lambda member: -member[1]):
            parts = self.memory.splits[key]
            self.memory.splits[key] = (*parts[:number], outer, inner, *parts[number + 1 :])
        raise Resplit
