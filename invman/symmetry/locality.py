"""Axes inside axes: a permutation of one axis that may be chosen anew for each value of another.

The coordinates of a query can be permuted in each head separately, because wherever they occur the head is given. Axis
k is *local* to axis h when every tensor that carries k carries h too, every read of the two uses one and the same h
for a k, and no sum over h stands between a use of k and the sum over k. The group of k is then a power of S_n, one
factor a cell of the axes it is local to, and h permutes these factors: a wreath product. Two hidden axes that are local
to each other are one axis of pairs, with the full symmetric group on the pairs.
"""

from __future__ import annotations

from invman.architecture.program import Expr, Program, Ref, Sum, children
from invman.symmetry.axes import AxisClass, AxisClasses


def local_to(program: Program, classes: AxisClasses) -> dict[AxisClass, frozenset[AxisClass]]:
    """Return, for each hidden axis, the axes that it is local to.

    Parameters
    ----------
    program : Program
        The architecture.
    classes : AxisClasses
        Its axis classes.

    Returns
    -------
    dict of AxisClass to frozenset of AxisClass

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> text = "input x[t,i]; h[t,k] = tanh(w[t,k,i]*x[t,i]); f[t] = a[t,k]*h[t,k]; size t=3,i=2,k=2"
    >>> program = read_architecture(text)
    >>> [(k.name, [t.name for t in around]) for k, around in local_to(program, AxisClasses(program)).items()]
    [('k', ['t'])]
    """
    return _Locality(program, classes).found


class _Locality:
    """Start from all pairs and strike out what some tensor, read or sum contradicts."""

    def __init__(self, program: Program, classes: AxisClasses) -> None:
        self.classes = classes
        self.constants = {constant.tensor.name for constant in program.constants}
        hidden = [axis for axis in classes.classes if axis.hidden and axis.repeated is None]
        tensors = [(t.name, len(t.shape)) for t in program.parameters]
        tensors += [(s.name, len(s.axes)) for s in program.statements]
        carried = [[classes.of(name, p) for p in range(rank)] for name, rank in tensors]
        around: dict[AxisClass, set[AxisClass]] = {}
        for axis in hidden:
            rows = [row for row in carried if axis in row]
            around[axis] = {other for other in rows[0] if other != axis and all(row.count(other) == 1 for row in rows)}
            if any(row.count(axis) > 1 for row in rows):
                around[axis] = set()
        self.around = around
        for statement in program.statements:
            for axis, others in around.items():
                if others:
                    self._check(statement.expr, axis)
        self.found = {axis: frozenset(others) for axis, others in around.items()}

    def _check(self, expr: Expr, axis: AxisClass) -> dict[str, dict[AxisClass, str]]:
        """Return, for each index of the axis that is free in an expression, the index of each other axis beside it."""
        match expr:
            case Ref(tensor, indices):
                at = [self.classes.of(tensor, p) for p in range(len(indices))]
                if axis not in at or tensor in self.constants:
                    # along a hidden axis a constant does not vary, so that its index does not matter
                    return {}
                own = str(indices[at.index(axis)].axis)
                beside = {other: str(indices[at.index(other)].axis) for other in self.around[axis] if other in at}
                self._strike(axis, {other for other in self.around[axis] if beside.get(other, "None") == "None"})
                return {own: beside}
            case Sum(axes, body, _):
                inner = self._check(body, axis)
                free = {name: beside for name, beside in inner.items() if name not in axes}
                for beside in free.values():
                    # the index of the axis goes on while that of another one is summed away
                    self._strike(axis, {other for other, name in beside.items() if name in axes})
                return free
            case _:
                return self._merge(axis, [self._check(child, axis) for child in children(expr)])

    def _merge(self, axis: AxisClass, parts: list[dict[str, dict[AxisClass, str]]]) -> dict[str, dict[AxisClass, str]]:
        merged: dict[str, dict[AxisClass, str]] = {}
        for part in parts:
            for name, beside in part.items():
                known = merged.setdefault(name, dict(beside))
                self._strike(axis, {other for other in self.around[axis] if known.get(other) != beside.get(other)})
        return merged

    def _strike(self, axis: AxisClass, others: set[AxisClass]) -> None:
        self.around[axis] -= others
