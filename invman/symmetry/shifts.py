"""Translations of parameters that leave F unchanged, or that other parameters undo.

A shift of one parameter is carried through the program to first order. A softmax does not see what does not vary along
its axis (row sums of a read-out are conserved, and so is every bias of the keys), and centring, the ``x - mean(x)`` of
LayerNorm, cancels what is constant along its axis. Where another parameter is added with the same factor it can undo
the shift: two biases that only add up, a bias below a linear layer and the bias of that layer, ``W + B A`` and W.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from invman.architecture.printer import print_expression
from invman.architecture.program import (
    Add,
    Apply,
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
    children,
    free_axes,
    walk,
)
from invman.symmetry.axes import Carrier

SHIFT = "shift"
"""Stands for the shift of the source in a term; no tensor is called so, since it is never looked up as one."""

LARGEST_TERMS = 64


@dataclass(frozen=True)
class Undo:
    """What undoes a shift s of another parameter: ``tensor[target] -= coefficient * sum(factor * s[shift])``.

    Attributes
    ----------
    tensor : str
        The parameter that moves.
    target, shift : tuple of str
        Index names of this parameter, and of the shift (without the position along which that is constant); names that
        the target lacks are summed over.
    coefficient : Fraction
        The factor.
    factor : str or None
        Another parameter, on which the motion depends.
    factor_axes : tuple of str
        Its index names.
    """

    tensor: str
    target: tuple[str, ...]
    shift: tuple[str, ...]
    coefficient: Fraction
    factor: str | None = None
    factor_axes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShiftFactor:
    """A space of translations.

    Attributes
    ----------
    tensor : str
        The parameter that is shifted.
    constant_along : Carrier or None
        The position along which the shift is constant; None for an arbitrary shift.
    dimension : int
        Dimension of the space of translations, beyond those of the factors before it.
    reason : str
        Why F does not see it.
    undone : tuple of Undo
        Parameters that move as well, so that F stays as it is.
    """

    tensor: str
    constant_along: Carrier | None
    dimension: int
    reason: str
    undone: tuple[Undo, ...] = ()

    @property
    def tensors(self) -> tuple[str, ...]:
        """The parameters that move, the source first."""
        return tuple(dict.fromkeys((self.tensor, *(undo.tensor for undo in self.undone))))

    @property
    def pure(self) -> bool:
        """Whether all that move do so by constants, which makes the sum of what they gain a linear law."""
        return all(undo.factor is None for undo in self.undone)


def shifts(program: Program) -> tuple[ShiftFactor, ...]:
    """Find the translations that leave F unchanged, or that others undo.

    Parameters
    ----------
    program : Program
        The architecture.

    Returns
    -------
    tuple of ShiftFactor

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> text = "input x[i]; f[o] = softmax[o](a[o,i]*x[i]); size i=2,o=3"
    >>> [(s.tensors, s.dimension) for s in shifts(read_architecture(text))]
    [(('a',), 2)]
    >>> [s.tensors for s in shifts(read_architecture("2-3identity-2+bias"))]
    [('b', 'c')]
    """
    found: list[ShiftFactor] = []
    reads = _Reads.of(program)
    for tensor in program.parameters:
        whole = _follow(program, tensor, None, reads)
        if whole is not None:
            found.append(whole)
            continue
        share = Fraction(1)
        for position, size in enumerate(tensor.shape):
            factor = _follow(program, tensor, position, reads) if size > 1 else None
            if factor is not None:
                # what is constant along an earlier position as well has been counted there
                found.append(replace(factor, dimension=int(factor.dimension * share)))
                share *= 1 - Fraction(1, size)
    return tuple(found)


@dataclass(frozen=True)
class _Reads:
    """Which tensors each statement reads, and which parameters are read at one place only."""

    tensors: Mapping[str, frozenset[str]]
    once: frozenset[str]

    @classmethod
    def of(cls, program: Program) -> _Reads:
        refs = {s.name: [node.tensor for node in walk(s.expr) if isinstance(node, Ref)] for s in program.statements}
        total = Counter(name for names in refs.values() for name in names)
        once = frozenset(tensor.name for tensor in program.parameters if total[tensor.name] == 1)
        return cls({name: frozenset(names) for name, names in refs.items()}, once)


def _follow(program: Program, tensor: Tensor, position: int | None, reads: _Reads) -> ShiftFactor | None:
    walked = _Walk(program, tensor, position, reads)
    try:
        if any(walked.run(statement) and statement.name in program.outputs for statement in program.statements):
            return None
    except _VisibleError:
        return None
    names = list(dict.fromkeys(undo.tensor for undo in walked.undone))
    if names:
        reason = f"undone by {', '.join(names)}"
    elif walked.swallowed:
        reason = "ignored by a softmax"
    elif walked.cancelled:
        reason = "cancelled by centring"
    else:
        reason = "never reaches the output"
    size = tensor.size if position is None else tensor.size // tensor.shape[position]
    carrier = None if position is None else Carrier(tensor.name, position)
    return ShiftFactor(tensor.name, carrier, size, reason, tuple(walked.undone))


class _VisibleError(Exception):
    """The shift shows."""


@dataclass(frozen=True)
class _Term:
    """A product of atoms, one of them the shift, summed over the bound axes."""

    atoms: tuple[Expr, ...]
    bound: tuple[str, ...]


_Gain = dict[_Term, Fraction]
"""What an expression gains when the source is shifted, to first order."""


class _Walk:
    """One walk through the program with a shift of one parameter."""

    def __init__(self, program: Program, source: Tensor, constant: int | None, reads: _Reads) -> None:
        self.reads = reads
        self.program, self.source, self.constant = program, source, constant
        self.fresh = itertools.count()
        self.gains: dict[str, tuple[tuple[str, ...], _Gain]] = {}
        self.undone: list[Undo] = []
        self.swallowed = self.cancelled = False
        self.order = {tensor.name: n for n, tensor in enumerate(program.parameters)}
        self.once = reads.once - {source.name}
        self.statements = {s.name: s for s in program.statements}
        self.weights = {s.name: s for s in program.statements if isinstance(s.expr, Softmax)}

    def run(self, statement: Statement) -> bool:
        """Pass a statement; tell whether its value changes."""
        if not self.reads.tensors[statement.name] & {self.source.name, *self.gains}:
            return False
        gain = self.visit(statement.expr)
        if gain:
            self.gains[statement.name] = (statement.axes, gain)
        return bool(gain)

    def visit(self, expr: Expr) -> _Gain:
        """Return what an expression gains."""
        match expr:
            case Ref():
                return self._read(expr)
            case Mul(factors):
                total: _Gain = {}
                for place, factor in enumerate(factors):
                    others = [other for n, other in enumerate(factors) if n != place]
                    number = math.prod((o.value for o in _flat(others) if isinstance(o, Number)), start=Fraction(1))
                    gain = self.visit(factor)
                    if gain:
                        atoms, bound = self._open(others)
                        for term, value in gain.items():
                            _plus(total, _Term((*term.atoms, *atoms), (*term.bound, *bound)), value * number)
                return total
            case Add(terms):
                gains = [self.visit(term) for term in terms]
                total = {}
                for gain in gains:
                    for term, value in gain.items():
                        _plus(total, term, value)
                self.cancelled |= not total and any(gains)
                return {t: v for t, v in total.items() if not self._undo(t, v, terms)}
            case Sum(axes, body, mean):
                return self._sum(axes, self.visit(body), mean=mean)
            case Softmax(axis, argument, _):
                gain = self.visit(argument)
                if any(axis in _names(term) for term in gain):
                    raise _VisibleError
                self.swallowed |= bool(gain)
                return {}
            case Apply(function, argument) if function.name == "identity":
                return self.visit(argument)
            case _:
                if any(self.visit(child) for child in children(expr)):
                    raise _VisibleError
                return {}

    def _open(self, factors: list[Expr]) -> tuple[list[Expr], list[str]]:
        """Write a product of factors, sums of products among them, as atoms and the axes that they are summed over."""
        atoms: list[Expr] = []
        bound: list[str] = []
        for factor in _flat(factors):
            if isinstance(factor, Sum) and not factor.mean and isinstance(factor.body, Mul | Ref):
                fresh = {axis: f"{axis}~{next(self.fresh)}" for axis in factor.axes}
                inner, deeper = self._open([_rename(factor.body, fresh)])
                atoms += inner
                bound += [*fresh.values(), *deeper]
            elif not isinstance(factor, Number):
                atoms.append(factor)
        return atoms, bound

    def _read(self, ref: Ref) -> _Gain:
        names = [index.axis for index in ref.indices]
        if ref.tensor == self.source.name:
            kept = tuple(index for p, index in enumerate(ref.indices) if p != self.constant)
            if any(index.axis is None for index in kept):
                raise _VisibleError
            return {_canonical(_Term((Ref(SHIFT, kept),), ())): Fraction(1)}
        if ref.tensor not in self.gains:
            return {}
        axes, gain = self.gains[ref.tensor]
        total: _Gain = {}
        for term, value in gain.items():
            used = {axis: name for axis, name in zip(axes, names, strict=True) if axis in _names(term)}
            if None in used.values():
                raise _VisibleError
            renamed = tuple(_rename(atom, {k: str(v) for k, v in used.items()}) for atom in term.atoms)
            _plus(total, _Term(renamed, term.bound), value)
        return total

    def _sum(self, axes: tuple[str, ...], gain: _Gain, *, mean: bool) -> _Gain:
        total: _Gain = {}
        for start, start_value in gain.items():
            term, value = start, start_value
            for axis in axes:
                size = self.program.sizes[axis]
                value = value / size if mean else value
                with_axis = [atom for atom in term.atoms if axis in free_axes(atom)]
                if not with_axis:
                    value *= size
                elif len(with_axis) == 1 and self._sums_to_zero(with_axis[0], axis):
                    self.cancelled, value = True, Fraction(0)
                elif len(with_axis) == 1 and self._sums_to_one(with_axis[0], axis):
                    term = _Term(tuple(atom for atom in term.atoms if atom is not with_axis[0]), term.bound)
                else:
                    term = _Term(term.atoms, (*term.bound, axis))
            _plus(total, term, value)
        return total

    def _sums_to_one(self, atom: Expr, axis: str) -> bool:
        if not isinstance(atom, Ref) or atom.tensor not in self.weights:
            return False
        statement = self.weights[atom.tensor]
        assert isinstance(statement.expr, Softmax)  # noqa: S101 - by the choice of weights
        names = [index.axis for index in atom.indices]
        return names.count(axis) == 1 and statement.axes[names.index(axis)] == statement.expr.axis

    def _sums_to_zero(self, expr: Expr, axis: str) -> bool:
        """Tell whether an expression is centred along an axis: a ``y - mean(y)`` times what does not vary along it."""
        match expr:
            case Ref(tensor, indices) if tensor in self.statements:
                statement = self.statements[tensor]
                at = [p for p, index in enumerate(indices) if axis in {name for name, _ in index.terms}]
                return (
                    len(at) == 1
                    and indices[at[0]].axis == axis
                    and self._sums_to_zero(statement.expr, statement.axes[at[0]])
                )
            case Sum(axes, body, _) if axis not in axes:
                return self._sums_to_zero(body, axis)
            case Mul(factors):
                varying = [factor for factor in factors if axis in free_axes(factor)]
                return len(varying) == 1 and self._sums_to_zero(varying[0], axis)
            case Add((first, Mul((Number(value), second)))) if value == -1:
                names: dict[str, str] = {}
                if isinstance(second, Ref) and second.tensor in self.statements:
                    statement = self.statements[second.tensor]
                    indices = [index.axis for index in second.indices]
                    names = {a: str(i) for a, i in zip(statement.axes, indices, strict=True)}
                    second = statement.expr
                if not isinstance(second, Sum) or not second.mean or len(second.axes) != 1 or "None" in names.values():
                    return False
                return axis not in names.values() and _rename(second.body, {**names, second.axes[0]: axis}) == first
            case _:
                return False

    def _undo(self, term: _Term, value: Fraction, terms: tuple[Expr, ...]) -> bool:
        """Let a parameter of the same sum undo a term; tell whether one could."""
        for other in terms:
            axes = other.axes if isinstance(other, Sum) else ()
            body = other.body if isinstance(other, Sum) else other
            factors = _flat(body.factors if isinstance(body, Mul) else (body,))
            number = math.prod((f.value for f in factors if isinstance(f, Number)), start=Fraction(1))
            if isinstance(other, Sum) and other.mean:
                number /= math.prod(self.program.sizes[axis] for axis in axes)
            atoms: list[Expr] = [f for f in factors if not isinstance(f, Number)]
            for place, atom in enumerate(atoms):
                if number and isinstance(atom, Ref) and atom.tensor in self.once:
                    rest = [a for n, a in enumerate(atoms) if n != place]
                    mutual = self._stands_beside(terms, rest)
                    undo = self._match(term, value / number, atom, rest, axes, mutual=mutual)
                    if undo is not None:
                        self.undone.append(undo)
                        return True
        return False

    def _stands_beside(self, terms: tuple[Expr, ...], rest: list[Expr]) -> bool:
        """Tell whether the source is read in the same sum with the same factors, so that it could undo the other."""
        for other in terms:
            body = other.body if isinstance(other, Sum) else other
            atoms = [f for f in _flat(body.factors if isinstance(body, Mul) else (body,)) if not isinstance(f, Number)]
            reads = [atom for atom in atoms if isinstance(atom, Ref) and atom.tensor == self.source.name]
            if len(reads) == 1 and Counter(atom for atom in atoms if atom is not reads[0]) == Counter(rest):
                return True
        return False

    def _match(
        self, term: _Term, value: Fraction, target: Ref, rest: list[Expr], axes: tuple[str, ...], *, mutual: bool
    ) -> Undo | None:
        names = [index.axis for index in target.indices]
        if None in names or len(set(names)) < len(names):
            return None
        for chosen in itertools.permutations(term.bound, len(axes)):
            mapping = dict(zip(axes, chosen, strict=True))
            left = Counter(term.atoms)
            needed = Counter(_rename(atom, mapping) for atom in rest)
            if needed - left:
                continue
            left -= needed
            place = tuple(mapping.get(str(name), str(name)) for name in names)
            found = self._quotient(
                list(left.elements()), place, set(term.bound) - set(chosen), target.tensor, mutual=mutual
            )
            outside = {name for atom in needed for name in free_axes(atom)} - set(place)
            if found is not None and not outside & (set(term.bound) - set(chosen)):
                shift, factor = found
                plain = tuple(str(i.axis) for i in factor.indices) if factor else ()
                return Undo(target.tensor, place, shift, value, factor.tensor if factor else None, plain)
        return None

    def _quotient(
        self, atoms: list[Expr], place: tuple[str, ...], bound: set[str], target: str, *, mutual: bool
    ) -> tuple[tuple[str, ...], Ref | None] | None:
        """Split what is left after division into the shift and at most one parameter, if ``target`` may take it."""
        refs = [atom for atom in atoms if isinstance(atom, Ref)]
        factors = [ref for ref in refs if ref.tensor != SHIFT]
        if len(refs) < len(atoms) or len(factors) > 1 or len(refs) == len(factors):
            return None
        names = {name for ref in refs for name in free_axes(ref)}
        if not names <= {*place, *bound} or any(i.axis is None for ref in refs for i in ref.indices):
            return None
        if factors and factors[0].tensor not in self.order:
            return None
        shift = tuple(str(index.axis) for ref in refs if ref.tensor == SHIFT for index in ref.indices)
        if mutual and not factors and not set(shift) & bound:
            # of two that may undo each other one is the source; the one with fewer indices, or the earlier one
            later = self.order[target] > self.order[self.source.name]
            same = set(shift) == set(place)
            if (self.constant is not None and (same or not later)) or (self.constant is None and same and not later):
                return None
        return shift, factors[0] if factors else None


def _flat(factors: tuple[Expr, ...] | list[Expr]) -> list[Expr]:
    return [f for factor in factors for f in (_flat(factor.factors) if isinstance(factor, Mul) else [factor])]


def _names(term: _Term) -> set[str]:
    return {name for atom in term.atoms for name in free_axes(atom)} - set(term.bound)


def _plus(total: _Gain, term: _Term, value: Fraction) -> None:
    key = _canonical(term)
    total[key] = total.get(key, Fraction(0)) + value
    if not total[key]:
        del total[key]
    if len(total) > LARGEST_TERMS:
        raise _VisibleError


def _canonical(term: _Term) -> _Term:
    """Order the atoms and number the bound axes."""
    hidden = dict.fromkeys(term.bound, "~")
    atoms = sorted(term.atoms, key=lambda atom: (_text(_rename(atom, hidden)), _text(atom)))
    seen = [name for atom in atoms for name in free_axes(atom) if name in hidden]
    numbers = {name: f"~{n}" for n, name in enumerate(dict.fromkeys(seen))}
    renamed = tuple(sorted((_rename(atom, numbers) for atom in atoms), key=_text))
    return _Term(renamed, tuple(sorted(numbers.values())))


def _text(expr: Expr) -> str:
    return print_expression(expr, explicit=True)


def _rename(expr: Expr, names: Mapping[str, str]) -> Expr:
    """Rename free axes; the shift shows where a name would be caught by a sum."""
    match expr:
        case Ref(tensor, indices):
            moved = (Index(tuple((names.get(a, a), c) for a, c in i.terms), i.offset) for i in indices)
            return Ref(tensor, tuple(moved))
        case Add(terms):
            return Add(tuple(_rename(term, names) for term in terms))
        case Mul(factors):
            return Mul(tuple(_rename(factor, names) for factor in factors))
        case Power(base, exponent):
            return Power(_rename(base, names), exponent)
        case Apply(function, argument):
            return Apply(function, _rename(argument, names))
        case Softmax(axis, argument, until):
            place = None if until is None else names.get(until, until)
            return Softmax(names.get(axis, axis), _rename(argument, names), place)
        case Sum(axes, body, mean):
            if set(axes) & set(names.values()):
                raise _VisibleError
            return Sum(axes, _rename(body, {k: v for k, v in names.items() if k not in axes}), mean)
        case _:
            return expr


def undo_entries(
    program: Program, undo: Undo, shift: Mapping[tuple[int, ...], Fraction]
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...] | None, Fraction]]:
    """Write out what undoes one shift: entry of ``undo.tensor``, entry of the factor (or None), and coefficient."""
    sizes = dict(zip(undo.target, program.parameter(undo.tensor).shape, strict=True))
    if undo.factor is not None:
        sizes |= dict(zip(undo.factor_axes, program.parameter(undo.factor).shape, strict=True))
    for place, value in shift.items():
        known: dict[str, int] = {}
        if any(known.setdefault(name, at) != at for name, at in zip(undo.shift, place, strict=True)):
            continue
        free = [name for name in sizes if name not in known]
        for values in itertools.product(*(range(sizes[name]) for name in free)):
            at = {**known, **dict(zip(free, values, strict=True))}
            factor = None if undo.factor is None else tuple(at[name] for name in undo.factor_axes)
            yield tuple(at[name] for name in undo.target), factor, -undo.coefficient * value
