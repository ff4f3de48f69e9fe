"""Operations that PyTorch and ONNX have as one and JAX writes out: softmax, norms, matrix products, activations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from invman.architecture.importers import algebra, elementwise, operations, windows
from invman.architecture.importers.builder import ArrayBuilder, Symbolic, Value
from invman.architecture.importers.nodes import Mask, Masked, Token
from invman.architecture.program import Number

UNARY = {
    "tanh": "tanh", "sin": "sin", "cos": "cos", "tan": "tan", "exp": "exp", "log": "log", "erf": "erf", "sinh": "sinh",
    "cosh": "cosh", "atan": "arctan", "asinh": "asinh", "sigmoid": "sigmoid", "silu": "silu", "relu": "relu",
    "abs": "abs", "mish": "mish", "softplus": "softplus",
}  # fmt: skip
"""Functions of one argument by their name in PyTorch, with the activation that they are."""


def unary(b: ArrayBuilder, name: str, value: Symbolic) -> Value:
    """Apply a function of :data:`UNARY`."""
    if name == "relu":
        return b.elementwise(lambda u: elementwise.relu(b, u), value)
    if name == "abs":
        return elementwise.absolute(b, value)
    if name == "mish":
        value = b.readable(value)
        return elementwise.multiplied(b, value, unary(b, "tanh", elementwise.unary(b, "softplus", value)))
    return elementwise.unary(b, UNARY[name], value)


def gelu(b: ArrayBuilder, value: Symbolic, *, tanh: bool = False) -> Value:
    """Apply gelu, exact or in the approximation by tanh, which is written out."""
    if not tanh:
        return elementwise.unary(b, "gelu", value)
    value = b.readable(value)
    inner = elementwise.added(b, value, elementwise.multiplied(b, np.asarray(0.044715), power(b, value, 3)))
    gate = unary(b, "tanh", scaled(b, inner, float(np.sqrt(2 / np.pi))))
    return elementwise.multiplied(b, scaled(b, value, 0.5), elementwise.added(b, gate, np.asarray(1.0)))


def scaled(b: ArrayBuilder, value: Value, factor: float) -> Symbolic:
    """Multiply by a number."""
    return elementwise.multiplied(b, value, np.asarray(float(factor)))


def power(b: ArrayBuilder, value: Value, exponent: float) -> Value:
    """Raise to a constant power."""
    fraction = Fraction(exponent).limit_denominator(1000)
    if isinstance(value, np.ndarray):
        return value ** float(exponent)
    if abs(float(fraction) - exponent) > 1e-6:
        raise b.fail(f"a power with exponent {exponent}", "a rational exponent such as 2, 1/2 or -1")
    return elementwise.raised(b, value, fraction)


def negative(b: ArrayBuilder, value: Value) -> Value:
    """Change the sign."""
    return -value if isinstance(value, np.ndarray) else b.elementwise(algebra.minus, value)


def subtract(b: ArrayBuilder, left: Value, right: Value) -> Value:
    """Subtract."""
    return elementwise.added(b, left, negative(b, right))


def leaky_relu(b: ArrayBuilder, value: Symbolic, slope: float) -> Value:
    """Return ``slope*u + (1 - slope)*relu(u)``."""
    value = b.readable(value)
    number = algebra.number(float(slope))
    rest = algebra.add(algebra.ONE, algebra.minus(number))
    return b.elementwise(
        lambda u: algebra.add(algebra.mul(number, u), algebra.mul(rest, elementwise.relu(b, u))), value
    )


def clamp(b: ArrayBuilder, value: Value, low: float | None, high: float | None) -> Value:
    """Clamp between two numbers."""
    if low is not None:
        value = elementwise.maximum(b, value, np.asarray(float(low)))
    return value if high is None else elementwise.minimum(b, value, np.asarray(float(high)))


def softmax(b: ArrayBuilder, value: Symbolic, place: int) -> Symbolic:
    """Take the softmax over a dimension; entries that are minus infinity make it causal or masked."""
    place %= len(value.dims)
    if not b.uses(value, value.dims[place]) and not isinstance(value.expr, Masked):
        return Symbolic(value.dims, Number(Fraction(1, b.size(value.dims[place]))))
    return Symbolic(value.dims, algebra.softmax(value.dims[place], value.expr))


def log_softmax(b: ArrayBuilder, value: Symbolic, place: int) -> Symbolic:
    """Take the logarithm of the softmax."""
    return elementwise.unary(b, "log", softmax(b, value, place))


def logsumexp(b: ArrayBuilder, value: Symbolic, places: Sequence[int], *, keep: bool) -> Value:
    """Take the logarithm of the sum of exponentials."""
    return elementwise.unary(b, "log", reduce(b, elementwise.unary(b, "exp", value), places, keep=keep))


def reduce(
    b: ArrayBuilder, value: Symbolic, places: Sequence[int] | None, *, mean: bool = False, keep: bool = False
) -> Symbolic:
    """Sum or average over dimensions, all of them by default."""
    rank = len(value.dims)
    over = sorted({place % rank for place in places} if places else range(rank))
    total = operations.reduce_sum(b, value, over, mean=mean)
    kept = operations.insert(total, over) if keep else total
    assert isinstance(kept, Symbolic)  # noqa: S101 - for the type checker
    return kept


def variance(b: ArrayBuilder, value: Symbolic, places: Sequence[int] | None, correction: float, *, keep: bool) -> Value:
    """Return the variance over dimensions."""
    value = b.readable(value)
    centred = subtract(b, value, reduce(b, value, places, mean=True, keep=True))
    square = power(b, centred, 2)
    assert isinstance(square, Symbolic)  # noqa: S101 - for the type checker
    average = reduce(b, square, places, mean=True, keep=keep)
    count = np.prod([b.shape(value)[place] for place in places or range(len(value.dims))])
    return average if not correction else scaled(b, average, float(count / (count - correction)))


def normalise(
    b: ArrayBuilder,
    value: Symbolic,
    places: Sequence[int],
    weight: Value | None,
    bias: Value | None,
    epsilon: float,
    *,
    centre: bool = True,
) -> Value:
    """Normalise over the last dimensions: layer norm, or RMS norm without the mean."""
    value = b.readable(value)
    rank = len(value.dims)
    places = [place % rank for place in places]
    if centre:
        mean = b.readable(reduce(b, value, places, mean=True, keep=True))
        value = b.readable(subtract(b, value, mean))  # type: ignore[arg-type]
    square = power(b, value, 2)
    assert isinstance(square, Symbolic)  # noqa: S101 - for the type checker
    spread = elementwise.added(b, reduce(b, square, places, mean=True, keep=True), np.asarray(float(epsilon)))
    result: Value = elementwise.multiplied(b, value, power(b, spread, -0.5))
    return affine(b, result, weight, bias)


def normalise_groups(b: ArrayBuilder, value: Symbolic, groups: int, epsilon: float) -> Value:
    """Normalise groups of channels of an array (n, c, ...)."""
    shape = b.shape(value)
    parts = operations.reshape(b, value, (shape[0], groups, shape[1] // groups, *shape[2:]))
    assert isinstance(parts, Symbolic)  # noqa: S101 - for the type checker
    return operations.reshape(b, normalise(b, parts, range(2, len(parts.dims)), None, None, epsilon), shape)


def channelwise(b: ArrayBuilder, value: Value, part: Value | None) -> Value | None:
    """Give an array of one entry a channel as many dimensions as the array (n, c, ...) it goes with."""
    return part if part is None else operations.insert(part, range(1, len(b.shape(value)) - 1))


def batch_norm(
    b: ArrayBuilder, value: Value, weight: Value | None, bias: Value | None, mean: Value, var: Value, epsilon: float
) -> Value:
    """Normalise channels by running statistics, which are constants."""
    if isinstance(mean, Symbolic) or isinstance(var, Symbolic):
        raise b.fail("a batch norm whose statistics are computed", "the running statistics, as in evaluation mode")
    scale = channelwise(b, value, 1 / np.sqrt(np.asarray(var, np.float64) + epsilon))
    shift = channelwise(b, value, -np.asarray(mean, np.float64))
    assert scale is not None  # noqa: S101 - for the type checker
    assert shift is not None  # noqa: S101 - for the type checker
    result: Value = elementwise.multiplied(b, elementwise.added(b, value, shift), scale)
    return affine(b, result, channelwise(b, value, weight), channelwise(b, value, bias))


def affine(b: ArrayBuilder, value: Value, weight: Value | None, bias: Value | None) -> Value:
    """Multiply by a weight and add a bias, where there are any."""
    if weight is not None:
        value = elementwise.multiplied(b, value, weight)
    return value if bias is None else elementwise.added(b, value, bias)


def matmul(b: ArrayBuilder, left: Value, right: Value) -> Value:
    """Multiply matrices by the rules of numpy."""
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return left @ right
    one, two = len(b.shape(left)), len(b.shape(right))
    if one == 1 or two == 1:
        return operations.contract(b, left, right, ((one - 1,), (max(0, two - 2),)))
    batch = np.broadcast_shapes(b.shape(left)[:-2], b.shape(right)[:-2])
    left, right = (spread(b, value, (*batch, *b.shape(value)[-2:])) for value in (left, right))
    rank = len(batch)
    return operations.contract(b, left, right, ((rank + 1,), (rank,)), (range(rank), range(rank)))


def spread(b: ArrayBuilder, value: Value, shape: Sequence[int]) -> Value:
    """Broadcast to a shape; -1 keeps a size."""
    own = b.shape(value)
    ahead = len(shape) - len(own)
    full = tuple(own[n - ahead] if size == -1 else int(size) for n, size in enumerate(shape))
    return np.broadcast_to(value, full) if isinstance(value, np.ndarray) else b.spread(value, full)


def resolved(b: ArrayBuilder, value: Value, shape: Sequence[int]) -> Value:
    """Reshape where -1 stands for what is left."""
    known = -int(np.prod([int(size) for size in shape]))
    total = int(np.prod(b.shape(value)))
    return operations.reshape(b, value, [total // max(known, 1) if int(n) == -1 else int(n) for n in shape])


def embedding(b: ArrayBuilder, table: Value, tokens: Value, place: int = 0) -> Value:
    """Read rows of a table at an integer input, or at constant positions; their dimensions take the row's place."""
    if isinstance(tokens, np.ndarray):
        if isinstance(table, np.ndarray):
            return np.take(table, tokens, place)
        return operations.take(b, table, place, np.where(tokens < 0, tokens + b.shape(table)[place], tokens))
    if not isinstance(tokens.expr, Token):
        raise b.fail("an index that is computed", "an integer input used as it is")
    hot, axis = b.one_hot(tokens.expr, b.shape(table)[place])
    rank = len(tokens.dims)
    read = operations.contract(b, Symbolic((*tokens.dims, (axis,)), hot), table, ((rank,), (place,)))
    rest = range(rank, len(b.shape(read)))
    return operations.transpose(read, [*rest[:place], *range(rank), *rest[place:]])


