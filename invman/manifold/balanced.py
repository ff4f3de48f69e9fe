"""Balanced manifolds: neurons of a block receive the same and get the same back, whatever their single weights are.

A tuple of partitions, one a hidden layer, gives one linear invariant subspace, the *balanced* weights. It is foliated
by affine leaves: the block-constant weights move, what is orthogonal to them is frozen for ever. The condensed manifold
is the leaf whose frozen part is zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from invman.architecture.program import Program
from invman.manifold import naming
from invman.manifold.condensed import CondensedManifold, CondensedSpace, Origin, Partitions
from invman.manifold.layers import DenseNet, Edge, Layer, dense_net, incoming, outgoing
from invman.manifold.pairs import Group, Pair, groups, singletons
from invman.manifold.partition import Block, Labels, blocks, canonical, orbit_size, shape
from invman.manifold.reduction import Reduction
from invman.manifold.subspace import LinearEquations, Polydiagonal
from invman.symmetry.group import DiscreteSymmetry


class BalancedSpace:
    """All balanced manifolds of a fully connected architecture, as tuples of partitions.

    Parameters
    ----------
    net : DenseNet
        The architecture.
    """

    family = "invariant"

    def __init__(self, net: DenseNet) -> None:
        self.net, self.program = net, net.program

    @classmethod
    def of(cls, program: Program) -> BalancedSpace:
        """Return the space of an architecture (UnsupportedError unless it is fully connected)."""
        return cls(dense_net(program))

    @property
    def rules(self) -> tuple[Layer, ...]:
        """Which partitions each hidden layer has."""
        return self.net.layers

    @cached_property
    def condensed(self) -> CondensedSpace:
        """The condensed manifolds of the same architecture."""
        return CondensedSpace.of(self.program)

    @property
    def symmetry(self) -> DiscreteSymmetry:
        """Symmetry of the hidden axes."""
        return self.condensed.symmetry

    @property
    def whole(self) -> BalancedManifold:
        """The whole parameter space."""
        return BalancedManifold(self, self.closure(tuple(layer.free for layer in self.rules)))

    def closure(self, partitions: Partitions) -> Partitions:
        """Return the coarsest balanced partitions of a generic point of the balanced weights.

        They differ where a layer receives nothing, for lack of live classes before it.
        """
        current = list(partitions)
        while True:
            lives = [any(labels) for labels in current]
            gives = [live or layer.constant for live, layer in zip(lives, self.rules, strict=True)]
            for number, layer in enumerate(self.rules):
                edges = incoming(self.net.edges, number)
                if any(edge.source is None or gives[edge.source] for edge in edges):
                    continue
                back = (e.target is None or lives[e.target] for e in outgoing(self.net.edges, number))
                if layer.singular or not any(back):
                    current[number] = (0 if layer.has_dead else 2,) * layer.size
            if lives == [any(labels) for labels in current]:
                return tuple(current)

    def named(self, name: str) -> BalancedManifold:
        """Return the manifold of this name (SyntaxProblem, ManifoldError if there is none).

        Examples
        --------
        >>> from invman.architecture import read_architecture
        >>> BalancedSpace.of(read_architecture("1-3sigmoid-3sigmoid-1")).named("k1:0=1=2/k2:0=1=2").leaf_dimension
        3
        """
        return BalancedManifold(self, self.closure(naming.parse_name(self.rules, name)))


@dataclass(frozen=True, eq=False)
class BalancedManifold:
    """The balanced weights of one signed partition a hidden layer: a linear subspace made of affine leaves.

    Attributes
    ----------
    space : BalancedSpace
        The family it belongs to.
    partitions : tuple of tuple of int
        Labels (see :mod:`invman.manifold.partition`), one tuple a hidden layer; label 0 is null: dead or singular.
    """

    space: BalancedSpace
    partitions: Partitions

    def __eq__(self, other: object) -> bool:
        """Compare architecture and partitions."""
        return (
            isinstance(other, BalancedManifold)
            and self.partitions == other.partitions
            and (self.space is other.space or self.space.program == other.space.program)
        )

    def __hash__(self) -> int:
        """Hash the partitions."""
        return hash(self.partitions)

    def __repr__(self) -> str:
        """Print the name; ``BalancedSpace.named`` reads it back."""
        return self.name

    @cached_property
    def name(self) -> str:
        """The name in the grammar of :mod:`invman.manifold.naming`."""
        return naming.print_name(self.space.rules, self.partitions)

    @cached_property
    def blocks(self) -> tuple[list[Block], ...]:
        """The blocks of each hidden layer; at most one of them, the null class, is not live."""
        return tuple(blocks(labels) for labels in self.partitions)

    @cached_property
    def groups(self) -> tuple[list[Group], ...]:
        """The classes of each hidden layer with the signs of their values and signals."""
        return tuple(groups(layer, labels) for layer, labels in zip(self.space.rules, self.partitions, strict=True))

    def sides(self, edge: Edge) -> tuple[list[Group], list[Group]]:
        """Return the classes that an edge enters and those that it leaves."""
        rows, columns = edge.matrix(self.indices(edge)).shape
        return (
            singletons(rows) if edge.target is None else self.groups[edge.target],
            singletons(columns) if edge.source is None else self.groups[edge.source],
        )

    def pairs(self) -> Iterator[Pair]:
        """Yield the pairs of classes between which there are weights."""
        for edge in self.space.net.edges:
            targets, sources = self.sides(edge)
            for target in targets:
                for source in sources:
                    yield Pair(edge, target, source)

    @cached_property
    def frozen_dimension(self) -> int:
        """How many dimensions never move: ``dimension - leaf_dimension``."""
        return self.dimension - self.leaf_dimension

    @cached_property
    def dimension(self) -> int:
        """Dimension of the balanced weights: ``1 + (p-1)(q-1)`` for p x q weights between live blocks."""
        total = 0
        for edge in self.space.net.edges:
            targets, sources = self._sizes(edge, back=True), self._sizes(edge, back=False)
            for one, p, live, _, _ in targets:
                for other, q, alive, visible, dead in sources:
                    pair_rows, pair_columns = visible, live and (alive or dead)
                    total += (p - one * pair_columns) * (q - other * pair_rows)
                    total += one * other * (live and visible)
        return total

    def _sizes(self, edge: Edge, *, back: bool) -> list[tuple[int, int, bool, bool, bool]]:
        """Return (classes, neurons, live, visible, dead) of the live classes together and of the null one."""
        number = edge.target if back else edge.source
        if number is None:
            shape_ = edge.matrix(self.indices(edge)).shape
            size = shape_[0] if back else shape_[1]
            return [(size, size, True, True, False)]
        live = [group for group in self.groups[number] if group.live]
        null = [group for group in self.groups[number] if not group.live]
        found = [(len(live), sum(map(len, live)), True, True, False)]
        return found + [(1, len(group), False, group.visible, group.dead) for group in null]

    @cached_property
    def leaf_dimension(self) -> int:
        """Dimension of every leaf: one for each live block and each block (or input) whose value it receives."""
        total = 0
        for edge in self.space.net.edges:
            if self._returns(edge.target) and self._arrives(edge.source):
                entered = self._sizes(edge, back=True)[0][0]
                left = sum(one for one, _, _, visible, _ in self._sizes(edge, back=False) if visible)
                total += entered * left
        return total

    @cached_property
    def _alive(self) -> tuple[list[bool], list[bool]]:
        """For each layer, whether live blocks can have a value, and whether a signal can come back to them."""
        layers, edges = self.space.rules, self.space.net.edges
        lives = [any(group.live for group in own) for own in self.groups]
        values: list[bool] = []
        received: list[bool] = []
        for number, layer in enumerate(layers):
            arrives = any(
                edge.source is None or values[edge.source] or self._constant(edge.source)
                for edge in incoming(edges, number)
            )
            received.append(arrives)
            values.append(lives[number] and (arrives or not layer.activation.vanishes))
        signals = [False] * len(layers)
        for number in reversed(range(len(layers))):
            back = any(edge.target is None or signals[edge.target] for edge in outgoing(edges, number))
            signals[number] = lives[number] and back and (received[number] or not layers[number].singular)
        return values, signals

    def _constant(self, number: int) -> bool:
        return any(not group.live and group.visible for group in self.groups[number])

    def _arrives(self, source: int | None) -> bool:
        return source is None or self._alive[0][source] or self._constant(source)

    def _returns(self, target: int | None) -> bool:
        return target is None or self._alive[1][target]

    def indices(self, edge: Edge) -> np.ndarray:
        """Return where each entry of a tensor stands in theta."""
        tensor = self.space.program.parameter(edge.tensor)
        return np.arange(tensor.size).reshape(tensor.shape) + self.space.program.offsets[edge.tensor]

    @cached_property
    def _label(self) -> tuple[bool, str]:
        from invman.manifold.subgroup import symmetry_label

        return symmetry_label(self)

    @property
    def origin(self) -> Origin:
        """Whether the balanced weights are the fixed set of a group of permutations and signs."""
        return Origin.SYMMETRY if self._label[0] else Origin.OTHER

    @property
    def reason(self) -> str:
        """The group by its factors, or why there is none."""
        return self._label[1]

    @property
    def shape(self) -> tuple[object, ...]:
        """What conjugate manifolds have in common: sizes of live blocks and of the null class, a layer each."""
        return tuple(shape(labels) for labels in self.partitions)

    @property
    def orbit_size(self) -> int:
        """Number of conjugate tuples of partitions under permutations and signs, this one included."""
        size = 1
        for layer, labels in zip(self.space.rules, self.partitions, strict=True):
            size *= orbit_size(layer, labels)
        return size

    def leaf(self) -> Polydiagonal:
        """Return the directions of every leaf, exactly: the leaf through theta is theta plus this subspace."""
        count = self.space.program.parameter_count
        classes, signs = np.full(count, -1, dtype=np.int32), np.zeros(count, dtype=np.int8)
        number = 0
        for pair in self.pairs():
            if not (pair.moves and self._returns(pair.edge.target) and self._arrives(pair.edge.source)):
                continue
            at = pair.edge.matrix(self.indices(pair.edge))[np.ix_(pair.target.values, pair.source.values)]
            classes[at], signs[at] = number, pair.signs
            number += 1
        alive = np.flatnonzero(classes >= 0)
        _, first, inverse = np.unique(classes[alive], return_index=True, return_inverse=True)
        order = np.argsort(np.argsort(first))
        signs[alive] *= signs[alive][first][inverse]
        classes[alive] = order[inverse]
        return Polydiagonal(classes, signs)

    def point(self, free: np.ndarray) -> np.ndarray:
        """Map D free numbers linearly onto the balanced weights, exactly on integers; (D,) to (D,)."""
        theta = np.zeros_like(free)
        for pair in self.pairs():
            at = pair.edge.matrix(self.indices(pair.edge))[np.ix_(pair.target.values, pair.source.values)]
            theta[at] = pair.frozen(free[at]) + (pair.signs * free[at].flat[0] if pair.moves else 0)
        return theta

    def frozen_part(self, free: np.ndarray) -> np.ndarray:
        """Project a float array (D,) orthogonally to what is frozen on the leaves of this manifold."""
        theta, leaf = np.zeros_like(free), self.leaf().classes >= 0
        for pair in self.pairs():
            at = pair.edge.matrix(self.indices(pair.edge))[np.ix_(pair.target.values, pair.source.values)]
            theta[at] = pair.frozen(free[at]) / at.size
            if pair.moves and not leaf[at.flat[0]]:
                theta[at] += pair.signs * (pair.signs * free[at]).mean()
        return theta

    @cached_property
    def rows(self) -> list[dict[int, int]]:
        """Independent equations of the balanced weights: integer coefficients by coordinate, the sum is zero."""
        found = []
        for pair in self.pairs():
            index = pair.edge.matrix(self.indices(pair.edge))
            for left, right in pair.equations():
                row = {int(index[j, k]): sign for j, k, sign in left}
                row.update({int(index[j, k]): -sign for j, k, sign in right})
                found.append(row)
        return found

    def linear_equations(self) -> LinearEquations:
        """Return the balanced weights as linear equations."""
        rows = [(tuple((i, Fraction(c)) for i, c in sorted(row.items())), Fraction(0)) for row in self.rows]
        return LinearEquations(self.space.program.parameter_count, tuple(rows))

    @cached_property
    def equations(self) -> list[str]:
        """Equations of the balanced weights, one sum of entries each; ``parse_equations`` reads them."""
        lines = []
        for pair in self.pairs():
            index = pair.edge.matrix(self.indices(pair.edge))
            for left, right in pair.equations():
                sides = [
                    [(sign, self.space.program.coordinate(int(index[j, k]))) for j, k, sign in side]
                    for side in (left, right)
                ]
                lines.append(f"{_sum(sides[0])} = {_sum(sides[1])}")
        return lines

    def contains(self, theta: Sequence[object] | np.ndarray, tolerance: float = 0.0) -> bool:
        """Tell whether a point of D numbers lies on the manifold; each equation must hold up to the tolerance."""
        values = np.asarray(theta)
        return all(abs(sum(c * values[i] for i, c in row.items())) <= tolerance for row in self.rows)

    @cached_property
    def reduction(self) -> Reduction:
        """The narrower architecture that is equivalent on every leaf, and the metric of its learning rates."""
        space = self.space.condensed
        chosen: list[Labels] = []
        for rules, labels in zip(space.rules, self.partitions, strict=True):
            null = 2 * rules.size + 3 if rules.has_zero else 2 * rules.size + 2
            null = 0 if rules.symmetry.dead or rules.dead_by_symmetry else null
            chosen.append(canonical([label or null for label in labels]))
        return CondensedManifold(space, space.closure(tuple(chosen))).reduction


def _sum(terms: Sequence[tuple[int, str]]) -> str:
    """Write a sum of entries, ``-w[0] + w[1]``; an empty one is 0."""
    text = "".join(f" {'-' if sign < 0 else '+'} {name}" for sign, name in terms)
    return "-" + text[3:] if text.startswith(" - ") else text[3:] or "0"
