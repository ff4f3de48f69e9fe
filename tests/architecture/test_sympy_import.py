"""Reading a scalar map from SymPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

from invman.architecture import parse_program
from invman.architecture.scalars import sympy_map
from invman.architecture.sympy_import import from_sympy, symbol_names
from invman.errors import ArchitectureError, UnsupportedError
from invman.symmetry.scalar import scalar_symmetry

a, b, c, v, w, x, y = sp.symbols("a b c v w x y")

EXPRESSIONS = [
    a * sp.tanh(w * x + b),
    a * sp.sin(w * x) + b * sp.cos(v * x) - sp.Rational(1, 3) * x,
    a / (1 + w**2 * x**2),
    sp.sqrt(2) * a * x + sp.sqrt(1 + b**2) * x,
    1 / (1 + sp.exp(-w * x)) + sp.log(1 + sp.exp(b * x)),
    a * sp.exp(-((w * x + b) ** 2)) + sp.E * x,
    sp.erf(a * x) + sp.atan(b * x) + sp.sinh(x) + sp.cosh(c * x) + sp.asinh(a * x),
    sp.Float("0.1") * a * x**3 - (a - b) ** 2 * y,
    a * x ** sp.Rational(3, 2),
]


@pytest.mark.parametrize("expr", EXPRESSIONS, ids=str)
def test_same_function_and_same_text(expr: sp.Expr):
    program = from_sympy(expr, [x, y])
    assert parse_program(program.text) == program
    theta, inputs, (output,) = sympy_map(program)
    assert [str(s) for s in inputs] == ["x", "y"]
    assert {str(s) for s in theta} == {str(s) for s in expr.free_symbols - {x, y}}
    rng = np.random.default_rng(0)
    for _ in range(3):
        point = {str(s): sp.Float(rng.uniform(0.2, 1.5), 30) for s in [*theta, *inputs]}
        left = expr.subs({s: point[str(s)] for s in expr.free_symbols})
        right = output.subs({s: point[str(s)] for s in [*theta, *inputs]})
        assert abs(sp.N(left - right, 20)) < 1e-14


def test_patterns_are_recognised():
    text = from_sympy(1 / (1 + sp.exp(-w * x)) + sp.log(1 + sp.exp(b)) + sp.exp(-((a + x) ** 2)), [x]).text
    assert all(name in text for name in ("sigmoid(w*x)", "softplus(b)", "gaussian(a + x)"))


def test_scalar_symmetry_of_an_expression():
    u = sp.symbols("a1 a2 a3 w1 w2 w3")
    net = sp.Add(*(u[k] * sp.tanh(u[k + 3] * x) for k in range(3)))
    assert scalar_symmetry(from_sympy(net, x)).order == 48
    assert scalar_symmetry(from_sympy([net, u[0] * x], x)).order == 8


def test_order_of_parameters_and_outputs():
    program = from_sympy([a * x, b * y + a], [y, x], parameters=[b, a])
    assert [t.name for t in program.parameters] == ["b", "a"]
    assert [t.name for t in program.inputs] == ["y", "x"]
    assert program.outputs == ("f0", "f1")
    f = sp.Symbol("f")
    assert from_sympy(f * x, x).outputs == ("f_",)


def test_names():
    odd = [sp.Symbol("w[0,1]"), sp.Symbol(r"\alpha_{1}"), sp.Symbol("tanh"), sp.Symbol("1a"), sp.Symbol("x", real=True)]
    names = list(symbol_names([x, *odd]).values())
    assert names == ["x", "w_0_1", "alpha__1", "tanh_", "v_1a", "x_2"]
    assert parse_program(from_sympy(sp.Add(*odd) * x, x).text).parameter_count == 5
    assert parse_program(from_sympy(sp.Symbol("input") * sp.Symbol("sum") * x, x).text).parameter_count == 2


REFUSED: list[tuple[Any, str]] = [
    (sp.pi * x, "the constant pi"),
    (sp.I * x, "the constant I"),
    (sp.oo * a * x, "the constant oo"),
    (x**a, "the exponent a of x"),
    (2**x, "the exponent x of 2"),
    (sp.cbrt(2) * x, "the root"),
    (sp.gamma(x), "the function gamma"),
    (sp.log(x), r"the function log, .* log\(1 \+ exp\(u\)\) only"),
    (sp.Max(x, 0), "the function Max"),
    (sp.Function("g")(x), "the function g"),
]


@pytest.mark.parametrize(("expr", "message"), REFUSED, ids=lambda item: str(item))
def test_refused(expr: sp.Expr, message: str):
    with pytest.raises(UnsupportedError, match=message):
        from_sympy(expr, x)


def test_errors():
    cases: list[tuple[tuple[Any, ...], str]] = [
        (([], x), "got no expression"),
        ((a * x, []), "got no inputs"),
        ((a * x, [x, x]), "a symbol twice"),
        ((a * x, [x], [x]), "a symbol twice"),
        ((a * b * x, [x], [a]), "got parameters without b"),
        ((a * x, [x], [a, b]), "got parameters b that do not occur"),
        ((a * x, [2 * x]), "expected SymPy symbols"),
        ((sp.Eq(a, x), [x]), "expected a scalar SymPy expression"),
    ]
    for arguments, message in cases:
        with pytest.raises(ArchitectureError, match=message):
            from_sympy(*arguments)
