"""The gradient family along a curve in exact arithmetic: balls, or residues modulo a prime."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from invman.architecture.program import Program
from invman.architecture.scalars import expand
from invman.orbit.balls import BallRing
from invman.orbit.residues import ModularRing
from invman.orbit.tape import Node, Tape
from invman.symmetry.infinitesimal.tower import RedrawError

ATTEMPTS = 1000
"""Inputs that are drawn before a function counts as undefined everywhere."""


@dataclass
class ExactFamily:
    """Fields at random inputs along the curve of a random control.

    Attributes
    ----------
    program : Program
        The architecture.
    ring : BallRing or ModularRing
        Arithmetic.
    theta : list of D coefficients
        Where the curve starts.
    samples, controls : int
        Numbers of inputs whose fields are transported, and of inputs that drive the curve.
    budget : int
        Largest number of scalar operations of one evaluation.
    """

    program: Program
    ring: BallRing | ModularRing
    theta: Sequence[Any]
    samples: int
    controls: int
    budget: int
    _curve: list[list[Any]] = field(init=False)
    _inputs: list[list[Any]] = field(init=False, default_factory=list)
    _driving: list[tuple[list[Any], list[list[Any]]]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._curve = [[value] for value in self.theta]

    @property
    def parameters(self) -> int:
        """D."""
        return self.program.parameter_count

    def _active(self) -> AbstractContextManager[None]:
        return self.ring.active() if isinstance(self.ring, BallRing) else nullcontext()

    def prolong(self, length: int) -> tuple[list[Any], list[Any]]:
        """Return the coefficients of the fields, ``length`` matrices (D, K), and of the Hessian of the control.

        Raises
        ------
        RedrawError
            The map is not defined at the point, or nowhere near it.
        """
        for size in range(len(self._curve[0]), length):
            self._set(size)
            with self._active():
                gradient, _ = self._control(size, second=False)
                for coordinate, slope in zip(self._curve, gradient, strict=True):
                    last = self.ring.coefficients(slope)[size - 1] if slope is not None else self._zero
                    coordinate.append(self.ring.over(last, size))
        bends: list[Any] = []
        if length > 1:
            self._set(length - 1)
            with self._active():
                bends = self._hessians(length)
        self._set(length)
        with self._active():
            columns = [column for k in range(self.samples) for column in self._fields(k, length)]
            zero = [self._zero] * length
            rows = [[zero if c[i] is None else self.ring.coefficients(c[i]) for c in columns]
                    for i in range(self.parameters)]  # fmt: skip
            fields = [self.ring.matrix([[entry[n] for entry in row] for row in rows]) for n in range(length)]
        return fields, bends

    def add(self, left: Any, right: Any) -> Any:
        """Add matrices."""
        with self._active():
            return left + right

    def product(self, left: Any, right: Any) -> Any:
        """Multiply matrices."""
        with self._active():
            return left * right

    def divide(self, matrix: Any, divisor: int) -> Any:
        """Divide a matrix by a whole number that is not zero."""
        with self._active():
            return matrix * self._scalar(Fraction(1, divisor))

    def _set(self, length: int) -> None:
        self.ring.length = length

    @property
    def _zero(self) -> Any:
        return self._scalar(Fraction(0))

    def _scalar(self, value: Fraction) -> Any:
        found = self.ring.embed(value)
        return found[0] if isinstance(found, tuple) else found

    def _variables(self, tape: Tape, length: int) -> list[Node]:
        return [tape.variable(self.ring.series(coefficients[:length])) for coefficients in self._curve]

    def _outputs(self, tape: Tape, theta: Sequence[Node], x: Sequence[Any]) -> list[Node]:
        inputs = [tape.constant(self.ring.series([value])) for value in x]
        return expand(self.program, tape, theta, inputs, self.budget)

    def _fields(self, number: int, length: int) -> list[list[Any]]:
        """Return the gradients of all outputs at one input, which is drawn when it is first needed."""
        fresh = number == len(self._inputs)
        for _ in range(ATTEMPTS):
            x = self._draw_input() if fresh else self._inputs[number]
            tape = Tape(self.ring)
            try:
                outputs = self._outputs(tape, self._variables(tape, length), x)
                found = [tape.gradient(output, self.parameters) for output in outputs]
            except RedrawError:
                if not fresh:
                    raise
                continue
            if fresh:
                self._inputs.append(x)
            return found
        raise RedrawError

    def _draw_input(self) -> list[Any]:
        return [self.ring.draw_input() for _ in range(self.program.input_count)]

    def _control(self, length: int, *, second: bool) -> tuple[list[Any], list[dict[int, Any]]]:
        tape = Tape(self.ring)
        theta = self._variables(tape, length)
        terms = []
        if not self._driving:
            self._choose_control()
        for x, weights in self._driving:
            for output, weight in zip(self._outputs(tape, theta, x), weights, strict=True):
                while len(weight) < length:
                    weight.append(self.ring.draw())
                terms.append(tape.multiply([tape.constant(self.ring.series(weight[:length])), output]))
        total = tape.add(terms)
        return tape.hessian(total, self.parameters) if second else (tape.gradient(total, self.parameters), [])

    def _choose_control(self) -> None:
        """Draw inputs at which the map is defined."""
        for _ in range(ATTEMPTS):
            x = self._draw_input()
            tape = Tape(self.ring)
            try:
                outputs = self._outputs(tape, self._variables(tape, 1), x)
            except RedrawError:
                continue
            self._driving.append((x, [[] for _ in outputs]))
            if len(self._driving) == self.controls:
                return
        raise RedrawError

    def _hessians(self, length: int) -> list[Any]:
        _, rows = self._control(length - 1, second=True)
        zero = [self._zero] * (length - 1)
        dense = [[zero] * self.parameters for _ in range(self.parameters)]
        for i, row in enumerate(rows):
            for j, value in row.items():
                dense[i][j] = self.ring.coefficients(value)
        return [self.ring.matrix([[entry[n] for entry in row] for row in dense]) for n in range(length - 1)]
