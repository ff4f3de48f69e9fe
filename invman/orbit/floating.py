"""The gradient family along a curve in double precision: formal transport by nested forward derivatives in JAX.

What comes out is numerical. A rank in floats is a number of singular values above a threshold, and the gap below the
last of them says how far it is to be believed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from invman.architecture.evaluate import jax_map
from invman.architecture.program import Program
from invman.orbit.exact import ATTEMPTS
from invman.orbit.transport import transport
from invman.symmetry.infinitesimal.tower import RedrawError

TERMS = 32
"""Coefficients of the polynomials in t by which the inputs of the control are weighted."""
SMALL = 256
"""Up to this many parameters brackets are asked for three coefficients at once, since compilation takes longest."""
TINY = 64
"""Up to this many parameters the compiler does not optimise, since each function runs only a few times."""
NOTHING = 1e-12
"""A column shorter than this, relative to the longest one, counts as zero."""
SLACK = 1e3
"""Singular values up to this many roundings of the largest one count as zero."""


class FloatFamily:
    """Fields at random inputs along the curve of a random control, in double precision.

    Parameters
    ----------
    program : Program
        The architecture.
    theta : array of shape (D,)
        Where the curve starts.
    samples, controls : int
        Numbers of inputs whose fields are transported, and of inputs that drive the curve.
    seed : int
        Of the random inputs and weights, which are normal.

    Attributes
    ----------
    compile_seconds : float
        Time that tracing and compilation have taken so far.
    """

    def __init__(
        self, program: Program, theta: Float[np.ndarray, " D"], samples: int, controls: int, seed: int
    ) -> None:
        self.parameters = program.parameter_count
        self.samples, self.controls = samples, controls
        self.compile_seconds = 0.0
        self._map = jax_map(program)
        self._rng = np.random.default_rng(seed)
        self._inputs = self._rng.normal(size=(samples + controls, program.input_count))
        self._weights = self._rng.normal(size=(TERMS, controls, program.output_count)) / controls
        self._curve: list[np.ndarray] = [np.asarray(theta, dtype=np.float64)]
        self._found: list[np.ndarray] = []  # coefficients of the fields, (inputs, outputs, D)
        self._bends: list[np.ndarray] = []

    def prolong(self, length: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return the coefficients of the fields, ``length`` matrices (D, K), and of the Hessian of the control.

        Raises
        ------
        RedrawError
            The map is not finite at the point, whatever the input.
        """
        with jax.enable_x64(True):
            if not self._found:
                self._begin()
            if length > len(self._found):
                self._extend(max(length, 3) if self.parameters <= SMALL else length)
        fields = [field[: self.samples].reshape(-1, self.parameters).T for field in self._found[:length]]
        return fields, self._bends[: length - 1]

    def add(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Add matrices."""
        return left + right

    def product(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Multiply matrices."""
        return left @ right

    def divide(self, matrix: np.ndarray, divisor: int) -> np.ndarray:
        """Divide a matrix by a whole number that is not zero."""
        return matrix / divisor

    def _compiled(self, function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
        start = time.perf_counter()
        lowered = jax.jit(function).lower(*arguments)
        tiny = self.parameters <= TINY
        compiled = lowered.compile(compiler_options={"xla_backend_optimization_level": "0"} if tiny else None)
        self.compile_seconds += time.perf_counter() - start
        return compiled

    def _fields(self, theta: Array, inputs: Array) -> Array:
        return jax.vmap(jax.jacrev(self._map), (None, 0))(theta, inputs)

    def _begin(self) -> None:
        """Find the gradients at the start; inputs where they are not finite are drawn anew."""
        theta = jnp.asarray(self._curve[0])
        gradients = self._compiled(self._fields, theta, jnp.asarray(self._inputs))
        for _ in range(ATTEMPTS):
            found = np.asarray(gradients(theta, jnp.asarray(self._inputs)))
            bad = ~np.isfinite(found).all(axis=(1, 2))
            if not bad.any():
                self._found = [found]
                return
            self._inputs[bad] = self._rng.normal(size=self._inputs[bad].shape)
        raise RedrawError

    def _extend(self, size: int) -> None:
        """Continue the curve order by order, each from the fields along what is known of it, and expand along it."""
        inputs, weights = jnp.asarray(self._inputs), jnp.asarray(self._weights[:size])
        driving = inputs[self.samples :]

        def control(t: Array, theta: Array) -> Array:
            return jnp.sum(_horner(weights, t) * jax.vmap(self._map, (None, 0))(theta, driving))

        def fields(curve: Array, inputs: Array) -> list[Array]:
            return _taylor(lambda t: self._fields(_horner(curve, t), inputs), size - 1)

        def bends(curve: Array) -> list[Array]:
            return _taylor(lambda t: jax.hessian(control, 1)(t, _horner(curve, t)), size - 2)

        along = self._compiled(fields, self._padded(size), inputs)
        for n in range(len(self._curve), size):
            if len(self._found) < n:
                self._found = [np.asarray(field) for field in along(self._padded(size), inputs)[:n]]
            slopes = zip(self._weights[:n], reversed(self._found[:n]), strict=True)
            total = sum(np.tensordot(weight, field[self.samples :], 2) for weight, field in slopes)
            self._curve.append(np.asarray(total) / n)
        self._found = [np.asarray(field) for field in along(self._padded(size), inputs)]
        curve = self._padded(size)
        self._bends = [np.asarray(bend) for bend in self._compiled(bends, curve)(curve)]

    def _padded(self, size: int) -> Array:
        """Return the known coefficients of the curve, and zeros."""
        curve = np.zeros((size, self.parameters))
        curve[: len(self._curve)] = self._curve
        return jnp.asarray(curve)


def _horner(coefficients: Array, t: Array) -> Array:
    value = coefficients[-1]
    for k in range(len(coefficients) - 2, -1, -1):
        value = value * t + coefficients[k]
    return value


def _taylor(function: Callable[[Array], Array], order: int) -> list[Array]:
    """Return the Taylor coefficients of a function of t at 0, up to an order."""

    def climb(n: int) -> Callable[[Array], tuple[Array, ...]]:
        if n == 0:
            return lambda t: (function(t),)
        lower = climb(n - 1)

        def derivatives(t: Array) -> tuple[Array, ...]:
            values, slopes = jax.jvp(lower, (t,), (jnp.ones_like(t),))
            return (*values, slopes[-1] / n)

        return derivatives

    return list(climb(order)(jnp.zeros(())))


class FloatRank:
    """The numerical rank of columns, each brought to length one, by singular values.

    Attributes
    ----------
    rank : int
        Number of singular values above ``max(shape) * eps * 1000`` times the largest one.
    gap : float
        The last singular value that counts, divided by the first that does not; infinite where there is none.
    """

    def __init__(self) -> None:
        self.rank, self.gap = 0, float("inf")
        self._columns: list[np.ndarray] = []

    def add(self, matrix: Float[np.ndarray, "D K"]) -> int:
        """Add the columns of a matrix and return the rank.

        Examples
        --------
        >>> rank = FloatRank()
        >>> rank.add(np.array([[1.0, 2.0], [0.0, 0.0]])), rank.add(np.array([[1.0], [1e-3]]))
        (1, 2)
        """
        self._columns.append(matrix)
        columns = np.concatenate(self._columns, axis=1)
        lengths = np.linalg.norm(columns, axis=0)
        kept = lengths > NOTHING * lengths.max(initial=0.0)
        self.rank, self.gap = 0, float("inf")
        if kept.any():
            unit = columns[:, kept] / lengths[kept]
            values = np.linalg.svd(unit, compute_uv=False)
            self.rank = int(np.sum(values > max(unit.shape) * np.finfo(float).eps * SLACK * values[0]))
            if self.rank < len(values) and values[self.rank] > 0:
                self.gap = float(values[self.rank - 1] / values[self.rank])
        return self.rank


@dataclass(frozen=True)
class FloatResult:
    """A numerical rank.

    Attributes
    ----------
    rank : int
        Of all coefficients that were computed.
    profile : tuple of int
        The rank after order 0, 1, ..., as long as it rose.
    gap : float
        Of the singular values at the last order, see :class:`FloatRank`.
    compile_seconds, run_seconds : float
        Time of tracing and compilation, and of everything else.
    settled : bool
        Whether the rank is D, or an order added nothing, before the last order was reached.
    """

    rank: int
    profile: tuple[int, ...]
    gap: float
    compile_seconds: float
    run_seconds: float
    settled: bool


def float_rank(
    program: Program,
    theta: Float[np.ndarray, " D"],
    *,
    seed: int = 0,
    order: int = 3,
    samples: int | None = None,
    controls: int = 4,
) -> FloatResult:
    """Return the rank of the gradient family transported along a random curve, in double precision.

    The search ends when the rank is D or an order adds nothing. Neither proves anything: the rank is numerical, and at
    a special point it may stand still and rise again.

    Parameters
    ----------
    program : Program
        The architecture.
    theta : array of shape (D,)
        The point.
    seed : int
        Of the random inputs and of the control.
    order : int
        The last order.
    samples : int, optional
        Inputs whose fields are transported; by default ``ceil(D / outputs) + 2``.
    controls : int
        Inputs that drive the curve.

    Returns
    -------
    FloatResult

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> float_rank(read_architecture("2-2identity-1"), np.array([1.0, 2.0, 3.0, 4.0, 5.0, 7.0])).profile
    (2, 3)
    """
    start = time.perf_counter()
    if samples is None:
        samples = -(-program.parameter_count // program.output_count) + 2
    family, counter, profile, settled = FloatFamily(program, theta, samples, controls, seed), FloatRank(), [], False
    for matrix in transport(family, order):
        rank = counter.add(matrix)
        settled = rank == family.parameters or (bool(profile) and rank == profile[-1])
        if not profile or rank > profile[-1]:
            profile.append(rank)
        if settled:
            break
    run = time.perf_counter() - start - family.compile_seconds
    return FloatResult(profile[-1], tuple(profile), counter.gap, family.compile_seconds, run, settled)
