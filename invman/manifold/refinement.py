"""The coarsest balanced partition of a point, by refinement in time near-linear in the number of weights.

All neurons of a layer start in one class, null where the layer has a null class, and are split by the signed sums of
their weights over the classes of the neighbouring layers until nothing splits. A class enters the sums with one random
factor, so that a round costs one product of each weight matrix with a vector. Neurons that belong together have equal
sums whatever the factors are, so nothing is split in vain; in exact arithmetic a last round with the sums themselves
proves that the result is balanced, hence the coarsest.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from invman.manifold.layers import DenseNet, Edge, Layer, incoming, outgoing
from invman.manifold.partition import Labels, canonical

FACTOR = 1 << 20
"""Random integer factors lie between this and twice this."""

Matrices = Mapping[str, np.ndarray]


class Refinement:
    """A partition of the neurons of every hidden layer that only gets finer.

    Parameters
    ----------
    net : DenseNet
        The architecture.
    arrays : mapping of str to array
        The parameters: float arrays, or int64 or object arrays of integers.
    tolerance : float
        Sums count as equal when they differ by less than this times the typical norm of a row (a column); 0 for
        integers.

    Attributes
    ----------
    classes : list of int64 array, one a layer, shape (n,)
        Class of each neuron, 0 for null ones.
    signs : list of int64 array, one a layer, shape (n,)
        Sign of each neuron within its class.
    """

    def __init__(self, net: DenseNet, arrays: Matrices, tolerance: float) -> None:
        self.net, self.tolerance = net, tolerance
        self.matrices = {edge.tensor: edge.matrix(arrays[edge.tensor]) for edge in net.edges}
        self.exact = not any(m.dtype.kind == "f" for m in self.matrices.values())
        self.random = np.random.default_rng(0)
        self._squares: dict[str, float] = {}
        self.classes = [np.full(layer.size, 0 if layer.has_dead else 1) for layer in net.layers]
        self.signs = [np.ones(layer.size, dtype=np.int64) for layer in net.layers]

    def run(self) -> tuple[Labels, ...]:
        """Split until stable and return the labels of every layer."""
        changed = set(range(len(self.net.layers)))
        first = True
        while changed:
            changed = self._round(changed, first)
            first = False
            if not changed and self.exact:
                changed = self._prove()
        labels = zip(self.classes, self.signs, strict=True)
        return tuple(canonical((2 * own * sign).tolist()) for own, sign in labels)

    def _round(self, changed: set[int], first: bool) -> set[int]:
        """Split the layers that see a layer that has changed; return those that were split."""
        sums = {}
        for number in range(len(self.net.layers)):
            near = [e.source for e in incoming(self.net.edges, number)]
            near += [e.target for e in outgoing(self.net.edges, number)]
            if (first or changed & set(near)) and not self._finest(number):
                sums[number] = self._sums(number)
        return {number for number, (x, y) in sums.items() if self._split(number, x, y)}

    def _finest(self, number: int) -> bool:
        own = self.classes[number]
        return len(own) == own.max(initial=0) and bool(own.all())

    def _sums(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the random combinations of the incoming and of the outgoing sums, in units of the tolerance."""
        x = sum(self.matrices[e.tensor] @ self.factors(e, e.source, True) for e in incoming(self.net.edges, number))
        y = sum(self.factors(e, e.target, False) @ self.matrices[e.tensor] for e in outgoing(self.net.edges, number))
        size = len(self.classes[number])
        return self._scaled(x, size, incoming(self.net.edges, number)), self._scaled(
            y, size, outgoing(self.net.edges, number)
        )

    def _scaled(self, values: np.ndarray | int, size: int, edges: list[Edge]) -> np.ndarray:
        values = np.zeros(size) + values if not self.exact else np.zeros(size, dtype=np.int64) + values
        if self.exact or not self.tolerance:
            return values
        squares = sum(self._square(edge.tensor) for edge in edges)
        return values / (self.tolerance * ((squares / size) ** 0.5 or 1.0))

    def _square(self, tensor: str) -> float:
        if tensor not in self._squares:
            flat = self.matrices[tensor].ravel(order="K")
            self._squares[tensor] = float(np.dot(flat, flat))
        return self._squares[tensor]

    def factors(self, edge: Edge, layer: int | None, forward: bool) -> np.ndarray:
        """Return one random factor a class, with signs: what a neuron counts in the sums of its neighbours."""
        if layer is None:
            return self._draw(self.matrices[edge.tensor].shape[1 if forward else 0])
        own = self.classes[layer]
        factors = self._draw(int(own.max(initial=0)) + 1)
        if not (forward and self.net.layers[layer].constant):
            factors[0] = 0
        return factors[own] * weights(self.net.layers[layer], self.signs[layer], forward)

    def _draw(self, count: int) -> np.ndarray:
        if not self.exact:
            return self.random.uniform(1, 2, count)
        kind = next(iter(self.matrices.values())).dtype
        return self.random.integers(FACTOR, 2 * FACTOR, count).astype(kind)

    def _split(self, number: int, x: np.ndarray, y: np.ndarray) -> bool:
        """Split the classes of one layer by the sums of its neurons; tell whether there are more classes now."""
        layer, own, signs = self.net.layers[number], self.classes[number], self.signs[number]
        before = own.copy()
        moved = np.abs(x) > (0 if self.exact else 1)
        turning = x
        if not layer.singular:
            turning = np.where(moved, x, y)
            moved = moved | (np.abs(y) > (0 if self.exact else 1))
        born = (own == 0) & moved
        if layer.signed:
            signs[born] = np.where(turning[born] > 0, 1, -1)
        own[born] = before.max(initial=0) + 1
        alive = own > 0
        for values in (x * signs, y * weights(layer, signs, True)):
            own[alive] = 1 + _clusters(own[alive], values[alive], 0 if self.exact else 1)
        return bool(born.any()) or own.max(initial=0) > before.max(initial=0)

    def _prove(self) -> set[int]:
        """Compare the sums themselves instead of random combinations; return the layers that are split by them."""
        found = set()
        for number in range(len(self.net.layers)):
            if self._finest(number):
                continue
            rows = [self._each(e, e.source, True) for e in incoming(self.net.edges, number)]
            columns = [self._each(e, e.target, False).T for e in outgoing(self.net.edges, number)]
            codes = [np.zeros((len(self.classes[number]), 1), dtype=np.int64)]
            for column in np.concatenate([*codes, *rows], axis=1).T:
                if self._split(number, column, np.zeros_like(column)):
                    found.add(number)
            for column in np.concatenate([*codes, *columns], axis=1).T:
                x = np.zeros_like(column)
                if self._split(number, x, column):
                    found.add(number)
        return found

    def _each(self, edge: Edge, layer: int | None, forward: bool) -> np.ndarray:
        """Return the signed sums over each class of a layer along the rows (the columns) of a weight matrix."""
        matrix = self.matrices[edge.tensor]
        if layer is None:
            return matrix
        own, rows = self.classes[layer], self.net.layers[layer]
        signs = weights(rows, self.signs[layer], forward)
        first = 0 if forward and rows.constant else 1
        indicator = (own[:, None] == np.arange(first, own.max(initial=0) + 1)) * signs[:, None]
        indicator = indicator.astype(matrix.dtype)
        return matrix @ indicator if forward else indicator.T @ matrix


def weights(layer: Layer, signs: np.ndarray, forward: bool) -> np.ndarray:
    """Return the sign with which neurons enter sums: of their values going forward, of their signals coming back."""
    return signs if layer.odd or not forward else np.ones_like(signs)


def _clusters(classes: np.ndarray, values: np.ndarray, gap: float) -> np.ndarray:
    """Split each class where its sorted values have a gap above ``gap``; return numbers from 0."""
    if not len(classes):
        return classes
    if values.dtype == object:  # Python integers of any size: their ranks
        values = np.unique(values, return_inverse=True)[1]
    order = np.lexsort((values, classes))
    step = (np.diff(classes[order]) != 0) | (np.diff(values[order]) > gap)
    numbers = np.empty(len(classes), dtype=np.int64)
    numbers[order] = np.concatenate([[0], np.cumsum(step)])
    return numbers
