"""Manifolds that a user writes down: linear equations over entries and slices of the parameters."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from invman.architecture.activations import nearest
from invman.architecture.program import Program, Tensor
from invman.architecture.tokens import Scanner, Token
from invman.errors import ManifoldError
from invman.manifold.subspace import LinearEquations


@dataclass(frozen=True)
class _Linear:
    """An array of linear forms: sum of coefficient * theta[index], plus a constant."""

    terms: tuple[tuple[Fraction, np.ndarray], ...]
    constant: Fraction

    @property
    def shape(self) -> tuple[int, ...]:
        return max((index.shape for _, index in self.terms), key=len, default=())

    def times(self, factor: Fraction) -> _Linear:
        return _Linear(tuple((factor * c, index) for c, index in self.terms), factor * self.constant)


def parse_equations(program: Program, text: str) -> LinearEquations:
    """Read comma-separated linear equations over entries and slices of the parameters.

    Sides are sums of entries ``w[0,1]``, slices ``w[0,:]``, ``w[:,1:3]`` or whole tensors ``w``, with rational
    factors, and numbers; slices of one shape are compared entry by entry, and an entry or a number with every entry.

    Parameters
    ----------
    program : Program
        The architecture, whose parameters are named.
    text : str
        Such as ``"w[0,:]=w[1,:], a[0]=-a[1]"``.

    Returns
    -------
    LinearEquations
        Linearly independent rows, exact.

    Raises
    ------
    SyntaxProblem
        The text does not fit; the message has a caret under the column.
    ManifoldError
        The equations have no common solution.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> parse_equations(read_architecture("2-3tanh-1"), "w[0,:]=w[1,:], a[0]=-a[1]").dimension
    6
    """
    reader = _Reader(program, text)
    rows: list[tuple[dict[int, Fraction], Fraction]] = []
    while True:
        rows += reader.equation()
        if not reader.scanner.accept(","):
            break
    if reader.scanner.next.kind != "end":
        reader.scanner.fail("'=', ',' or the end of the equations")
    return LinearEquations(program.parameter_count, _independent(rows, text))


class _Reader:
    def __init__(self, program: Program, text: str) -> None:
        self.program, self.scanner = program, Scanner(text)

    def equation(self) -> list[tuple[dict[int, Fraction], Fraction]]:
        """Read ``side = side [= side ...]`` and return its rows."""
        scanner = self.scanner
        start = scanner.next
        left = self.side()
        scanner.expect("=", "'=' and the other side")
        rows = self._rows(left, self.side(), start)
        while scanner.accept("="):
            rows += self._rows(left, self.side(), start)
        return rows

    def _rows(self, left: _Linear, right: _Linear, start: Token) -> list[tuple[dict[int, Fraction], Fraction]]:
        whole = self._plus(left, right.times(Fraction(-1)), start)
        rows = []
        for cell in np.ndindex(whole.shape):
            form: dict[int, Fraction] = {}
            for coefficient, index in whole.terms:
                place = int(index[cell] if index.shape else index)
                form[place] = form.get(place, Fraction(0)) + coefficient
            rows.append(({place: c for place, c in form.items() if c}, -whole.constant))
        return rows

    def side(self) -> _Linear:
        """Read a sum of terms."""
        scanner = self.scanner
        total = self.term().times(Fraction(-1)) if scanner.accept("-") else self.term()
        while sign := scanner.accept("+", "-"):
            total = self._plus(total, self.term().times(Fraction(-1 if sign.text == "-" else 1)), sign)
        return total

    def _plus(self, left: _Linear, right: _Linear, place: Token) -> _Linear:
        if left.shape and right.shape and left.shape != right.shape:
            self.scanner.fail(
                f"shapes that agree; {left.shape} stands beside {right.shape}",
                "Slices are compared entry by entry.",
                place,
            )
        return _Linear(left.terms + right.terms, left.constant + right.constant)

    def term(self) -> _Linear:
        """Read a product of numbers with at most one entry or slice."""
        scanner = self.scanner
        total = self.factor()
        while operator := scanner.accept("*", "/"):
            place = scanner.next
            other = self.factor()
            if operator.text == "/":
                if other.terms or not other.constant:
                    scanner.fail("a number other than 0 as divisor", token=place)
                total = total.times(1 / other.constant)
            elif total.terms and other.terms:
                scanner.fail("a number as factor", "Equations must be linear in the parameters.", place)
            else:
                total = total.times(other.constant) if total.terms else other.times(total.constant)
        return total

    def factor(self) -> _Linear:
        """Read a number, a bracket, or a tensor with or without indices."""
        scanner = self.scanner
        sign = 1
        while scanner.accept("-"):
            sign = -sign
        return self._unsigned().times(Fraction(sign))

    def _unsigned(self) -> _Linear:
        scanner = self.scanner
        if scanner.next.kind == "number":
            return _Linear((), scanner.number("a number"))
        if scanner.accept("("):
            inner = self.side()
            scanner.expect(")", "an operator or ')'")
            return inner
        token = scanner.name("a parameter such as w[0,:], a number or '('")
        known = [tensor.name for tensor in self.program.parameters]
        if token.text not in known:
            scanner.fail(f"a parameter ({', '.join(known)})", nearest(token.text, known), token)
        tensor = self.program.parameter(token.text)
        index = np.arange(tensor.size).reshape(tensor.shape) + self.program.offsets[tensor.name]
        if scanner.accept("["):
            index = index[self._indices(tensor, token)]
        return _Linear(((Fraction(1), np.asarray(index)),), Fraction(0))

    def _indices(self, tensor: Tensor, token: Token) -> tuple[int | slice, ...]:
        scanner = self.scanner
        indices: list[int | slice] = []
        while True:
            if len(indices) == len(tensor.shape):
                scanner.fail(f"']': {tensor.name} has {len(tensor.shape)} indices")
            indices.append(self._index(tensor, len(indices)))
            if not scanner.accept(","):
                break
        scanner.expect("]", "',' or ']'")
        if len(indices) < len(tensor.shape):
            hint = f"{tensor.name} has shape {tensor.shape}."
            scanner.fail(f"{len(tensor.shape)} indices for {tensor.name}", hint, token)
        return tuple(indices)

    def _index(self, tensor: Tensor, position: int) -> int | slice:
        scanner, size = self.scanner, tensor.shape[position]
        place = scanner.next
        start = None if scanner.at(":") else self._number(size, size - 1, place)
        if not scanner.accept(":"):
            if start is None:
                scanner.fail("an index or ':'")
            return start
        stop = None if scanner.at(",", "]") else self._number(size, size, scanner.next)
        chosen = slice(start, stop)
        if not range(*chosen.indices(size)):
            scanner.fail("a slice with at least one entry", token=place)
        return chosen

    def _number(self, size: int, largest: int, place: Token) -> int:
        sign = -1 if self.scanner.accept("-") else 1
        value = sign * self.scanner.integer(f"an index from 0 to {largest}, or ':'")
        if not -size <= value <= largest:
            self.scanner.fail(f"an index from 0 to {largest}", token=place)
        return value


def _independent(
    rows: list[tuple[dict[int, Fraction], Fraction]], text: str
) -> tuple[tuple[tuple[tuple[int, Fraction], ...], Fraction], ...]:
    """Drop what follows from the rows before, by exact elimination; raise where the rows contradict each other."""
    pivots: dict[int, tuple[dict[int, Fraction], Fraction]] = {}
    for form, constant in rows:
        form = dict(form)
        while form and (pivot := min(form)) in pivots:
            other, value = pivots[pivot]
            factor = form[pivot] / other[pivot]
            for place, coefficient in other.items():
                form[place] = form.get(place, Fraction(0)) - factor * coefficient
                if not form[place]:
                    del form[place]
            constant -= factor * value
        if form:
            pivots[min(form)] = form, constant
        elif constant:
            msg = f"equations {text!r}: got equations that contradict each other, expected a common solution"
            raise ManifoldError(msg)
    return tuple((tuple(sorted(form.items())), constant) for _, (form, constant) in sorted(pivots.items()))
