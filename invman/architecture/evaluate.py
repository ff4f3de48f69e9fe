"""A program as a JAX function: one array operation a node, sums of products as one einsum."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from invman.architecture.activations import Activation
from invman.architecture.program import Add, Apply, Expr, Mul, Number, Power, Program, Ref, Softmax, Sum
from invman.architecture.scalars import custom_body

Map = Callable[[Float[Array, " D"], Float[Array, " d"]], Float[Array, " o"]]


def jax_map(program: Program) -> Map:
    """Return the map of a program as a pure JAX function of flat arrays.

    Parameters
    ----------
    program : Program
        The architecture.

    Returns
    -------
    callable
        ``F(theta, x)`` from parameters of shape (D,), concatenated in the order of ``program.parameters``, and an
        input of shape (d,) to outputs of shape (o,); the dtype follows theta. It can be jitted, vmapped and
        differentiated.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> F = jax_map(read_architecture("1-1identity-1"))
    >>> F(jnp.array([2.0, 3.0]), jnp.array([5.0])).tolist()
    [30.0]
    """

    def forward(theta: Float[Array, " D"], x: Float[Array, " d"]) -> Float[Array, " o"]:
        arrays: dict[str, Array] = {}
        for group, flat in ((program.parameters, theta), (program.inputs, x)):
            position = 0
            for tensor in group:
                arrays[tensor.name] = flat[position : position + tensor.size].reshape(tensor.shape)
                position += tensor.size
        for constant in program.constants:
            values = np.array([float(value) for value in constant.values]).reshape(constant.tensor.shape)
            arrays[constant.tensor.name] = jnp.asarray(values, dtype=theta.dtype)
        interpreter = _Interpreter(program, arrays, theta.dtype)
        for statement in program.statements:
            named = interpreter.evaluate(statement.expr)
            arrays[statement.name] = interpreter.spread(named, statement.axes)
        return jnp.concatenate([arrays[name].reshape(-1) for name in program.outputs])

    return forward


Named = tuple[Array, tuple[str, ...]]
"""An array with the names of its axes."""


class _Interpreter:
    def __init__(self, program: Program, arrays: dict[str, Array], dtype: np.dtype) -> None:
        self.program, self.arrays, self.dtype = program, arrays, dtype

    def spread(self, named: Named, axes: tuple[str, ...]) -> Array:
        """Transpose and broadcast to exactly these axes."""
        array, own = named
        order = [own.index(axis) for axis in axes if axis in own]
        shape = [self.program.sizes[axis] if axis in own else 1 for axis in axes]
        array = jnp.transpose(array, order).reshape(shape)
        return jnp.broadcast_to(array, [self.program.sizes[axis] for axis in axes])

    def evaluate(self, expr: Expr) -> Named:
        """Evaluate a node to an array over its free axes."""
        match expr:
            case Number(value):
                return jnp.asarray(float(value), dtype=self.dtype), ()
            case Ref():
                return self._read(expr)
            case Add(terms):
                named = [self.evaluate(term) for term in terms]
                axes = _union(named)
                total = self._align(named[0], axes)
                for item in named[1:]:
                    total = total + self._align(item, axes)
                return jnp.broadcast_to(total, [self.program.sizes[axis] for axis in axes]), axes
            case Mul(factors):
                return self._contract([self.evaluate(factor) for factor in factors], ())
            case Sum(axes, body, mean):
                factors = body.factors if isinstance(body, Mul) else (body,)
                array, left = self._contract([self.evaluate(factor) for factor in factors], axes)
                return (array / self._count(axes) if mean else array), left
            case Power(base, exponent):
                array, axes = self.evaluate(base)
                if exponent.denominator == 1:
                    return jax.lax.integer_pow(array, int(exponent)), axes
                return (jnp.sqrt(array) if exponent == 1 / 2 else array ** float(exponent)), axes
            case Apply(function, argument):
                array, axes = self.evaluate(argument)
                return self._apply(function, array), axes
            case Softmax():
                return self._softmax(expr)

    def _apply(self, function: Activation, array: Array) -> Array:
        if function.name.startswith("custom("):
            inner = _Interpreter(self.program, {"u": array.reshape(-1)}, self.dtype)
            return inner.scalar(custom_body(function), array)
        return _table()[function.name](array)

    def scalar(self, expr: Expr, u: Array) -> Array:
        """Evaluate an expression in the one variable ``u``, entry by entry."""
        match expr:
            case Number(value):
                return jnp.asarray(float(value), dtype=self.dtype)
            case Add(terms):
                return sum((self.scalar(term, u) for term in terms[1:]), self.scalar(terms[0], u))
            case Mul(factors):
                product = self.scalar(factors[0], u)
                for factor in factors[1:]:
                    product = product * self.scalar(factor, u)
                return product
            case Power(base, exponent):
                value = self.scalar(base, u)
                return (
                    jax.lax.integer_pow(value, int(exponent)) if exponent.denominator == 1 else value ** float(exponent)
                )
            case Apply(function, argument):
                return self._apply(function, self.scalar(argument, u))
            case _:
                return u

    def _read(self, ref: Ref) -> Named:
        array = self.arrays[ref.tensor]
        plain = [index.axis for index in ref.indices]
        if None not in plain and len(set(plain)) == len(plain):
            return array, tuple(axis for axis in plain if axis is not None)
        axes = tuple(dict.fromkeys(axis for index in ref.indices for axis, _ in index.terms))
        grids = dict(zip(axes, np.indices([self.program.sizes[axis] for axis in axes]), strict=True))
        cells = tuple(
            sum((factor * grids[axis] for axis, factor in index.terms), np.asarray(index.offset))
            for index in ref.indices
        )
        return array[cells], axes

    def _align(self, named: Named, axes: tuple[str, ...]) -> Array:
        array, own = named
        array = jnp.transpose(array, [own.index(axis) for axis in axes if axis in own])
        return array.reshape([self.program.sizes[axis] if axis in own else 1 for axis in axes])

    def _contract(self, named: list[Named], summed: tuple[str, ...]) -> Named:
        union = _union(named)
        axes = tuple(axis for axis in union if axis not in summed)
        missing = [axis for axis in summed if axis not in union]
        factor = self._count(missing)
        if summed:
            number = {axis: place for place, axis in enumerate(union)}
            operands: list[object] = []
            for array, own in named:
                operands += [array, [number[axis] for axis in own]]
            array = jnp.einsum(*operands, [number[axis] for axis in axes], precision=jax.lax.Precision.HIGHEST)
        else:
            array = self._align(named[0], axes)
            for item in named[1:]:
                array = array * self._align(item, axes)
            array = jnp.broadcast_to(array, [self.program.sizes[axis] for axis in axes])
        return (array * factor if missing else array), axes

    def _count(self, axes: Iterable[str]) -> float:
        return float(math.prod(self.program.sizes[axis] for axis in axes))

    def _softmax(self, expr: Softmax) -> Named:
        named = self.evaluate(expr.argument)
        wanted: list[str] = [*named[1], expr.axis, *([expr.until] if expr.until else [])]
        axes = tuple(dict.fromkeys(wanted))
        array = self.spread(named, axes)
        place = axes.index(expr.axis)
        if expr.until is None:
            return jax.nn.softmax(array, axis=place), axes
        shape = [1] * len(axes)
        position = np.arange(self.program.sizes[expr.axis]).reshape([-1 if n == place else 1 for n in range(len(axes))])
        limit = np.arange(self.program.sizes[expr.until])
        shape[axes.index(expr.until)] = -1
        allowed = np.broadcast_to(position <= limit.reshape(shape), array.shape)
        return jax.nn.softmax(array, axis=place, where=allowed), axes


def _union(named: list[Named]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(axis for _, axes in named for axis in axes))


def _absolute(u: Array) -> Array:
    """Return |u| with derivative 0 at 0, the one choice that keeps abs even (JAX takes 1)."""
    return u * jax.lax.stop_gradient(jnp.sign(u))


@lru_cache(maxsize=1)
def _table() -> dict[str, Callable[[Array], Array]]:
    return {
        "tanh": jnp.tanh, "sin": jnp.sin, "erf": jax.lax.erf, "arctan": jnp.arctan, "sinh": jnp.sinh,
        "sigmoid": jax.nn.sigmoid, "softplus": jax.nn.softplus, "silu": jax.nn.silu,
        "gelu": lambda u: jax.nn.gelu(u, approximate=False), "exp": jnp.exp, "cos": jnp.cos, "cosh": jnp.cosh,
        "gaussian": lambda u: jnp.exp(-u * u), "square": lambda u: u * u, "cube": lambda u: u * u * u,
        "identity": lambda u: u, "relu": jax.nn.relu, "abs": _absolute,
        "log": jnp.log, "tan": jnp.tan, "asinh": jnp.arcsinh, "atan": jnp.arctan,
    }  # fmt: skip
