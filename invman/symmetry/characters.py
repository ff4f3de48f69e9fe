"""How a factor on one value of an axis travels through a program: signs by parity, scalings by degree.

Multiply the parameters that carry value j of an axis by factors ``c^e`` with one exponent e a carrier. Products add
exponents, the terms of a sum must agree, an odd function passes a sign on and an even one swallows it, and where the
axis is summed away nothing may be left. This is one linear system in the exponents: over the field of two elements for
signs (c = -1), over the rationals for positive scalings.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from invman.architecture.activations import Activation
from invman.architecture.program import Add, Apply, Expr, Mul, Number, Power, Program, Ref, Softmax, Sum
from invman.symmetry.axes import AxisClass, AxisClasses, Carrier, scope_of

T = TypeVar("T")

Unknown = tuple[str, tuple[int, ...]]
"""The exponent of a tensor at positions that run over the axes of a component."""

Form = dict[Unknown, int | Fraction]
"""A linear form in the unknown exponents."""

Names = tuple[str, ...]
"""One axis name for each class of a component."""


@dataclass(frozen=True)
class System:
    """Linear constraints on the exponents of one component.

    Attributes
    ----------
    zero : list of Form
        Forms that must vanish.
    summed : list of Form
        Forms of the summands wherever an axis of the component is summed away; they must vanish for a symmetry.
    """

    zero: list[Form]
    summed: list[Form]


def signs(program: Program, classes: AxisClasses, axis: AxisClass) -> tuple[frozenset[Carrier], ...]:
    """Return a basis of the sign changes on one value of an axis that leave F unchanged.

    Parameters
    ----------
    program : Program
        The architecture.
    classes : AxisClasses
        Its axis classes.
    axis : AxisClass
        The axis.

    Returns
    -------
    tuple of frozenset of Carrier
        Each set flips the sign of the parameters at one value of the axis; a reduced basis over the field of two
        elements, so that no member is a sum of others.
    """
    found = sign_component(program, classes, (axis,))
    flips = [frozenset(Carrier(tensor, positions[0]) for tensor, positions in flip) for flip in found]
    return tuple(sorted(flips, key=sorted))


def sign_component(
    program: Program, classes: AxisClasses, component: tuple[AxisClass, ...]
) -> tuple[frozenset[Unknown], ...]:
    """Return a basis of the sign changes on one cell of several axes (none of them: on whole tensors).

    Sign changes that leave F unchanged are functions of the indices. They split into components: those that vary with
    exactly the axes of one set, of which there are ``prod(n_b - 1)`` for each member of this basis.
    """
    unknowns = _unknowns(program, classes, component)
    system = _Propagation(program, classes, component, _sign_of_function, modulus=2).system
    parameters = {tensor.name for tensor in program.parameters}
    restricted = [
        frozenset(unknown for unknown in solution if unknown[0] in parameters)
        for solution in _kernel_mod_2([*system.zero, *system.summed], unknowns)
    ]
    return tuple(flip for flip in restricted if flip)


def scaling_component(
    program: Program, classes: AxisClasses, component: tuple[AxisClass, ...]
) -> tuple[dict[Unknown, Fraction], ...]:
    """Return a basis of the positive scalings on one cell of several axes that leave F unchanged.

    Each member gives the exponents e of ``theta -> c^e theta`` on the parameters at one cell of the component; an
    activation lets a scaling through when it is homogeneous, and a norm takes it out. An exponential turns a shift of
    its argument into a scaling: the exponent of ``"+b"`` says ``b -> b + e log c``. Solutions that only shift are left
    to :mod:`invman.symmetry.shifts`.
    """
    unknowns = _unknowns(program, classes, component)
    unknowns += [(f"+{name}", positions) for name, positions in unknowns]
    system = _Scalings(program, classes, component, _degree_of_function, modulus=0).system
    parameters = {tensor.name for tensor in program.parameters}
    found = _kernel_over_q([*system.zero, *system.summed], unknowns)
    restricted = [{u: v for u, v in solution.items() if u[0].lstrip("+") in parameters} for solution in found]
    scaled = [{u: v for u, v in solution.items() if not u[0].startswith("+")} for solution in restricted]
    kept = independent_forms([], scaled)
    return tuple(restricted[next(n for n, form in enumerate(scaled) if form is one)] for one in kept)


def absorbers(program: Program, classes: AxisClasses, axis: AxisClass) -> frozenset[Carrier] | None:
    """Return carriers that scale every summand by c when they are scaled by c, or None where there are none.

    For a fully connected layer these are the outgoing weights: n equal neurons act as one whose outgoing weights are
    n times as large.
    """
    system = _Propagation(program, classes, (axis,), _degree_of_function, modulus=0).system
    unknowns = _unknowns(program, classes, (axis,))
    rows = [(form, Fraction(0)) for form in system.zero] + [(form, Fraction(1)) for form in system.summed]
    # an exponent of 0 or 1 for every carrier, 0 where possible, chosen in the order of the parameters
    fixed: dict[Unknown, Fraction] = {}
    if not _solvable(rows, unknowns, fixed):
        return None
    for carrier in axis.carriers:
        unknown = (carrier.tensor, (carrier.position,))
        for value in (Fraction(0), Fraction(1)):
            if _solvable(rows, unknowns, {**fixed, unknown: value}):
                fixed[unknown] = value
                break
        else:
            return None
    return frozenset(Carrier(tensor, positions[0]) for (tensor, positions), value in fixed.items() if value == 1)


def _unknowns(program: Program, classes: AxisClasses, component: tuple[AxisClass, ...]) -> list[Unknown]:
    tensors = [(tensor.name, len(tensor.shape)) for tensor in program.parameters]
    tensors += [(statement.name, len(statement.axes)) for statement in program.statements]
    unknowns = []
    carrying = classes.carrying(component)
    for name, rank in tensors:
        if name not in carrying:
            continue
        at = [[p for p in range(rank) if classes.of(name, p) is axis] for axis in component]
        unknowns += [(name, positions) for positions in itertools.product(*at)]
    return unknowns


def _sign_of_function(function: Activation) -> int | None:
    return {"odd": 1, "even": 0, "none": None}[function.parity]


def _degree_of_function(function: Activation) -> int | None:
    return function.degree


class _Propagation:
    """One walk through the program; forms are kept by axis names, since an expression may carry a class twice."""

    def __init__(
        self,
        program: Program,
        classes: AxisClasses,
        component: tuple[AxisClass, ...],
        of_function: Callable[[Activation], int | None],
        modulus: int,
    ) -> None:
        self.classes, self.component = classes, component
        self.of_function, self.modulus = of_function, modulus
        self.fixed = {t.name for t in program.inputs} | {c.tensor.name for c in program.constants}
        self.system = System([], [])
        for statement in classes.touching(component):
            scope = scope_of(classes, statement)
            forms = self.visit(statement.expr)
            at = [[p for p, name in enumerate(statement.axes) if scope[name] is axis] for axis in component]
            for positions in itertools.product(*at):
                own: Form = {} if statement.name in program.outputs else {(statement.name, positions): 1}
                names = tuple(statement.axes[p] for p in positions)
                self.system.zero.append(self._add(own, forms.pop(names, {}), -1))
            self._vanish(forms)

    def _add(self, left: Form, right: Form, factor: int | Fraction = 1) -> Form:
        total = dict(left)
        for unknown, value in right.items():
            total[unknown] = total.get(unknown, 0) + factor * value
        if self.modulus:
            total = {unknown: value % self.modulus for unknown, value in total.items()}
        return {unknown: value for unknown, value in total.items() if value}

    def _scale(self, forms: dict[Names, Form], factor: int | Fraction) -> dict[Names, Form]:
        return {names: self._add({}, form, factor) for names, form in forms.items()}

    def _vanish(self, forms: dict[Names, Form]) -> dict[Names, Form]:
        self.system.zero.extend(form for form in forms.values() if form)
        return {}

    def _read(self, ref: Ref, mark: str = "") -> dict[Names, Form]:
        if ref.tensor in self.fixed:
            return {}
        at = [[p for p in range(len(ref.indices)) if self.classes.of(ref.tensor, p) is axis] for axis in self.component]
        forms: dict[Names, Form] = {}
        for positions in itertools.product(*at):
            unknown: Form = {(mark + ref.tensor, positions): 1}
            names = [ref.indices[p].axis for p in positions]
            if None in names:
                # read through an affine index: a sign that varies along it would not stay on one cell
                self.system.zero.append(unknown)
                continue
            key = tuple(str(name) for name in names)
            forms[key] = self._add(forms.get(key, {}), unknown)
        return forms

    def visit(self, expr: Expr) -> dict[Names, Form]:
        """Return the exponent of an expression at a cell, for each way to name the axes of the cell."""
        match expr:
            case Ref():
                return self._read(expr)
            case Mul(factors):
                total: dict[Names, Form] = {}
                for factor in factors:
                    for names, form in self.visit(factor).items():
                        total[names] = self._add(total.get(names, {}), form)
                return total
            case Add(terms):
                first, *rest = [self.visit(term) for term in terms]
                for other in rest:
                    for names in {*first, *other}:
                        self.system.zero.append(self._add(first.get(names, {}), other.get(names, {}), -1))
                return first
            case Power(base, exponent):
                inner = self.visit(base)
                if exponent.denominator == 1:
                    return self._scale(inner, int(exponent))
                # the root of a scaled positive number is scaled by the root; a sign under a root is lost
                return self._vanish(inner) if self.modulus else self._scale(inner, exponent)
            case Apply(function, argument):
                inner = self.visit(argument)
                factor = self.of_function(function)
                return self._vanish(inner) if factor is None else self._scale(inner, factor)
            case Softmax(_, argument, _):
                return self._vanish(self.visit(argument))
            case Sum(axes, body, _):
                inner = self.visit(body)
                self.system.summed.extend(form for names, form in inner.items() if set(names) & set(axes))
                return {names: form for names, form in inner.items() if not set(names) & set(axes)}
            case _:
                return {}


class _Scalings(_Propagation):
    """The same walk with shifts: an entry is multiplied by c^e and gains f log c; f is the form of ``"+name"``."""

    def __init__(
        self,
        program: Program,
        classes: AxisClasses,
        component: tuple[AxisClass, ...],
        of_function: Callable[[Activation], int | None],
        modulus: int,
    ) -> None:
        self.sizes = program.sizes
        super().__init__(program, classes, component, of_function, modulus)
        for statement in classes.touching(component):
            scope = scope_of(classes, statement)
            gains = self.gain(statement.expr)
            at = [[p for p, name in enumerate(statement.axes) if scope[name] is axis] for axis in component]
            for positions in itertools.product(*at):
                own: Form = {} if statement.name in program.outputs else {(f"+{statement.name}", positions): 1}
                names = tuple(statement.axes[p] for p in positions)
                self.system.zero.append(self._add(own, gains.pop(names, {}), -1))
            self._vanish(gains)

    def visit(self, expr: Expr) -> dict[Names, Form]:
        """Return the exponents; those of an exponential are what its argument gains."""
        if isinstance(expr, Apply) and expr.function.name == "exp":
            self._vanish(super().visit(expr.argument))
            return self.gain(expr.argument)
        return super().visit(expr)

    def gain(self, expr: Expr) -> dict[Names, Form]:
        """Return what is added to an expression, for each way to name the axes of the cell."""
        match expr:
            case Ref(tensor, indices):
                if tensor in self.fixed:
                    return {}
                return self._read(Ref(tensor, indices), "+")
            case Add(terms):
                total: dict[Names, Form] = {}
                for term in terms:
                    for names, form in self.gain(term).items():
                        total[names] = self._add(total.get(names, {}), form)
                return total
            case Mul(factors):
                numbers = [factor.value for factor in factors if isinstance(factor, Number)]
                others = [self.gain(factor) for factor in factors if not isinstance(factor, Number)]
                if len(others) == 1:
                    return self._scale(others[0], math.prod(numbers, start=Fraction(1)))
                for other in others:
                    self._vanish(other)
                return {}
            case Apply(function, argument) if function.name == "identity":
                return self.gain(argument)
            case Sum(axes, body, mean):
                inner = self.gain(body)
                self.system.zero.extend(form for names, form in inner.items() if set(names) & set(axes))
                size = 1 if mean else math.prod(self.sizes[axis] for axis in axes)
                return self._scale({n: form for n, form in inner.items() if not set(n) & set(axes)}, size)
            case Apply(function, _) if function.name == "exp":
                return {}  # what its argument gains is a scaling
            case Power(below, _) | Apply(_, below) | Softmax(_, below, _):
                return self._vanish(self.gain(below))
            case _:
                return {}


def _kernel_mod_2(forms: Iterable[Form], unknowns: list[Unknown]) -> list[frozenset[Unknown]]:
    """Return a reduced basis of the exponents on which all forms vanish modulo 2."""
    place = {unknown: bit for bit, unknown in enumerate(unknowns)}
    pivots: dict[int, int] = {}
    for form in forms:
        row = sum(1 << place[unknown] for unknown, value in form.items() if value % 2)
        for pivot, reduced in pivots.items():
            if row >> pivot & 1:
                row ^= reduced
        if row:
            pivot = row.bit_length() - 1
            pivots = {p: (r ^ row if r >> pivot & 1 else r) for p, r in pivots.items()}
            pivots[pivot] = row
    basis = []
    for free in range(len(unknowns)):
        if free not in pivots:
            bits = {free, *(pivot for pivot, row in pivots.items() if row >> free & 1)}
            basis.append(frozenset(unknowns[bit] for bit in bits))
    return basis


def _kernel_over_q(forms: Iterable[Form], unknowns: list[Unknown]) -> list[dict[Unknown, Fraction]]:
    """Return a basis of the exponents on which all forms vanish."""
    pivots: dict[Unknown, dict[Unknown, Fraction]] = {}
    for form in forms:
        row = {unknown: Fraction(value) for unknown, value in form.items() if value}
        for pivot in [unknown for unknown in row if unknown in pivots]:
            row = _eliminate(row, pivot, pivots[pivot])
        if row:
            pivot = next(iter(row))
            row = {unknown: value / row[pivot] for unknown, value in row.items()}
            pivots = {p: _eliminate(other, pivot, row) for p, other in pivots.items()}
            pivots[pivot] = row
    basis = []
    for free in unknowns:
        if free not in pivots:
            solution = {pivot: -row[free] for pivot, row in pivots.items() if free in row}
            basis.append({free: Fraction(1), **solution})
    return basis


def independent_forms(
    known: Sequence[Mapping[Unknown, Fraction]], more: Iterable[Mapping[Unknown, Fraction]]
) -> list[Mapping[Unknown, Fraction]]:
    """Return those of some vectors that are linearly independent of the known ones and of each other."""
    pivots: list[tuple[Unknown, dict[Unknown, Fraction]]] = []
    kept: list[Mapping[Unknown, Fraction]] = []
    for number, vector in enumerate([*known, *more]):
        row = dict(vector)
        for pivot, reduced in pivots:
            row = _eliminate(row, pivot, reduced)
        if row:
            pivot = next(iter(row))
            pivots.append((pivot, {unknown: value / row[pivot] for unknown, value in row.items()}))
            if number >= len(known):
                kept.append(vector)
    return kept


def _eliminate(row: dict[Unknown, Fraction], pivot: Unknown, by: dict[Unknown, Fraction]) -> dict[Unknown, Fraction]:
    factor = row.get(pivot, Fraction(0))
    if not factor:
        return row
    total = dict(row)
    for unknown, value in by.items():
        total[unknown] = total.get(unknown, Fraction(0)) - factor * value
    return {unknown: value for unknown, value in total.items() if value}


def _solvable(rows: list[tuple[Form, Fraction]], unknowns: list[Unknown], fixed: dict[Unknown, Fraction]) -> bool:
    """Tell whether inhomogeneous equations have a rational solution with some unknowns fixed."""
    place = {unknown: column for column, unknown in enumerate(unknowns)}
    matrix = []
    for form, constant in [*rows, *(({unknown: 1}, value) for unknown, value in fixed.items())]:
        row = [Fraction(0)] * (len(unknowns) + 1)
        for unknown, value in form.items():
            row[place[unknown]] += value
        row[-1] = constant
        matrix.append(row)
    rank = 0
    for column in range(len(unknowns)):
        pivot = next((n for n in range(rank, len(matrix)) if matrix[n][column]), None)
        if pivot is None:
            continue
        matrix[rank], matrix[pivot] = matrix[pivot], matrix[rank]
        for number in range(rank + 1, len(matrix)):
            if factor := matrix[number][column] / matrix[rank][column]:
                matrix[number] = [a - factor * b for a, b in zip(matrix[number], matrix[rank], strict=True)]
        rank += 1
    return not any(row[-1] for row in matrix[rank:])


def silent(program: Program, classes: AxisClasses, axis: AxisClass) -> bool:
    """Tell whether a value of the axis whose parameters are all zero stays so (a dead neuron).

    True when F depends on the parameters of that value to order two or more at zero, so that its gradient with
    respect to them vanishes there. The order is propagated: products add it, sums take the least, a function with
    sigma(0) = 0 multiplies it by the order of its first non-vanishing derivative.
    """
    return _Orders(program, classes, axis).least >= 2


class _Orders:
    """One walk through the program, for every choice of the axis names that stand at the value (the scope).

    An expression may run over the class twice, as in ``sum[l](U[k,l]*h[l])``; neuron k then stands at the value or not
    whatever l does.
    """

    def __init__(self, program: Program, classes: AxisClasses, axis: AxisClass) -> None:
        self.classes, self.axis = classes, axis
        self.parameters = {tensor.name for tensor in program.parameters}
        self.statements: dict[tuple[str, frozenset[int]], int] = {}
        self.least = 2 if axis.hidden else 0
        for statement in classes.touching((axis,)):
            own = [p for p in range(len(statement.axes)) if classes.of(statement.name, p) is axis]
            for at in _subsets(own):
                scope = frozenset(statement.axes[position] for position in at)
                self.statements[statement.name, at] = self.visit(statement.expr, scope)

    def visit(self, expr: Expr, scope: frozenset[str]) -> int:
        """Return the order to which an entry at the value vanishes with the parameters of that value."""
        match expr:
            case Ref(tensor, indices):
                at = frozenset(position for position, index in enumerate(indices) if index.axis in scope)
                return int(bool(at)) if tensor in self.parameters else self.statements.get((tensor, at), 0)
            case Mul(factors):
                return sum(self.visit(factor, scope) for factor in factors)
            case Add(terms):
                return min(self.visit(term, scope) for term in terms)
            case Power(base, exponent):
                order = self.visit(base, scope)
                if order and (exponent.denominator != 1 or exponent < 0):
                    self.least = 0
                return order * max(0, int(exponent))
            case Apply(function, argument):
                order = self.visit(argument, scope)
                if not order or not function.vanishes:
                    return 0
                return order * (function.degree or next(n for n in range(1, 10**6) if n in function.support))
            case Softmax(own, argument, _):
                self.visit(argument, scope)
                if own in scope:
                    self.least = 0
                return 0
            case Sum(axes, body, _):
                outside = scope - set(axes)
                bound = [name for name in axes if self.classes.of_bound(name, body) is self.axis]
                orders = [self.visit(body, outside | at) for at in _subsets(bound)]
                if not outside:  # an entry elsewhere, which must not notice the value to first order
                    self.least = min([self.least, *orders[1:]])
                return min(orders)
            case _:
                return 0


def _subsets(items: Sequence[T]) -> list[frozenset[T]]:
    """Return all subsets, the empty one first."""
    return [frozenset(some) for n in range(len(items) + 1) for some in itertools.combinations(items, n)]
