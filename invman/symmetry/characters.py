"""How a factor on one value of an axis travels through a program: signs by parity, scalings by degree.

Multiply the parameters that carry value j of an axis by factors ``c^e`` with one exponent e a carrier. Products add
exponents, the terms of a sum must agree, an odd function passes a sign on and an even one swallows it, and where the
axis is summed away nothing may be left. This is one linear system in the exponents: over the field of two elements for
signs (c = -1), over the rationals for positive scalings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from invman.architecture.activations import Activation
from invman.architecture.program import Add, Apply, Expr, Mul, Power, Program, Ref, Softmax, Sum, children
from invman.symmetry.axes import AxisClass, AxisClasses, Carrier, scope_of

Form = dict[Carrier, int]
"""A linear form in the unknown exponents."""


@dataclass(frozen=True)
class System:
    """Linear constraints on the exponents of one axis class.

    Attributes
    ----------
    zero : list of Form
        Forms that must vanish.
    summed : list of Form
        Forms of the summands wherever the axis is summed away; they must vanish for a symmetry.
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
    system = _Propagation(program, classes, axis, _sign_of_function, modulus=2).system
    solutions = _kernel_mod_2([*system.zero, *system.summed], _unknowns(program, classes, axis))
    parameters = set(axis.carriers)
    restricted = [frozenset(solution & parameters) for solution in solutions]
    return tuple(sorted((flip for flip in restricted if flip), key=sorted))


def absorbers(program: Program, classes: AxisClasses, axis: AxisClass) -> frozenset[Carrier] | None:
    """Return carriers that scale every summand by c when they are scaled by c, or None where there are none.

    For a fully connected layer these are the outgoing weights: n equal neurons act as one whose outgoing weights are
    n times as large.
    """
    system = _Propagation(program, classes, axis, _degree_of_function, modulus=0).system
    unknowns = _unknowns(program, classes, axis)
    rows = [(form, Fraction(0)) for form in system.zero] + [(form, Fraction(1)) for form in system.summed]
    # the outermost carriers first: an exponent of 0 or 1 for every carrier, chosen greedily from the last parameter
    fixed: dict[Carrier, Fraction] = {}
    if not _solvable(rows, unknowns, fixed):
        return None
    for carrier in axis.carriers:
        for value in (Fraction(0), Fraction(1)):
            if _solvable(rows, unknowns, {**fixed, carrier: value}):
                fixed[carrier] = value
                break
        else:
            return None
    return frozenset(carrier for carrier, value in fixed.items() if value == 1)


def _unknowns(program: Program, classes: AxisClasses, axis: AxisClass) -> list[Carrier]:
    tensors = [(tensor.name, len(tensor.shape)) for tensor in program.parameters]
    tensors += [(statement.name, len(statement.axes)) for statement in program.statements]
    return [Carrier(name, p) for name, rank in tensors for p in range(rank) if classes.of(name, p) is axis]


def _sign_of_function(function: Activation) -> int | None:
    return {"odd": 1, "even": 0, "none": None}[function.parity]


def _degree_of_function(function: Activation) -> int | None:
    return function.degree


