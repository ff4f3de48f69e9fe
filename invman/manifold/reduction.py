"""The reduced architecture: on a condensed manifold a net is a narrower net, trained in another metric.

A block of n equal neurons acts as one neuron whose outgoing weights are n times as large; under gradient flow these
move n times as fast as in the narrow net by itself, and its incoming weights 1/n times. A zero block (incoming weights
zero) acts as a constant; a dead one is gone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from invman.architecture.presets import parse_short_form
from invman.architecture.program import (
    Add,
    Apply,
    Constant,
    Expr,
    Index,
    Mul,
    Number,
    Power,
    Program,
    Ref,
    Softmax,
    Statement,
    Sum,
    Tensor,
    walk,
)
from invman.errors import InvmanError
from invman.manifold.partition import Kind, PartitionRules
from invman.symmetry.axes import AxisClasses, Carrier, scope_of

Groups = Sequence[Mapping[Kind, tuple[int, ...]]]


@dataclass(frozen=True)
class Reduction:
    """A reduced architecture.

    Attributes
    ----------
    program : Program
        The narrow net.
    rates : dict of str to dict of str to tuple of Fraction
        For each of its parameters and each reduced axis, one factor a value; the learning rate of an entry is the
        product of its factors: n for a weight that takes up the multiplicity n of its block, 1/n for any other.
    """

    program: Program
    rates: Mapping[str, Mapping[str, tuple[Fraction, ...]]]


def reduce_program(program: Program, rules: Sequence[PartitionRules], groups: Groups) -> Reduction:
    """Return the reduced architecture for given block sizes.

    Parameters
    ----------
    program : Program
        The architecture.
    rules : sequence of PartitionRules
        One a hidden axis.
    groups : sequence of mapping of Kind to tuple of int
        For each hidden axis the sizes of its live and of its zero blocks.

    Returns
    -------
    Reduction
        A live block becomes one value of the axis, a zero block one value of an axis of its own, named with a "0".
    """
    rewriter = _Rewriter(program, rules, groups)
    reduced = rewriter.program()
    return Reduction(_with_short_form(program, reduced), rewriter.rates(reduced))


class _Rewriter:
    def __init__(self, program: Program, rules: Sequence[PartitionRules], groups: Groups) -> None:
        self.original = program
        self.classes = AxisClasses(program)
        self.rules = {rule.symmetry.axis.name: rule for rule in rules}
        self.groups = {rule.symmetry.axis.name: group for rule, group in zip(rules, groups, strict=True)}
        self.carriers = {carrier: name for name, rule in self.rules.items() for carrier in rule.carriers}
        self.sizes: dict[str, int] = {}
        self.parameters: dict[str, Tensor] = {}
        self.multiplicities: dict[str, Constant] = {}
        self.factors: dict[str, dict[str, tuple[Fraction, ...]]] = {}

    def _class(self, tensor: str, position: int) -> str | None:
        name = self.classes.of(tensor, position).name
        return name if name in self.rules else None

    def kinds(self, name: str) -> list[Kind]:
        """Return the kinds of blocks that the axis has."""
        return [kind for kind in (Kind.LIVE, Kind.ZERO) if self.groups[name].get(kind)]

    def program(self) -> Program:
        """Rewrite every statement, once for each choice of kinds on its hidden axes."""
        statements = []
        for statement in self.original.statements:
            scope = {axis: found.name for axis, found in scope_of(self.classes, statement).items()}
            hidden = {axis: name for axis, name in scope.items() if name in self.rules}
            for chosen in _choices({axis: self.kinds(name) for axis, name in hidden.items()}):
                place = {axis: (hidden[axis], kind) for axis, kind in chosen.items()}
                axes = tuple(self._axis(axis, place) for axis in statement.axes)
                name = statement.name + _suffix([(n, kind) for n, kind in place.values()])
                statements.append(Statement(name, axes, self.rewrite(statement.expr, place)))
        read = {ref for s in statements for ref in _reads(s.expr)}
        kept = tuple(s for s in statements if s.name in read or s.name in self.original.outputs)
        parameters = tuple(tensor for name, tensor in self.parameters.items() if name in read)
        constants = (*self.original.constants, *self.multiplicities.values())
        return replace(
            self.original,
            sizes=self._used_sizes(kept, parameters, constants),
            parameters=parameters,
            constants=constants,
            statements=kept,
            notation=None,
        )

    def _used_sizes(
        self, statements: tuple[Statement, ...], parameters: tuple[Tensor, ...], constants: tuple[Constant, ...]
    ) -> dict[str, int]:
        tensors = [*self.original.inputs, *parameters, *(constant.tensor for constant in constants)]
        used = {axis for tensor in tensors for axis in tensor.axes}
        for statement in statements:
            used |= set(statement.axes) | _axes_in(statement.expr)
        known = {**self.original.sizes, **self.sizes}
        return {axis: size for axis, size in known.items() if axis in used}

    def _axis(self, axis: str, place: Mapping[str, tuple[str, Kind]]) -> str:
        if axis not in place:
            return axis
        name, kind = place[axis]
        new = axis if kind is Kind.LIVE else axis + "0"
        while kind is Kind.ZERO and new in self.original.sizes:
            new += "_"
        self.sizes[new] = len(self.groups[name][kind])
        return new

    def rewrite(self, expr: Expr, place: Mapping[str, tuple[str, Kind]]) -> Expr:
        """Rewrite an expression where some of its hidden axes run over one kind of blocks."""
        match expr:
            case Ref():
                return self._read(expr, place)
            case Mul(factors):
                return multiply([self.rewrite(factor, place) for factor in factors])
            case Add(terms):
                return add([self.rewrite(term, place) for term in terms])
            case Power(base, exponent):
                inner = self.rewrite(base, place)
                return ZERO if inner == ZERO and exponent > 0 else Power(inner, exponent)
            case Apply(function, argument):
                inner = self.rewrite(argument, place)
                return ZERO if inner == ZERO and function.vanishes else Apply(function, inner)
            case Softmax(axis, argument, until):
                return Softmax(self._axis(axis, place), self.rewrite(argument, place), until)
            case Sum(axes, body, mean):
                return self._sum(axes, body, mean, place)
            case _:
                return expr

    def _sum(self, axes: tuple[str, ...], body: Expr, mean: bool, place: Mapping[str, tuple[str, Kind]]) -> Expr:
        found = {axis: self.classes.of_bound(axis, body) for axis in axes}
        hidden = {axis: c.name for axis, c in found.items() if c is not None and c.name in self.rules}
        terms = []
        for chosen in _choices({axis: self.kinds(name) for axis, name in hidden.items()}):
            inner = {**place, **{axis: (hidden[axis], kind) for axis, kind in chosen.items()}}
            term = self.rewrite(body, inner)
            for axis, kind in chosen.items():
                if self.rules[hidden[axis]].symmetry.absorbers is None:
                    term = multiply([self._multiplicity(hidden[axis], kind, self._axis(axis, inner)), term])
            named = tuple(self._axis(axis, inner) for axis in axes)
            terms.append(term if term == ZERO else Sum(named, term, mean and not hidden))
        total = add(terms)
        if mean and hidden:
            count = 1
            for axis in axes:
                count *= self.original.sizes[axis]
            total = multiply([Number(Fraction(1, count)), total])
        return total

    def _multiplicity(self, name: str, kind: Kind, axis: str) -> Expr:
        sizes = self.groups[name][kind]
        tensor = Tensor(f"n_{axis}", (axis,), (len(sizes),))
        self.multiplicities[tensor.name] = Constant(tensor, tuple(Fraction(size) for size in sizes))
        return Ref(tensor.name, (Index(((axis, 1),)),))

    def _read(self, ref: Ref, place: Mapping[str, tuple[str, Kind]]) -> Expr:
        indices, kinds, factors = [], [], {}
        for position, index in enumerate(ref.indices):
            axis = index.axis
            if axis is None or axis not in place:
                indices.append(index)
                continue
            name, kind = place[axis]
            carrier = Carrier(ref.tensor, position)
            if carrier in self.carriers and carrier in self.rules[name].killed(kind):
                return ZERO
            new = self._axis(axis, place)
            indices.append(Index(((new, 1),)))
            kinds.append((name, kind))
            absorbing = carrier in (self.rules[name].symmetry.absorbers or ())
            sizes = self.groups[name][kind]
            factors[position] = new, tuple(Fraction(n) if absorbing else Fraction(1, n) for n in sizes)
        new_name = ref.tensor + _suffix(kinds)
        known = {tensor.name: tensor for tensor in self.original.parameters}
        if ref.tensor in known:
            old = known[ref.tensor]
            axes = tuple(factors[p][0] if p in factors else axis for p, axis in enumerate(old.axes))
            shape = tuple(len(factors[p][1]) if p in factors else size for p, size in enumerate(old.shape))
            self.parameters[new_name] = Tensor(new_name, axes, shape)
            self.factors[new_name] = dict(factors.values())
        return Ref(new_name, tuple(indices))

    def rates(self, reduced: Program) -> dict[str, dict[str, tuple[Fraction, ...]]]:
        """Return the factors of the learning rates of the parameters that are left."""
        return {tensor.name: self.factors[tensor.name] for tensor in reduced.parameters}


ZERO = Number(Fraction(0))


def multiply(factors: list[Expr]) -> Expr:
    """Multiply, dropping everything where a factor is zero."""
    return ZERO if ZERO in factors else factors[0] if len(factors) == 1 else Mul(tuple(factors))


def add(terms: list[Expr]) -> Expr:
    """Add, leaving out zeros."""
    left = [term for term in terms if term != ZERO]
    return ZERO if not left else left[0] if len(left) == 1 else Add(tuple(left))


def _choices(kinds: Mapping[str, list[Kind]]) -> list[dict[str, Kind]]:
    chosen: list[dict[str, Kind]] = [{}]
    for axis, options in kinds.items():
        chosen = [{**choice, axis: kind} for choice in chosen for kind in options]
    return chosen


def _suffix(kinds: list[tuple[str, Kind]]) -> str:
    return "".join(f"_{name}0" for name, kind in kinds if kind is Kind.ZERO)


def _reads(expr: Expr) -> set[str]:
    return {node.tensor for node in walk(expr) if isinstance(node, Ref)}


def _axes_in(expr: Expr) -> set[str]:
    used: set[str] = set()
    for node in walk(expr):
        if isinstance(node, Ref):
            used |= {axis for index in node.indices for axis, _ in index.terms}
        elif isinstance(node, Sum):
            used |= set(node.axes)
        elif isinstance(node, Softmax):
            used |= {node.axis, *([node.until] if node.until else [])}
    return used


def _with_short_form(program: Program, reduced: Program) -> Program:
    """Attach the short form when the reduced net is a fully connected one."""
    if program.notation is None:
        return reduced
    # the notation with each hidden width replaced, in the order of the layers
    widths = iter(str(reduced.sizes[s.axes[0]]) for s in reduced.statements if s.name not in reduced.outputs and s.axes)
    head, *middle, last = split_layers(program.notation)
    narrow = [head, *(re.sub(r"^\d+", lambda m: next(widths, m.group()), layer) for layer in middle), last]
    notation = "-".join(narrow)
    try:
        same = parse_short_form(notation) == reduced
    except InvmanError:
        return reduced
    return reduced.with_notation(notation) if same else reduced


def split_layers(notation: str) -> list[str]:
    """Split a short form at the dashes outside brackets."""
    layers, depth = [""], 0
    for letter in notation:
        depth += (letter == "(") - (letter == ")")
        if letter == "-" and depth == 0:
            layers.append("")
        else:
            layers[-1] += letter
    return layers
