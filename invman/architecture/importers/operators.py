"""The operators of ONNX (opset 13 and later) on symbolic arrays; this file knows the names, not the package onnx."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from invman.architecture.importers import aten, elementwise, layers, operations, windows
from invman.architecture.importers.builder import ArrayBuilder, Symbolic, Value

RULES: dict[str, Callable[..., Any]] = {}


def supported() -> list[str]:
    """Return the names of the operators that are understood."""
    return sorted(RULES)


def rule(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function of the builder, the inputs, and the attributes by name."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


EPSILON = float(np.float32(1e-5))
"""The default of the norms, which ONNX stores in single precision."""
SAME = {
    "Tanh": "tanh", "Sin": "sin", "Cos": "cos", "Tan": "tan", "Exp": "exp", "Log": "log", "Erf": "erf",
    "Sinh": "sinh", "Cosh": "cosh", "Atan": "atan", "Asinh": "asinh", "Sigmoid": "sigmoid", "Relu": "relu",
    "Abs": "abs", "Mish": "mish", "Softplus": "softplus", "Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div",
    "Pow": "pow", "Sqrt": "sqrt", "Reciprocal": "reciprocal", "Neg": "neg", "MatMul": "matmul", "Equal": "eq",
    "Less": "lt", "LessOrEqual": "le", "Greater": "gt", "GreaterOrEqual": "ge", "Not": "logical_not",
    "And": "logical_and", "Or": "logical_or", "Where": "where", "Swish": "silu",
}  # fmt: skip
"""Operators that take the same inputs as an operation of PyTorch, and no attributes that matter."""

for _name, _aten in SAME.items():
    RULES[_name] = lambda b, *values, name=_aten, **_: aten.RULES[name](b, *values)
for _name in ("Identity", "Dropout", "Cast", "CastLike"):
    RULES[_name] = lambda _b, value, *_, **__: value
RULES["Gelu"] = lambda b, u, approximate="none": layers.gelu(b, u, tanh=approximate == "tanh")
RULES["LeakyRelu"] = lambda b, u, alpha=0.01: layers.leaky_relu(b, u, alpha)
RULES["PRelu"] = lambda b, u, slope: _prelu(b, u, slope)
RULES["Softmax"] = lambda b, u, axis=-1: layers.softmax(b, u, axis)
RULES["LogSoftmax"] = lambda b, u, axis=-1: layers.log_softmax(b, u, axis)
RULES["Shape"] = lambda b, u, start=0, end=None: np.asarray(b.shape(u)[start:end])
RULES["Constant"] = lambda _b, **given: np.asarray(next(iter(given.values())))
RULES["ConstantOfShape"] = lambda _b, shape, value=0.0: np.full(tuple(shape), np.asarray(value).reshape(-1)[0])
RULES["Range"] = lambda _b, start, limit, delta: np.arange(start, limit, delta)
RULES["Concat"] = lambda b, *values, axis: operations.concatenate(b, values, axis % len(b.shape(values[0])))
RULES["Gather"] = lambda b, table, at, axis=0: layers.embedding(b, table, at, axis % len(b.shape(table)))
RULES["Expand"] = lambda b, u, shape: layers.spread(b, u, np.broadcast_shapes(b.shape(u), tuple(map(int, shape))))
RULES["Transpose"] = lambda b, u, perm=None: operations.transpose(u, perm or range(len(b.shape(u)))[::-1])


def _prelu(b: ArrayBuilder, value: Symbolic, slope: Value) -> Value:
    value = b.readable(value)
    below = aten.RULES["mul"](b, slope, value)
    gain = aten.RULES["rsub"](b, slope, 1.0)
    return aten.RULES["add"](b, below, aten.RULES["mul"](b, gain, layers.unary(b, "relu", value)))


@rule("Gemm")
def _gemm(
    b: ArrayBuilder, left: Value, right: Value, bias: Value | None = None, *, alpha: float = 1, beta: float = 1,
    transA: int = 0, transB: int = 0,
) -> Value:  # fmt: skip
    product = operations.contract(b, left, right, ((0 if transA else 1,), (1 if transB else 0,)))
    product = product if alpha == 1 else layers.scaled(b, product, alpha)
    if bias is None:
        return product
    return elementwise.added(b, product, bias if beta == 1 else layers.scaled(b, bias, beta))


@rule("Sum", "Max", "Min")
def _several(b: ArrayBuilder, *values: Value) -> Value:
    name = {"Sum": "add", "Max": "maximum", "Min": "minimum"}[b.place]
    result = values[0]
    for value in values[1:]:
        result = aten.RULES[name](b, result, value)
    return result


@rule("Clip")
def _clip(b: ArrayBuilder, value: Value, low: Value | None = None, high: Value | None = None) -> Value:
    ends = [None if end is None else float(np.asarray(end)) for end in (low, high)]
    return layers.clamp(b, value, *ends)


@rule("ReduceSum", "ReduceMean", "ReduceMax")
def _reduce(
    b: ArrayBuilder, value: Value, places: Any = None, *, axes: Any = None, keepdims: int = 1,
    noop_with_empty_axes: int = 0,
) -> Value:  # fmt: skip
    over = places if places is not None else axes
    over = None if over is None else [int(place) for place in np.asarray(over).reshape(-1)]
    if not over and noop_with_empty_axes:
        return value
    if isinstance(value, np.ndarray):
        numpy = {"ReduceSum": np.sum, "ReduceMean": np.mean, "ReduceMax": np.max}[b.place]
        return numpy(value, axis=tuple(over) if over else None, keepdims=bool(keepdims))
    if b.place == "ReduceMax":
        over = [place % len(value.dims) for place in over or range(len(value.dims))]
        result = operations.reduce_max(b, value, over)
        return operations.insert(result, over) if keepdims else result
    return layers.reduce(b, value, over, mean=b.place == "ReduceMean", keep=bool(keepdims))


@rule("LayerNormalization", "RMSNormalization")
def _layer_norm(
    b: ArrayBuilder, value: Symbolic, weight: Value, bias: Value | None = None, *, axis: int = -1,
    epsilon: float = EPSILON, **_: Any,
) -> Value:  # fmt: skip
    places = range(axis % len(value.dims), len(value.dims))
    return layers.normalise(b, value, places, weight, bias, epsilon, centre=b.place == "LayerNormalization")


@rule("BatchNormalization")
def _batch_norm(
    b: ArrayBuilder, value: Value, weight: Value, bias: Value, mean: Value, var: Value, *, epsilon: float = EPSILON,
    training_mode: int = 0, **_: Any,
) -> Value:  # fmt: skip
    if training_mode:
        raise b.fail("a batch norm in training mode", "evaluation mode, with running statistics")
    return layers.batch_norm(b, value, weight, bias, mean, var, epsilon)


@rule("GroupNormalization", "InstanceNormalization")
def _group_norm(
    b: ArrayBuilder,
    value: Symbolic,
    weight: Value,
    bias: Value,
    *,
    num_groups: int = 0,
    epsilon: float = EPSILON,
    **_: Any,
) -> Value:
    result = layers.normalise_groups(b, value, num_groups or b.shape(value)[1], epsilon)
    return layers.affine(b, result, layers.channelwise(b, value, weight), layers.channelwise(b, value, bias))


def _ends(
    b: ArrayBuilder, value: Value, window: Sequence[int], pads: Sequence[int] | None, auto_pad: str,
    strides: Sequence[int], dilations: Sequence[int],
) -> list[tuple[int, int]]:  # fmt: skip
    """Return the padding before and behind each spatial dimension."""
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        ends = []
        for n, size in enumerate(b.shape(value)[2:]):
            total = max(0, (-(-size // strides[n]) - 1) * strides[n] + (window[n] - 1) * dilations[n] + 1 - size)
            small, large = total // 2, total - total // 2
            ends.append((small, large) if auto_pad == "SAME_UPPER" else (large, small))
        return ends
    rank = len(window)
    pads = list(pads or [0] * (2 * rank))
    return list(zip(pads[:rank], pads[rank:], strict=True))


@rule("Conv")
def _conv(
    b: ArrayBuilder, image: Value, kernel: Value, bias: Value | None = None, *, strides: Any = None, pads: Any = None,
    dilations: Any = None, group: int = 1, auto_pad: str = "NOTSET", **_: Any,
) -> Value:  # fmt: skip
    rank = len(b.shape(kernel)) - 2
    strides, dilations = strides or [1] * rank, dilations or [1] * rank
    ends = _ends(b, image, b.shape(kernel)[2:], pads, auto_pad, strides, dilations)
    result = windows.convolve(
        b, image, kernel, strides=strides, padding=ends, dilation=dilations, spread=[1] * rank, groups=group
    )
    return result if bias is None else elementwise.added(b, result, operations.insert(bias, range(1, rank + 1)))


@rule("AveragePool")
def _average_pool(
    b: ArrayBuilder, value: Symbolic, *, kernel_shape: Sequence[int], strides: Any = None, pads: Any = None,
    auto_pad: str = "NOTSET", ceil_mode: int = 0, count_include_pad: int = 0, dilations: Any = None,
) -> Value:  # fmt: skip
    rank = len(kernel_shape)
    strides = strides or [1] * rank
    ends = _ends(b, value, kernel_shape, pads, auto_pad, strides, [1] * rank)
    padded = any(size for end in ends for size in end)
    if ceil_mode or (padded and not count_include_pad) or (dilations and set(dilations) != {1}):
        raise b.fail("a pooling whose windows differ", "ceil_mode=0, no dilation, count_include_pad=1 where it pads")
    return layers.average_pool(b, value, kernel_shape, strides, ends)


@rule("GlobalAveragePool")
def _global_average(b: ArrayBuilder, value: Symbolic) -> Value:
    return layers.reduce(b, value, range(2, len(value.dims)), mean=True, keep=True)


@rule("Reshape")
def _reshape(b: ArrayBuilder, value: Value, shape: Value, *, allowzero: int = 0) -> Value:
    own = b.shape(value)
    sizes = [int(size) for size in np.asarray(shape)]
    return layers.resolved(b, value, [own[n] if size == 0 and not allowzero else size for n, size in enumerate(sizes)])


@rule("Flatten")
def _flatten(b: ArrayBuilder, value: Value, *, axis: int = 1) -> Value:
    shape = b.shape(value)
    return operations.reshape(b, value, (int(np.prod(shape[:axis])), int(np.prod(shape[axis:]))))


@rule("Squeeze")
def _squeeze(b: ArrayBuilder, value: Value, places: Value | None = None) -> Value:
    return aten.RULES["squeeze"](b, value, None if places is None else [int(n) for n in np.asarray(places)])


@rule("Unsqueeze")
def _unsqueeze(b: ArrayBuilder, value: Value, places: Value) -> Value:
    given = np.asarray(places).reshape(-1)
    return operations.insert(value, [int(n) % (len(b.shape(value)) + len(given)) for n in given])


@rule("Slice")
def _slice(b: ArrayBuilder, value: Value, starts: Value, ends: Value, axes: Any = None, steps: Any = None) -> Value:
    starts, ends = np.asarray(starts), np.asarray(ends)
    places = range(len(starts)) if axes is None else np.asarray(axes)
    for n, place in enumerate(places):
        step = 1 if steps is None else int(np.asarray(steps)[n])
        if step < 0:
            raise b.fail("a slice backwards", "a positive step")
        value = aten.RULES["slice"](b, value, int(place), int(starts[n]), int(ends[n]), step)
    return value


@rule("Split")
def _split(b: ArrayBuilder, value: Value, sizes: Any = None, *, axis: int = 0, num_outputs: int = 0) -> list[Value]:
    total = b.shape(value)[axis]
    parts = -(-total // num_outputs) if sizes is None else [int(size) for size in np.asarray(sizes)]
    return aten.RULES["split"](b, value, parts, axis)


@rule("Trilu")
def _trilu(_b: ArrayBuilder, value: Value, k: Any = 0, *, upper: int = 1) -> Value:
    return (np.triu if upper else np.tril)(np.asarray(value), int(k))


@rule("Pad")
def _pad(
    b: ArrayBuilder, value: Value, pads: Value, filling: Any = None, axes: Any = None, *, mode: str = "constant"
) -> Value:
    if mode != "constant" or (filling is not None and float(np.asarray(filling))):
        raise b.fail(f"padding in mode {mode}", "zeros")
    ends = [int(size) for size in np.asarray(pads)]
    places = range(len(b.shape(value))) if axes is None else [int(n) for n in np.asarray(axes)]
    for n, place in enumerate(places):
        value = windows.pad(b, value, place % len(b.shape(value)), ends[n], ends[n + len(ends) // 2])
    return value
