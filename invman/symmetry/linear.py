"""GL(n) and O(n) on axes: any change of basis of an axis that is only carried along and contracted.

An axis is *linear* when every expression that carries it is linear in it: products have one factor with it, the terms
of a sum all have it, no function is applied to it, and where it is summed two factors meet. Tensors then transform by g
or by its inverse transpose. When the tensors can be split so that each contraction pairs one of either kind the group
is GL(n) (W_Q and W_K of a head, two linear layers); when a tensor meets itself, as in the mean square of RMSNorm, it
is O(n). Where the axis is also summed against ones, or something constant is spread over it (the centring of
LayerNorm), what is left is the subgroup that fixes the vector of ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from invman.architecture.program import Add, Apply, Expr, Mul, Number, Power, Program, Ref, Softmax, Sum
from invman.symmetry.axes import AxisClass, AxisClasses, Carrier, scope_of


@dataclass(frozen=True)
class LinearFactor:
    """A matrix group on an axis, a copy a cell of the axes that it is local to.

    Attributes
    ----------
    axis : AxisClass
        The axis, of size n.
    kind : {"GL", "O"}
        General linear or orthogonal.
    ones : bool
        Whether only the matrices that fix the vector of ones (and whose transposes do) are symmetries.
    local_to : tuple of AxisClass
        Axes for each cell of which the matrix can be chosen anew.
    covariant, contravariant : tuple of Carrier
        Parameters that transform by g and by its inverse transpose; for O(n) all are covariant.
    """

    axis: AxisClass
    kind: str
    ones: bool
    local_to: tuple[AxisClass, ...]
    covariant: tuple[Carrier, ...]
    contravariant: tuple[Carrier, ...]

    @property
    def copies(self) -> int:
        """Number of independent copies."""
        total = 1
        for axis in self.local_to:
            total *= axis.size
        return total

    @property
    def dimension(self) -> int:
        """Dimension of the group, all copies together."""
        n = self.axis.size - self.ones
        return self.copies * (n * n if self.kind == "GL" else n * (n - 1) // 2)

    @property
    def name(self) -> str:
        """Such as ``GL(2)``, ``O(8)`` or ``GL(3) fixing 1``."""
        return f"{self.kind}({self.axis.size})" + (" fixing 1" if self.ones else "")


def linear_factor(
    program: Program, classes: AxisClasses, axis: AxisClass, local_to: tuple[AxisClass, ...]
) -> LinearFactor | None:
    """Return the matrix group that acts on a hidden axis, or None where only permutations do.

    Parameters
    ----------
    program : Program
        The architecture.
    classes : AxisClasses
        Its axis classes.
    axis : AxisClass
        A hidden axis.
    local_to : tuple of AxisClass
        What it is local to.
    """
    if axis.size < 2 or axis.repeated is not None:
        return None
    walk = _Walk(program, classes, axis)
    if walk.broken:
        return None
    colours = _two_colours(walk.same, walk.opposite)
    positions = axis.carriers
    if colours is None:
        return LinearFactor(axis, "O", walk.ones, local_to, positions, ())
    plus = tuple(c for c in positions if colours.get((c.tensor, c.position), 1) > 0)
    minus = tuple(c for c in positions if c not in plus)
    return LinearFactor(axis, "GL", walk.ones, local_to, plus, minus)


Node = tuple[str, int]
"""A position of a tensor."""


@dataclass
class _Walk:
    """Walk through the program and note which positions must transform alike and which inversely."""

    program: Program
    classes: AxisClasses
    axis: AxisClass
    same: list[tuple[Node, Node]] = field(default_factory=list)
    opposite: list[tuple[Node, Node]] = field(default_factory=list)
    broken: bool = False
    ones: bool = False

    def __post_init__(self) -> None:
        for statement in self.program.statements:
            scope = scope_of(self.classes, statement)
            forms = self.visit(statement.expr)
            for position, name in enumerate(statement.axes):
                if scope[name] is not self.axis:
                    continue
                node = forms.pop(name, None)
                if node is None:
                    self.ones = True  # something constant along the axis is spread over it
                else:
                    self.same.append(((statement.name, position), node))
            if forms:
                self.broken = True

    def visit(self, expr: Expr) -> dict[str, Node]:
        """Return, for each index of the axis that is free, a position that transforms as the expression does."""
        match expr:
            case Ref(tensor, indices):
                at = [p for p in range(len(indices)) if self.classes.of(tensor, p) is self.axis]
                if len(at) > 1:
                    self.broken = True
                return {str(indices[p].axis): (tensor, p) for p in at}
            case Mul(factors):
                forms: dict[str, Node] = {}
                for factor in factors:
                    for name, node in self.visit(factor).items():
                        if name in forms:
                            self.broken = True  # a product along the axis that is not summed here
                        forms[name] = node
                return forms
            case Add(terms):
                return self._add([self.visit(term) for term in terms], terms)
            case Sum(axes, body, _):
                return self._sum(axes, body)
            case Power(base, _) | Apply(_, base):
                inner = self.visit(base)
                identity = isinstance(expr, Apply) and expr.function.name == "identity"
                if inner and not identity:
                    self.broken = True
                return inner if identity else {}
            case Softmax(_, argument, _):
                if self.visit(argument):
                    self.broken = True
                return {}
            case _:
                return {}

    def _add(self, parts: list[dict[str, Node]], terms: tuple[Expr, ...]) -> dict[str, Node]:
        names = {name for part in parts for name in part}
        merged: dict[str, Node] = {}
        for name in names:
            for part, term in zip(parts, terms, strict=True):
                if name in part:
                    self.same.append((merged.setdefault(name, part[name]), part[name]))
                elif not (isinstance(term, Number) and term.value == 0):
                    self.ones = True
        return merged

    def _sum(self, axes: tuple[str, ...], body: Expr) -> dict[str, Node]:
        factors: list[Expr] = []
        stack = [body]
        while stack:
            item = stack.pop()
            if isinstance(item, Mul):
                stack += item.factors
            elif isinstance(item, Power) and item.exponent == 2:
                stack += [item.base, item.base]
            else:
                factors.append(item)
        forms: dict[str, list[Node]] = {}
        for factor in factors:
            for name, node in self.visit(factor).items():
                forms.setdefault(name, []).append(node)
        free: dict[str, Node] = {}
        for name, nodes in forms.items():
            if name in axes and len(nodes) == 2:
                self.opposite.append((nodes[0], nodes[1]))
            elif name in axes and len(nodes) == 1:
                self.ones = True
            elif name not in axes and len(nodes) == 1:
                free[name] = nodes[0]
            else:
                self.broken = True
        return free


def _two_colours(same: list[tuple[Node, Node]], opposite: list[tuple[Node, Node]]) -> dict[Node, int] | None:
    """Give each position +1 or -1, equal along ``same`` and opposite along ``opposite``; None where that fails."""
    links: dict[Node, list[tuple[Node, int]]] = {}
    for pairs, sign in ((same, 1), (opposite, -1)):
        for left, right in pairs:
            links.setdefault(left, []).append((right, sign))
            links.setdefault(right, []).append((left, sign))
    colours: dict[Node, int] = {}
    for start in links:
        if start in colours:
            continue
        colours[start] = 1
        stack = [start]
        while stack:
            node = stack.pop()
            for other, sign in links[node]:
                colour = sign * colours[node]
                if other not in colours:
                    colours[other] = colour
                    stack.append(other)
                elif colours[other] != colour:
                    return None
    return colours
