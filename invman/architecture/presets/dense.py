"""Fully connected nets: ``2-3tanh-4sigmoid-1+bias``."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from invman.architecture.activations import Activation
from invman.architecture.assemble import LARGEST
from invman.architecture.expressions import read_activation
from invman.architecture.program import Program
from invman.architecture.text import parse_program
from invman.architecture.tokens import Scanner
from invman.errors import OverBudgetError


@dataclass(frozen=True)
class Layer:
    """One layer of a fully connected net: its width, and its activation unless it is linear."""

    width: int
    function: Activation | None

    def __str__(self) -> str:
        """Print as in a short form."""
        return f"{self.width}{self.function or ''}"


def parse_dense(text: str) -> Program:
    """Read the short form of a fully connected net.

    ``d-m1ACT-m2ACT-...-o`` is a net without bias; ``+bias`` adds one to every layer. One hidden layer has the
    parameters w[k,i], a[o,k] (b[k], c[o] with bias), more have w1, b1, w2, b2, ...; with one output its axis is left
    out: a[k], and c is a scalar. An activation after the last width is applied to the output.

    Parameters
    ----------
    text : str
        The short form.

    Returns
    -------
    Program
        Whose repr is the canonical short form.

    Raises
    ------
    SyntaxProblem
        With a caret under the column that does not fit.
    OverBudgetError
        When the net would have more parameters than any that is trained.

    Examples
    --------
    >>> print(parse_dense("2-3tanh-1").text)
    input x[i]
    h[k] = tanh(w[k,i]*x[i])
    f = a[k]*h[k]
    size i=2, k=3
    """
    scanner = Scanner(text, lines=False)
    starts = [scanner.next]
    layers = [_layer(scanner)]
    while scanner.accept("-"):
        starts.append(scanner.next)
        layers.append(_layer(scanner))
    bias = scanner.accept("+") is not None
    if bias:
        token = scanner.name("'bias'")
        if token.text != "bias":
            scanner.fail("'bias'", token=token)
    if scanner.next.kind != "end":
        scanner.fail("'-' and the next layer, '+bias' or the end", "A net reads like 2-3tanh-1 or 2-3tanh-1+bias.")
    if len(layers) < 2:
        scanner.fail("'-' and an output layer", "A net has at least an input and an output, as in 2-3tanh-1.")
    if len(layers) == 2 and layers[1].function is not None:
        # a hidden layer with its output forgotten, far more often than an activated output without hidden layer
        scanner.fail("'-' and an output layer", f"After the hidden layer {layers[1]} the output is missing.")
    if layers[0].function is not None:
        scanner.fail("an input width without activation", "Activations belong to hidden layers.", starts[0])
    for layer, start in zip(layers[1:-1], starts[1:-1], strict=True):
        if layer.function is None:
            scanner.fail("an activation after the width of a hidden layer", f"Write {layer.width}identity.", start)
    count = sum((before.width + bias) * after.width for before, after in itertools.pairwise(layers))
    if count > LARGEST:
        raise OverBudgetError(f"parameters of the net {text.strip()}", count, LARGEST, "Check the widths.")
    return fully_connected(layers, bias=bias)


def _layer(scanner: Scanner) -> Layer:
    place = scanner.next
    if scanner.at("-", "+"):
        scanner.fail("a width of at least 1", "A layer is missing, or its width is negative.")
    width = scanner.integer("a layer: a width and, if it is hidden, an activation, as in 3tanh")
    if width < 1:
        scanner.fail("a width of at least 1", "A layer without neurons carries nothing.", place)
    if scanner.next.kind != "name":
        return Layer(width, None)
    return Layer(width, read_activation(scanner, "an activation"))


def fully_connected(layers: list[Layer], *, bias: bool) -> Program:
    """Build the program of a fully connected net from its layers, input first."""
    deep = len(layers) > 3
    lines, sizes = ["input x[i]"], [f"i={layers[0].width}"]
    below, axis_below = "x", "i"
    last = len(layers) - 1
    for number, layer in enumerate(layers[1:], start=1):
        final = number == last
        tail = str(number) if deep and not final else ""
        axis = ("o" if layer.width > 1 else "") if final else f"k{tail}"
        weight = f"w{number}" if deep else ("a" if final and last > 1 else "w")
        offset = f"b{number}" if deep else ("c" if final and last > 1 else "b")
        name = "f" if final else f"h{tail}"
        left = f"[{axis}]" if axis else ""
        inner = f"{weight}[{axis + ',' if axis else ''}{axis_below}]*{below}[{axis_below}]"
        inner += f" + {offset}{left}" if bias else ""
        lines.append(f"{name}{left} = " + (f"{layer.function}({inner})" if layer.function else inner))
        if axis:
            sizes.append(f"{axis}={layer.width}")
        below, axis_below = name, axis
    notation = "-".join(str(layer) for layer in layers) + ("+bias" if bias else "")
    return parse_program("\n".join([*lines, f"size {', '.join(sizes)}"])).with_notation(notation)
