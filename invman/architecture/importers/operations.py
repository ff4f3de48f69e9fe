"""Operations on symbolic arrays that move, cut, join and contract dimensions; all importers are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from invman.architecture.importers import algebra
from invman.architecture.importers.builder import ArrayBuilder, Symbolic, Value
from invman.architecture.importers.nodes import Maximum, fixed, plain, substitute
from invman.architecture.program import Expr, Index, Mul, Number, Power, Ref


def transpose(value: Value, order: Sequence[int]) -> Value:
    """Permute dimensions."""
    if isinstance(value, np.ndarray):
        return np.transpose(value, order)
    return Symbolic(tuple(value.dims[place] for place in order), value.expr)


def reshape(b: ArrayBuilder, value: Value, shape: Sequence[int]) -> Value:
    """Reshape in C order: axes are merged into tuples, or split at their source."""
    if isinstance(value, np.ndarray):
        return value.reshape(shape)
    if b.shape(value) == tuple(shape):
        return value
    left = list(value.atoms)
    dims: list[tuple[str, ...]] = []
    for size in shape:
        group: list[str] = []
        rest = size
        while rest > 1 or (left and b.size(left[0]) == 1 and not group):
            inner = b.size(left[0])
            if rest % inner == 0:
                group.append(left.pop(0))
                rest //= inner
            elif inner % rest == 0:
                b.split(left[0], inner // rest)
            else:
                return _selected(b, value, shape)
        dims.append(tuple(group))
    return b.replaced(value, {axis: fixed(0) for axis in left}, tuple(dims))


def _selected(b: ArrayBuilder, value: Symbolic, shape: Sequence[int]) -> Symbolic:
    total = b.selected(Symbolic((value.atoms,), value.expr), 0, shape)
    axes = list(total.atoms)
    dims: list[tuple[str, ...]] = []
    for size in shape:
        group: list[str] = []
        while b.size(group) < size:
            group.append(axes.pop(0))
        dims.append(tuple(group))
    return Symbolic(tuple(dims), total.expr)


def insert(value: Value, places: Sequence[int]) -> Value:
    """Insert dimensions of size 1 at places of the result."""
    if isinstance(value, np.ndarray):
        return np.expand_dims(value, tuple(places))
    own = iter(value.dims)
    return Symbolic(tuple(() if n in places else next(own) for n in range(len(value.dims) + len(places))), value.expr)


def squeeze(b: ArrayBuilder, value: Value, places: Sequence[int]) -> Value:
    """Remove dimensions of size 1."""
    if isinstance(value, np.ndarray):
        return np.squeeze(value, tuple(places))
    gone = {axis: fixed(0) for place in places for axis in value.dims[place]}
    return b.replaced(value, gone, tuple(dim for n, dim in enumerate(value.dims) if n not in places))


def broadcast_in(b: ArrayBuilder, value: Value, shape: Sequence[int], places: Sequence[int]) -> Value:
    """Put the dimensions of an array at places of a shape and repeat it along the others."""
    if isinstance(value, np.ndarray):
        inner = [1] * len(shape)
        for own, place in enumerate(places):
            inner[place] = value.shape[own]
        return np.broadcast_to(value.reshape(inner), shape)
    own = dict(zip(places, value.dims, strict=True))
    return b.spread(Symbolic(tuple(own.get(n, ()) for n in range(len(shape))), value.expr), tuple(shape))


def narrow(b: ArrayBuilder, value: Value, place: int, start: int, count: int, step: int = 1) -> Value:
    """Take ``count`` entries of a dimension from ``start`` on; an even part of it is one value of a split axis."""
    if isinstance(value, np.ndarray):
        return value.take(start + step * np.arange(count), place)
    size = b.size(value.dims[place])
    if (count, step) == (size, 1) or not b.uses(value, value.dims[place]):
        new = value.dims[place] if count == size else b.dimension(count) if count > 1 else ()
        return Symbolic((*value.dims[:place], new, *value.dims[place + 1 :]), value.expr)
    if count == 1:
        return at(b, value, place, start, keep=True)
    parts, which, number = None, 0, 0
    if step == 1 and size % count == 0 and start % count == 0:
        parts, which, number = (size // count, count), 0, start // count
    elif step > 1 and size % step == 0 and count == size // step and start < step:
        parts, which, number = (count, step), 1, start
    if parts is not None:
        shape = b.shape(value)
        cut = reshape(b, value, (*shape[:place], *parts, *shape[place + 1 :]))
        assert isinstance(cut, Symbolic)  # noqa: S101 - for the type checker
        return at(b, cut, place + which, number)
    if len(value.dims[place]) > 1 or (start, step) == (0, 1):  # the first few: no index says so by itself
        return b.linear(value, place, np.eye(size)[start + step * np.arange(count)])
    new = b.dimension(count)
    dims = (*value.dims[:place], new, *value.dims[place + 1 :])
    return b.replaced(value, {value.dims[place][0]: Index(weights(b, new, step), start)}, dims)


def weights(b: ArrayBuilder, axes: Sequence[str], step: int) -> tuple[tuple[str, int], ...]:
    """Return the terms of ``step`` times the position along a dimension."""
    return tuple((axis, step * b.size(axes[number + 1 :])) for number, axis in enumerate(axes))


def at(b: ArrayBuilder, value: Symbolic, place: int, position: int, *, keep: bool = False) -> Symbolic:
    """Read one position of a dimension, which goes (or stays with size 1)."""
    mapping: dict[str, Index] = {}
    for axis in reversed(value.dims[place]):
        position, digit = divmod(position, b.size(axis))
        mapping[axis] = fixed(digit)
    dims = (*value.dims[:place], *(((),) if keep else ()), *value.dims[place + 1 :])
    return b.replaced(value, mapping, dims)


def take(b: ArrayBuilder, value: Symbolic, place: int, positions: np.ndarray) -> Value:
    """Read constant positions of a dimension, which is replaced by the dimensions of ``positions``."""
    if positions.ndim == 0:
        return at(b, value, place, int(positions))
    size = b.size(value.dims[place])
    steps = np.unique(np.diff(positions)) if positions.ndim == 1 else np.zeros(0)
    if positions.size == 1 or (len(steps) == 1 and steps[0] > 0):
        step = int(steps[0]) if positions.size > 1 else 1
        cut = narrow(b, value, place, int(positions.flat[0]), positions.size, step)
        shape = b.shape(cut)
        return reshape(b, cut, (*shape[:place], *positions.shape, *shape[place + 1 :]))
    return b.linear(value, place, np.eye(size)[positions])


def concatenate(b: ArrayBuilder, values: Sequence[Value], place: int) -> Value:
    """Join along a dimension; pieces of one size keep their axis, and a new one counts the pieces."""
    if all(isinstance(value, np.ndarray) for value in values):
        return np.concatenate([np.asarray(value) for value in values], place)
    counts = [b.shape(value)[place] for value in values]
    values = [value for value, count in zip(values, counts, strict=True) if count]
    counts = [count for count in counts if count]
    if len(values) == 1:
        return values[0]
    if len(set(counts)) == 1:
        pieces = [insert(value, [place]) for value in values]
        joined = _weighted(b, pieces, np.eye(len(values)), place)
        shape = b.shape(values[0])
        return reshape(b, joined, (*shape[:place], sum(counts), *shape[place + 1 :]))
    starts = np.cumsum([0, *counts])
    eye = np.eye(sum(counts))
    moved: list[Value] = []
    for value, start, count in zip(values, starts[:-1], counts, strict=True):
        table = eye[:, start : start + count]
        if isinstance(value, np.ndarray):
            moved.append(np.moveaxis(np.moveaxis(value, place, -1) @ table.T, -1, place))
        elif b.size(value.dims[place]) == 1:
            moved.append(_weighted(b, [value], table.T, place))
        else:
            moved.append(b.linear(value, place, table))
    return b.elementwise(algebra.add, *moved)


def _weighted(b: ArrayBuilder, pieces: Sequence[Value], weights: np.ndarray, place: int) -> Value:
    """Return ``sum_n weights[n] * piece_n`` where the weights run along a dimension in which the pieces have size 1."""
    rank = len(b.shape(pieces[0]))
    terms = [
        b.elementwise(
            algebra.mul,
            row.reshape([-1 if n == place else 1 for n in range(rank)]),
            b.readable(piece) if isinstance(piece, Symbolic) else Symbolic(((),) * rank, algebra.ONE),
        )
        if isinstance(piece, Symbolic)
        else row.reshape([-1 if n == place else 1 for n in range(rank)]) * piece
        for row, piece in zip(weights, pieces, strict=True)
    ]
    return b.elementwise(algebra.add, *terms)


def reduce_sum(b: ArrayBuilder, value: Symbolic, places: Sequence[int], *, mean: bool = False) -> Symbolic:
    """Sum, or average, over dimensions."""
    bound, body = _bind(b, value, places)
    total = b.total(bound, body)
    if mean:
        total = algebra.mul(Number(Fraction(1, b.size(bound))), total, sizes=b.sizes)
    return Symbolic(tuple(dim for n, dim in enumerate(value.dims) if n not in places), total)


def reduce_max(b: ArrayBuilder, value: Symbolic, places: Sequence[int]) -> Symbolic:
    """Take the maximum over dimensions, which a softmax must use up."""
    bound, body = _bind(b, value, places)
    dims = tuple(dim for n, dim in enumerate(value.dims) if n not in places)
    return Symbolic(dims, Maximum(tuple(bound), body, where=b.where) if bound else body)


def _bind(b: ArrayBuilder, value: Symbolic, places: Sequence[int]) -> tuple[list[str], Expr]:
    new = {axis: b.fresh(b.size(axis)) for place in places for axis in value.dims[place]}
    for axis, bound in new.items():
        b.unite(axis, bound)
    return list(new.values()), substitute(value.expr, {axis: plain(bound) for axis, bound in new.items()})


def factor(expr: Expr) -> bool:
    """Tell whether an expression may stand in a contraction as it is."""
    match expr:
        case Number() | Ref():
            return True
        case Power(base, _):
            return isinstance(base, Ref)
        case Mul(factors):
            return all(factor(part) for part in factors)
    return False


def contract(
    b: ArrayBuilder,
    left: Value,
    right: Value,
    contracting: tuple[Sequence[int], Sequence[int]],
    batch: tuple[Sequence[int], Sequence[int]] = ((), ()),
) -> Value:
    """Contract dimensions of two arrays; the result has the batch dimensions, then those left of each."""
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        msg = "a contraction of two constants is evaluated, not imported"
        raise TypeError(msg)
    sides = [_operand(b, left), _operand(b, right)]
    common = [(*batch[side], *contracting[side]) for side in (0, 1)]
    free = [[n for n in range(len(b.shape(side))) if n not in common[place]] for place, side in enumerate(sides)]
    one, two = (transpose(side, (*common[n], *free[n])) for n, side in enumerate(sides))
    shape = b.shape(one)[: len(common[0])]
    ones, twos = b.shape(one)[len(shape) :], b.shape(two)[len(shape) :]
    rank = len(shape)
    wide_one = insert(one, range(len(b.shape(one)), len(b.shape(one)) + len(twos)))
    wide_two = insert(two, range(rank, rank + len(ones)))
    product = b.elementwise(algebra.mul, wide_one, wide_two)
    return reduce_sum(b, product, range(len(batch[0]), rank))


def _operand(b: ArrayBuilder, value: Value) -> Value:
    return value if isinstance(value, np.ndarray) or factor(value.expr) else b.readable(value)
