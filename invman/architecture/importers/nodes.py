"""Expressions while an import is under way: substitution of indices, and nodes that must vanish before the end.

A pending node stands for something that has no place in a program by itself but is a part of something that has: the
maximum that a softmax subtracts, the entries that it leaves out, an integer input that will index an embedding, a
comparison that chooses a branch of relu. What is still pending when the import ends is an error that names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from invman.architecture.program import (
    Add,
    Apply,
    Expr,
    Index,
    Mul,
    Number,
    Power,
    Ref,
    Softmax,
    Sum,
    children,
    walk,
)


@dataclass(frozen=True)
class Maximum(Sum):
    """The largest value of the body over axes; vanishes in a softmax."""

    where: str = field(default="", compare=False)


@dataclass(frozen=True)
class Mask(Ref):
    """A constant of zeros and ones, read where a softmax may look."""

    values: np.ndarray = field(default_factory=lambda: np.ones(()), compare=False)


@dataclass(frozen=True)
class Masked(Mul):
    """``factors[0]`` where the constant ``factors[1]`` is 1, minus infinity where it is 0; vanishes in a softmax."""

    where: str = field(default="", compare=False)


@dataclass(frozen=True)
class Token(Ref):
    """An integer input; vanishes where it indexes a tensor, which makes it a one-hot input."""

    where: str = field(default="", compare=False)


@dataclass(frozen=True)
class Compare(Add):
    """``terms[0] relation terms[1]``; vanishes where it chooses between the branches of a piecewise linear map."""

    relation: str = ""
    where: str = field(default="", compare=False)


Pending = Maximum | Masked | Token | Compare
DESCRIPTION = {
    Maximum: "a maximum over an axis that no softmax uses (such as max-pooling)",
    Masked: "minus infinity outside a softmax",
    Token: "an integer input that does not index a tensor",
    Compare: "a comparison, or integer arithmetic on an input",
}


def pending(expr: Expr) -> Pending | None:
    """Return the first pending node, or None."""
    return next((node for node in walk(expr) if isinstance(node, Pending)), None)


def rebuild(expr: Expr, parts: tuple[Expr, ...]) -> Expr:
    """Return the node with other direct sub-expressions."""
    match expr:
        case Add():
            return replace(expr, terms=parts)
        case Mul():
            return replace(expr, factors=parts)
        case Power():
            return replace(expr, base=parts[0])
        case Sum():
            return replace(expr, body=parts[0])
        case Apply() | Softmax():
            return replace(expr, argument=parts[0])
        case _:
            return expr


def plain(axis: str) -> Index:
    """Return the index that is nothing but an axis."""
    return Index(((axis, 1),))


def fixed(value: int) -> Index:
    """Return a constant index."""
    return Index((), value)


def compose(index: Index, mapping: Mapping[str, Index]) -> Index:
    """Put indices in the place of the axes of an index."""
    total: dict[str, int] = {}
    offset = index.offset
    for axis, factor in index.terms:
        inner = mapping.get(axis)
        if inner is None:
            total[axis] = total.get(axis, 0) + factor
            continue
        offset += factor * inner.offset
        for name, coefficient in inner.terms:
            total[name] = total.get(name, 0) + factor * coefficient
    return Index(tuple((axis, factor) for axis, factor in total.items() if factor), offset)


def substitute(expr: Expr, mapping: Mapping[str, Index]) -> Expr:
    """Put indices in the place of free axes; the axes of a softmax may only be renamed.

    Examples
    --------
    >>> substitute(Ref("x", (plain("i"),)), {"i": fixed(2)})
    Ref(tensor='x', indices=(Index(terms=(), offset=2),))
    """
    if not mapping:
        return expr
    match expr:
        case Ref():
            return replace(expr, indices=tuple(compose(index, mapping) for index in expr.indices))
        case Number():
            return expr
        case Softmax(axis, argument, until):
            return Softmax(_renamed(axis, mapping), substitute(argument, mapping), until and _renamed(until, mapping))
        case Add(terms):
            return replace(expr, terms=tuple(substitute(term, mapping) for term in terms))
        case Mul(factors):
            return replace(expr, factors=tuple(substitute(factor, mapping) for factor in factors))
        case Power(base, _):
            return replace(expr, base=substitute(base, mapping))
        case Sum(axes, body, _):
            inner = {axis: index for axis, index in mapping.items() if axis not in axes}
            return replace(expr, body=substitute(body, inner))
        case Apply(_, argument):
            return replace(expr, argument=substitute(argument, mapping))


def _renamed(axis: str, mapping: Mapping[str, Index]) -> str:
    index = mapping.get(axis)
    if index is None:
        return axis
    if index.axis is None:
        msg = f"axis {axis} of a softmax cannot become an affine index"
        raise ValueError(msg)
    return index.axis


def softmax_axes(expr: Expr) -> Iterator[str]:
    """Yield the axes that softmax nodes run over, which no affine index can replace."""
    for node in walk(expr):
        if isinstance(node, Softmax):
            yield node.axis
            if node.until is not None:
                yield node.until


def canonical(expr: Expr, axes: Sequence[str], size: Callable[[str], int]) -> object:
    """Return a form that two expressions share when they differ in the names of their axes only."""
    return _form(expr, {axis: (number, size(axis)) for number, axis in enumerate(axes)}, size)


def _form(expr: Expr, names: dict[str, tuple[int, int]], size: Callable[[str], int]) -> object:
    match expr:
        case Ref(tensor, indices):
            terms = tuple((tuple((names[axis], c) for axis, c in index.terms), index.offset) for index in indices)
            return type(expr).__name__, tensor, terms
        case Number(value):
            return value
        case Sum(axes, body, mean):
            inner = {**names, **{axis: (len(names) + number, size(axis)) for number, axis in enumerate(axes)}}
            return type(expr).__name__, mean, tuple(inner[axis] for axis in axes), _form(body, inner, size)
        case Softmax(axis, argument, until):
            return "softmax", names[axis], until and names[until], _form(argument, names, size)
        case Power(base, exponent):
            return "power", exponent, _form(base, names, size)
        case Apply(function, argument):
            return "apply", function.name, _form(argument, names, size)
        case _:
            return type(expr).__name__, tuple(_form(child, names, size) for child in children(expr))
