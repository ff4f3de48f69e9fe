"""Symbolic arrays: each dimension an ordered tuple of named axes, each entry an expression over them.

An importer replays the operations of a framework on these arrays. Two dimensions that are added or contracted
share their axes. Where a dimension is reshaped, its axis is *split* at its source: the parameter or input that brings
it in gets two positions instead of one, in C order, so that theta is the same flat vector. As that changes what was
built before, a split raises :class:`Resplit`, and the import starts again knowing it; every axis that is merged by a
reshape simply stays a tuple of axes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from invman.architecture.importers import algebra
from invman.architecture.importers.axes import Axes, Memory
from invman.architecture.importers.nodes import (
    Mask,
    Token,
    canonical,
    fixed,
    pending,
    plain,
    softmax_axes,
    substitute,
)
from invman.architecture.program import (
    Apply,
    Expr,
    Index,
    Mul,
    Number,
    Ref,
    Softmax,
    Statement,
    Sum,
    free_axes,
    walk,
)
from invman.errors import OverBudgetError

Dims = tuple[tuple[str, ...], ...]
ENTRIES = 1_000_000
"""Entries of one constant, beyond which it is refused."""


@dataclass(frozen=True)
class Symbolic:
    """An array whose entries are expressions.

    Attributes
    ----------
    dims : tuple of tuples of str
        The axes that each dimension merges, slowest first; an empty tuple is a dimension of size 1.
    expr : Expr
        The entry; its free axes are among those of ``dims``.
    """

    dims: Dims
    expr: Expr

    @property
    def atoms(self) -> tuple[str, ...]:
        """All axes, flat."""
        return tuple(axis for dim in self.dims for axis in dim)


Value = Symbolic | np.ndarray


def compact(array: np.ndarray) -> np.ndarray:
    """Return the array with size 1 along the dimensions along which it was broadcast."""
    pairs = zip(array.shape, array.strides, strict=True)
    return array[tuple(slice(None) if step or not size else slice(0, 1) for size, step in pairs)]


@dataclass
class Source:
    """A parameter, input or constant as the framework has it, before its axes are split."""

    name: str
    shape: tuple[int, ...]
    integer: bool = False


class ArrayBuilder(Axes):
    """Collects the statements of a program while the operations of a framework are replayed.

    Parameters
    ----------
    memory : Memory
        Splits known from the earlier attempts.
    entries : int
        Largest number of entries of a constant.
    """

    def __init__(self, memory: Memory, entries: int = ENTRIES) -> None:
        super().__init__(memory)
        self.entries = entries
        self.statements: dict[str, Statement] = {}
        self.parameters: list[Source] = []
        self.inputs: list[Source] = []
        self.constants: dict[str, np.ndarray] = {}
        self._known: dict[object, str] = {}
        self._constant_names: dict[tuple[object, ...], str] = {}

    def shape(self, value: Value) -> tuple[int, ...]:
        """Return the shape of an array."""
        return value.shape if isinstance(value, np.ndarray) else tuple(self.size(dim) for dim in value.dims)

    def source(self, source: Source, group: list[Source]) -> Symbolic:
        """Declare a parameter or input and return it as an array."""
        group.append(source)
        dims = tuple(self.dimension(size, (source.name, place)) for place, size in enumerate(source.shape))
        indices = tuple(plain(axis) for dim in dims for axis in dim)
        return Symbolic(dims, Token(source.name, indices, self.where) if source.integer else Ref(source.name, indices))

    def one_hot(self, token: Token, values: int) -> tuple[Expr, str]:
        """Return the one-hot form of an integer input and its new axis, which runs over the values."""
        known = self.memory.values.setdefault(token.tensor, values)
        if known != values:
            raise self.fail(f"{token.tensor} as an index into {known} and {values} values", "one number of values")
        (axis,) = self.dimension(values, (token.tensor, "values")) or (self.fresh(1),)
        return Ref(token.tensor, (*token.indices, plain(axis))), axis

    def constant(self, array: np.ndarray, dims: Dims, *, mask: bool = False, own: object = None) -> Expr:
        """Return a constant array of the shape of ``dims`` as an expression; axes along which it is constant go.

        Equal constants are one, unless ``own`` tells them apart: what only moves entries shall not tie axes together.
        """
        atoms = [axis for dim in dims for axis in dim]
        array = compact(np.asarray(array).reshape([self.size(axis) for axis in atoms]))
        firsts = [array[(slice(None),) * n + (slice(0, 1),)] for n in range(array.ndim)]
        keep = [n for n, first in enumerate(firsts) if first.shape != array.shape and not (array == first).all()]
        array = array[tuple(slice(None) if n in keep else 0 for n in range(array.ndim))]
        indices = tuple(plain(atoms[n]) for n in keep)
        if array.dtype.kind == "V":  # bfloat16 and its kind
            array = array.astype(np.float64)
        if mask:
            array = array.astype(np.float64)
        if array.dtype.kind not in "biuf":
            raise self.fail(f"a constant of dtype {array.dtype}", "real numbers")
        if not np.isfinite(array).all():
            raise self.fail("an infinite constant or nan", "finite numbers (minus infinity only in front of a softmax)")
        if not indices:
            return algebra.number(array.item())
        if array.size > self.entries and not mask:  # a causal mask vanishes; another one is refused at the end
            advice = "Pass large arrays as parameters or inputs, not as closed-over constants."
            raise OverBudgetError(f"entries of a constant in {self.place!r}", array.size, self.entries, advice)
        key = (array.shape, array.astype(np.float64).tobytes(), own)
        name = self._constant_names.setdefault(key, f"c{len(self.constants) + 1}")
        self.constants[name] = array
        return Mask(name, indices, self.constants[name]) if mask else Ref(name, indices)

    def simple(self, expr: Expr) -> bool:
        """Tell whether an expression may be written again rather than given a name."""
        match expr:
            case Mul((Number(), Ref())):
                return type(expr) is Mul
        return isinstance(expr, Ref | Number)

    def named(self, value: Value) -> Value:
        """Give an array a statement of its own, unless it is a mere reference or not complete yet."""
        if isinstance(value, np.ndarray) or self.simple(value.expr) or pending(value.expr):
            return value
        if algebra.is_apply(value.expr, "exp") and isinstance(value.expr, Apply):  # it may be part of a softmax
            inner = self.named(Symbolic(value.dims, value.expr.argument))
            assert isinstance(inner, Symbolic)  # noqa: S101 - for the type checker
            return Symbolic(value.dims, Apply(value.expr.function, inner.expr))
        axes = tuple(axis for axis in value.atoms if axis in free_axes(value.expr))
        form = canonical(value.expr, axes, self.size)
        name = self._known.setdefault(form, f"h{len(self.statements) + 1}")
        self.statements.setdefault(name, Statement(name, axes, value.expr))
        return Symbolic(value.dims, Ref(name, tuple(plain(axis) for axis in axes)))

    def replaced(self, value: Symbolic, mapping: dict[str, Index], dims: Dims) -> Symbolic:
        """Put indices in the place of axes."""
        used = free_axes(value.expr)
        mapping = {axis: index for axis, index in mapping.items() if axis in used}
        affine = {axis for axis, index in mapping.items() if index.axis is None}
        merged = len({index.axis for index in mapping.values()}) < len(mapping)
        if affine & set(softmax_axes(value.expr)) or (merged and list(softmax_axes(value.expr))):
            named = self.named(value)
            assert isinstance(named, Symbolic)  # noqa: S101 - for the type checker
            value = named
        for axis, index in mapping.items():
            if index.axis is not None:
                self.unite(axis, index.axis)
        return Symbolic(dims, substitute(value.expr, mapping))

    def renewed(self, value: Symbolic) -> Symbolic:
        """Return the same array over new axes."""
        new = {axis: self.fresh(self.size(axis)) for axis in value.atoms}
        for axis in value.atoms:  # an axis that nothing uses is renewed as well, and stays what it was
            self.unite(axis, new[axis])
        dims = tuple(tuple(new[axis] for axis in dim) for dim in value.dims)
        return self.replaced(value, {axis: plain(name) for axis, name in new.items()}, dims)

    def uses(self, value: Symbolic, dim: tuple[str, ...]) -> bool:
        """Tell whether the entries depend on a dimension."""
        return bool(set(dim) & set(free_axes(value.expr)))

    def aligned(self, left: Symbolic, right: Symbolic) -> tuple[Dims, Expr, Expr]:
        """Bring two arrays of one shape onto common axes."""
        if left.dims == right.dims:
            return left.dims, left.expr, right.expr
        if set(left.atoms) & set(right.atoms):
            right = self.renewed(right)
        dims: list[tuple[str, ...]] = []
        lefts: dict[str, Index] = {}
        for place, (mine, other) in enumerate(zip(left.dims, right.dims, strict=True)):
            axes, renaming = self._match(left, mine, right, other)
            if renaming is None:
                regrouped = self.selected(right, place, self._sizes(mine))
                axes, renaming = mine, dict(zip(regrouped.dims[place], mine, strict=True))
                right = regrouped
            dims.append(axes)
            lefts.update({axis: plain(name) for axis, name in renaming.items()})
        moved = self.replaced(right, lefts, tuple(dims))
        return moved.dims, left.expr, moved.expr

    def _sizes(self, dim: tuple[str, ...]) -> list[int]:
        return [self.size(axis) for axis in dim]

    def _match(
        self, left: Symbolic, mine: tuple[str, ...], right: Symbolic, other: tuple[str, ...]
    ) -> tuple[tuple[str, ...], dict[str, str] | None]:
        """Return the common axes of two dimensions, and the renaming of the right one's; None if there is none."""
        if not self.uses(right, other):
            return mine if self.uses(left, mine) or mine else other, {}
        if not self.uses(left, mine):
            return other, {}
        axes: list[str] = []
        renaming: dict[str, str] = {}
        one, two = list(mine), list(other)
        while one or two:
            if one and self.size(one[0]) == 1 and not (two and self.size(two[0]) == 1):
                axes.append(one.pop(0))
            elif two and self.size(two[0]) == 1 and not (one and self.size(one[0]) == 1):
                axes.append(two.pop(0))
            elif self.size(one[0]) == self.size(two[0]):
                axes.append(one.pop(0))
                renaming[two.pop(0)] = axes[-1]
            else:
                small, large = sorted((one[0], two[0]), key=self.size)
                if self.size(large) % self.size(small):
                    return (), None
                self.split(large, self.size(large) // self.size(small))
        return tuple(axes), renaming

    def elementwise(self, function: Callable[..., Expr], *values: Value) -> Symbolic:
        """Apply a function of expressions to every entry of arrays of one shape (or scalars)."""
        shape = np.broadcast_shapes(*(self.shape(value) for value in values))
        arrays = [self.spread(value, shape) for value in values if isinstance(value, Symbolic)]
        dims, exprs = arrays[0].dims, [arrays[0].expr]
        for value in arrays[1:]:
            dims, _, moved = self.aligned(Symbolic(dims, Mul(tuple(exprs))), value)
            exprs.append(moved)
        numbers = iter(exprs)
        operands = [
            next(numbers) if isinstance(value, Symbolic) else self.constant(np.broadcast_to(value, shape), dims)
            for value in values
        ]
        return Symbolic(dims, function(*operands))

    def spread(self, value: Symbolic, shape: tuple[int, ...]) -> Symbolic:
        """Broadcast to a shape by the rules of numpy: new dimensions in front, size 1 becomes any size."""
        if self.shape(value) == shape:
            return value
        if self._summed(value.expr) and math.prod(shape) > math.prod(self.shape(value)):
            value = self._hoisted(value)
        ahead = len(shape) - len(value.dims)
        dims: list[tuple[str, ...]] = []
        gone: dict[str, Index] = {}
        for place, size in enumerate(shape):
            own = value.dims[place - ahead] if place >= ahead else ()
            if self.size(own) == size and own:
                dims.append(own)
                continue
            gone.update({axis: fixed(0) for axis in own})
            dims.append(self.dimension(size) if size > 1 else ())
        return self.replaced(value, gone, tuple(dims))

    def _hoisted(self, value: Symbolic) -> Symbolic:
        """Give an array a statement, without the number in front of it."""
        match value.expr:
            case Mul((Number() as number, *rest)) if type(value.expr) is Mul:
                inner = self.readable(Symbolic(value.dims, algebra.mul(*rest)))
                return Symbolic(value.dims, algebra.mul(number, inner.expr))
        return self.readable(value)

    @staticmethod
    def _summed(expr: Expr) -> bool:
        """Tell whether an expression sums something other than the exponentials of a softmax to be."""
        return any(
            isinstance(node, Softmax) or (isinstance(node, Sum) and not algebra.is_apply(node.body, "exp"))
            for node in walk(expr)
        )

    def linear(self, value: Symbolic, place: int, table: np.ndarray, sizes: Sequence[int] | None = None) -> Symbolic:
        """Return ``y[new] = sum_old table[new,old] x[old]`` along one dimension, for a constant table."""
        value = self.readable(value)
        shape = tuple(table.shape[:-1] if sizes is None else sizes)
        new = tuple(self.dimension(size) for size in shape)
        old = {axis: self.fresh(self.size(axis)) for axis in value.dims[place]}
        for axis, bound in old.items():
            self.unite(axis, bound)
        body = substitute(value.expr, {axis: plain(bound) for axis, bound in old.items()})
        flat = tuple(axis for dim in new for axis in dim)
        fixed_table = self.constant(table, ((*flat,), tuple(old.values())), own=flat)
        bound = tuple(old.values())
        dims = (*value.dims[:place], flat if sizes is not None else (), *value.dims[place + 1 :])
        if sizes is None:
            dims = (*value.dims[:place], *new, *value.dims[place + 1 :])
        return Symbolic(dims, self.total(bound, algebra.mul(fixed_table, body)))

    def selected(self, value: Symbolic, place: int, sizes: Sequence[int]) -> Symbolic:
        """Return the same array with one dimension over other axes; the constant that relates them is written out."""
        total = math.prod(sizes)
        if total**2 > self.entries:
            advice = "A reshape between axes that do not divide each other needs a constant of this size."
            raise OverBudgetError(f"entries of a constant in {self.place!r}", total**2, self.entries, advice)
        return self.linear(value, place, np.eye(total), sizes)

    def readable(self, value: Symbolic) -> Symbolic:
        """Return the array as a reference, so that it can be read in another expression."""
        named = self.named(value)
        return named if isinstance(named, Symbolic) else value

    def total(self, axes: Sequence[str], body: Expr) -> Expr:
        """Sum a body over axes; numbers stand in front, an axis that does not occur counts its size."""
        used = free_axes(body)
        factor = self.size([axis for axis in axes if axis not in used])
        over = tuple(axis for axis in axes if axis in used)
        number = [algebra.number(factor)]
        if type(body) is Sum and not body.mean:
            over, body = (*over, *body.axes), body.body
        if type(body) is Mul and isinstance(body.factors[0], Number):
            number.append(body.factors[0])
            body = algebra.mul(*body.factors[1:])
        return algebra.mul(*number, Sum(over, body) if over else body, sizes=self.sizes)