class _Propagation:
    """One walk through the program; forms are kept an axis name, since an expression may carry the class twice."""

    def __init__(
        self,
        program: Program,
        classes: AxisClasses,
        axis: AxisClass,
        of_function: Callable[[Activation], int | None],
        modulus: int,
    ) -> None:
        self.program, self.classes, self.axis, self.of_function, self.modulus = (
            program, classes, axis, of_function, modulus,
        )  # fmt: skip
        self.fixed = {t.name for t in program.inputs} | {c.tensor.name for c in program.constants}
        self.system = System([], [])
        for statement in program.statements:
            scope = frozenset(name for name, found in scope_of(classes, statement).items() if found is axis)
            forms = self.visit(statement.expr, scope)
            for position, name in enumerate(statement.axes):
                if name in scope:
                    own = {Carrier(statement.name, position): 1}
                    self.system.zero.append(self._add(own, forms.get(name, {}), -1))

    def _add(self, left: Form, right: Form, factor: int = 1) -> Form:
        total = dict(left)
        for carrier, value in right.items():
            total[carrier] = total.get(carrier, 0) + factor * value
        if self.modulus:
            total = {carrier: value % self.modulus for carrier, value in total.items()}
        return {carrier: value for carrier, value in total.items() if value}

    def _scale(self, forms: dict[str, Form], factor: int) -> dict[str, Form]:
        return {name: self._add({}, form, factor) for name, form in forms.items()}

    def _vanish(self, forms: dict[str, Form]) -> dict[str, Form]:
        self.system.zero.extend(form for form in forms.values() if form)
        return {}

    def visit(self, expr: Expr, scope: frozenset[str]) -> dict[str, Form]:
        """Return the exponent of an expression along each axis name of the class."""
        match expr:
            case Ref(tensor, indices):
                forms: dict[str, Form] = {}
                for position, index in enumerate(indices):
                    if index.axis in scope and tensor not in self.fixed:
                        name = str(index.axis)
                        forms[name] = self._add(forms.get(name, {}), {Carrier(tensor, position): 1})
                return forms
            case Mul(factors):
                total: dict[str, Form] = {}
                for factor in factors:
                    for name, form in self.visit(factor, scope).items():
                        total[name] = self._add(total.get(name, {}), form)
                return total
            case Add(terms):
                first, *rest = [self.visit(term, scope) for term in terms]
                for other in rest:
                    for name in {*first, *other}:
                        self.system.zero.append(self._add(first.get(name, {}), other.get(name, {}), -1))
                return first
            case Power(base, exponent):
                inner = self.visit(base, scope)
                if exponent.denominator == 1:
                    return self._scale(inner, int(exponent))
                return self._vanish(inner)
            case Apply(function, argument):
                inner = self.visit(argument, scope)
                factor = self.of_function(function)
                return self._vanish(inner) if factor is None else self._scale(inner, factor)
            case Softmax(_, argument, _):
                return self._vanish(self.visit(argument, scope))
            case Sum(axes, body, _):
                bound = {name for name in axes if self.classes.of_bound(name, body) is self.axis}
                inner = self.visit(body, (scope - set(axes)) | bound)
                self.system.summed.extend(inner.get(name, {}) for name in bound)
                return {name: form for name, form in inner.items() if name not in axes}
            case _:
                return {}


def _kernel_mod_2(forms: Iterable[Form], unknowns: list[Carrier]) -> list[frozenset[Carrier]]:
    """Return a reduced basis of the exponents on which all forms vanish modulo 2."""
    place = {carrier: bit for bit, carrier in enumerate(unknowns)}
    pivots: dict[int, int] = {}
    for form in forms:
        row = sum(1 << place[carrier] for carrier, value in form.items() if value % 2)
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


def _solvable(rows: list[tuple[Form, Fraction]], unknowns: list[Carrier], fixed: dict[Carrier, Fraction]) -> bool:
    """Tell whether inhomogeneous equations have a rational solution with some unknowns fixed."""
    place = {carrier: column for column, carrier in enumerate(unknowns)}
    matrix = []
    for form, constant in [*rows, *(({carrier: 1}, value) for carrier, value in fixed.items())]:
        row = [Fraction(0)] * (len(unknowns) + 1)
        for carrier, value in form.items():
            row[place[carrier]] += value
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
    def __init__(self, program: Program, classes: AxisClasses, axis: AxisClass) -> None:
        self.classes, self.axis = classes, axis
        self.parameters = {tensor.name for tensor in program.parameters}
        self.statements: dict[str, int] = {}
        self.least = 2 if axis.hidden else 0
        for statement in program.statements:
            scope = frozenset(name for name, found in scope_of(classes, statement).items() if found is axis)
            order = self.visit(statement.expr, scope)
            if scope:
                self.statements[statement.name] = order

    def visit(self, expr: Expr, scope: frozenset[str]) -> int:
        """Return the order to which an entry at the value vanishes with the parameters of that value."""
        match expr:
            case Ref(tensor, indices):
                carried = any(index.axis in scope for index in indices)
                return (1 if tensor in self.parameters else self.statements.get(tensor, 0)) if carried else 0
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
                bound = frozenset(name for name in axes if self.classes.of_bound(name, body) is self.axis)
                inner = self.visit(body, (scope - set(axes)) | bound)
                if bound:
                    self.least = min(self.least, inner)
                return self.visit(body, scope - set(axes)) if bound else inner
            case _:
                return min((self.visit(child, scope) for child in children(expr)), default=0)
