"""Axes that are one and the same: every permutation of their values acts on all of them at once.

Two tensor positions belong to one class when an index of the program runs over both, directly or through a chain of
statements. A class that touches no input, no output, no affine index, no causal mask and no constant that varies along
it is *hidden*: renaming its values leaves F unchanged, so S_n acts on the parameters that carry it.
"""

from __future__ import annotations

from dataclasses import dataclass

from invman.architecture.program import Expr, Program, Ref, Softmax, Statement, Sum, children, walk


@dataclass(frozen=True, order=True)
class Carrier:
    """A position of a tensor that runs over an axis class: position 0 of ``w`` carries the neurons of ``w[k,i]``."""

    tensor: str
    position: int


@dataclass(frozen=True)
class AxisClass:
    """All the tensor positions over which one index runs.

    Attributes
    ----------
    name : str
        The index of the program, made unique.
    size : int
        Number of values.
    carriers : tuple of Carrier
        Positions of parameters in it, in the order of the parameters.
    pinned : str or None
        Why the values cannot be permuted, or None for a hidden axis.
    """

    name: str
    size: int
    carriers: tuple[Carrier, ...]
    pinned: str | None

    @property
    def hidden(self) -> bool:
        """Whether its values can be permuted and some parameter carries it."""
        return self.pinned is None and bool(self.carriers)

    @property
    def repeated(self) -> str | None:
        """A parameter that carries the class at two positions (a recurrent weight), or None."""
        names = [carrier.tensor for carrier in self.carriers]
        return next((name for name in names if names.count(name) > 1), None)


