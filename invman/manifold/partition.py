"""Signed partitions of the values of one hidden axis, with blocks whose weights vanish.

A partition is a tuple of one label a value (a neuron). Label 0 is *dead*: all its parameters are zero. Otherwise the
label is ``sign * (2 * block + zero)`` with blocks numbered 1, 2, ... by their first value, sign +1 for the first value
of a block, and ``zero = 1`` where the block is *zero*: the parameters that a sign change acts on vanish, the others
stay (the incoming weights of an even activation). Equal partitions have equal tuples.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from invman.errors import UnsupportedError
from invman.symmetry.axes import Carrier
from invman.symmetry.group import AxisSymmetry

Labels = tuple[int, ...]


class Kind(IntEnum):
    """What a block of values is: alive, zero in the parameters that a sign acts on, or dead in all of them."""

    LIVE = 0
    ZERO = 1
    DEAD = 2


WORDS: Mapping[str, Kind] = {"dead": Kind.DEAD, "zero": Kind.ZERO}
"""What blocks that are not live are called in names."""


@dataclass(frozen=True)
class Block:
    """One block: its kind, its values in increasing order and their signs relative to the first."""

    kind: Kind
    values: tuple[int, ...]
    signs: tuple[int, ...]


@dataclass(frozen=True)
class PartitionRules:
    """Which partitions one hidden axis has, and what they do to the parameters that carry it.

    Attributes
    ----------
    symmetry : AxisSymmetry
        The axis and its sign changes.
    """

    symmetry: AxisSymmetry

    def __post_init__(self) -> None:
        axis = self.symmetry.axis
        if len(self.symmetry.flips) > 1:
            msg = (
                f"axis {axis.name}: got {len(self.symmetry.flips)} independent sign changes of one value, expected at "
                "most one for condensed manifolds"
            )
            raise UnsupportedError(msg)
        if axis.repeated is not None:
            msg = (
                f"axis {axis.name}: got parameter {axis.repeated} with this axis at two positions (a recurrent "
                "weight), expected each parameter to carry it once for condensed manifolds"
            )
            raise UnsupportedError(msg)

    @property
    def size(self) -> int:
        """Number of values of the axis."""
        return self.symmetry.axis.size

    @property
    def carriers(self) -> tuple[Carrier, ...]:
        """Parameter positions that run over the axis."""
        return self.symmetry.axis.carriers

    @cached_property
    def flip(self) -> frozenset[Carrier]:
        """What a sign change acts on; empty without parity."""
        return self.symmetry.flips[0] if self.symmetry.flips else frozenset()

    @property
    def signed(self) -> bool:
        """Whether values of a block may be opposite."""
        return bool(self.flip)

    @property
    def dead_by_symmetry(self) -> bool:
        """Whether the dead block is the fixed set of a sign change (odd activation)."""
        return self.flip == frozenset(self.carriers)

    @property
    def has_zero(self) -> bool:
        """Whether zero blocks exist (a sign change acts on some of the parameters only)."""
        return self.signed and not self.dead_by_symmetry

    @property
    def has_dead(self) -> bool:
        """Whether a dead block exists."""
        return self.dead_by_symmetry or self.symmetry.dead

    def killed(self, kind: Kind) -> frozenset[Carrier]:
        """Return the carriers that vanish on a block of this kind."""
        return {Kind.LIVE: frozenset(), Kind.ZERO: self.flip, Kind.DEAD: frozenset(self.carriers)}[kind]

    @property
    def words(self) -> Mapping[str, Kind]:
        """What blocks that are not live are called in names."""
        return WORDS

    @property
    def free(self) -> Labels:
        """The finest partition: every value by itself and alive."""
        return tuple(2 * (value + 1) for value in range(self.size))

    @property
    def coarsest(self) -> Labels:
        """The most condensed partition: all dead, or one zero block, or one block."""
        return (0 if self.has_dead else 3 if self.has_zero else 2,) * self.size


def canonical(labels: Sequence[int]) -> Labels:
    """Renumber blocks by first occurrence and make the first value of each block positive."""
    number: dict[int, int] = {}
    out = []
    for label in labels:
        block = abs(label) >> 1
        if label == 0:
            out.append(0)
        elif block not in number:
            place = len(number) + 1
            number[block] = place if label > 0 else -place
            out.append(2 * place + (abs(label) & 1))
        else:
            place = number[block]
            size = 2 * abs(place) + (abs(label) & 1)
            out.append(size if (label > 0) == (place > 0) else -size)
    return tuple(out)


def kind_of(label: int) -> Kind:
    """Return what a label says of its value."""
    return Kind.DEAD if label == 0 else Kind.ZERO if label & 1 else Kind.LIVE


def blocks(labels: Labels) -> list[Block]:
    """List the blocks by their first value; the dead values make up one block."""
    values: dict[int, list[int]] = {}
    for value, label in enumerate(labels):
        values.setdefault(abs(label), []).append(value)
    return [
        Block(kind_of(key), tuple(members), tuple(1 if labels[value] >= 0 else -1 for value in members))
        for key, members in values.items()
    ]


def shape(labels: Labels) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Return the class of a partition under permutations and signs: sizes of live and zero blocks, number of dead."""
    counts = Counter(abs(label) for label in labels)
    live = sorted((n for key, n in counts.items() if key and not key & 1), reverse=True)
    zero = sorted((n for key, n in counts.items() if key & 1), reverse=True)
    return tuple(live), tuple(zero), counts[0]


