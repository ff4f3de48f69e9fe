"""A scalar SymPy expression as a program without axes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from invman.architecture.activations import PRIMITIVES, REGISTERED
from invman.architecture.expressions import SPECIAL
from invman.architecture.program import Program
from invman.architecture.text import KEYWORDS, parse_program
from invman.errors import ArchitectureError, UnsupportedError

if TYPE_CHECKING:
    import sympy

FUNCTIONS = {
    "tanh": "tanh", "sin": "sin", "cos": "cos", "erf": "erf", "exp": "exp", "atan": "arctan", "sinh": "sinh",
    "cosh": "cosh", "asinh": "custom(asinh(u))",
}  # fmt: skip
"""SymPy functions and what they are called in a program."""


def from_sympy(
    expr: sympy.Expr | Sequence[sympy.Expr],
    inputs: sympy.Symbol | Sequence[sympy.Symbol],
    parameters: Sequence[sympy.Symbol] | None = None,
) -> Program:
    """Read a scalar map from SymPy; every symbol that is no input is a parameter.

    The program has no axes: each parameter is a tensor of its own, so its discrete symmetry is found on the graph of
    scalars. ``1/(1 + exp(-u))``, ``log(1 + exp(u))`` and ``exp(-u**2)`` become sigmoid, softplus and gaussian. A float
    is read as the decimal number that it prints. Symbols keep their names where these are names of the index notation;
    :func:`symbol_names` tells what becomes of the others.

    Parameters
    ----------
    expr : Expr or sequence of Expr
        The outputs: sums, products, rational powers, and tanh, sin, cos, erf, exp, atan, sinh, cosh, asinh.
    inputs : Symbol or sequence of Symbol
        What x consists of, in this order.
    parameters : sequence of Symbol, optional
        What theta consists of, in this order; by default all other symbols in the order in which the program text
        reads them.

    Returns
    -------
    Program

    Raises
    ------
    UnsupportedError
        For another function, an irrational constant such as pi, or an exponent that is no rational number.
    ArchitectureError
        When inputs and parameters are not symbols, overlap, or are not those of the expression.

    Examples
    --------
    >>> from sympy import symbols, tanh
    >>> a, w, x = symbols("a w x")
    >>> from_sympy(a * tanh(w * x), [x]).statements[0].name
    'f'
    """
    import sympy as sp

    outputs = [sp.sympify(item) for item in (expr if isinstance(expr, Iterable) else [expr])]
    x = list(inputs) if isinstance(inputs, Iterable) else [inputs]
    free: set[Any] = {symbol for item in outputs for symbol in item.free_symbols}
    _check(outputs, x, free, parameters)
    names = symbol_names([*x, *(parameters or sorted(free - set(x), key=sp.default_sort_key))])
    stems = _unused("f", len(outputs), set(names.values()))
    lines = ["input " + ", ".join(names[symbol] for symbol in x)]
    lines += [f"{stem} = {_text(item, names)}" for stem, item in zip(stems, outputs, strict=True)]
    program = parse_program("\n".join([*lines, "output " + ", ".join(stems)]))
    if parameters is None:
        return program
    return replace(program, parameters=tuple(program.parameter(names[symbol]) for symbol in parameters))


def symbol_names(symbols: Iterable[sympy.Symbol]) -> dict[sympy.Symbol, str]:
    r"""Return the names that symbols get in a program.

    What is no letter, digit or underscore becomes an underscore, a name that starts with a digit or means something
    else gets one more, and the second symbol of a name gets a number.

    Examples
    --------
    >>> from sympy import Symbol
    >>> list(symbol_names([Symbol("w[0,1]"), Symbol(r"\alpha"), Symbol("tanh")]).values())
    ['w_0_1', 'alpha', 'tanh_']
    """
    reserved = {*REGISTERED, *SPECIAL, *KEYWORDS, *PRIMITIVES}
    names: dict[sympy.Symbol, str] = {}
    for symbol in symbols:
        stem = re.sub(r"\W+", "_", symbol.name)
        stem = stem if stem == symbol.name else stem.strip("_")
        stem = f"v_{stem}" if not stem or not re.match(r"[^\W\d]", stem) else stem
        stem = f"{stem}_" if stem in reserved else stem
        name, number = stem, 2
        while name in names.values():
            name, number = f"{stem}_{number}", number + 1
        names[symbol] = name
    return names


def _check(outputs: list[Any], x: list[Any], free: set[Any], parameters: Sequence[Any] | None) -> None:
    import sympy as sp

    def fail(got: str, expected: str) -> None:
        msg = f"from_sympy: got {got}, expected {expected}"
        raise ArchitectureError(msg)

    if not outputs:
        fail("no expression", "at least one output")
    for item in outputs:
        if not isinstance(item, sp.Expr):
            fail(f"{item} of type {type(item).__name__}", "a scalar SymPy expression")
    for symbol in [*x, *(parameters or [])]:
        if not isinstance(symbol, sp.Symbol):
            fail(f"{symbol!r} among the inputs and parameters", "SymPy symbols")
    if not x:
        fail("no inputs", "at least one symbol")
    every = [*x, *(parameters or [])]
    if len(set(every)) < len(every):
        fail("a symbol twice among inputs and parameters", "each once")
    if parameters is not None and set(parameters) != free - set(x):
        missing = sorted(str(symbol) for symbol in free - set(every))
        extra = sorted(str(symbol) for symbol in set(parameters) - free)
        fail(
            f"parameters without {', '.join(missing)}"
            if missing
            else f"parameters {', '.join(extra)} that do not occur",
            "all symbols of the expression that are no inputs, and no others",
        )


def _unused(stem: str, count: int, taken: set[str]) -> list[str]:
    while True:
        names = [stem] if count == 1 else [f"{stem}{number}" for number in range(count)]
        if not taken & set(names):
            return names
        stem += "_"


def _text(expr: Any, names: Mapping[Any, str]) -> str:
    """Write an expression in index notation, every operation in brackets."""
    import sympy as sp

    if expr.is_Symbol:
        return names[expr]
    if expr.is_Rational:
        return f"({expr.p}/{expr.q})" if expr.q != 1 or expr.p < 0 else str(expr.p)
    if expr.is_Float:
        if not expr.is_finite:
            raise _unsupported(str(expr), "a finite number")
        value = Fraction(Decimal(str(float(expr))))
        return f"({value.numerator}/{value.denominator})"
    if expr is sp.E:
        return "exp(1)"
    if expr.is_number and expr.is_Atom:
        raise _unsupported(f"the constant {expr}", "rational numbers, their roots, and exp(1)")
    args = sorted(expr.args, key=sp.default_sort_key)
    if expr.is_Add:
        return "(" + " + ".join(_text(arg, names) for arg in args) + ")"
    if expr.is_Mul:
        return "(" + "*".join(_text(arg, names) for arg in args) + ")"
    if expr.is_Pow:
        base, power = expr.args
        return _power(base, power, names)
    (name, argument) = _function(expr)
    return f"{name}({_text(argument, names)})"


def _power(base: Any, power: Any, names: Mapping[Any, str]) -> str:
    import sympy as sp

    if not power.is_Rational:
        raise _unsupported(f"the exponent {power} of {base}", "a rational number as exponent")
    u = sp.Wild("u")
    if sp.Integer(-1) == power and (match := base.match(1 + sp.exp(u))) and base == 1 + sp.exp(match[u]):
        return f"sigmoid({_text(-match[u], names)})"
    if base.is_Rational:  # whole powers of numbers are numbers by now
        if power.q != 2:
            raise _unsupported(f"the root {base**power} of a number", "square roots of numbers")
        return f"(sqrt({_text(base, names)})^({power.p}))"
    return f"({_text(base, names)})^({power.p}/{power.q})"


def _function(expr: Any) -> tuple[str, Any]:
    """Return the name of the activation and its argument."""
    import sympy as sp

    name = type(expr).__name__
    argument = expr.args[0] if len(expr.args) == 1 else None
    if name == "log" and argument is not None and argument.is_Add and len(argument.args) == 2:
        one, other = sorted(argument.args, key=lambda item: item != 1)
        if one == 1 and isinstance(other, sp.exp):
            return "softplus", other.args[0]
    if name not in FUNCTIONS or argument is None:
        known = ", ".join(sorted(FUNCTIONS))
        hint = " log is read in log(1 + exp(u)) only." if name == "log" else ""
        raise _unsupported(f"the function {name}", f"sums, products, rational powers and {known}.{hint}")
    if name == "exp":
        coefficient, rest = argument.as_coeff_Mul()
        if coefficient == -1 and rest.is_Pow and rest.exp == 2:
            return "gaussian", rest.base
    return FUNCTIONS[name], argument


def _unsupported(got: str, expected: str) -> UnsupportedError:
    return UnsupportedError(f"from_sympy: got {got}, expected {expected}")
