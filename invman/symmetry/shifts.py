"""Translations of parameters that leave F unchanged: what a softmax does not see, and terms that only add up.

A softmax over t is unchanged when something that does not vary along t is added to its argument. Adding the same number
to all entries of a read-out along t does that (row sums are conserved), and so does any bias of the keys. Centring, the
``x - mean(x)`` of LayerNorm, swallows what is constant along the axis in the same way. And where two parameters are
added with one and the same factor, what the one gains the other may lose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from invman.architecture.printer import print_expression
from invman.architecture.program import (
    Add,
    Apply,
    Expr,
    Mul,
    Number,
    Program,
    Ref,
    Softmax,
    Sum,
    Tensor,
    children,
    free_axes,
    walk,
)
from invman.symmetry.axes import Carrier


@dataclass(frozen=True)
class ShiftFactor:
    """A space of translations.

    Attributes
    ----------
    tensors : tuple of str
        The parameter that is shifted; two where one gains what the other loses.
    constant_along : Carrier or None
        The position along which the shift is constant; None for an arbitrary shift.
    dimension : int
        Dimension of the space of translations.
    reason : str
        Why F does not see it.
    """

    tensors: tuple[str, ...]
    constant_along: Carrier | None
    dimension: int
    reason: str


def shifts(program: Program) -> tuple[ShiftFactor, ...]:
    """Find the translations that leave F unchanged.

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
    """
    found: list[ShiftFactor] = []
    for tensor in program.parameters:
        if _swallowed(program, tensor.name, None):
            found.append(ShiftFactor((tensor.name,), None, tensor.size, "only added to what a softmax ignores"))
            continue
        for position, size in enumerate(tensor.shape):
            carrier = Carrier(tensor.name, position)
            if size > 1 and _swallowed(program, tensor.name, position):
                found.append(ShiftFactor((tensor.name,), carrier, tensor.size // size, "ignored by a softmax"))
    return (*found, *_redundant(program))


def _swallowed(program: Program, parameter: str, position: int | None) -> bool:
    """Tell whether a shift of a parameter, constant along a position (or arbitrary), never reaches the output."""
    moved: dict[str, frozenset[int]] = {parameter: frozenset() if position is None else frozenset({position})}
    reads = [node for s in program.statements for node in walk(s.expr) if isinstance(node, Ref)]
    if not any(ref.tensor == parameter for ref in reads):
        return False
    for statement in program.statements:
        try:
            shift = _shift(statement.expr, moved)
        except _VisibleError:
            return False
        if shift is not None:
            if statement.name in program.outputs:
                return False
            moved[statement.name] = frozenset(p for p, axis in enumerate(statement.axes) if axis not in shift)
    return True


class _VisibleError(Exception):
    """The shift shows."""


def _shift(expr: Expr, moved: dict[str, frozenset[int]]) -> frozenset[str] | None:
    """Return the axis names along which the shift of an expression varies; None where it is not shifted.

    ``moved`` gives, for each shifted tensor, the positions along which its shift is constant.
    """
    match expr:
        case Ref(tensor, indices):
            if tensor not in moved:
                return None
            constant = moved[tensor]
            return frozenset(axis for p, i in enumerate(indices) if p not in constant for axis, _ in i.terms)
        case Mul(factors):
            parts = [_shift(factor, moved) for factor in factors]
            if all(part is None for part in parts):
                return None
            if sum(part is not None for part in parts) > 1:
                raise _VisibleError
            varies: set[str] = set()
            for factor, part in zip(factors, parts, strict=True):
                varies |= part if part is not None else set(free_axes(factor))
            return frozenset(varies)
        case Add(terms):
            parts = [_shift(term, moved) for term in terms]
            axis = _centred(terms)
            if axis is not None and parts[0] is not None and axis not in parts[0]:
                return None
            known = [part for part in parts if part is not None]
            return frozenset().union(*known) if known else None
        case Sum(axes, body, _):
            inner = _shift(body, moved)
            return None if inner is None else inner - set(axes)
        case Softmax(axis, argument, _):
            inner = _shift(argument, moved)
            if inner is not None and axis in inner:
                raise _VisibleError
            return None
        case Apply(function, argument) if function.name == "identity":
            return _shift(argument, moved)
        case Number():
            return None
        case _:
            if any(isinstance(node, Ref) and node.tensor in moved for node in walk(expr)):
                inside = [_shift(child, moved) for child in children(expr)]
                if any(part is not None for part in inside):
                    raise _VisibleError
            return None


def _centred(terms: tuple[Expr, ...]) -> str | None:
    """Return the axis of a sum ``x - mean[axis](x)``, or None."""
    if len(terms) != 2:
        return None
    match terms[1]:
        case Mul((Number(value), Sum((axis,), body, True))) if value == -1 and body == terms[0]:
            return axis
    return None


def _redundant(program: Program) -> list[ShiftFactor]:
    """Find parameters that are read once, in the same sum, with the same factor and over the same axes."""
    reads: dict[str, int] = {}
    for statement in program.statements:
        for node in walk(statement.expr):
            if isinstance(node, Ref):
                reads[node.tensor] = reads.get(node.tensor, 0) + 1
    once = {t.name: t for t in program.parameters if reads.get(t.name) == 1}
    found = []
    for statement in program.statements:
        for node in walk(statement.expr):
            if isinstance(node, Add):
                found += _same_factor(node, once)
    return found


def _same_factor(node: Add, once: dict[str, Tensor]) -> list[ShiftFactor]:
    groups: dict[str, list[str]] = {}
    for term in node.terms:
        body = term.body if isinstance(term, Sum) else term
        factors = list(body.factors) if isinstance(body, Mul) else [body]
        for place, factor in enumerate(factors):
            if isinstance(factor, Ref) and factor.tensor in once and all(i.axis for i in factor.indices):
                rest = [print_expression(f, explicit=True) for n, f in enumerate(factors) if n != place]
                axes = term.axes if isinstance(term, Sum) else ()
                key = f"{sorted(rest)} {sorted(axes)} {[str(i.axis) for i in factor.indices]}"
                groups.setdefault(key, []).append(factor.tensor)
                break
    return [
        ShiftFactor((names[0], other), None, math.prod(once[other].shape), "added with the same factor")
        for names in groups.values()
        for other in names[1:]
    ]
