"""Index notation, read: from text to a :class:`~invman.architecture.program.Program`.

One statement a line (or separated by ``;``)::

    input x[i]
    h[k] = tanh(w[k,i]*x[i] + b[k])
    f    = a[k]*h[k]
    size i=2, k=3

The last statement, or those named by ``output``, is F. A name that is read but not defined is a parameter. An index
that is not on the left is summed in the innermost product that holds all its occurrences; each term of a sum is
summed on its own. Where no product holds it the sum must be written: ``sum[k](...)`` or ``mean[k](...)``.
Functions: the registered activations, ``custom(u+u^2)(...)``, ``sqrt``, ``softmax[s](...)`` and the causal
``softmax[s<=t](...)``. Indices may be affine, ``x[2*t+s-1]``. ``constant m[i,j] = [[1,0],[1/2,1]]`` fixes a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from invman.architecture import custom
from invman.architecture.activations import PRIMITIVES, REGISTERED, Activation, nearest
from invman.architecture.assemble import Source, assemble, make_sums_explicit
from invman.architecture.program import (
    Add,
    Apply,
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
from invman.architecture.tokens import Scanner, Token
from invman.errors import SyntaxProblem

SPECIAL = ("softmax", "sum", "mean", "sqrt", "custom")
KEYWORDS = ("input", "constant", "size", "output")


def parse_program(text: str) -> Program:
    """Read a program in index notation.

    Parameters
    ----------
    text : str
        The statements.

    Returns
    -------
    Program
        With every summation explicit.

    Raises
    ------
    SyntaxProblem
        With a caret under the column that does not fit.

    Examples
    --------
    >>> parse_program("input x[i]; h[k] = tanh(w[k,i]*x[i]); f = a[k]*h[k]; size i=2, k=3").parameter_count
    9
    """
    scanner = Scanner(text)
    source = Source(text)
    while scanner.next.kind != "end":
        if scanner.next.kind == "newline":
            scanner.take()
            continue
        _line(scanner, source)
        if scanner.next.kind not in ("newline", "end"):
            scanner.fail("an operator or the end of the statement")
    return assemble(source)


def _line(scanner: Scanner, source: Source) -> None:
    token = scanner.name("a statement such as 'h[k] = tanh(w[k,i]*x[i])', or 'input', 'constant', 'size', 'output'")
    keyword = token.text if token.text in KEYWORDS and scanner.next.kind == "name" else None
    if keyword == "input":
        _list(scanner, lambda: _declare_input(scanner, source))
    elif keyword == "size":
        _list(scanner, lambda: _declare_size(scanner, source))
    elif keyword == "output":
        _list(scanner, lambda: source.outputs.append(scanner.name("the name of a statement")))
    elif keyword == "constant":
        name = scanner.name("the name of a constant")
        axes = _axes(scanner)
        scanner.expect("=")
        source.constants.append((name, axes, _literal(scanner)))
    else:
        axes = _axes(scanner)
        if not scanner.accept("="):
            known = nearest(token.text, list(KEYWORDS))
            scanner.fail("'='", f"A statement reads NAME[AXES] = EXPRESSION. {known}".strip())
        source.statements.append((token, axes, ExpressionReader(scanner, source).expression()))


def _list(scanner: Scanner, item: Callable[[], object]) -> None:
    item()
    while scanner.accept(","):
        item()


def _declare_input(scanner: Scanner, source: Source) -> None:
    name = scanner.name("the name of an input")
    source.inputs.append((name, _axes(scanner)))


def _declare_size(scanner: Scanner, source: Source) -> None:
    name = scanner.name("the name of an axis, as in 'size k=3'")
    scanner.expect("=")
    place = scanner.next
    if scanner.at("-"):
        scanner.fail("a whole number of at least 1", f"The size of axis {name.text} cannot be negative.")
    size = scanner.integer("a whole number of at least 1")
    if size < 1:
        scanner.fail("a whole number of at least 1", f"Axis {name.text} cannot be empty.", place)
    source.declare_size(name, size)


def _axes(scanner: Scanner) -> list[Token]:
    """Read ``[k,i]`` on a left-hand side, or nothing."""
    if not scanner.accept("["):
        return []
    axes = [scanner.name("the name of an axis")]
    while scanner.accept(","):
        axes.append(scanner.name("the name of an axis"))
    scanner.expect("]", "',' or ']'")
    return axes


def _literal(scanner: Scanner) -> object:
    """Read a nested list of rational numbers."""
    if scanner.accept("["):
        items = [_literal(scanner)]
        while scanner.accept(","):
            items.append(_literal(scanner))
        scanner.expect("]", "',' or ']'")
        return items
    sign = -1 if scanner.accept("-") else 1
    if scanner.next.kind != "number":
        scanner.fail("a number or '['")
    value = Fraction(scanner.take().text)
    if scanner.accept("/"):
        if scanner.next.kind != "number" or not Fraction(scanner.next.text):
            scanner.fail("a denominator other than 0")
        value /= Fraction(scanner.take().text)
    return sign * value


class ExpressionReader:
    """Recursive descent over one expression; what it meets is noted in the source for the later checks."""

    def __init__(self, scanner: Scanner, source: Source, functions: Mapping[str, Activation] = REGISTERED) -> None:
        self.scanner, self.source, self.functions = scanner, source, functions

    def expression(self) -> Expr:
        """Read terms joined by + and -."""
        scanner = self.scanner
        terms = [negate(self.term()) if scanner.accept("-") else self.term()]
        while sign := scanner.accept("+", "-"):
            terms.append(negate(self.term()) if sign.text == "-" else self.term())
        return terms[0] if len(terms) == 1 else Add(tuple(terms))

    def term(self) -> Expr:
        """Read factors joined by * and /."""
        factors = [self.factor()]
        while operator := self.scanner.accept("*", "/"):
            place = self.scanner.next
            factor = self.factor()
            if operator.text == "*":
                factors.append(factor)
            elif isinstance(factor, Number):
                if not factor.value:
                    self.scanner.fail("a divisor other than 0", token=place)
                last = factors[-1]
                if isinstance(last, Number):
                    factors[-1] = Number(last.value / factor.value)
                else:
                    factors.append(Number(1 / factor.value))
            else:
                factors.append(Power(factor, Fraction(-1)))
        return factors[0] if len(factors) == 1 else Mul(tuple(factors))

    def factor(self) -> Expr:
        """Read a signed power."""
        if self.scanner.accept("-"):
            return negate(self.factor())
        base = self.atom()
        while self.scanner.accept("^", "**"):
            place = self.scanner.next
            exponent = self._exponent()
            if isinstance(base, Number):
                if exponent.denominator != 1 or (not base.value and exponent < 0):
                    self.scanner.fail("a whole power of a number", token=place)
                base = Number(base.value ** int(exponent))
            elif exponent == 0:
                base = Number(Fraction(1))
            elif exponent != 1:
                base = Power(base, exponent)
        return base

    def _exponent(self) -> Fraction:
        scanner = self.scanner
        if scanner.accept("("):
            value = _literal(scanner)
            scanner.expect(")")
            return value if isinstance(value, Fraction) else scanner.fail("a number as exponent")
        sign = -1 if scanner.accept("-") else 1
        return Fraction(sign * scanner.integer("a whole number or a fraction in brackets as exponent"))

    def atom(self) -> Expr:
        """Read a number, a bracketed expression, a tensor or a function."""
        scanner = self.scanner
        if scanner.next.kind == "number":
            return Number(Fraction(scanner.take().text))
        if scanner.accept("("):
            inner = self.expression()
            scanner.expect(")", "an operator or ')'")
            return inner
        token = scanner.name("a number, a tensor, a function or '('")
        if token.text in ("sum", "mean", "softmax") and (scanner.at("[") and self._is_reduction()):
            return self._reduction(token)
        if scanner.at("("):
            return self._function(token)
        return self._tensor(token)

    def _is_reduction(self) -> bool:
        """Tell ``sum[k](...)`` from a tensor that is called sum."""
        ahead = 0
        while self.scanner.peek(ahead).text != "]":
            ahead += 1
        return self.scanner.peek(ahead + 1).text == "("

    def _reduction(self, token: Token) -> Expr:
        scanner = self.scanner
        scanner.expect("[")
        axes = [scanner.name("the name of an axis")]
        until = None
        if token.text == "softmax":
            if scanner.accept("<="):
                until = scanner.name("the axis up to which entries count, as in 'softmax[s<=t]'")
        else:
            while scanner.accept(","):
                axes.append(scanner.name("the name of an axis"))
        scanner.expect("]")
        scanner.expect("(")
        argument = self.expression()
        scanner.expect(")", "an operator or ')'")
        for axis in axes if until is None else [*axes, until]:
            self.source.note_axis(axis)
        if token.text == "softmax":
            return Softmax(axes[0].text, argument, until.text if until else None)
        return Sum(tuple(axis.text for axis in axes), argument, mean=token.text == "mean")

    def _function(self, token: Token) -> Expr:
        scanner = self.scanner
        if token.text == "custom":
            scanner.expect("(")
            function = read_custom(scanner)
            scanner.expect("(", "'(' and the argument, as in 'custom(u+u^2)(z[k])'")
        else:
            scanner.expect("(")
            function = None if token.text == "sqrt" else find_activation(scanner, token, self.functions)
        argument = self.expression()
        scanner.expect(")", "an operator or ')'")
        return Power(argument, Fraction(1, 2)) if function is None else Apply(function, argument)

    def _tensor(self, token: Token) -> Ref:
        scanner = self.scanner
        if token.text in REGISTERED or token.text in SPECIAL:
            scanner.fail(f"'(' after the function {token.text}")
        indices: list[Index] = []
        if scanner.accept("["):
            indices.append(self._index())
            while scanner.accept(","):
                indices.append(self._index())
            scanner.expect("]", "',' or ']'")
        ref = Ref(token.text, tuple(indices))
        self.source.note_read(token, ref)
        return ref

    def _index(self) -> Index:
        """Read an affine index such as ``2*t+s-1``."""
        scanner = self.scanner
        coefficients: dict[str, int] = {}
        offset, sign = 0, -1 if scanner.accept("-") else 1
        while True:
            if scanner.next.kind == "number":
                value = sign * scanner.integer("a whole number")
                if scanner.accept("*"):
                    axis = scanner.name("the name of an axis")
                    self.source.note_axis(axis)
                    coefficients[axis.text] = coefficients.get(axis.text, 0) + value
                else:
                    offset += value
            else:
                axis = scanner.name("an index such as k, 2*t+s or 0")
                self.source.note_axis(axis)
                coefficients[axis.text] = coefficients.get(axis.text, 0) + sign
            operator = scanner.accept("+", "-")
            if operator is None:
                break
            sign = 1 if operator.text == "+" else -1
        return Index(tuple((axis, value) for axis, value in coefficients.items() if value), offset)


def find_activation(scanner: Scanner, token: Token, functions: Mapping[str, Activation] = REGISTERED) -> Activation:
    """Return the activation of this name, or raise at the token with the nearest name."""
    if token.text in functions:
        return functions[token.text]
    hint = nearest(token.text, [*functions, *SPECIAL]) or "For another function write custom(EXPRESSION in u)."
    return scanner.fail(f"an activation ({', '.join(functions)})", hint, token)


def read_custom(scanner: Scanner) -> Activation:
    """Read the expression in ``u`` and the closing bracket of ``custom(...)``, and derive its parity and support."""
    start = scanner.next
    expression = _scalar(scanner)
    scanner.expect(")", "an operator or ')'")
    return custom.derive(expression, lambda message: scanner.fail("an analytic function of u", message, start))


def parse_scalar(text: str) -> Expr:
    """Read an expression in the one variable ``u``, such as ``u + u^2`` or ``log(1 + exp(u))``."""
    scanner = Scanner(text)
    expression = _scalar(scanner)
    if scanner.next.kind != "end":
        scanner.fail("an operator or the end of the expression")
    return expression


def same_expression(text: str, statement: Statement) -> bool:
    """Tell whether a text, read as the right-hand side of a statement, gives its expression with the same sums."""
    scanner = Scanner(text)
    source = Source(text)
    expr = ExpressionReader(scanner, source).expression()
    try:
        return make_sums_explicit(expr, statement.axes, source) == statement.expr
    except SyntaxProblem:
        return False


def _scalar(scanner: Scanner) -> Expr:
    source = Source(scanner.text)
    expression = ExpressionReader(scanner, source, {**REGISTERED, **PRIMITIVES}).expression()
    for token, ref in source.reads:
        if ref.tensor != "u" or ref.indices:
            scanner.fail("'u', the only variable of a custom activation", token=token)
    return expression


def negate(expr: Expr) -> Expr:
    """Return minus the expression, folding the sign into a leading number."""
    match expr:
        case Number(value):
            return Number(-value)
        case Mul((Number(value), *rest)):
            if value != -1:
                return Mul((Number(-value), *rest))
            return rest[0] if len(rest) == 1 else Mul(tuple(rest))
        case Mul(factors):
            return Mul((Number(Fraction(-1)), *factors))
        case _:
            return Mul((Number(Fraction(-1)), expr))