def representative(live: Sequence[int], zero: Sequence[int], dead: int) -> Labels:
    """Return the first partition of a class: live blocks, then zero blocks, then the dead values, all positive."""
    out: list[int] = []
    number = 0
    for sizes, kind in ((live, 0), (zero, 1)):
        for size in sizes:
            number += 1
            out += [2 * number + kind] * size
    return tuple(out + [0] * dead)


def orbit_size(rules: PartitionRules, labels: Labels) -> int:
    """Return the number of partitions in the class of this one under permutations and signs."""
    live, zero, dead = shape(labels)
    count = math.factorial(rules.size) // math.factorial(dead)
    for sizes in (live, zero):
        for size, copies in Counter(sizes).items():
            count //= math.factorial(size) ** copies * math.factorial(copies)
    return count * 2 ** (sum(live) - len(live)) if rules.signed else count


def coarsenings(rules: PartitionRules, labels: Labels, *, classes: bool = False) -> Iterator[Labels]:
    """Yield the partitions that cover this one: merge two blocks of a kind, or move a block one kind down.

    With ``classes`` one of those that permutations and signs that keep this partition map to each other: it matters
    only how large the blocks are.
    """
    live = [block for block in blocks(labels) if block.kind is Kind.LIVE]
    zero = [block for block in blocks(labels) if block.kind is Kind.ZERO]
    if classes:  # two blocks of a size are enough to merge, and the first one to move
        live, zero = (_first_of_each_size(group, 2) for group in (live, zero))
    for group in (live, zero):
        seen: set[tuple[int, int]] = set()
        for first in range(len(group)):
            for second in range(first + 1, len(group)):
                sizes = len(group[first].values), len(group[second].values)
                if classes and sizes in seen:
                    continue
                seen.add(sizes)
                target, source = labels[group[first].values[0]], labels[group[second].values[0]]
                for sign in (1, -1) if rules.signed and group is live and not classes else (1,):
                    merged = [
                        sign * (target if label > 0 else -target) if abs(label) == source else label for label in labels
                    ]
                    yield canonical(merged)
    if classes:
        live, zero = (_first_of_each_size(group, 1) for group in (live, zero))
    for block in live if rules.has_zero or rules.has_dead else []:
        name = abs(labels[block.values[0]])
        yield canonical([(name | 1 if rules.has_zero else 0) if abs(v) == name else v for v in labels])
    for block in zero if rules.has_dead else []:
        name = labels[block.values[0]]
        yield canonical([0 if label == name else label for label in labels])


def _first_of_each_size(group: list[Block], number: int) -> list[Block]:
    seen: Counter[int] = Counter()
    first = []
    for block in sorted(group, key=lambda block: len(block.values)):
        seen[len(block.values)] += 1
        if seen[len(block.values)] <= number:
            first.append(block)
    return first


def finer(left: Labels, right: Labels) -> bool:
    """Tell whether the first partition is at most as condensed as the second: its manifold contains the other's."""
    partner: dict[int, int] = {}
    for a, b in zip(left, right, strict=True):
        if kind_of(a) > kind_of(b) or (a == 0) > (b == 0):
            return False
        if a == 0:
            continue
        value = b if a > 0 else -b
        value = abs(value) if b & 1 else value
        if partner.setdefault(abs(a), value) != value:
            return False
    return True
