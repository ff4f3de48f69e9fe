"""The weights between two groups of neurons: what balance asks of them, which part moves, which part is frozen.

Let D be a class of p neurons that a weight matrix enters and C a class of q neurons that it leaves, and take the signs
of the classes out. Where C has a value, neurons of D must receive the same: row sums agree, or vanish where D is null.
Where D sends a signal back, neurons of C must get the same: column sums agree, or vanish where C is dead. The
gradient is constant on the pair where both hold, and zero elsewhere; the rest of the weights is frozen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from invman.manifold.layers import Edge, Layer
from invman.manifold.partition import Block, Kind, Labels, blocks


@dataclass(frozen=True)
class Group:
    """Neurons of one class (or one input, bias or output), with the signs of their values and of their signals.

    Attributes
    ----------
    values : tuple of int
        Numbers of the neurons.
    forward, back : tuple of int
        Their signs.
    live : bool
        Whether the class is live; else it is null.
    visible : bool
        Whether its value shows in the next layer: live, or null with sigma(0) not 0.
    dead : bool
        Whether it is null and column sums over live classes must vanish.
    """

    values: tuple[int, ...]
    forward: tuple[int, ...]
    back: tuple[int, ...]
    live: bool = True
    visible: bool = True
    dead: bool = False

    def __len__(self) -> int:
        """Return the number of neurons."""
        return len(self.values)


def groups(layer: Layer, labels: Labels) -> list[Group]:
    """Return the classes of a layer as groups, in the order of their first neurons."""
    return [_group(layer, block) for block in blocks(labels)]


def _group(layer: Layer, block: Block) -> Group:
    ones = (1,) * len(block.values)
    if block.kind is not Kind.LIVE:
        return Group(block.values, ones, ones, live=False, visible=layer.constant, dead=not layer.singular)
    return Group(block.values, block.signs if layer.odd else ones, block.signs)


def singletons(count: int) -> list[Group]:
    """Return inputs, biases or outputs as groups of one."""
    return [Group((number,), (1,), (1,)) for number in range(count)]


@dataclass(frozen=True)
class Pair:
    """The weights of one edge from the neurons of ``source`` to those of ``target``."""

    edge: Edge
    target: Group
    source: Group

    @property
    def rows(self) -> bool:
        """Whether row sums are bound."""
        return self.source.visible

    @property
    def columns(self) -> bool:
        """Whether column sums are bound."""
        return self.target.live and (self.source.live or self.source.dead)

    @property
    def moves(self) -> bool:
        """Whether the constant block belongs to the leaf."""
        return self.target.live and self.source.visible

    @property
    def frozen_dimension(self) -> int:
        """Dimension of the weights of the pair with all bound sums zero."""
        return (len(self.target) - self.columns) * (len(self.source) - self.rows)

    @property
    def signs(self) -> np.ndarray:
        """The constant block, int array of shape (p, q)."""
        return np.outer(self.target.back, self.source.forward)

    def frozen(self, block: np.ndarray) -> np.ndarray:
        """Project an array of shape (p, q) to the frozen weights, times p q: exact on integers."""
        p, q = block.shape
        block = block * self.signs
        block = block * q - block.sum(axis=1, keepdims=True) if self.rows else block * q
        block = block * p - block.sum(axis=0, keepdims=True) if self.columns else block * p
        return block * self.signs

    def equations(self) -> Iterator[tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]]:
        """Yield independent equations as two sides, each a sum of (row, column, sign) entries of the edge's matrix."""
        signs = self.signs
        if self.rows:
            for j in range(1 if self.target.live else 0, len(self.target)):
                yield self._line(signs, [(j, k) for k in range(len(self.source))], (
                    [(0, k) for k in range(len(self.source))] if self.target.live else []))  # fmt: skip
        if self.columns:
            for k in range(1 if self.source.live else 0, len(self.source)):
                yield self._line(signs, [(j, k) for j in range(len(self.target))], (
                    [(j, 0) for j in range(len(self.target))] if self.source.live else []))  # fmt: skip

    def _line(
        self, signs: np.ndarray, left: list[tuple[int, int]], right: list[tuple[int, int]]
    ) -> tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]:
        turn = int(signs[left[0]])
        sides = [[(self.target.values[j], self.source.values[k], turn * int(signs[j, k])) for j, k in side]
                 for side in (left, right)]  # fmt: skip
        return sides[0], sides[1]
