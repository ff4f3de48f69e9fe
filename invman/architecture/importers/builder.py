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
from dataclasses import dataclass, field, replace

import numpy as np

from invman.architecture.importers import algebra
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
    Add, Apply, Expr, Index, Mul, Number, Power, Ref, Softmax, Statement, Sum, children, free_axes, walk,
)
from invman.errors import OverBudgetError, UnsupportedError

Dims = tuple[tuple[str, ...], ...]
Key = tuple[object, ...]
ENTRIES = 1_000_000
"""Entries of one constant, beyond which it is refused."""


class Resplit(Exception):  # noqa: N818 - a signal between the builder and `replay`, never shown
    """An axis was split; start again."""


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
    return array[tuple(slice(None) if step or not size else slice(0, 1) for size, step in zip(array.shape, array.strides, strict=True))]


@dataclass
class Source:
    """A parameter, input or constant as the framework has it, before its axes are split."""

    name: str
    shape: tuple[int, ...]
    integer: bool = False


@dataclass
class Memory:
    """What survives a restart: the splits found so far, and the number of values of each integer input."""

    splits: dict[Key, tuple[int, ...]] = field(default_factory=dict)
    values: dict[str, int] = field(default_factory=dict)


class ArrayBuilder:
    """Collects the statements of a program while the operations of a framework are replayed.

    Parameters
    ----------
    memory : Memory
        Splits known from the earlier attempts.
    entries : int
        Largest number of entries of a constant.
    """

    def __init__(self, memory: Memory, entries: int = ENTRIES) -> None:
        self.memory, self.entries = memory, entries
        self.sizes: dict[str, int] = {}
        self.statements: dict[str, Statement] = {}
        self.parameters: list[Source] = []
        self.inputs: list[Source] = []
        self.constants: dict[str, np.ndarray] = {}
        self.place: str = ""
        self.where: str = ""
        self._step: Key = ()
        self._born = 0
        self._parent: dict[str, str] = {}
        self._keys: dict[str, tuple[Key, int]] = {}
        self._known: dict[object, str] = {}
        self._constant_names: dict[tuple[object, ...], str] = {}

    # -- axes ---------------------------------------------------------------------------------------------------

    def begin(self, step: Key, place: str, where: str) -> None:
        """Start an operation: its number, its name, and the line of the user's code that it comes from."""
        self._step, self._born, self.place, self.where = step, 0, place, where

    def fail(self, got: str, expected: str) -> UnsupportedError:
        """Return the error that an operation is not supported, with its place in the user's code."""
        at = f" at {self.where}" if self.where else ""
        return UnsupportedError(f"operation {self.place!r}{at}: got {got}, expected {expected}")

    def size(self, axes: str | Sequence[str]) -> int:
        """Return the size of an axis, or the product of several."""
        if isinstance(axes, str):
            return self.sizes[axes.removesuffix(".sum")]
        return math.prod(self.size(axis) for axis in axes)

    def shape(self, value: Value) -> tuple[int, ...]:
        """Return the shape of an array."""
        return value.shape if isinstance(value, np.ndarray) else tuple(self.size(dim) for dim in value.dims)

    def fresh(self, size: int) -> str:
        """Return a new axis."""
        name = f"a{len(self.sizes)}"
        self.sizes[name] = size
        return name

    def dimension(self, size: int, key: Key | None = None) -> tuple[str, ...]:
        """Return the axes of a dimension that begins here: one, or what earlier attempts have split it into."""
        if key is None:
            key = ("born", *self._step, self._born)
            self._born += 1
        parts = self.memory.splits.get(key, ())
        if math.prod(parts) != size or not parts:
            parts = self.memory.splits[key] = (size,)
        axes = tuple(self.fresh(part) for part in parts)
        for number, axis in enumerate(axes):
            self._keys[axis] = (key, number)
        return axes

    def _find(self, axis: str) -> str:
        while (parent := self._parent.get(axis, axis)) != axis:
            axis = parent
        return axis

    def unite(self, left: str, right: str) -> None:
        """Note that two axes are one and the same."""
        left, right = self._find(left), self._find(right)
        if left != right:
            self._parent[left] = right

    def split(self, axis: str, inner: int) -> None:
        """Split an axis into (size/inner, inner) wherever it comes from, and start again."""
        root, outer = self._find(axis), self.size(axis) // inner
        members = [self._keys[name] for name in self.sizes if name in self._keys and self._find(name) == root]
        if not members:
            raise self.fail(f"a reshape that splits an axis of size {outer * inner}", "an axis of a parameter or input")
        for key, number in sorted(set(members), key=lambda member: -member[1]):
            parts = self.memory.splits[key]
            self.memory.splits[key] = (*parts[:number], outer, inner, *parts[number + 1 :])
        raise Resplit

    # -- leaves -------------------------------------------------------------------------------------------------

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
        keep = [
            n for n, size in enumerate(array.shape) if size > 1 and not (array == array[(slice(None),) * n + (slice(0, 1),)]).all()
        ]
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

    # -- statements ---------------------------------------------------------------------------------------------

    def simple(self, expr: Expr) -> bool:
        """Tell whether an expression may be written again rather than given a name."""
        return isinstance(expr, Ref | Number)

    def named(self, value: Value) -> Value:
        """Give an array a statement of its own, unless it is a mere reference or not complete yet."""
        if isinstance(value, np.ndarray) or self.simple(value.expr) or pending(value.expr):
            return value
        if algebra.is_apply(value.expr, "exp") and isinstance(value.expr, Apply):  # it may be part of a softmax
            inner = self.named(Symbolic(value.dims, value.expr.argument))
            return Symbolic(value.dims, Apply(value.expr.function, inner.expr)) if isinstance(inner, Symbolic) else value
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

    # -- alignment ----------------------------------------------------------------------------------------------

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

    def _same(self, left: Expr, right: Expr) -> bool:
        """Tell whether two expressions are the same, looking through one statement on the right."""
        if isinstance(right, Ref) and right.tensor in self.statements:
            statement = self.statements[right.tensor]
            right = substitute(statement.expr, dict(zip(statement.axes, right.indices, strict=True)))
        axes = free_axes(left)
        return set(axes) == set(free_axes(right)) and canonical(left, axes, self.size) == canonical(right, axes, self.size)

    def nonnegative(self, expr: Expr) -> bool:
        """Tell whether an expression is certainly not negative."""
        match expr:
            case Number(value):
                return value >= 0
            case Power(base, exponent):
                return exponent.denominator == 2 or exponent % 2 == 0 or self.nonnegative(base)
            case Ref(tensor, _):
                if tensor in self.constants:
                    return bool((self.constants[tensor] >= 0).all())
                return tensor in self.statements and self.nonnegative(self.statements[tensor].expr)
            case Sum(_, body, _):
                return self.nonnegative(body)
            case Softmax():
                return True
            case Add((Sum(_, Power(u, square), True) as mean, Mul((Number(sign), Power(other, twice))))):
                return (square, twice, sign) == (2, 2, -1) and self._same(replace(mean, body=u), other)
            case _ if isinstance(expr, Add | Mul):
                return all(self.nonnegative(part) for part in children(expr))
        return isinstance(expr, Apply) and expr.function.name in ("exp", "sigmoid", "softplus", "relu", "abs", "gaussian")