def average_pool(
    b: ArrayBuilder,
    value: Symbolic,
    window: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[tuple[int, int]],
) -> Value:
    """Average over windows in the last dimensions, padding counted as zeros."""
    ahead = len(value.dims) - len(window)
    ones = [1] * ahead
    total = windows.window_sum(
        b, value, [*ones, *window], [*ones, *stride], [*([(0, 0)] * ahead), *padding], [*ones, *([1] * len(window))]
    )
    return elementwise.divided(b, total, np.asarray(float(np.prod(window))))


def infinite(b: ArrayBuilder, value: Symbolic) -> np.ndarray:
    """Tell where a masked array is minus infinity."""
    shape = b.shape(value)
    if not isinstance(value.expr, Masked) or not isinstance(value.expr.factors[1], Mask):
        return np.broadcast_to(np.zeros((), bool), shape)
    mask = value.expr.factors[1]
    axes = [str(index.axis) for index in mask.indices]
    order = [axis for axis in value.atoms if axis in axes]
    table = np.transpose(mask.values, [axes.index(axis) for axis in order]) == 0
    table = table.reshape([b.size(axis) if axis in axes else 1 for axis in value.atoms])
    return np.broadcast_to(table, [b.size(axis) for axis in value.atoms]).reshape(shape)


def masked_fill(b: ArrayBuilder, value: Value, mask: Value, filling: Value) -> Value:
    """Put a number where a constant mask is true."""
    return elementwise.select(b, mask, value, filling)


def elementwise_or(numeric: Callable[..., np.ndarray], symbolic: Callable[..., Value]) -> Callable[..., Value]:
    """Return a function that calculates with constants and builds expressions otherwise."""

    def apply(b: ArrayBuilder, *values: Value) -> Value:
        if any(isinstance(value, Symbolic) for value in values):
            return symbolic(b, *values)
        return np.asarray(numeric(*values))

    return apply
