r"""The map of a program in LaTeX, one line a statement; it needs no package beyond LaTeX itself."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from fractions import Fraction

from invman.architecture.activations import Activation
from invman.architecture.program import Add, Apply, Expr, Index, Mul, Number, Power, Program, Ref, Softmax, Sum
from invman.architecture.scalars import custom_body
from invman.architecture.summation import MINUS

COMMANDS = ("tanh", "sin", "arctan", "sinh", "exp", "cos", "cosh", "log", "tan")
"""Functions with a LaTeX command of their own; others are set upright."""


def latex_map(program: Program) -> str:
    r"""Write the map of a program in LaTeX.

    Every sum is written out with its index. The result is an ``array`` for display mathematics, ``\[ ... \]``, and
    uses no command that plain LaTeX lacks.

    Parameters
    ----------
    program : Program
        The architecture.

    Returns
    -------
    str
        One row ``left & = & right`` a statement.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> print(latex_map(read_architecture("2-3tanh-1")))
    \begin{array}{rcl}
    h_{k} & = & \tanh\left(\sum_{i} w_{k,i}\,x_{i}\right) \\
    f & = & \sum_{k} a_{k}\,h_{k}
    \end{array}
    """
    rows = [
        f"{_tensor(statement.name, [_axis(axis) for axis in statement.axes])} & = & {_show(statement.expr, 0)}"
        for statement in program.statements
    ]
    return "\\begin{array}{rcl}\n" + " \\\\\n".join(rows) + "\n\\end{array}"


def _show(expr: Expr, level: int) -> str:
    """Write an expression; levels bind as in :mod:`invman.architecture.printer`."""
    match expr:
        case Number(value):
            return _bracketed(_number(value), level >= 3 or (value < 0 and level >= 2))
        case Ref(tensor, indices):
            return _tensor(tensor, [_index(index) for index in indices])
        case Add(terms):
            text = _show(terms[0], 1)
            for term in terms[1:]:
                shown = _show(term, 1)
                text += f" - {shown[1:]}" if shown.startswith("-") else f" + {shown}"
            return _bracketed(text, level >= 1)
        case Mul(factors):
            return _bracketed(_product(factors), level >= 3)
        case Sum(axes, body, mean):
            names = [_axis(axis) for axis in axes]
            share = rf"\frac{{1}}{{{''.join(f'|{name}|' for name in names)}}}" if mean else ""
            return _bracketed(rf"{share}\sum_{{{','.join(names)}}} {_show(body, 1)}", level >= 2)
        case Power(base, exponent) if exponent == Fraction(1, 2):
            return rf"\sqrt{{{_show(base, 0)}}}"
        case Power(base, exponent) if exponent == -1:
            return _bracketed(rf"\frac{{1}}{{{_show(base, 0)}}}", level >= 3)
        case Power(base, exponent):
            return _bracketed(f"{{{_show(base, 3)}}}^{{{exponent}}}", level >= 3)
        case Apply(function, argument):
            return _bracketed(_call(function, argument), level >= 3)
        case Softmax(axis, argument, until):
            under = _axis(axis) + (rf" \le {_axis(until)}" if until else "")
            return _bracketed(rf"\mathrm{{softmax}}_{{{under}}}{_round(_show(argument, 0))}", level >= 3)


def _product(factors: Sequence[Expr]) -> str:
    """Write a product; what is divided by stands below a fraction bar."""
    sign = ""
    if factors[0] == MINUS and len(factors) > 1:
        sign, factors = "-", factors[1:]
    above: list[Expr] = []
    below: list[Expr] = []
    for factor in factors:
        if isinstance(factor, Power) and factor.exponent == -1:
            below.append(factor.base)
        elif above and isinstance(factor, Number) and factor.value.numerator == 1 and factor.value.denominator > 1:
            below.append(Number(Fraction(factor.value.denominator)))
        else:
            above.append(factor)
    if not below:
        shown = [_show(factor, 1 if isinstance(factor, Number) and not n else 2) for n, factor in enumerate(above)]
        return sign + shown[0] + "".join(rf" \cdot {s}" if s[0].isdigit() else rf"\,{s}" for s in shown[1:])
    top, bottom = (_show(Mul(tuple(part)), 0) if len(part) > 1 else _show(part[0], 0) if part else "1"
                   for part in (above, below))  # fmt: skip
    return rf"{sign}\frac{{{top}}}{{{bottom}}}"


def _call(function: Activation, argument: Expr) -> str:
    inside = _show(argument, 0)
    if function.name == "identity":
        return _round(inside)
    if function.name == "abs":
        return rf"\left|{inside}\right|"
    if function.name.startswith("custom("):
        body = _show(custom_body(function), 0)
        return rf"\left[u \mapsto {body}\right]{_round(inside)}"
    name = f"\\{function.name}" if function.name in COMMANDS else rf"\mathrm{{{function.name}}}"
    return name + _round(inside)


def _round(text: str) -> str:
    return rf"\left({text}\right)"


def _bracketed(text: str, wanted: bool) -> str:
    return _round(text) if wanted else text


def _number(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value)
    return rf"{'-' if value < 0 else ''}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _tensor(name: str, indices: Sequence[str]) -> str:
    return _name(name) + (f"_{{{','.join(indices)}}}" if indices else "")


def _index(index: Index) -> str:
    """Write an affine index such as 2t+s-1."""
    text = ""
    for axis, coefficient in index.terms:
        sign = "-" if coefficient < 0 else "+" if text else ""
        text += sign + ("" if abs(coefficient) == 1 else rf"{abs(coefficient)}\,") + _axis(axis)
    return text + f"{index.offset:+d}" * bool(index.offset) if text else str(index.offset)


def _name(name: str) -> str:
    """Write the name of a tensor: digits at its end, which number a layer, become a superscript in brackets."""
    head, digits = _split(name)
    return head + (f"^{{({digits})}}" if digits else "")


def _axis(name: str) -> str:
    """Write the name of an axis: digits at its end become a subscript."""
    head, digits = _split(name)
    return head + (f"_{{{digits}}}" if digits else "")


def _split(name: str) -> tuple[str, str]:
    head = name.rstrip("0123456789")
    shown = "".join(_letter(letter) for letter in head)
    return (shown if len(head) == 1 else rf"\mathit{{{shown}}}"), name[len(head) :]


def _letter(letter: str) -> str:
    if letter == "_":
        return r"\_"
    if letter.isascii():
        return letter
    words = unicodedata.name(letter, "").split()
    if words[:3] == ["GREEK", "SMALL", "LETTER"] and len(words) == 4 and words[3] != "OMICRON":
        return f"\\{words[3].lower().replace('lamda', 'lambda')} "
    return f"U{ord(letter):04X}"
