"""Convolutions, padding and average pooling: windows that move over an array are affine indices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from invman.architecture.importers.builder import ArrayBuilder, Symbolic, Value
from invman.architecture.importers.operations import contract, narrow, reduce_sum, reshape, transpose, weights
from invman.architecture.program import Index


def pad(b: ArrayBuilder, value: Value, place: int, low: int, high: int, interior: int = 0) -> Value:
    """Put zeros before, behind and between the entries of a dimension; negative padding cuts."""
    size = b.shape(value)[place]
    length = low + high + size + max(0, size - 1) * interior
    where = low + (interior + 1) * np.arange(size)
    inside = (where >= 0) & (where < length)
    table = np.zeros((length, size))
    table[where[inside], np.arange(size)[inside]] = 1
    if isinstance(value, np.ndarray):
        return np.moveaxis(np.moveaxis(value, place, -1) @ table.T, -1, place)
    if length == size and np.array_equal(table, np.eye(size)):
        return value
    if not low and not interior and high < 0:
        return narrow(b, value, place, 0, length)
    return b.linear(value, place, table)


def slide(b: ArrayBuilder, value: Symbolic, place: int, window: int, stride: int, dilation: int) -> Symbolic:
    """Replace a dimension by two, position t and offset r, which read it at ``stride*t + dilation*r``."""
    size = b.size(value.dims[place])
    count = (size - dilation * (window - 1) - 1) // stride + 1
    before, after = value.dims[:place], value.dims[place + 1 :]
    if window == 1:
        cut = narrow(b, value, place, 0, count, stride)
        assert isinstance(cut, Symbolic)  # noqa: S101 - for the type checker
        return Symbolic((*cut.dims[: place + 1], (), *cut.dims[place + 1 :]), cut.expr)
    if count == 1:
        cut = narrow(b, value, place, 0, window, dilation)
        assert isinstance(cut, Symbolic)  # noqa: S101 - for the type checker
        return Symbolic((*before, (), cut.dims[place], *after), cut.expr)
    if len(value.dims[place]) > 1 and stride == window and dilation == 1:
        cut = narrow(b, value, place, 0, count * window)
        shape = b.shape(cut)
        parts = reshape(b, cut, (*shape[:place], count, window, *shape[place + 1 :]))
        assert isinstance(parts, Symbolic)  # noqa: S101 - for the type checker
        return parts
    if len(value.dims[place]) > 1:
        positions = stride * np.arange(count)[:, None] + dilation * np.arange(window)
        return b.linear(value, place, np.eye(size)[positions])
    t, r = b.dimension(count), b.dimension(window)
    (axis,) = value.dims[place]
    index = Index((*weights(b, t, stride), *weights(b, r, dilation)))
    return b.replaced(b.readable(value), {axis: index}, (*before, t, r, *after))


def convolve(
    b: ArrayBuilder,
    image: Value,
    kernel: Value,
    *,
    strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    dilation: Sequence[int],
    spread: Sequence[int],
    groups: int = 1,
) -> Value:
    """Convolve an image of shape (n, c, ...) with a kernel of shape (o, c/groups, ...) to (n, o, ...).

    Parameters
    ----------
    strides, padding, dilation, spread
        One entry a spatial dimension; ``spread`` puts zeros between the entries of the image (transposed convolution).
    """
    rank = len(strides)
    for n in range(rank):
        image = pad(b, image, 2 + n, *padding[n], interior=spread[n] - 1)
    if isinstance(image, np.ndarray):
        raise b.fail("a convolution of a constant", "an image that depends on the input")
    for n in range(rank):
        image = slide(b, image, 2 + 2 * n, b.shape(kernel)[2 + n], strides[n], dilation[n])
    batch, channels, *spatial = b.shape(image)
    image = reshape(b, image, (batch, groups, channels // groups, *spatial))
    outputs, inner, *window = b.shape(kernel)
    kernel = reshape(b, kernel, (groups, outputs // groups, inner, *window))
    offsets = [4 + 2 * n for n in range(rank)]
    result = contract(b, image, kernel, ((2, *offsets), (2, *range(3, 3 + rank))), ((1,), (0,)))
    # groups, batch, positions, outputs
    result = transpose(result, (1, 0, 2 + rank, *range(2, 2 + rank)))
    return reshape(b, result, (batch, outputs, *b.shape(result)[3:]))


def window_sum(
    b: ArrayBuilder,
    value: Symbolic,
    windows: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    dilation: Sequence[int],
) -> Symbolic:
    """Sum over windows, one entry a dimension of the array."""
    for place in reversed(range(len(windows))):
        if (windows[place], strides[place], *padding[place]) == (1, 1, 0, 0):
            continue
        padded = pad(b, value, place, *padding[place])
        assert isinstance(padded, Symbolic)  # noqa: S101 - for the type checker
        value = reduce_sum(b, slide(b, padded, place, windows[place], strides[place], dilation[place]), [place + 1])
        value = b.readable(value) if place else value
    return value


def flip(b: ArrayBuilder, value: Value, place: int) -> Value:
    """Reverse a dimension."""
    if isinstance(value, np.ndarray):
        return np.flip(value, place)
    size = b.shape(value)[place]
    if size == 1 or not b.uses(value, value.dims[place]):
        return value
    if len(value.dims[place]) > 1:
        return b.linear(value, place, np.eye(size)[::-1])
    new = b.dimension(size)
    index = Index(weights(b, new, -1), size - 1)
    return b.replaced(value, {value.dims[place][0]: index}, (*value.dims[:place], new, *value.dims[place + 1 :]))


def turned(b: ArrayBuilder, kernel: Value, groups: int) -> Value:
    """Return the kernel (c, o/groups, ...) of a transposed convolution as one of shape (o, c/groups, ...)."""
    channels, outputs, *window = b.shape(kernel)
    for n in range(len(window)):
        kernel = flip(b, kernel, 2 + n)
    kernel = reshape(b, kernel, (groups, channels // groups, outputs, *window))
    kernel = transpose(kernel, (0, 2, 1, *range(3, 3 + len(window))))
    return reshape(b, kernel, (groups * outputs, channels // groups, *window))
