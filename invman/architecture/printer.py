"""Index notation, written: the text of a program and of its expressions; reading it gives the program back."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeGuard

from invman.architecture.program import (
    Add,
    Apply,
    Constant,
    Expr,
    Index,
    Mul,
    Number,
    Power,
    Program,
    Ref,
    Softmax,
    Statement,
    Sum,
)
from invman.architecture.summation import MINUS


def print_program(program: Program) -> str:
    """Print a program; sums are left implicit wherever reading the text puts them back in the same place."""
    head = [f"input {', '.join(_declared(tensor.name, tensor.axes) for tensor in program.inputs)}"]
    head += [f"constant {_declared(c.tensor.name, c.tensor.axes)} = {_nested(c)}" for c in program.constants]
    sizes = "size " + ", ".join(f"{axis}={size}" for axis, size in program.sizes.items()) if program.sizes else ""
    output = f"output {', '.join(program.outputs)}" if program.outputs != (program.statements[-1].name,) else ""
    tail = [line for line in (output, sizes) if line]
    lines = [print_statement(statement) for statement in program.statements]
    return "\n".join([*head, *lines, *tail])


def print_statement(statement: Statement) -> str:
    """Print ``name[axes] = expression``."""
    from invman.architecture.expressions import same_expression

    left = f"{_declared(statement.name, statement.axes)} = "
    short = print_expression(statement.expr)
    if same_expression(short, statement):
        return left + short
    return left + print_expression(statement.expr, explicit=True)


def _declared(name: str, axes: tuple[str | None, ...]) -> str:
    return f"{name}[{','.join(str(axis) for axis in axes)}]" if axes else name


def print_expression(expr: Expr, *, explicit: bool = False) -> str:
    """Print an expression; with ``explicit`` every sum is written out."""
    return _Printer(explicit).show(expr, 0)


class _Printer:
    """Binding strength: 0 a whole expression, 1 a term of a sum, 2 a factor of a product, 3 the base of a power."""

    def __init__(self, explicit: bool) -> None:
        self.explicit = explicit

    def show(self, expr: Expr, level: int) -> str:
        """Print with brackets where the surroundings bind more strongly."""
        match expr:
            case Number(value):
                text = str(value)
                return f"({text})" if (value < 0 and level >= 2) or (value.denominator > 1 and level >= 3) else text
            case Ref(tensor, indices):
                return f"{tensor}[{','.join(map(print_index, indices))}]" if indices else tensor
            case Add(terms):
                text = self.show(terms[0], 1)
                for term in terms[1:]:
                    shown = self.show(term, 1)
                    text += f" - {shown[1:]}" if shown.startswith("-") else f" + {shown}"
                return f"({text})" if level >= 1 else text
            case Mul(factors):
                return f"({self._product(factors)})" if level >= 2 else self._product(factors)
            case Power(base, exponent) if exponent == Fraction(1, 2):
                return f"sqrt({self.show(base, 0)})"
            case Power(base, exponent):
                power = str(exponent) if exponent.denominator == 1 else f"({exponent})"
                text = f"{self.show(base, 3)}^{power}"
                return f"({text})" if level >= 3 else text
            case Sum(axes, body, mean):
                if not self.explicit and not mean:
                    return self.show(body, level)
                return f"{'mean' if mean else 'sum'}[{','.join(axes)}]({self.show(body, 0)})"
            case Apply(function, argument):
                return f"{function}({self.show(argument, 0)})"
            case Softmax(axis, argument, until):
                return f"softmax[{axis}{'<=' + until if until else ''}]({self.show(argument, 0)})"

    def _product(self, factors: tuple[Expr, ...]) -> str:
        first = factors[0]
        if first == MINUS and not isinstance(factors[1], Mul | Number):
            text, rest = "-" + self.show(factors[1], 2), factors[2:]
        elif isinstance(first, Number):
            text, rest = str(first.value), factors[1:]
        else:
            text, rest = self.show(first, 2), factors[1:]
        before = factors[-len(rest) - 1]
        for factor in rest:
            if isinstance(factor, Power) and factor.exponent == -1:
                text += "/" + self.show(factor.base, 3)
            elif _divides(factor) and not isinstance(before, Number):
                text += f"/{factor.value.denominator}"
            else:
                text += "*" + self.show(factor, 2)
            before = factor
        return text


def _divides(expr: Expr) -> TypeGuard[Number]:
    """Tell whether an expression is the reciprocal of a whole number, written as a division."""
    return isinstance(expr, Number) and expr.value.numerator == 1 and expr.value.denominator > 1


def print_index(index: Index) -> str:
    """Print an affine index such as ``2*t+s-1``."""
    text = ""
    for axis, coefficient in index.terms:
        sign = "-" if coefficient < 0 else "+" if text else ""
        text += sign + (f"{abs(coefficient)}*" if abs(coefficient) != 1 else "") + axis
    if index.offset or not text:
        text += f"{index.offset:+d}" if text else str(index.offset)
    return text


def _nested(constant: Constant) -> str:
    values = [str(value) for value in constant.values]
    for size in reversed(constant.tensor.shape):
        values = ["[" + ",".join(group) + "]" for group in _groups(values, size)]
    return values[0]


def _groups(values: list[str], size: int) -> list[list[str]]:
    return [values[start : start + size] for start in range(0, len(values), size)]
