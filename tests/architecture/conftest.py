"""Both evaluations of a program at the same random numbers, and errors whose place in the text is marked."""

from __future__ import annotations

import inspect

import jax
import numpy as np
import pytest
import sympy

from invman.architecture.evaluate import jax_map
from invman.architecture.scalars import SympyAlgebra, expand
from invman.errors import SyntaxProblem


def point(program, seed=0):
    """Random theta and x, of the flat sizes of the program."""
    rng = np.random.default_rng(seed)
    return 0.6 * rng.normal(size=program.parameter_count), rng.normal(size=program.input_count)


def by_jax(program, theta, x):
    with jax.enable_x64(True):
        out = jax.jit(jax_map(program))(theta, x)
        assert out.dtype == np.float64
        return np.asarray(out)


class Digits(SympyAlgebra):
    """SymPy's algebra, with every number evaluated to 30 digits."""

    def number(self, value):
        return super().number(value).evalf(30)

    def power(self, base, exponent):
        return (base ** super().number(exponent)).evalf(30)

    def apply(self, function, argument):
        return super().apply(function, argument).evalf(30)


def by_sympy(program, theta, x):
    """The map by the SymPy interpreter, at numbers of 30 digits instead of symbols."""
    theta, x = ([sympy.Float(value, 30) for value in flat] for flat in (theta, x))
    return np.array([float(value) for value in expand(program, Digits(), theta, x)])


def tensors(program, theta, x):
    """Parameters and inputs as numpy arrays by name."""
    arrays = {}
    for group, flat in ((program.parameters, theta), (program.inputs, x)):
        position = 0
        for tensor in group:
            arrays[tensor.name] = np.asarray(flat[position : position + tensor.size]).reshape(tensor.shape)
            position += tensor.size
    return arrays


@pytest.fixture(scope="session")
def agree():
    """Check that both evaluations agree to 1e-12, and with a function of the arrays that it names."""

    def check(program, by_hand=None, seed=0):
        theta, x = point(program, seed)
        value = by_jax(program, theta, x)
        scale = 1 + np.abs(value).max()
        assert value.shape == (program.output_count,)
        assert np.abs(value - by_sympy(program, theta, x)).max() < 1e-12 * scale
        if by_hand is not None:
            arrays = tensors(program, theta, x)
            expected = by_hand(**{name: arrays[name] for name in inspect.signature(by_hand).parameters})
            assert np.abs(value - np.ravel(expected)).max() < 1e-12 * scale
        return value

    return check


@pytest.fixture(scope="session")
def problem():
    """Check that reading a text fails at the place marked with "‸" (or at the end), and return the message."""

    def check(parse, marked):
        text = marked.replace("‸", "")
        position = marked.index("‸") if "‸" in marked else len(text)
        with pytest.raises(SyntaxProblem) as caught:
            parse(text)
        assert caught.value.position == position, str(caught.value)
        column = position - (text.rfind("\n", 0, position) + 1)
        lines = str(caught.value).split("\n")
        assert f"column {column + 1}: got " in lines[0]
        assert (f"line {text.count(chr(10), 0, position) + 1}, " in lines[0]) == ("\n" in text)
        if column < 60:
            assert lines[2] == " " * (column + 2) + "^"
        return str(caught.value)

    return check
