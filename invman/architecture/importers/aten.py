"""The operations of PyTorch's core ATen set, on symbolic arrays; this file knows the names, not PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from invman.architecture.importers import elementwise, layers, operations, windows
from invman.architecture.importers.builder import ArrayBuilder, Symbolic, Value
from invman.architecture.importers.layers import elementwise_or

RULES: dict[str, Callable[..., Any]] = {}


def supported() -> list[str]:
    """Return the names of the operations that are understood."""
    return sorted(name for name in RULES if not name.startswith("_"))


def rule(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function of the builder and the arguments of the operation."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


def array(value: Any) -> Value:
    """Return a number as an array."""
    return value if isinstance(value, Symbolic | np.ndarray) else np.asarray(value)


NUMPY = {
    "tanh": np.tanh, "sin": np.sin, "cos": np.cos, "tan": np.tan, "exp": np.exp, "log": np.log, "sinh": np.sinh,
    "cosh": np.cosh, "atan": np.arctan, "asinh": np.arcsinh, "abs": np.abs,
}  # fmt: skip
for _name in layers.UNARY:
    RULES[_name] = lambda b, u, name=_name: _unary(b, name, u)
for _name, _numpy in {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
                      "ge": np.greater_equal}.items():  # fmt: skip
    RULES[_name] = lambda b, u, v, name=_name, numpy=_numpy: _compare(b, name, numpy, array(u), array(v))
for _name, _numpy in {"logical_and": np.logical_and, "logical_or": np.logical_or, "bitwise_and": np.bitwise_and,
                      "bitwise_or": np.bitwise_or}.items():  # fmt: skip
    RULES[_name] = lambda _b, u, v, numpy=_numpy: numpy(u, v)
for _name in ("clone", "contiguous", "alias", "lift_fresh_copy", "_to_copy", "detach_", "dropout", "to"):
    RULES[_name] = lambda _b, u, *_, **__: u
RULES["logical_not"] = RULES["bitwise_not"] = lambda _b, u: np.logical_not(u)
RULES["neg"] = lambda b, u: layers.negative(b, array(u))
RULES["square"] = lambda b, u: layers.power(b, u, 2)
RULES["sqrt"] = lambda b, u: layers.power(b, u, 0.5)
RULES["rsqrt"] = lambda b, u: layers.power(b, u, -0.5)
RULES["reciprocal"] = lambda b, u: layers.power(b, u, -1)
RULES["log1p"] = lambda b, u: _unary(b, "log", _add(b, u, np.asarray(1.0)))
RULES["expm1"] = lambda b, u: _add(b, _unary(b, "exp", u), np.asarray(-1.0))
RULES["gelu"] = lambda b, u, approximate="none": layers.gelu(b, u, tanh=approximate == "tanh")
RULES["leaky_relu"] = lambda b, u, negative_slope=0.01: layers.leaky_relu(b, u, negative_slope)
RULES["hardtanh"] = lambda b, u, low=-1.0, high=1.0: layers.clamp(b, u, low, high)
RULES["clamp"] = lambda b, u, low=None, high=None: layers.clamp(b, u, low, high)
RULES["clamp_min"] = lambda b, u, low: layers.clamp(b, u, low, None)
RULES["maximum"] = elementwise_or(np.maximum, elementwise.maximum)
RULES["minimum"] = elementwise_or(np.minimum, elementwise.minimum)
_multiply = elementwise_or(np.multiply, elementwise.multiplied)
_divide = elementwise_or(np.divide, elementwise.divided)
_add = elementwise_or(np.add, elementwise.added)
RULES["mul"] = lambda b, u, v: _multiply(b, array(u), array(v))
RULES["matmul"] = RULES["mm"] = RULES["bmm"] = RULES["mv"] = RULES["dot"] = layers.matmul
RULES["_softmax"] = RULES["softmax"] = lambda b, u, dim, *_, **__: layers.softmax(b, u, dim)
RULES["_safe_softmax"] = RULES["softmax"]
RULES["_log_softmax"] = RULES["log_softmax"] = lambda b, u, dim, *_, **__: layers.log_softmax(b, u, dim)
RULES["logsumexp"] = lambda b, u, dim, keepdim=False: layers.logsumexp(b, u, _list(dim), keep=keepdim)
RULES["embedding"] = lambda b, table, tokens, *_: layers.embedding(b, table, tokens)
RULES["permute"] = lambda b, u, order: operations.transpose(u, [n % len(b.shape(u)) for n in order])
RULES["view"] = RULES["reshape"] = RULES["_unsafe_view"] = RULES["view_copy"] = layers.resolved
RULES["expand"] = lambda b, u, shape, **_: layers.spread(b, u, shape)
RULES["where"] = lambda b, test, u, v: _where(b, test, array(u), array(v))
RULES["masked_fill"] = lambda b, u, mask, filling: layers.masked_fill(b, u, mask, array(filling))
RULES["full"] = lambda _b, shape, value, **_: np.full(shape, value)
RULES["full_like"] = lambda b, u, value, **_: np.full(b.shape(u), value)
RULES["zeros"] = lambda _b, shape, **_: np.zeros(shape)
RULES["ones"] = lambda _b, shape, **_: np.ones(shape)
RULES["zeros_like"] = lambda b, u, **_: np.zeros(b.shape(u))
RULES["ones_like"] = lambda b, u, **_: np.ones(b.shape(u))
RULES["scalar_tensor"] = lambda _b, value, **_: np.asarray(value)
RULES["arange"] = lambda _b, *numbers, **_: np.arange(*numbers)
RULES["tril"] = lambda _b, u, diagonal=0: np.tril(u, diagonal)
RULES["triu"] = lambda _b, u, diagonal=0: np.triu(u, diagonal)
RULES["any"] = lambda _b, u, dim=None, keepdim=False: np.any(u, axis=dim, keepdims=keepdim)
RULES["all"] = lambda _b, u, dim=None, keepdim=False: np.all(u, axis=dim, keepdims=keepdim)
RULES["getitem"] = lambda _b, values, place: values[place]


def _unary(b: ArrayBuilder, name: str, value: Value) -> Value:
    if isinstance(value, Symbolic):
        return layers.unary(b, name, value)
    if name not in NUMPY:
        raise b.fail(f"{name} of a constant", "an array that depends on the input or the parameters")
    return NUMPY[name](value)


def _list(dims: Any) -> list[int]:
    return [dims] if isinstance(dims, int) else list(dims)


def _compare(b: ArrayBuilder, name: str, numpy: Callable[..., Any], left: Value, right: Value) -> Value:
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return np.asarray(numpy(left, right))
    if name == "eq" and isinstance(left, Symbolic) and isinstance(right, np.ndarray) and (right == -np.inf).all():
        return layers.infinite(b, left)
    return elementwise.compared(b, name, left, right)


def _where(b: ArrayBuilder, test: Value, true: Value, false: Value) -> Value:
    if all(isinstance(value, np.ndarray) for value in (test, true, false)):
        return np.where(np.asarray(test), np.asarray(true), np.asarray(false))
    return elementwise.select(b, test, false, true)


@rule("add")
def _added(b: ArrayBuilder, left: Any, right: Any, alpha: float = 1) -> Value:
    right = array(right)
    return _add(b, array(left), right if alpha == 1 else _multiply(b, right, np.asarray(alpha)))


@rule("sub")
def _sub(b: ArrayBuilder, left: Any, right: Any, alpha: float = 1) -> Value:
    return _added(b, left, right, -alpha)


@rule("rsub")
def _rsub(b: ArrayBuilder, left: Any, right: Any, alpha: float = 1) -> Value:
    return _added(b, right, left, -alpha)


@rule("div")
def _div(b: ArrayBuilder, left: Any, right: Any, rounding_mode: str | None = None) -> Value:
    if rounding_mode is not None:
        raise b.fail(f"a division rounded by {rounding_mode}", "an exact one")
    return _divide(b, array(left), array(right))


@rule("pow")
def _pow(b: ArrayBuilder, base: Any, exponent: Any) -> Value:
    if isinstance(exponent, Symbolic) or (isinstance(exponent, np.ndarray) and exponent.size != 1):
        raise b.fail("a power whose exponent is no number", "a rational exponent such as 2, 1/2 or -1")
    return layers.power(b, array(base), float(exponent))


@rule("softplus")
def _softplus(b: ArrayBuilder, value: Symbolic, beta: float = 1, _threshold: float = 20) -> Value:
    inner = value if beta == 1 else layers.scaled(b, value, beta)
    result = layers.unary(b, "softplus", inner)
    return result if beta == 1 else _divide(b, result, np.asarray(float(beta)))


@rule("addmm", "baddbmm")
def _addmm(b: ArrayBuilder, bias: Value, left: Value, right: Value, beta: float = 1, alpha: float = 1) -> Value:
    product = layers.matmul(b, left, right)
    product = product if alpha == 1 else layers.scaled(b, product, alpha)
    return _add(b, product, bias if beta == 1 else layers.scaled(b, bias, beta))


@rule("linear")
def _linear(b: ArrayBuilder, value: Value, weight: Value, bias: Value | None = None) -> Value:
    product = operations.contract(b, value, weight, ((len(b.shape(value)) - 1,), (1,)))
    return product if bias is None else _add(b, product, bias)


@rule("sum")
def _sum(b: ArrayBuilder, value: Value, dim: Any = None, keepdim: bool = False, **_: Any) -> Value:
    if isinstance(value, np.ndarray):
        return np.sum(value, axis=None if dim is None else tuple(_list(dim)), keepdims=keepdim)
    return layers.reduce(b, value, None if dim is None else _list(dim), keep=keepdim)


@rule("mean")
def _mean(b: ArrayBuilder, value: Symbolic, dim: Any = None, keepdim: bool = False, **_: Any) -> Value:
    return layers.reduce(b, value, None if dim is None else _list(dim), mean=True, keep=keepdim)


@rule("var")
def _var(b: ArrayBuilder, value: Symbolic, dim: Any = None, correction: float = 1, keepdim: bool = False) -> Value:
    return layers.variance(b, value, None if dim is None else _list(dim), correction, keep=keepdim)


@rule("amax")
def _amax(b: ArrayBuilder, value: Symbolic, dim: Any, keepdim: bool = False) -> Value:
    places = [place % len(value.dims) for place in _list(dim)]
    result = operations.reduce_max(b, value, places)
    return operations.insert(result, places) if keepdim else result


@rule("native_layer_norm", "layer_norm")
def _layer_norm(
    b: ArrayBuilder, value: Symbolic, shape: Sequence[int], weight: Value | None, bias: Value | None, eps: float
) -> tuple[Value, None, None]:
    return layers.normalise(b, value, [-n - 1 for n in range(len(shape))], weight, bias, eps), None, None


@rule("rms_norm", "_fused_rms_norm")
def _rms_norm(b: ArrayBuilder, value: Symbolic, shape: Sequence[int], weight: Value | None, eps: float | None) -> Any:
    places = [-n - 1 for n in range(len(shape))]
    return layers.normalise(b, value, places, weight, None, eps or 2.0**-23, centre=False), None


@rule("_native_batch_norm_legit_no_training")
def _batch_norm(
    b: ArrayBuilder,
    value: Value,
    weight: Value | None,
    bias: Value | None,
    mean: Value,
    var: Any,
    _m: float,
    eps: float,
) -> tuple[Value, None, None]:
    return layers.batch_norm(b, value, weight, bias, mean, var, eps), None, None


@rule("native_group_norm")
def _group_norm(
    b: ArrayBuilder, value: Symbolic, weight: Value | None, bias: Value | None, _n: int, _c: int, _s: int, groups: int,
    eps: float,
) -> tuple[Value, None, None]:  # fmt: skip
    result = layers.normalise_groups(b, value, groups, eps)
    parts = (layers.channelwise(b, value, part) for part in (weight, bias))
    return layers.affine(b, result, *parts), None, None


@rule("convolution")
def _convolution(
    b: ArrayBuilder,
    image: Value,
    kernel: Value,
    bias: Value | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Value:
    rank = len(b.shape(kernel)) - 2
    stride, padding, dilation = ([*part] * (rank // len(part)) for part in (stride, padding, dilation))
    ends = [(size, size) for size in padding]
    ones = [1] * rank
    if transposed:
        window = b.shape(kernel)[2:]
        ends = [(d * (w - 1) - p, d * (w - 1) - p + o)
                for d, w, p, o in zip(dilation, window, padding, output_padding, strict=True)]  # fmt: skip
        kernel = windows.turned(b, kernel, groups)
        stride, ones = ones, stride
    result = windows.convolve(
        b, image, kernel, strides=stride, padding=ends, dilation=dilation, spread=ones, groups=groups
    )
    return result if bias is None else _add(b, result, operations.insert(bias, range(1, rank + 1)))


@rule("avg_pool1d", "avg_pool2d", "avg_pool3d")
def _avg_pool(
    b: ArrayBuilder, value: Symbolic, window: Sequence[int], stride: Sequence[int] = (), padding: Sequence[int] = (0,),
    ceil: bool = False, counted: bool = True, divisor: int | None = None,
) -> Value:  # fmt: skip
    padding = [*padding] * (len(window) // len(padding))
    if ceil or divisor is not None or (any(padding) and not counted):
        raise b.fail("a pooling whose windows differ", "ceil_mode=False, count_include_pad=True, no divisor")
    return layers.average_pool(b, value, window, stride or window, [(size, size) for size in padding])


@rule("unsqueeze")
def _unsqueeze(b: ArrayBuilder, value: Value, dim: int) -> Value:
    return operations.insert(value, [dim % (len(b.shape(value)) + 1)])


@rule("squeeze")
def _squeeze(b: ArrayBuilder, value: Value, dim: Any = None) -> Value:
    shape = b.shape(value)
    places = range(len(shape)) if dim is None else [place % len(shape) for place in _list(dim)]
    return operations.squeeze(b, value, [place for place in places if shape[place] == 1])


@rule("transpose")
def _transpose(b: ArrayBuilder, value: Value, one: int, two: int) -> Value:
    order = list(range(len(b.shape(value))))
    order[one], order[two] = order[two], order[one]
    return operations.transpose(value, order)


@rule("t")
def _t(b: ArrayBuilder, value: Value) -> Value:
    return operations.transpose(value, range(len(b.shape(value)))[::-1])


@rule("slice")
def _slice(b: ArrayBuilder, value: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Value:
    dim %= len(b.shape(value))
    first, last, step = slice(start, end, step).indices(b.shape(value)[dim])
    return operations.narrow(b, value, dim, first, len(range(first, last, step)), step)


@rule("select")
def _select(b: ArrayBuilder, value: Value, dim: int, position: int) -> Value:
    dim %= len(b.shape(value))
    position %= b.shape(value)[dim]
    return value.take(position, dim) if isinstance(value, np.ndarray) else operations.at(b, value, dim, position)


@rule("split_with_sizes", "split")
def _split(b: ArrayBuilder, value: Value, sizes: Any, dim: int = 0) -> list[Value]:
    dim %= len(b.shape(value))
    total = b.shape(value)[dim]
    if isinstance(sizes, int):
        sizes = [min(sizes, total - start) for start in range(0, total, sizes)]
    value = b.named(value)
    starts = np.cumsum([0, *sizes])
    return [operations.narrow(b, value, dim, int(s), int(n)) for s, n in zip(starts, sizes, strict=False)]


@rule("cat")
def _cat(b: ArrayBuilder, values: Sequence[Value], dim: int = 0) -> Value:
    return operations.concatenate(b, values, dim % len(b.shape(values[0])))


@rule("stack")
def _stack(b: ArrayBuilder, values: Sequence[Value], dim: int = 0) -> Value:
    place = dim % (len(b.shape(values[0])) + 1)
    return operations.concatenate(b, [operations.insert(value, [place]) for value in values], place)


@rule("constant_pad_nd")
def _pad(b: ArrayBuilder, value: Value, padding: Sequence[int], filling: float = 0) -> Value:
    if filling:
        raise b.fail("padding with something else than 0", "zeros")
    rank = len(b.shape(value))
    for number in range(len(padding) // 2):
        value = windows.pad(b, value, rank - 1 - number, padding[2 * number], padding[2 * number + 1])
    return value


@rule("index")
def _index(b: ArrayBuilder, value: Value, positions: Sequence[Any]) -> Value:
    given = [(place, part) for place, part in enumerate(positions) if part is not None]
    if len(given) != 1:
        raise b.fail(f"an index into {len(given)} dimensions at once", "an index into one dimension")
    place, tokens = given[0]
    return layers.embedding(b, value, tokens, place)


@rule("cumsum")
def _cumsum(b: ArrayBuilder, value: Value, dim: int, **_: Any) -> Value:
    if isinstance(value, np.ndarray):
        return np.cumsum(value, dim)
    place = dim % len(value.dims)
    return b.linear(value, place, np.tril(np.ones((b.shape(value)[place],) * 2)))


@rule("flip")
def _flip(b: ArrayBuilder, value: Value, dims: Sequence[int]) -> Value:
    for dim in dims:
        value = windows.flip(b, value, dim % len(b.shape(value)))
    return value
