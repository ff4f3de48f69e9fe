"""The JAX primitives that an import understands, each as operations on symbolic arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from invman.architecture.importers import algebra, elementwise, operations, windows
from invman.architecture.importers.builder import ArrayBuilder, Symbolic, Value
from invman.architecture.importers.nodes import Compare, Token

Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}
INTERNAL = ("logaddexp", "row", "stack")


@dataclass(frozen=True)
class Columns:
    """Integer arrays joined along their last dimension, as the indices of a gather are."""

    parts: tuple[Value, ...]


def supported() -> list[str]:
    """Return the names of the primitives that are understood."""
    return sorted(name for name in RULES if name not in INTERNAL)


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule ``(builder, params, *values)`` for primitives."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


def _function(name: str, function: str) -> None:
    RULES[name] = lambda b, _, u: elementwise.unary(b, function, u)


for _name, _activation in {
    "tanh": "tanh", "sin": "sin", "cos": "cos", "tan": "tan", "exp": "exp", "log": "log", "erf": "erf", "sinh": "sinh",
    "cosh": "cosh", "atan": "arctan", "asinh": "asinh", "logistic": "sigmoid",
}.items():  # fmt: skip
    _function(_name, _activation)

RULES["add"] = RULES["add_any"] = lambda b, _, u, v: elementwise.added(b, u, v)
RULES["mul"] = lambda b, _, u, v: elementwise.multiplied(b, u, v)
RULES["div"] = lambda b, _, u, v: elementwise.divided(b, u, v)
RULES["max"] = lambda b, _, u, v: elementwise.maximum(b, u, v)
RULES["min"] = lambda b, _, u, v: elementwise.minimum(b, u, v)
RULES["abs"] = lambda b, _, u: elementwise.absolute(b, u)
RULES["neg"] = lambda b, _, u: b.elementwise(algebra.minus, u)
RULES["square"] = lambda b, _, u: elementwise.raised(b, u, Fraction(2))
RULES["integer_pow"] = lambda b, params, u: elementwise.raised(b, u, Fraction(int(params["y"])))
RULES["sqrt"] = lambda b, _, u: elementwise.raised(b, u, Fraction(1, 2))
RULES["rsqrt"] = lambda b, _, u: elementwise.raised(b, u, Fraction(-1, 2))
RULES["erfc"] = lambda b, _, u: b.elementwise(
    lambda e: algebra.add(algebra.ONE, algebra.minus(algebra.apply("erf", e))), u
)
RULES["log1p"] = lambda b, _, u: b.elementwise(lambda e: algebra.apply("log", algebra.add(algebra.ONE, e)), u)
RULES["expm1"] = lambda b, _, u: b.elementwise(lambda e: algebra.add(algebra.apply("exp", e), algebra.MINUS), u)
RULES["exp2"] = lambda b, _, u: b.elementwise(
    lambda e: algebra.apply("exp", algebra.mul(algebra.number(float(np.log(2))), e)), u
)
RULES["logaddexp"] = lambda b, _, u, v: elementwise.softplus_of_difference(b, u, v)
RULES["stop_gradient"] = lambda b, _, u: elementwise.kept(b, u)
RULES["clamp"] = lambda b, _, low, u, high: elementwise.minimum(b, elementwise.maximum(b, u, low), high)
RULES["is_finite"] = lambda b, _, u: np.ones(b.shape(u), bool)
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    RULES[_name] = lambda b, _, u, v, name=_name: elementwise.compared(b, name, u, v)
for _name in ("copy", "copy_p", "reduce_precision", "optimization_barrier", "sharding_constraint", "name"):
    RULES[_name] = lambda _b, _, *values: values[0] if len(values) == 1 else values
RULES["optimization_barrier"] = lambda _b, _, *values: values


@rule("sub")
def _sub(b: ArrayBuilder, _: Mapping[str, Any], left: Value, right: Value) -> Value:
    if isinstance(right, np.ndarray):
        return elementwise.added(b, left, -right)
    return elementwise.added(b, left, b.elementwise(algebra.minus, right))


@rule("pow")
def _pow(b: ArrayBuilder, _: Mapping[str, Any], base: Value, exponent: Value) -> Value:
    if isinstance(exponent, np.ndarray) and exponent.size and (exponent == exponent.flat[0]).all():
        value = Fraction(float(exponent.flat[0])).limit_denominator(1000)
        if isinstance(base, Symbolic) and abs(float(value) - float(exponent.flat[0])) < 1e-6:
            return elementwise.raised(b, b.spread(base, np.broadcast_shapes(b.shape(base), exponent.shape)), value)
    raise b.fail("a power whose exponent is no constant fraction", "a rational exponent such as 2, 1/2 or -1")


@rule("convert_element_type")
def _convert(b: ArrayBuilder, params: Mapping[str, Any], value: Value) -> Value:
    exact = isinstance(value, np.ndarray) or isinstance(value.expr, Token | Compare)
    if np.issubdtype(params["new_dtype"], np.integer) and not exact:
        raise b.fail("a real number made an integer", "real numbers throughout")
    return value


@rule("select_n")
def _select(b: ArrayBuilder, _: Mapping[str, Any], choice: Value, *cases: Value) -> Value:
    if len(cases) != 2:
        raise b.fail(f"a choice among {len(cases)} arrays", "two")
    return elementwise.select(b, choice, cases[0], cases[1])


@rule("dot_general")
def _dot(b: ArrayBuilder, params: Mapping[str, Any], left: Value, right: Value) -> Value:
    contracting, batch = params["dimension_numbers"]
    return operations.contract(b, left, right, contracting, batch)


@rule("reduce_sum")
def _reduce_sum(b: ArrayBuilder, params: Mapping[str, Any], value: Symbolic) -> Value:
    return operations.reduce_sum(b, value, [int(axis) for axis in params["axes"]])


@rule("reduce_max")
def _reduce_max(b: ArrayBuilder, params: Mapping[str, Any], value: Symbolic) -> Value:
    return operations.reduce_max(b, value, [int(axis) for axis in params["axes"]])


@rule("cumsum")
def _cumsum(b: ArrayBuilder, params: Mapping[str, Any], value: Symbolic) -> Value:
    size = b.shape(value)[params["axis"]]
    table = np.tril(np.ones((size, size)))
    return b.linear(value, params["axis"], table.T if params["reverse"] else table)


@rule("reshape")
def _reshape(b: ArrayBuilder, params: Mapping[str, Any], value: Value) -> Value:
    return operations.reshape(b, value, [int(size) for size in params["new_sizes"]])


@rule("tile")
def _tile(b: ArrayBuilder, params: Mapping[str, Any], value: Value) -> Value:
    shape, reps = b.shape(value), [int(n) for n in params["reps"]]
    double = [size for pair in zip(reps, shape, strict=True) for size in pair]
    wide = operations.broadcast_in(b, value, double, range(1, len(double), 2))
    return operations.reshape(b, wide, [n * size for n, size in zip(reps, shape, strict=True)])


@rule("transpose")
def _transpose(_b: ArrayBuilder, params: Mapping[str, Any], value: Value) -> Value:
    return operations.transpose(value, params["permutation"])


@rule("broadcast_in_dim")
def _broadcast(b: ArrayBuilder, params: Mapping[str, Any], value: Value) -> Value:
    return operations.broadcast_in(b, value, params["shape"], [int(n) for n in params["broadcast_dimensions"]])


@rule("squeeze")
def _squeeze(b: ArrayBuilder, params: Mapping[str, Any], value: Value) -> Value:
    return operations.squeeze(b, value, [int(n) for n in params["dimensions"]])


@rule("expand_dims")
def _expand(_b: ArrayBuilder, params: Mapping[str, Any], value: Value) -> Value:
    return operations.insert(value, params["dimensions"])


@rule("rev")
def _rev(b: ArrayBuilder, params: Mapping[str, Any], value: Value) -> Value:
    for place in params["dimensions"]:
        value = windows.flip(b, value, place)
    return value


@rule("slice")
def _slice(b: ArrayBuilder, params: Mapping[str, Any], value: Value) -> Value:
    strides = params["strides"] or [1] * len(params["start_indices"])
    for place, (start, stop, step) in enumerate(
        zip(params["start_indices"], params["limit_indices"], strides, strict=True)
    ):
        value = operations.narrow(b, value, place, start, -(-(stop - start) // step), step)
    return value


@rule("dynamic_slice")
def _dynamic_slice(b: ArrayBuilder, params: Mapping[str, Any], value: Value, *starts: Value) -> Value:
    for place, (start, size) in enumerate(zip(starts, params["slice_sizes"], strict=True)):
        whole = b.shape(value)[place]
        if size == whole:
            continue
        if isinstance(start, Symbolic) and isinstance(start.expr, Token) and size == 1 and isinstance(value, Symbolic):
            value = _hot(b, value, place, start, keep=True)
            continue
        if isinstance(start, Symbolic):
            raise b.fail("a slice whose start depends on data", "a constant start, or one row")
        value = operations.narrow(b, value, place, int(np.clip(start, 0, whole - size)), size)
    return value


@rule("split")
def _split(b: ArrayBuilder, params: Mapping[str, Any], value: Value) -> list[Value]:
    starts = np.cumsum([0, *params["sizes"]])
    value = b.named(value)
    return [
        operations.narrow(b, value, params["axis"], int(start), int(size))
        for start, size in zip(starts, params["sizes"], strict=False)
    ]


@rule("concatenate")
def _concatenate(b: ArrayBuilder, params: Mapping[str, Any], *values: Value) -> Value | Columns:
    place = params["dimension"]
    if any(isinstance(value, Symbolic) and isinstance(value.expr, Token) for value in values):
        if place == len(b.shape(values[0])) - 1 and all(b.shape(value)[place] == 1 for value in values):
            return Columns(values)
        raise b.fail("integer inputs joined", "each integer input indexing a tensor by itself")
    return operations.concatenate(b, values, place)


@rule("pad")
def _pad(b: ArrayBuilder, params: Mapping[str, Any], value: Value, filling: Value) -> Value:
    if isinstance(filling, Symbolic) or filling.item() != 0:
        raise b.fail("padding with something else than 0", "zeros")
    for place, (low, high, interior) in enumerate(params["padding_config"]):
        value = windows.pad(b, value, place, low, high, interior)
    return value


@rule("conv_general_dilated")
def _conv(b: ArrayBuilder, params: Mapping[str, Any], image: Value, kernel: Value) -> Value:
    numbers = params["dimension_numbers"]
    if params["batch_group_count"] != 1:
        raise b.fail("a convolution with batch groups", "batch_group_count=1")
    result = windows.convolve(
        b,
        operations.transpose(image, numbers.lhs_spec),
        operations.transpose(kernel, numbers.rhs_spec),
        strides=params["window_strides"],
        padding=params["padding"],
        dilation=params["rhs_dilation"],
        spread=params["lhs_dilation"],
        groups=params["feature_group_count"],
    )
    return operations.transpose(result, [int(n) for n in np.argsort(numbers.out_spec)])


@rule("reduce_window_sum")
def _window_sum(b: ArrayBuilder, params: Mapping[str, Any], value: Symbolic) -> Value:
    if any(spread != 1 for spread in params["base_dilation"]):
        raise b.fail("a window over a dilated array", "base_dilation=1")
    names = ("window_dimensions", "window_strides", "padding", "window_dilation")
    return windows.window_sum(b, value, *(params[name] for name in names))


@rule("gather")
def _gather(b: ArrayBuilder, params: Mapping[str, Any], value: Value, start: Value | Columns) -> Value:
    numbers = params["dimension_numbers"]
    if numbers.operand_batching_dims:
        raise b.fail("a gather with batch dimensions (take_along_axis)", "an index into one dimension of a tensor")
    sizes, collapsed = params["slice_sizes"], numbers.collapsed_slice_dims
    shape = b.shape(value)
    columns = _columns(b, start, len(numbers.start_index_map))
    batch = b.shape(columns[0])
    free: list[tuple[int, Value]] = []
    for place, column in zip(numbers.start_index_map, columns, strict=True):
        if isinstance(column, np.ndarray) and (column == column.flat[0]).all():
            first = int(np.clip(column.flat[0], 0, shape[place] - sizes[place]))
            value = operations.narrow(b, value, place, first, sizes[place])
        else:
            free.append((place, column))
    if len(free) > 1 or any(sizes[place] != 1 for place, _ in free):
        raise b.fail("a gather over several dimensions", "an index into one dimension of a tensor")
    kept = [place for place in range(len(shape)) if place not in collapsed]
    if not free:
        value = operations.squeeze(b, value, collapsed)
        value = operations.insert(value, range(len(batch)))
        value = operations.broadcast_in(b, value, (*batch, *b.shape(value)[len(batch) :]), range(len(b.shape(value))))
    else:
        place, column = free[0]
        value = _indexed(b, value, place, column)  # the batch dimensions stand in front now
        others = [n for n in range(len(shape)) if n != place]
        value = operations.squeeze(b, value, [len(batch) + others.index(n) for n in collapsed if n != place])
        if place in kept:
            value = operations.insert(value, [len(batch) + kept.index(place)])
    order: list[int] = []
    heads, tails = iter(range(len(batch))), iter(range(len(batch), len(batch) + len(kept)))
    order.extend(next(tails if n in numbers.offset_dims else heads) for n in range(len(batch) + len(kept)))
    return operations.transpose(value, order)


def _columns(b: ArrayBuilder, start: Value | Columns, count: int) -> list[Value]:
    if isinstance(start, Columns):
        return [operations.squeeze(b, part, [len(b.shape(part)) - 1]) for part in start.parts]
    last = len(b.shape(start)) - 1
    if count == 1:
        return [operations.squeeze(b, start, [last])]
    if isinstance(start, np.ndarray):
        return [start[..., n] for n in range(count)]
    raise b.fail("an index that is computed", "an integer input used as it is")


def _indexed(b: ArrayBuilder, value: Value, place: int, column: Value) -> Value:
    """Index one dimension by an array, whose dimensions come first in the result."""
    if isinstance(column, np.ndarray):
        if isinstance(value, np.ndarray):
            raise b.fail("a gather of constants", "a constant to be evaluated")
        rank = column.ndim
        taken = operations.take(b, value, place, column)
        rest = [n for n in range(len(b.shape(taken))) if not place <= n < place + rank]
        return operations.transpose(taken, [*range(place, place + rank), *rest])
    if not isinstance(column.expr, Token):
        raise b.fail("an index that is computed", "an integer input used as it is")
    return _hot(b, value, place, column)


def _hot(b: ArrayBuilder, value: Value, place: int, token: Symbolic, *, keep: bool = False) -> Value:
    """Contract a dimension with the one-hot form of an integer input."""
    assert isinstance(token.expr, Token)  # noqa: S101 - for the type checker
    hot, axis = b.one_hot(token.expr, b.shape(value)[place])
    rank = len(token.dims)
    result = operations.contract(b, Symbolic((*token.dims, (axis,)), hot), value, ((rank,), (place,)))
    return operations.insert(result, [place]) if keep else result


@rule("row")
def _row(b: ArrayBuilder, params: Mapping[str, Any], value: Value) -> Value:
    if isinstance(value, np.ndarray):
        return value[params["row"]]
    return operations.at(b, value, 0, params["row"])


@rule("stack")
def _stack(b: ArrayBuilder, _: Mapping[str, Any], *values: Value) -> Value:
    return operations.concatenate(b, [operations.insert(value, [0]) for value in values], 0)
