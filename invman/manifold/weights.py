"""The weights of a fully connected net under a partition of its neurons: dimensions, directions, points, equations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from invman.manifold.layers import DenseNet, Edge, incoming, outgoing
from invman.manifold.pairs import Group, Pair, singletons
from invman.manifold.subspace import Polydiagonal


class _Many(NamedTuple):
    """Classes that take part alike in an edge: how many, of how many neurons together, and what they are."""

    classes: int
    neurons: int
    live: bool = True
    visible: bool = True
    dead: bool = False


class BalancedWeights:
    """What balance asks of all weights of a net.

    Parameters
    ----------
    net : DenseNet
        The architecture.
    groups : sequence of list of Group
        The classes of each hidden layer.
    """

    def __init__(self, net: DenseNet, groups: Sequence[list[Group]]) -> None:
        self.net, self.groups = net, groups
        self.size = net.program.parameter_count

    def indices(self, edge: Edge) -> np.ndarray:
        """Return where the entries of an edge's matrix stand in theta, int array of shape (targets, sources)."""
        tensor = self.net.program.parameter(edge.tensor)
        flat = np.arange(tensor.size) + self.net.program.offsets[edge.tensor]
        return edge.matrix(flat.reshape(tensor.shape))

    def pairs(self) -> Iterator[tuple[Pair, np.ndarray]]:
        """Yield the pairs of classes between which there are weights, and where these stand in theta, shape (p, q)."""
        for edge in self.net.edges:
            yield from self._of(edge, self.indices(edge))

    def _of(self, edge: Edge, index: np.ndarray) -> Iterator[tuple[Pair, np.ndarray]]:
        targets = singletons(len(index)) if edge.target is None else self.groups[edge.target]
        sources = singletons(index.shape[1]) if edge.source is None else self.groups[edge.source]
        for target in targets:
            rows = index[list(target.values)]
            for source in sources:
                yield Pair(edge, target, source), rows[:, list(source.values)]

    def _many(self, number: int | None, size: int) -> list[_Many]:
        """Return the live classes of one side of an edge together, and the null one."""
        if number is None:
            return [_Many(size, size)]
        live = [group for group in self.groups[number] if group.live]
        null = [group for group in self.groups[number] if not group.live]
        found = [_Many(len(live), sum(map(len, live)))]
        return found + [_Many(1, len(group), False, group.visible, group.dead) for group in null]

    def _sides(self, edge: Edge) -> tuple[list[_Many], list[_Many]]:
        tensor = self.net.program.parameter(edge.tensor)
        rows, columns = edge.matrix(np.broadcast_to(np.int8(0), tensor.shape)).shape
        return self._many(edge.target, rows), self._many(edge.source, columns)

    @cached_property
    def dimension(self) -> int:
        """Dimension of the balanced weights: ``1 + (p-1)(q-1)`` for p x q weights between live blocks."""
        total = 0
        for edge in self.net.edges:
            targets, sources = self._sides(edge)
            for target in targets:
                for source in sources:
                    columns = target.live and (source.live or source.dead)
                    frozen = target.neurons - target.classes * columns
                    total += frozen * (source.neurons - source.classes * source.visible)
                    total += target.classes * source.classes * (target.live and source.visible)
        return total

    @cached_property
    def leaf_dimension(self) -> int:
        """Dimension of every leaf: one for each live block and each block (or input) whose value it receives."""
        total = 0
        for edge in self.net.edges:
            if self._moves(edge):
                targets, sources = self._sides(edge)
                total += targets[0].classes * sum(source.classes for source in sources if source.visible)
        return total

    @cached_property
    def _alive(self) -> tuple[list[bool], list[bool]]:
        """For each layer, whether it can have a value, and whether a signal can come back to its live blocks."""
        layers, edges = self.net.layers, self.net.edges
        lives = [any(group.live for group in own) for own in self.groups]
        values: list[bool] = []
        received: list[bool] = []
        for number, layer in enumerate(layers):
            received.append(any(e.source is None or values[e.source] for e in incoming(edges, number)))
            alive = lives[number] and (received[number] or not layer.activation.vanishes)
            values.append(alive or any(not group.live and group.visible for group in self.groups[number]))
        signals = [False] * len(layers)
        for number in reversed(range(len(layers))):
            back = any(edge.target is None or signals[edge.target] for edge in outgoing(edges, number))
            signals[number] = lives[number] and back and (received[number] or not layers[number].singular)
        return values, signals

    def _moves(self, edge: Edge) -> bool:
        """Tell whether the gradient of an edge need not vanish."""
        values, signals = self._alive
        return (edge.source is None or values[edge.source]) and (edge.target is None or signals[edge.target])

    def leaf(self) -> Polydiagonal:
        """Return the directions of every leaf, exactly."""
        classes, signs = np.full(self.size, -1, dtype=np.int32), np.zeros(self.size, dtype=np.int8)
        number = 0
        for pair, at in self.pairs():
            if pair.moves and self._moves(pair.edge):
                classes[at], signs[at] = number, pair.signs
                number += 1
        alive = np.flatnonzero(classes >= 0)
        _, first, inverse = np.unique(classes[alive], return_index=True, return_inverse=True)
        signs[alive] *= signs[alive][first][inverse]
        classes[alive] = np.argsort(np.argsort(first))[inverse]
        return Polydiagonal(classes, signs)

    def point(self, free: np.ndarray) -> np.ndarray:
        """Map D free numbers linearly onto the balanced weights, exactly on integers; (D,) to (D,)."""
        theta = np.zeros_like(free)
        for pair, at in self.pairs():
            theta[at] = pair.frozen(free[at]) + (pair.signs * free[at].flat[0] if pair.moves else 0)
        return theta

    def frozen_part(self, free: np.ndarray) -> np.ndarray:
        """Project a float array (D,) orthogonally to the balanced weights that no leaf moves."""
        theta = np.zeros_like(free)
        for pair, at in self.pairs():
            theta[at] = pair.frozen(free[at]) / at.size
            if pair.moves and not self._moves(pair.edge):
                theta[at] += pair.signs * (pair.signs * free[at]).mean()
        return theta

    def rows(self) -> Iterator[tuple[list[tuple[int, int]], list[tuple[int, int]]]]:
        """Yield independent equations as two sides, each a sum of (coordinate, sign)."""
        for edge in self.net.edges:
            index = self.indices(edge)
            for pair, _ in self._of(edge, index):
                for left, right in pair.equations():
                    yield (
                        [(int(index[j, k]), sign) for j, k, sign in left],
                        [(int(index[j, k]), sign) for j, k, sign in right],
                    )