class AxisClasses:
    """The axis classes of a program, and which class an index belongs to.

    Parameters
    ----------
    program : Program
        The architecture.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> [c.name for c in AxisClasses(read_architecture("2-3tanh-1")).classes if c.hidden]
    ['k']
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._parent: dict[object, object] = {}
        self._pins: list[tuple[object, str]] = []
        self._names: dict[object, str] = {}
        for statement in program.statements:
            scope = {axis: self._node((statement.name, p), axis) for p, axis in enumerate(statement.axes)}
            self._visit(statement.expr, scope)
        for tensor in program.inputs:
            self._pins += [((tensor.name, p), f"input {tensor.name}") for p in range(len(tensor.shape))]
        for constant in program.constants:
            for position in range(len(constant.tensor.shape)):
                if not _constant_along(constant.values, constant.tensor.shape, position):
                    self._pins.append(((constant.tensor.name, position), f"constant {constant.tensor.name}"))
        axes = {statement.name: statement.axes for statement in program.statements}
        self._pins += [((name, p), f"output {name}") for name in program.outputs for p in range(len(axes[name]))]
        self.classes = self._collect()
        tensors = [*program.inputs, *program.parameters, *(constant.tensor for constant in program.constants)]
        ranks = {tensor.name: len(tensor.shape) for tensor in tensors} | {name: len(own) for name, own in axes.items()}
        self._of = {(t, p): self._class_at[self._find((t, p))] for t, rank in ranks.items() for p in range(rank)}
        self._carrying: dict[AxisClass, set[str]] = {}
        for (tensor, _), found in self._of.items():
            self._carrying.setdefault(found, set()).add(tensor)
        self._met: dict[str, set[int]] = {}
        for number, statement in enumerate(program.statements):
            for name in {statement.name, *(node.tensor for node in walk(statement.expr) if isinstance(node, Ref))}:
                self._met.setdefault(name, set()).add(number)

    def of(self, tensor: str, position: int) -> AxisClass:
        """Return the class at a position of a tensor."""
        return self._of[tensor, position]

    def carrying(self, component: tuple[AxisClass, ...]) -> set[str]:
        """Return the tensors that carry all of some classes (all tensors with an axis or without, for none)."""
        if not component:
            return set(self._met)
        return set.intersection(*(self._carrying.get(axis, set()) for axis in component))

    def touching(self, component: tuple[AxisClass, ...]) -> list[Statement]:
        """Return the statements that define or read a tensor that carries all of some classes, in their order."""
        numbers = {number for name in self.carrying(component) for number in self._met.get(name, ())}
        return [self.program.statements[number] for number in sorted(numbers)]

    def of_bound(self, axis: str, body: Expr) -> AxisClass | None:
        """Return the class of an axis that is summed over a body; None when the body does not depend on it."""
        position = _first_read(axis, body)
        return None if position is None else self.of(*position)

    def _node(self, node: object, axis: str) -> object:
        self._names.setdefault(node, axis)
        return node

    def _find(self, node: object) -> object:
        path = []
        while (parent := self._parent.get(node, node)) != node:
            path.append(node)
            node = parent
        for visited in path:
            self._parent[visited] = node
        return node

    def _visit(self, expr: Expr, scope: dict[str, object]) -> None:
        match expr:
            case Ref(tensor, indices):
                for position, index in enumerate(indices):
                    node = (tensor, position)
                    if index.axis is not None:
                        self._names.setdefault(node, index.axis)
                        self._parent[self._find(node)] = self._find(scope[index.axis])
                    else:
                        self._pins += [(node, "an affine index")]
                        self._pins += [(scope[axis], "an affine index") for axis, _ in index.terms]
            case Sum(axes, body, _):
                inner = {axis: self._node((id(expr), axis), axis) for axis in axes}
                self._visit(body, {**scope, **inner})
            case Softmax(axis, argument, until):
                if until is not None:
                    self._pins += [(scope[axis], "a causal mask"), (scope[until], "a causal mask")]
                self._visit(argument, scope)
            case _:
                for child in children(expr):
                    self._visit(child, scope)

    def _collect(self) -> tuple[AxisClass, ...]:
        pinned: dict[object, str] = {}
        for node, reason in self._pins:
            pinned.setdefault(self._find(node), reason)
        carriers: dict[object, list[Carrier]] = {}
        sizes: dict[object, int] = {}
        for statement in self.program.statements:
            for position, axis in enumerate(statement.axes):
                sizes[self._find((statement.name, position))] = self.program.sizes[axis]
        for tensor in [*self.program.inputs, *(constant.tensor for constant in self.program.constants)]:
            for position, size in enumerate(tensor.shape):
                sizes[self._find((tensor.name, position))] = size
        for tensor in self.program.parameters:
            for position, size in enumerate(tensor.shape):
                root = self._find((tensor.name, position))
                sizes[root] = size
                carriers.setdefault(root, []).append(Carrier(tensor.name, position))
        taken: set[str] = set()
        labels: dict[object, str] = {}
        for node, axis in self._names.items():
            labels.setdefault(self._find(node), axis)
        self._class_at: dict[object, AxisClass] = {}
        for root, size in sizes.items():
            name = label = labels.get(root, "axis")
            number = 1
            while name in taken:
                number += 1
                name = f"{label}_{number}"
            taken.add(name)
            self._class_at[root] = AxisClass(name, size, tuple(carriers.get(root, ())), pinned.get(root))
        return tuple(self._class_at.values())


def _first_read(axis: str, body: Expr) -> tuple[str, int] | None:
    """Find a tensor position that is read with exactly this index."""
    match body:
        case Ref(tensor, indices):
            return next(((tensor, p) for p, index in enumerate(indices) if index.axis == axis), None)
        case Sum(axes, _, _) if axis in axes:
            return None
        case _:
            return next((found for child in children(body) if (found := _first_read(axis, child))), None)


def _constant_along(values: tuple, shape: tuple[int, ...], position: int) -> bool:
    """Tell whether a constant tensor does not vary along one of its positions."""
    inner = 1
    for size in shape[position + 1 :]:
        inner *= size
    size = shape[position]
    block = inner * size
    return all(
        values[start + step] == values[start + step % inner]
        for start in range(0, len(values), block)
        for step in range(block)
    )


def scope_of(classes: AxisClasses, statement: Statement) -> dict[str, AxisClass]:
    """Return the class of every axis on the left-hand side of a statement."""
    return {axis: classes.of(statement.name, position) for position, axis in enumerate(statement.axes)}
