"""From what the parser has read to a checked program: sums made explicit, sizes agreed, parameters found."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import NoReturn

from invman.architecture.program import Constant, Expr, Index, Program, Ref, Softmax, Statement, Tensor
from invman.architecture.summation import first_over
from invman.architecture.tokens import Token
from invman.errors import OverBudgetError, SyntaxProblem

LARGEST = 10**9
"""Largest number of parameters; beyond it sizes are taken for a slip of the keyboard."""


@dataclass
class Source:
    """What the parser has met so far, with the tokens that errors point at."""

    text: str
    inputs: list[tuple[Token, list[Token]]] = field(default_factory=list)
    constants: list[tuple[Token, list[Token], object]] = field(default_factory=list)
    statements: list[tuple[Token, list[Token], Expr]] = field(default_factory=list)
    outputs: list[Token] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    reads: list[tuple[Token, Ref]] = field(default_factory=list)
    softmaxes: list[tuple[Token, Softmax]] = field(default_factory=list)
    summed: list[Token] = field(default_factory=list)  # axes under a written sum of the statement being read
    axes: dict[str, Token] = field(default_factory=dict)

    def note_axis(self, token: Token) -> None:
        """Remember where an axis is first met."""
        known = self.axes.setdefault(token.text, token)
        if token.position < known.position:
            self.axes[token.text] = token

    def reader(self, expr: Expr, axis: str) -> Token:
        """Return the token of the first part of an expression that runs over an axis."""
        node = first_over(expr, axis)
        return next(token for token, part in [*self.reads, *self.softmaxes] if part is node)

    def declare_size(self, token: Token, size: int) -> None:
        """Give an axis its size; a second, different size is an error."""
        if self.sizes.setdefault(token.text, size) != size:
            self.fail(
                token,
                f"size {size} for axis {token.text}",
                f"one size an axis; {token.text} has size {self.sizes[token.text]} already",
            )

    def fail(self, token: Token, got: str, expected: str, hint: str = "") -> NoReturn:
        """Raise a SyntaxProblem at a token."""
        raise SyntaxProblem(self.text, token.position, got, expected, hint)


def assemble(source: Source) -> Program:
    """Check what was read and build the program (see :func:`invman.architecture.text.parse_program`)."""
    end = Token("end", "", len(source.text))
    if not source.statements:
        source.fail(end, "no statement", "at least one statement such as 'f = a[k]*x[k]'")
    if not source.inputs:
        source.fail(end, "no input", "a line such as 'input x[i]'")
    for token, axes in [*source.inputs, *[entry[:2] for entry in [*source.constants, *source.statements]]]:
        for axis in axes:
            source.note_axis(axis)
        if len({axis.text for axis in axes}) < len(axes):
            source.fail(
                token, f"an axis twice in {token.text}", "each axis once on the left", "Use two axes of one size."
            )
    for axis in sorted(source.axes.values(), key=lambda token: token.position):
        if axis.text not in source.sizes:
            source.fail(axis, f"axis {axis.text} without a size", f"a line 'size {axis.text}=...'")
    defined = _definitions(source)
    parameters = _parameters(source, defined)
    statements = tuple(
        Statement(token.text, tuple(axis.text for axis in axes), expr) for token, axes, expr in source.statements
    )
    outputs = _outputs(source)
    constants = tuple(
        Constant(defined[token.text], _flatten(source, token, defined[token.text].shape, literal))
        for token, _, literal in source.constants
    )
    total = sum(tensor.size for tensor in parameters)
    if total > LARGEST:
        raise OverBudgetError("parameters of the architecture", total, LARGEST, "Check the widths.")
    inputs = tuple(defined[token.text] for token, _ in source.inputs)
    return Program(dict(source.sizes), inputs, parameters, constants, statements, outputs)


def _definitions(source: Source) -> dict[str, Tensor]:
    """Return every tensor that is an input, a constant or a left-hand side; each name once, each before its use."""
    defined: dict[str, Tensor] = {}
    for token, axes in [*source.inputs, *[entry[:2] for entry in [*source.constants, *source.statements]]]:
        if token.text in defined:
            source.fail(token, f"a second definition of {token.text}", "each name defined once")
        names = tuple(axis.text for axis in axes)
        defined[token.text] = Tensor(token.text, names, tuple(source.sizes[name] for name in names))
    starts = {token.text: token.position for token, _, _ in source.statements}
    for token, ref in source.reads:
        # a statement is complete only where the next one starts, so a read must come after a later start
        start = starts.get(ref.tensor)
        later = [position for position in starts.values() if start is not None and position > start]
        if start is not None and (not later or token.position < min(later)):
            source.fail(token, f"{ref.tensor} read before it is defined", "a statement above that defines it")
    return defined


def _parameters(source: Source, defined: dict[str, Tensor]) -> tuple[Tensor, ...]:
    """Find the parameters in order of first use, and check every read against the shape it reads."""
    found: dict[str, list[tuple[Token, Ref]]] = {}
    for token, ref in source.reads:
        if ref.tensor not in defined:
            found.setdefault(ref.tensor, []).append((token, ref))
    parameters = {}
    for name, reads in found.items():
        rank = len(reads[0][1].indices)
        axes: list[str | None] = []
        shape: list[int] = []
        for position in range(rank):
            at = [ref.indices[position] for _, ref in reads if len(ref.indices) == rank]
            plain = next((index.axis for index in at if index.axis is not None), None)
            axes.append(plain)
            reach = max(_range(source, index)[1] for index in at) + 1
            shape.append(source.sizes[plain] if plain is not None else max(1, reach))
        parameters[name] = Tensor(name, tuple(axes), tuple(shape))
    for token, ref in source.reads:
        _check_read(source, token, ref, defined.get(ref.tensor) or parameters[ref.tensor])
    return tuple(parameters.values())


def _range(source: Source, index: Index) -> tuple[int, int]:
    low = high = index.offset
    for axis, coefficient in index.terms:
        reach = coefficient * (source.sizes[axis] - 1)
        low, high = low + min(0, reach), high + max(0, reach)
    return low, high


def _check_read(source: Source, token: Token, ref: Ref, tensor: Tensor) -> None:
    if len(ref.indices) != len(tensor.shape):
        source.fail(token, f"{tensor.name} with {len(ref.indices)} indices", f"{len(tensor.shape)}, as elsewhere")
    for position, (index, size) in enumerate(zip(ref.indices, tensor.shape, strict=True)):
        plain = index.axis
        if plain is not None and source.sizes[plain] != size:
            known = f" (axis {tensor.axes[position]})" if tensor.axes[position] else ""
            source.fail(
                token,
                f"axis {plain} of size {source.sizes[plain]} at index {position + 1} of {tensor.name}",
                f"an axis of size {size}{known}",
                "An index is used with two sizes.",
            )
        low, high = _range(source, index)
        if low < 0 or high >= size:
            source.fail(token, f"index {position + 1} of {tensor.name} from {low} to {high}", f"within 0 to {size - 1}")


def _outputs(source: Source) -> tuple[str, ...]:
    names = [token.text for token, _, _ in source.statements]
    for token in source.outputs:
        if token.text not in names:
            source.fail(token, f"output {token.text}", f"one of the statements: {', '.join(names)}")
    outputs = tuple(dict.fromkeys(token.text for token in source.outputs)) or (names[-1],)
    read = {ref.tensor for _, ref in source.reads}
    for token, _, _ in source.statements:
        if token.text not in read and token.text not in outputs:
            source.fail(token, f"{token.text}, which nothing reads", "a use of it", f"Or add 'output {token.text}'.")
    return outputs


def _flatten(source: Source, token: Token, shape: tuple[int, ...], literal: object) -> tuple[Fraction, ...]:
    if not shape:
        if isinstance(literal, Fraction):
            return (literal,)
        return source.fail(token, f"a list for {token.text}", "a number")
    if not isinstance(literal, list) or len(literal) != shape[0]:
        got = f"{len(literal)} entries" if isinstance(literal, list) else "a number"
        return source.fail(token, f"{got} in constant {token.text}", f"lists nested to shape {shape}")
    return tuple(value for item in literal for value in _flatten(source, token, shape[1:], item))
