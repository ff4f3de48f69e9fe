"""Names for the axes of an imported program: one base name for all the positions that share an axis.

i for inputs, o for outputs, k for what is hidden; numbered when there are several. Axes of size 1 that are not hidden
are left out, as in the short forms: one output is a scalar.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from invman.architecture.importers.nodes import rebuild
from invman.architecture.program import Expr, Index, Number, Ref, Softmax, Statement, Sum, Tensor, children, walk

Node = tuple[str, object]


class Namer:
    """Finds which positions share an axis, and renames the axes of all statements after them.

    Parameters
    ----------
    statements : sequence of Statement
        Over unique axis names.
    shapes : mapping
        Shape of every parameter, input and constant.
    size : callable
        Size of an axis of the statements.
    inputs, outputs : sequences of str
        Names of the tensors that pin their axes.
    constants : mapping
        The constants, which pin their axes too.
    """

    def __init__(
        self,
        statements: Sequence[Statement],
        shapes: Mapping[str, tuple[int, ...]],
        size: Callable[[str], int],
        inputs: Sequence[str],
        outputs: Sequence[str],
        constants: Mapping[str, np.ndarray],
    ) -> None:
        self.shapes, self.size, self.inputs = shapes, size, inputs
        self.sizes: dict[str, int] = {}
        self._parent: dict[Node, Node] = {}
        self._kinds: dict[Node, set[str]] = {}
        self._size_at: dict[Node, int] = {}
        self._names: dict[Node, str] = {}
        self._plain: set[Node] = set()
        self._affine: set[Node] = set()
        for name, shape in shapes.items():
            for place, length in enumerate(shape):
                self._size_at[name, place] = length
        for statement in statements:
            self._visit(statement)
        pins = [("i", inputs), ("o", outputs), ("c", list(constants))]
        axes = {statement.name: statement.axes for statement in statements}
        for kind, names in pins:
            for name in names:
                for place in range(len(shapes[name] if name in shapes else axes[name])):
                    self._kinds.setdefault(self._find((name, place)), set()).add(kind)
        self._name(statements)
        self.statements = [self._renamed(statement) for statement in statements]

    def _find(self, node: Node) -> Node:
        while (parent := self._parent.get(node, node)) != node:
            node = parent
        return node

    def _unite(self, left: Node, right: Node) -> None:
        left, right = self._find(left), self._find(right)
        if left != right:
            self._parent[left] = right
            kinds = self._kinds.pop(left, set())
            if kinds:
                self._kinds.setdefault(right, set()).update(kinds)

    def _mark(self, node: Node, kind: str) -> None:
        self._kinds.setdefault(self._find(node), set()).add(kind)

    def _visit(self, statement: Statement) -> None:
        for place, axis in enumerate(statement.axes):
            self._size_at[statement.name, place] = self.size(axis)
            self._unite((statement.name, place), ("", (statement.name, axis)))
        for node in walk(statement.expr):
            match node:
                case Ref(tensor, indices):
                    for place, index in enumerate(indices):
                        if index.axis is not None:
                            self._unite((tensor, place), ("", (statement.name, index.axis)))
                            continue
                        self._mark((tensor, place), "affine")
                        for axis, _ in index.terms:
                            self._mark(("", (statement.name, axis)), "affine")
                case Softmax(axis, _, until):
                    for name in (axis, until):
                        if name is not None:
                            self._mark(("", (statement.name, name)), "softmax")
                case Sum(axes, _, _):
                    for axis in axes:
                        self._size_at["", (statement.name, axis)] = self.size(axis)

    def _name(self, statements: Sequence[Statement]) -> None:
        first = [*self.inputs, *(name for name in self.shapes if name not in self.inputs)]
        order = [(name, place) for name in first for place in range(len(self.shapes[name]))]
        order += [(statement.name, place) for statement in statements for place in range(len(statement.axes))]
        order += [node for node in self._size_at if node not in set(order)]
        taken = {*self.shapes, *(statement.name for statement in statements)}
        groups: dict[str, list[Node]] = {"i": [], "o": [], "k": []}
        size_of: dict[Node, int] = {}
        for node in order:
            root = self._find(node)
            if root in size_of:
                continue
            size_of[root] = self._size_at[node]
            kinds = self._kinds.get(root, set())
            if size_of[root] == 1 and kinds and "softmax" not in kinds:
                self._names[root] = ""
                continue
            groups["i" if "i" in kinds else "o" if "o" in kinds else "k"].append(root)
        for base, roots in groups.items():
            for number, root in enumerate(roots, start=1):
                name = base if len(roots) == 1 and base not in taken else f"{base}{number}"
                while name in taken:
                    name = f"{name}_"
                self._names[root] = name
                self.sizes[name] = size_of[root]

    def _base(self, statement: str, axis: str) -> str:
        return self._names.get(self._find(("", (statement, axis))), "")

    def _fresh(self, base: str, scope: Mapping[str, str]) -> str:
        taken = set(scope.values())
        name, number = base, 2
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        self.sizes[name] = self.sizes[base]
        return name

    def _renamed(self, statement: Statement) -> Statement:
        scope: dict[str, str] = {}
        axes = []
        for axis in statement.axes:
            base = self._base(statement.name, axis)
            scope[axis] = self._fresh(base, scope) if base else ""
            if base:
                axes.append(scope[axis])
        return Statement(statement.name, tuple(axes), self._walk(statement.expr, statement.name, scope))

    def _walk(self, expr: Expr, name: str, scope: Mapping[str, str]) -> Expr:
        match expr:
            case Ref(tensor, indices):
                kept = []
                for place, index in enumerate(indices):
                    if self._names.get(self._find((tensor, place))) == "":
                        continue
                    terms = tuple((scope[axis], factor) for axis, factor in index.terms if scope[axis])
                    kept.append(Index(terms, index.offset))
                    (self._affine if kept[-1].axis is None else self._plain).add((tensor, place))
                return Ref(tensor, tuple(kept))
            case Sum(axes, body, mean):
                inner = dict(scope)
                bound = []
                for axis in axes:
                    base = self._base(name, axis)
                    inner[axis] = self._fresh(base, inner) if base else ""
                    if base:
                        bound.append(inner[axis])
                new = self._walk(body, name, inner)
                return Sum(tuple(bound), new, mean) if bound else new
            case Softmax(axis, argument, until):
                return Softmax(scope[axis], self._walk(argument, name, scope), until and scope[until])
            case Number():
                return expr
            case _:
                return rebuild(expr, tuple(self._walk(child, name, scope) for child in children(expr)))

    def tensor(self, name: str, *, declared: bool = True) -> Tensor:
        """Return a parameter, input or constant with its axes; None where it is not declared and read affinely only."""
        axes: list[str | None] = []
        shape = []
        for place, size in enumerate(self.shapes[name]):
            root = self._find((name, place))
            if self._names[root] == "":
                continue
            taken = {str(number): str(axis) for number, axis in enumerate(axes)}
            affine = not declared and (name, place) in self._affine and (name, place) not in self._plain
            axes.append(None if affine else self._fresh(self._names[root], taken))
            shape.append(size)
        return Tensor(name, tuple(axes), tuple(shape))
