"""The reduced architecture: on a condensed manifold a net is a narrower net, trained in another metric.

A block of n equal neurons acts as one neuron whose outgoing weights are n times as large; under gradient flow these
move n times as fast as in the narrow net by itself, and its incoming weights 1/n times. A zero block (incoming weights
zero) acts as a constant; a dead one is gone, since nothing remains that depends on it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from invman.architecture.activations import REGISTERED
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
from invman.symmetry.axes import AxisClass, AxisClasses, Carrier, scope_of

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
        self.known = {tensor.name: tensor for tensor in program.parameters}
        self.fixed = {constant.tensor.name: constant for constant in program.constants}
        self.users = self._users()
        self.sizes: dict[str, int] = {}
        self.axes: dict[tuple[str, str, Kind], str] = {}
        self.summed: dict[tuple[str, str], str] = {}  # names of the axes of the denominators of softmaxes
        self.names: dict[tuple[str, str], str] = {}
        self.parameters: dict[str, Tensor] = {}
        self.constants: dict[str, Constant] = {}
        self.factors: dict[str, dict[str, tuple[Fraction, ...]]] = {}

    def _users(self) -> dict[str, set[str | None]]:
        """Return the hidden classes over which each axis name runs somewhere, None where it runs over another."""
        users: dict[str, set[str | None]] = {}

        def note(axis: str | None, found: AxisClass | None) -> None:
            if axis is not None:
                users.setdefault(axis, set()).add(
                    found.name if found is not None and found.name in self.rules else None
                )

        for tensor in [*self.original.inputs, *(constant.tensor for constant in self.original.constants)]:
            for position, axis in enumerate(tensor.axes):
                note(axis, self.classes.of(tensor.name, position))
        for statement in self.original.statements:
            for axis, found in scope_of(self.classes, statement).items():
                note(axis, found)
            for node in walk(statement.expr):
                if isinstance(node, Sum):
                    for axis in node.axes:
                        note(axis, self.classes.of_bound(axis, node.body))
        return users

    def _new_name(self, name: str, addition: str) -> str:
        """Return the name of a tensor with an addition, made unique; the same for the same question."""
        if addition and (name, addition) not in self.names:
            tensors = {*self.known, *self.fixed, *(tensor.name for tensor in self.original.inputs)}
            tensors |= {statement.name for statement in self.original.statements}
            self.names[name, addition] = _fresh(name + addition, tensors | set(self.names.values()))
        return self.names.get((name, addition), name)

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
                name = self._new_name(statement.name, _suffix(place.values()))
                statements.append(Statement(name, axes, self.rewrite(statement.expr, place)))
        needed = set(self.original.outputs)
        kept: tuple[Statement, ...] = ()
        for statement in reversed(statements):
            if statement.name in needed:
                kept = (statement, *kept)
                needed |= _reads(statement.expr)
        parameters = tuple(tensor for name, tensor in self.parameters.items() if name in needed)
        constants = tuple(constant for name, constant in self.constants.items() if name in needed)
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
        name, kind = key = place[axis]
        if (axis, *key) not in self.axes:
            # the axis keeps its name where it runs over this class alone; else one name cannot have two sizes
            alone = self.users[axis] == {name}
            new = (axis if alone else name) + ("0" if kind is Kind.ZERO else "")
            if not alone or kind is Kind.ZERO:
                new = _fresh(new, {*self.original.sizes, *self.axes.values()})
            self.axes[axis, *key] = new
            self.sizes[new] = len(self.groups[name][kind])
        return self.axes[axis, *key]

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
                if axis in place:
                    return self._softmax(axis, argument, place)
                return Softmax(axis, self.rewrite(argument, place), until)
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

    def _softmax(self, axis: str, argument: Expr, place: Mapping[str, tuple[str, Kind]]) -> Expr:
        """Rewrite a softmax over a hidden axis: every value counts in the denominator, so blocks count n times."""
        name, _ = place[axis]
        kinds, exp = self.kinds(name), REGISTERED["exp"]
        if len(kinds) == 1 and set(self.groups[name][kinds[0]]) == {1}:
            return Softmax(self._axis(axis, place), self.rewrite(argument, place))
        other = self.summed.setdefault((axis, name), _fresh(axis + "_", {*self.original.sizes, *self.users}))
        self.users[other] = {name}
        entry = Apply(exp, self.rewrite(argument, place))
        terms = []
        for kind in kinds:
            inner = {**place, other: (name, kind)}
            bound = self._axis(other, inner)
            term = Apply(exp, self.rewrite(_renamed(argument, axis, other), inner))
            terms.append(Sum((bound,), multiply([self._multiplicity(name, kind, bound), term])))
        return multiply([entry, Power(add(terms), Fraction(-1))])

    def _multiplicity(self, name: str, kind: Kind, axis: str) -> Expr:
        sizes = self.groups[name][kind]
        tensor = Tensor(self._new_name("n", f"_{axis}"), (axis,), (len(sizes),))
        self.constants[tensor.name] = Constant(tensor, tuple(Fraction(size) for size in sizes))
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
        new_name = self._new_name(ref.tensor, _suffix(kinds))
        old = self.known.get(ref.tensor) or (self.fixed[ref.tensor].tensor if ref.tensor in self.fixed else None)
        if old is not None:
            axes = tuple(factors[p][0] if p in factors else axis for p, axis in enumerate(old.axes))
            shape = tuple(len(factors[p][1]) if p in factors else size for p, size in enumerate(old.shape))
            tensor = Tensor(new_name, axes, shape)
            if ref.tensor in self.known:
                # read again over another name of the axis, it keeps the name of the first read
                self.parameters.setdefault(new_name, tensor)
                self.factors.setdefault(new_name, dict(factors.values()))
            else:  # a constant does not vary along a hidden axis
                self.constants[new_name] = Constant(tensor, _corner(self.fixed[ref.tensor], shape))
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


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _corner(constant: Constant, shape: tuple[int, ...]) -> tuple[Fraction, ...]:
    """Return the values of a constant at the first few values of every axis, flat in C order."""
    cells = itertools.product(*map(range, constant.tensor.shape))
    return tuple(v for cell, v in zip(cells, constant.values, strict=True) if all(map(int.__lt__, cell, shape)))


def _renamed(expr: Expr, old: str, new: str) -> Expr:
    """Rename a free axis of an expression."""

    def name(axis: str) -> str:
        return new if axis == old else axis

    match expr:
        case Ref(tensor, indices):
            renamed = (Index(tuple((name(axis), c) for axis, c in index.terms), index.offset) for index in indices)
            return Ref(tensor, tuple(renamed))
        case Mul(factors):
            return Mul(tuple(_renamed(factor, old, new) for factor in factors))
        case Add(terms):
            return Add(tuple(_renamed(term, old, new) for term in terms))
        case Power(base, exponent):
            return Power(_renamed(base, old, new), exponent)
        case Apply(function, argument):
            return Apply(function, _renamed(argument, old, new))
        case Softmax(axis, argument, until):
            return Softmax(name(axis), _renamed(argument, old, new), until and name(until))
        case Sum(axes, body, mean):
            return expr if old in axes else Sum(axes, _renamed(body, old, new), mean)
        case _:
            return expr


def _suffix(kinds: Iterable[tuple[str, Kind]]) -> str:
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
    head, *layers = split_layers(program.notation)
    if not layers:
        return reduced
    *middle, last = layers
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
