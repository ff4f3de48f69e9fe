"""GL(n) and O(n) on axes: any change of basis of an axis that is only carried along and contracted.

An axis is *linear* when every expression that carries it is linear in it: products have one factor with it, the terms
of a sum all have it, no function is applied to it, and where it is summed two factors meet. Tensors then transform by g
or by its inverse transpose. When the tensors can be split so that each contraction pairs one of either kind the group
is GL(n) (W_Q and W_K of a head, two linear layers); when a tensor meets itself, as in the mean square of RMSNorm, it
is O(n). Where the axis is also summed against ones, or something constant is spread over it (the centring of
LayerNorm), what is left is the subgroup that fixes the vector of ones. Axes that are local to each other and all linear
are one axis of pairs, on which a matrix of size n_p n_k acts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from invman.architecture.program import Add, Apply, Expr, Mul, Number, Power, Program, Ref, Softmax, Sum
from invman.symmetry.axes import AxisClass, AxisClasses, Carrier, scope_of


@dataclass(frozen=True)
class LinearFactor:
    """A matrix group on an axis, a copy a cell of the axes that it is local to.

    Attributes
    ----------
    axes : tuple of AxisClass
        The axis; several of them where the matrix acts on pairs or triples of values.
    kind : {"GL", "O"}
        General linear or orthogonal.
    ones : bool
        Whether only the matrices that fix the vector of ones (and whose transposes do) are symmetries.
    local_to : tuple of AxisClass
        Axes for each cell of which the matrix can be chosen anew.
    covariant, contravariant : tuple of Carrier
        Parameters that transform by g and by its inverse transpose, at their positions of the first axis; for O(n) all
        are covariant.
    """

    axes: tuple[AxisClass, ...]
    kind: str
    ones: bool
    local_to: tuple[AxisClass, ...]
    covariant: tuple[Carrier, ...]
    contravariant: tuple[Carrier, ...]

    @property
    def size(self) -> int:
        """Size n of the matrices."""
        return math.prod(axis.size for axis in self.axes)

    @property
    def copies(self) -> int:
        """Number of independent copies."""
        return math.prod(axis.size for axis in self.local_to)

    @property
    def dimension(self) -> int:
        """Dimension of the group, all copies together."""
        n = self.size - self.ones
        return self.copies * (n * n if self.kind == "GL" else n * (n - 1) // 2)

    @property
    def name(self) -> str:
        """Such as ``GL(2)``, ``O(8)`` or ``GL(3) fixing 1``."""
        return f"{self.kind}({self.size})" + (" fixing 1" if self.ones else "")


@dataclass(frozen=True)
class VectorFactor:
    """Motions along the kernel of a vector: ``dT = J a c^T``, J antisymmetric, where T meets only one vector a.

    F depends on T through ``a^T T`` only, as in a linear net with one output; ``a^T J a`` vanishes. These conserve
    nothing that the GL(n) does not.

    Attributes
    ----------
    group : LinearFactor
        The GL(n) on the axis that is contracted.
    vector : Carrier
        The tensor that is one vector for each copy.
    moved : tuple of Carrier
        The tensors that meet it.
    columns : int
        Number of columns of these, for each copy.
    """

    group: LinearFactor
    vector: Carrier
    moved: tuple[Carrier, ...]
    columns: int

    @property
    def dimension(self) -> int:
        """Dimension of the space of these fields."""
        n = self.group.size
        return self.group.copies * self.columns * (n * (n - 1) // 2)


def vector_factors(program: Program, factor: LinearFactor) -> Iterator[VectorFactor]:
    """Yield the motions along the kernel of a vector, for each side of a GL(n) that is a single vector."""
    if factor.kind == "O" or factor.ones:
        return
    one = factor.size * factor.copies
    for own, other in (
        (factor.covariant, factor.contravariant),
        (factor.contravariant, factor.covariant),
    ):
        if len(own) == 1 and program.parameter(own[0].tensor).size == one and other:
            columns = sum(program.parameter(carrier.tensor).size for carrier in other) // one
            yield VectorFactor(factor, own[0], other, columns)


def linear_factor(
    program: Program, classes: AxisClasses, axes: tuple[AxisClass, ...], local_to: tuple[AxisClass, ...]
) -> LinearFactor | None:
    """Return the matrix group that acts on a hidden axis, or None where only permutations do.

    Parameters
    ----------
    program : Program
        The architecture.
    classes : AxisClasses
        Its axis classes.
    axes : tuple of AxisClass
        A hidden axis, or all of those that are local to each other.
    local_to : tuple of AxisClass
        What they are local to.
    """
    if math.prod(axis.size for axis in axes) < 2:
        return None
    walks = [_Walk(program, classes, axis) for axis in axes]
    if any(walk.broken for walk in walks):
        return None
    ones = any(walk.ones for walk in walks)
    found = [_two_colours(walk.same, walk.opposite) for walk in walks]
    colours, carriers = found[0], axes[0].carriers
    if colours is None or None in found:
        return LinearFactor(axes, "O", ones, local_to, carriers, ())
    plus = tuple(c for c in carriers if colours.get((c.tensor, c.position), 1) > 0)
    minus = tuple(c for c in carriers if c not in plus)
    return LinearFactor(axes, "GL", ones, local_to, plus, minus)


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
        self.constants = {constant.tensor.name for constant in self.program.constants}
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
                if tensor in self.constants:
                    return {}  # it does not vary along the axis, or the axis would not be hidden
                at = [p for p in range(len(indices)) if self.classes.of(tensor, p) is self.axis]
                forms = {str(indices[p].axis): (tensor, p) for p in at}
                if len(forms) < len(at):
                    self.broken = True  # a diagonal
                return forms
            case Mul(factors):
                forms = {}
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
