"""Condensed manifolds: one signed partition a hidden axis, neurons of a block equal up to sign, dead ones silent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from invman.architecture.program import Program
from invman.manifold import naming
from invman.manifold.partition import (
    Block,
    Kind,
    Labels,
    PartitionRules,
    blocks,
    canonical,
    kind_of,
    orbit_size,
    shape,
)
from invman.manifold.reduction import Reduction, reduce_program
from invman.manifold.subspace import Polydiagonal
from invman.symmetry.axes import Carrier
from invman.symmetry.group import DiscreteSymmetry, find_symmetry

Partitions = tuple[Labels, ...]


class Origin(Enum):
    """Where the invariance of a manifold comes from."""

    SYMMETRY = "symmetry-induced"
    DEAD = "dead-neuron"
    OTHER = "not symmetry-induced"


class CondensedSpace:
    """All condensed manifolds of one architecture, as tuples of partitions.

    In a deep net two different tuples can be the same subspace: when both neighbours of a layer are dead, all the
    weights around the layer vanish and nothing is left that its partition could say. Each subspace is therefore
    represented by the most condensed tuple that gives it, its *closure*.

    Parameters
    ----------
    symmetry : DiscreteSymmetry
        Symmetry of the architecture's hidden axes.

    Raises
    ------
    UnsupportedError
        A hidden axis has several independent signs, or a parameter carries it twice.
    """

    family = "condensed"

    def __init__(self, symmetry: DiscreteSymmetry) -> None:
        self.symmetry = symmetry
        self.program = symmetry.program
        self.rules = tuple(PartitionRules(axis) for axis in symmetry.axes)
        self._axis_at = {carrier: number for number, rule in enumerate(self.rules) for carrier in rule.carriers}
        self._reductions: dict[object, Reduction] = {}

    @classmethod
    def of(cls, program: Program) -> CondensedSpace:
        """Find the symmetry of an architecture and return its space of condensed manifolds."""
        return cls(find_symmetry(program))

    def others(self, carrier: Carrier) -> list[Carrier]:
        """Return the other positions of the same parameter that run over hidden axes."""
        rank = len(self.program.parameter(carrier.tensor).shape)
        positions = [Carrier(carrier.tensor, p) for p in range(rank) if p != carrier.position]
        return [other for other in positions if other in self._axis_at]

    @cached_property
    def neighbours(self) -> tuple[frozenset[int], ...]:
        """For each hidden axis, the numbers of the axes with which it shares a parameter."""
        return tuple(
            frozenset(self._axis_at[other] for carrier in rule.carriers for other in self.others(carrier))
            for rule in self.rules
        )

    def visible(self, axis: int, strongest: Sequence[Kind]) -> frozenset[Carrier]:
        """Return the carriers of an axis whose parameters do not all vanish because of the other axes.

        Parameters
        ----------
        axis : int
            Number of the hidden axis.
        strongest : sequence of Kind
            For each axis, the most alive kind that one of its values has.
        """

        def alive(carrier: Carrier) -> bool:
            number = self._axis_at[carrier]
            return carrier not in self.rules[number].killed(strongest[number])

        return frozenset(c for c in self.rules[axis].carriers if all(alive(other) for other in self.others(c)))

    def closure(self, partitions: Partitions) -> Partitions:
        """Return the most condensed partitions that give the same subspace."""
        current = partitions
        while True:
            strongest = [min(map(kind_of, labels)) for labels in current]
            raised = tuple(
                _raise(rule, labels, self.visible(number, strongest))
                for number, (rule, labels) in enumerate(zip(self.rules, current, strict=True))
            )
            if raised == current:
                return current
            current = raised

    @property
    def whole(self) -> CondensedManifold:
        """The whole parameter space."""
        return CondensedManifold(self, self.closure(tuple(rule.free for rule in self.rules)))

    def named(self, name: str) -> CondensedManifold:
        """Return the manifold of this name.

        Raises
        ------
        SyntaxProblem, ManifoldError
            The text is no name, or names nothing that this architecture has.

        Examples
        --------
        >>> from invman.architecture import read_architecture
        >>> CondensedSpace.of(read_architecture("2-3tanh-1")).named("0=-2,1=dead").dimension
        3
        """
        return CondensedManifold(self, self.closure(naming.parse_name(self.rules, name)))

    def reduction(self, partitions: Partitions) -> Reduction:
        """Return the reduced architecture; shared by all manifolds with the same numbers and sizes of blocks.

        A dead block is left out where it is silent; ``f = sum[k](cos(w[k]*x))`` has dead values that count 1 each, and
        they are kept as a block whose parameters all vanish.
        """
        key = tuple(
            tuple(
                (min(block.kind, Kind.ZERO), len(block.values))
                for block in blocks(labels)
                if block.kind is not Kind.DEAD or not rule.symmetry.dead
            )
            for rule, labels in zip(self.rules, partitions, strict=True)
        )
        if key not in self._reductions:
            groups = [
                {kind: tuple(size for k, size in axis if k is kind) for kind in (Kind.LIVE, Kind.ZERO)} for axis in key
            ]
            self._reductions[key] = reduce_program(self.program, self.rules, groups)
        return self._reductions[key]


def _raise(rules: PartitionRules, labels: Labels, visible: frozenset[Carrier]) -> Labels:
    """Raise every value to the most condensed kind that looks the same on the visible carriers."""
    kinds = [Kind.LIVE, *([Kind.ZERO] if rules.has_zero else []), *([Kind.DEAD] if rules.has_dead else [])]
    best = {k: max(o for o in kinds if rules.killed(o) & visible == rules.killed(k) & visible) for k in kinds}
    out = []
    for label in labels:
        kind = best[kind_of(label)]
        name = abs(label) & ~1
        if kind is Kind.DEAD:
            out.append(0)
        elif kind is Kind.ZERO:
            # blocks of zero values show only in what the sign does not act on
            out.append(name + 1 if visible - rules.flip else 2 * rules.size + 3)
        else:
            out.append(label if visible else 2)
    return canonical(out)


@dataclass(frozen=True)
class CondensedManifold:
    """One condensed manifold: a signed polydiagonal subspace of parameter space.

    Attributes
    ----------
    space : CondensedSpace
        The family it belongs to.
    partitions : tuple of tuple of int
        Closed labels (see :mod:`invman.manifold.partition`), one tuple a hidden axis.
    """

    space: CondensedSpace
    partitions: Partitions

    def __eq__(self, other: object) -> bool:
        """Compare architecture and partitions."""
        return (
            isinstance(other, CondensedManifold)
            and self.partitions == other.partitions
            and (self.space is other.space or self.space.program == other.space.program)
        )

    def __hash__(self) -> int:
        """Hash the partitions."""
        return hash(self.partitions)

    def __repr__(self) -> str:
        """Print the name; ``CondensedSpace.named`` reads it back."""
        return self.name

    @cached_property
    def name(self) -> str:
        """The name in the grammar of :mod:`invman.manifold.naming`."""
        return naming.print_name(self.space.rules, self.partitions)

    @cached_property
    def blocks(self) -> tuple[list[Block], ...]:
        """The blocks of each hidden axis."""
        return tuple(blocks(labels) for labels in self.partitions)

    @cached_property
    def dimension(self) -> int:
        """Dimension of the subspace."""
        alive: dict[Carrier, int] = {}
        for rule, axis_blocks in zip(self.space.rules, self.blocks, strict=True):
            for carrier in rule.carriers:
                alive[carrier] = sum(carrier not in rule.killed(block.kind) for block in axis_blocks)
        return sum(
            math.prod(alive.get(Carrier(tensor.name, p), size) for p, size in enumerate(tensor.shape))
            for tensor in self.space.program.parameters
        )

    @property
    def shape(self) -> tuple[object, ...]:
        """What conjugate manifolds have in common: sizes of live and zero blocks and number of dead, an axis each."""
        return tuple(shape(labels) for labels in self.partitions)

    @property
    def orbit_size(self) -> int:
        """Number of conjugate manifolds under the symmetry group, this one included."""
        return math.prod(orbit_size(r, labels) for r, labels in zip(self.space.rules, self.partitions, strict=True))

    @cached_property
    def origin(self) -> Origin:
        """Whether some group of permutations and signs has exactly this fixed set.

        A dead block that no sign change accounts for is taken apart into free neurons (into zero blocks where those
        exist); the manifold is symmetry-induced if this gives the same subspace.
        """
        apart = []
        for rule, labels in zip(self.space.rules, self.partitions, strict=True):
            if rule.dead_by_symmetry or not rule.has_dead:
                apart.append(labels)
            else:
                kind = 1 if rule.has_zero else 0
                apart.append(canonical([v or 2 * (rule.size + place + 1) + kind for place, v in enumerate(labels)]))
        same = self.space.closure(tuple(apart)) == self.partitions
        return Origin.SYMMETRY if same else Origin.DEAD

    @cached_property
    def equations(self) -> list[str]:
        """Linear equations that define the subspace, over slices: ``w[1,:] = -w[0,:]``, ``a[2] = 0``."""
        lines = []
        for rule, axis_blocks in zip(self.space.rules, self.blocks, strict=True):
            for block in axis_blocks:
                killed = rule.killed(block.kind)
                for carrier in rule.carriers:
                    first = self._slice(carrier, block.values[0])
                    if carrier in killed:
                        lines += [f"{self._slice(carrier, value)} = 0" for value in block.values]
                        continue
                    for value, sign in zip(block.values[1:], block.signs[1:], strict=True):
                        minus = "-" if sign < 0 and carrier in rule.flip else ""
                        lines.append(f"{self._slice(carrier, value)} = {minus}{first}")
        return lines

    def _slice(self, carrier: Carrier, value: int) -> str:
        rank = len(self.space.program.parameter(carrier.tensor).shape)
        return f"{carrier.tensor}[{','.join(str(value) if p == carrier.position else ':' for p in range(rank))}]"

    def polydiagonal(self) -> Polydiagonal:
        """Return the subspace in coordinates of theta, exactly."""
        marks: dict[Carrier, tuple[np.ndarray, np.ndarray]] = {}
        for rule, axis_blocks in zip(self.space.rules, self.blocks, strict=True):
            for carrier in rule.carriers:
                leader, sign = np.arange(rule.size), np.ones(rule.size, dtype=np.int8)
                for block in axis_blocks:
                    leader[list(block.values)] = block.values[0]
                    if carrier in rule.flip:
                        sign[list(block.values)] = block.signs
                    if carrier in rule.killed(block.kind):
                        sign[list(block.values)] = 0
                marks[carrier] = leader, sign
        leaders, signs = [], []
        for tensor in self.space.program.parameters:
            lead = np.arange(tensor.size, dtype=np.int64).reshape(tensor.shape)
            sign = np.ones(tensor.shape, dtype=np.int8)
            for position in range(len(tensor.shape)):
                if (mark := marks.get(Carrier(tensor.name, position))) is not None:
                    lead = np.take(lead, mark[0], axis=position)
                    column = [-1 if p == position else 1 for p in range(len(tensor.shape))]
                    sign = sign * mark[1].reshape(column)
            leaders.append(lead.reshape(-1) + self.space.program.offsets[tensor.name])
            signs.append(sign.reshape(-1))
        lead, sign = np.concatenate(leaders), np.concatenate(signs)
        classes = np.full(len(lead), -1, dtype=np.int32)
        classes[sign != 0] = np.unique(lead[sign != 0], return_inverse=True)[1]
        return Polydiagonal(classes, sign)

    @property
    def reduction(self) -> Reduction:
        """The narrower architecture that is equivalent on the manifold, and the metric of its learning rates."""
        return self.space.reduction(self.partitions)
