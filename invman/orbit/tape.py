"""Gradient and Hessian of a program whose scalars are power series: a tape with second derivatives.

The Hessian comes from one backward sweep that keeps the second-order part of the chain rule as a sparse symmetric
matrix over the scalars that are still alive (edge pushing: Gower and Mello, Optim. Methods Softw. 27, 2012).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from invman.architecture.activations import Activation
from invman.architecture.scalars import custom_body, substitute
from invman.errors import UnsupportedError
from invman.orbit.functions import jet, power
from invman.orbit.ring import Ring


class Node:
    """A series and its place on the tape (-1 for a constant)."""

    __slots__ = ("place", "value")

    def __init__(self, value: Any, place: int) -> None:
        self.value, self.place = value, place


class Tape:
    """An algebra for :func:`invman.architecture.scalars.expand` that remembers first and second derivatives.

    Parameters
    ----------
    ring : Ring
        Arithmetic of the series.
    """

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.edges: list[list[tuple[int, Any]]] = []
        """For each scalar its arguments and the derivative with respect to each; None is one."""
        self.bends: list[tuple[int, int, Any] | None] = []
        """For each scalar its one second derivative, if any: the two arguments and the value; None is one."""

    def variable(self, value: Any) -> Node:
        """Return a new independent variable."""
        return self._record(value, [], None)

    def constant(self, value: Any) -> Node:
        """Return a series that nothing is differentiated by."""
        return Node(value, -1)

    def _record(self, value: Any, edges: list[tuple[int, Any]], bend: tuple[int, int, Any] | None) -> Node:
        self.edges.append(edges)
        self.bends.append(bend)
        return Node(value, len(self.edges) - 1)

    def number(self, value: Fraction) -> Node:
        """Embed a rational number."""
        return Node(self.ring.number(value), -1)

    def add(self, terms: Sequence[Node]) -> Node:
        """Add."""
        total = terms[0].value
        for term in terms[1:]:
            total = total + term.value
        edges = [(term.place, None) for term in terms if term.place >= 0]
        return self._record(total, edges, None) if edges else Node(total, -1)

    def multiply(self, factors: Sequence[Node]) -> Node:
        """Multiply."""
        product = factors[0]
        for factor in factors[1:]:
            value = product.value * factor.value
            a, b = product.place, factor.place
            edges = [(place, other.value) for place, other in ((a, factor), (b, product)) if place >= 0]
            bend = (a, b, None) if a >= 0 and b >= 0 else None
            product = self._record(value, edges, bend) if edges else Node(value, -1)
        return product

    def _unary(self, values: tuple[Any, Any, Any], u: Node) -> Node:
        if u.place < 0:
            return Node(values[0], -1)
        return self._record(values[0], [(u.place, values[1])], (u.place, u.place, values[2]))

    def power(self, base: Node, exponent: Fraction) -> Node:
        """Raise to a rational power."""
        if exponent.denominator & (exponent.denominator - 1):
            msg = f"a power of {exponent}: got a root of order {exponent.denominator}, expected 2, 4, 8, ..."
            raise UnsupportedError(msg)
        return self._unary(power(self.ring, base.value, exponent), base)

    def apply(self, function: Activation, argument: Node) -> Node:
        """Apply a function."""
        if function.name.startswith("custom("):
            return substitute(custom_body(function), self, argument)
        return self._unary(jet(self.ring, function.name, argument.value), argument)

    def gradient(self, output: Node, count: int) -> list[Any]:
        """Return the derivatives with respect to the first ``count`` variables; None is zero."""
        return self._sweep(output, count, None)

    def hessian(self, output: Node, count: int) -> tuple[list[Any], list[dict[int, Any]]]:
        """Return gradient and Hessian with respect to the first ``count`` variables, the latter as sparse rows."""
        rows: list[dict[int, Any]] = [{} for _ in self.edges]
        gradient = self._sweep(output, count, rows)
        return gradient, rows[:count]

    def _sweep(self, output: Node, count: int, rows: list[dict[int, Any]] | None) -> list[Any]:
        adjoint: list[Any] = [None] * max(len(self.edges), count)
        if output.place >= 0:
            adjoint[output.place] = self.ring.number(Fraction(1))
        for place in range(output.place, count - 1, -1):
            edges = self.edges[place]
            if rows is not None and rows[place]:
                self._push(rows, place, edges)
            weight = adjoint[place]
            if weight is None:
                continue
            bend = self.bends[place]
            if rows is not None and bend is not None:
                left, right, value = bend
                value = weight if value is None else weight * value
                if left != right:
                    _both(rows, left, right, value)
                else:  # a product of a scalar with itself has the second derivative 2
                    _one(rows, left, value * 2 if bend[2] is None else value)
            for parent, slope in edges:
                part = weight if slope is None else weight * slope
                adjoint[parent] = part if adjoint[parent] is None else adjoint[parent] + part
        return adjoint[:count]

    def _push(self, rows: list[dict[int, Any]], place: int, edges: list[tuple[int, Any]]) -> None:
        row, rows[place] = rows[place], {}
        for other, weight in row.items():
            parts = [(parent, weight if slope is None else weight * slope) for parent, slope in edges]
            if other != place:
                del rows[other][place]
                for parent, part in parts:
                    if parent == other:
                        _one(rows, other, part * 2)
                    else:
                        _both(rows, parent, other, part)
                continue
            for number, (parent, slope) in enumerate(edges):
                for after, part in parts[number:]:
                    value = part if slope is None else part * slope
                    if after != parent:
                        _both(rows, parent, after, value)
                    else:
                        _one(rows, parent, value)
            # two edges to one argument count in both orders
            for number, (parent, slope) in enumerate(edges):
                for after, part in parts[number + 1 :]:
                    if after == parent:
                        _one(rows, parent, part if slope is None else part * slope)


def _one(rows: list[dict[int, Any]], place: int, value: Any) -> None:
    row = rows[place]
    row[place] = row[place] + value if place in row else value


def _both(rows: list[dict[int, Any]], left: int, right: int, value: Any) -> None:
    for a, b in ((left, right), (right, left)):
        row = rows[a]
        row[b] = row[b] + value if b in row else value
