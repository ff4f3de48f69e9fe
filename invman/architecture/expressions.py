"""Expressions in index notation, read by recursive descent (see :mod:`invman.architecture.text`)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from invman.architecture import custom
from invman.architecture.activations import PRIMITIVES, REGISTERED, Activation, nearest
from invman.architecture.assemble import Source
from invman.architecture.program import (
    Add,
    Apply,
    Expr,
    Index,
    Mul,
    Number,
    Power,
    Ref,
    Softmax,
    Statement,
    Sum,
)
from invman.architecture.summation import make_sums_explicit
from invman.architecture.tokens import DIGITS, Scanner, Token
from invman.errors import SyntaxProblem

REDUCTIONS = ("sum", "mean", "softmax")
SPECIAL = (*REDUCTIONS, "sqrt", "custom")


def read_rational(scanner: Scanner) -> Fraction:
    """Read ``3``, ``-1/2`` or ``0.25``."""
    sign = -1 if scanner.accept("-") else 1
    value = scanner.number("a number")
    if scanner.accept("/"):
        place = scanner.next
        divisor = scanner.number("a denominator other than 0")
        if not divisor:
            scanner.fail("a denominator other than 0", token=place)
        value /= divisor
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
                    factors[-1] = self._folded(last.value / factor.value, place)
                else:
                    factors.append(Number(1 / factor.value))
            else:
                factors.append(Power(factor, Fraction(-1)))
        return factors[0] if len(factors) == 1 else Mul(tuple(factors))

    def factor(self) -> Expr:
        """Read a signed power."""
        scanner = self.scanner
        negative = False
        while scanner.accept("-"):
            negative = not negative
        base = self.atom()
        if scanner.accept("^", "**"):
            place = scanner.next
            exponent = self._exponent()
            if isinstance(base, Number):
                if exponent.denominator != 1 or (not base.value and exponent < 0):
                    scanner.fail("a whole power of a number", token=place)
                if abs(exponent) > 4 * DIGITS and abs(base.value) != 1:
                    scanner.fail(f"a number of at most {DIGITS} digits", token=place)
                base = self._folded(base.value ** int(exponent), place)
            elif exponent == 0:
                scanner.fail("an exponent other than 0", "What is raised to the power 0 has no part in the map.", place)
            elif exponent != 1:
                base = Power(base, exponent)
            if scanner.at("^", "**"):
                scanner.fail("an operator other than a second power", "Write (a^b)^c or a^(b*c).")
        return negate(base) if negative else base

    def _folded(self, value: Fraction, place: Token) -> Number:
        if max(abs(value.numerator), value.denominator) >= 10**DIGITS:
            self.scanner.fail(f"a number of at most {DIGITS} digits", token=place)
        return Number(value)

    def _exponent(self) -> Fraction:
        scanner = self.scanner
        if scanner.accept("("):
            value = read_rational(scanner)
            scanner.expect(")")
            return value
        sign = -1 if scanner.accept("-") else 1
        return Fraction(sign * scanner.integer("a whole number or a fraction in brackets as exponent"))

    def atom(self) -> Expr:
        """Read a number, a bracketed expression, a tensor or a function."""
        scanner = self.scanner
        if scanner.next.kind == "number":
            return Number(scanner.number("a number"))
        if scanner.accept("("):
            inner = self.expression()
            scanner.expect(")", "an operator or ')'")
            return inner
        token = scanner.name("a number, a tensor, a function or '('")
        if token.text in REDUCTIONS:
            return self._reduction(token)
        return self._function(token) if scanner.at("(") else self._tensor(token)

    def _reduction(self, token: Token) -> Expr:
        scanner = self.scanner
        scanner.expect("[", f"'[' and the axis, as in {token.text}[k](...)")
        axes = [scanner.name("the name of an axis")]
        until = None
        if token.text == "softmax":
            if scanner.accept("<="):
                until = scanner.name("the axis up to which entries count, as in 'softmax[s<=t]'")
                if until.text == axes[0].text:
                    scanner.fail(f"an axis other than {until.text}", token=until)
        else:
            while scanner.accept(","):
                axes.append(scanner.name("the name of an axis"))
            self.source.summed += axes
        scanner.expect("]")
        scanner.expect("(")
        argument = self.expression()
        scanner.expect(")", "an operator or ')'")
        for axis in axes if until is None else [*axes, until]:
            self.source.note_axis(axis)
        if token.text != "softmax":
            return Sum(tuple(axis.text for axis in axes), argument, mean=token.text == "mean")
        softmax = Softmax(axes[0].text, argument, until.text if until else None)
        self.source.softmaxes.append((token, softmax))
        return softmax

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
        if token.text in self.functions or token.text in SPECIAL:
            scanner.fail(f"'(' after the function {token.text}")
        indices: list[Index] = []
        if scanner.accept("["):
            indices.append(self._index())
            while scanner.accept(","):
                indices.append(self._index())
            scanner.expect("]", "',' or ']'")
        ref = Ref(token.text, tuple(indices))
        self.source.reads.append((token, ref))
        return ref

    def _index(self) -> Index:
        """Read an affine index such as ``2*t+s-1``."""
        scanner = self.scanner
        coefficients: dict[str, int] = {}
        offset, sign = 0, -1 if scanner.accept("-") else 1
        while True:
            value = 1
            number = scanner.next.kind == "number"
            if number:
                value = scanner.integer("a whole number")
            if number and not scanner.accept("*"):
                offset += sign * value
            else:
                axis = scanner.name("the name of an axis" if number else "an index such as k, 2*t+s or 0")
                self.source.note_axis(axis)
                coefficients[axis.text] = coefficients.get(axis.text, 0) + sign * value
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


def read_activation(scanner: Scanner, what: str) -> Activation:
    """Read the name of an activation, or ``custom(EXPRESSION)``."""
    token = scanner.name(what)
    if token.text != "custom":
        return find_activation(scanner, token)
    scanner.expect("(", "'(' and an expression in u, as in custom(u+u^2)")
    return read_custom(scanner)


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
    source = Source(text)
    try:
        expr = ExpressionReader(Scanner(text), source).expression()
        return make_sums_explicit(expr, statement.axes, source) == statement.expr
    except SyntaxProblem:
        return False


def _scalar(scanner: Scanner) -> Expr:
    source = Source(scanner.text)
    expression = ExpressionReader(scanner, source, {**REGISTERED, **PRIMITIVES}).expression()
    for token, ref in source.reads:
        if ref.tensor != "u" or ref.indices:
            scanner.fail("'u', the only variable of a custom activation", token=token)
    for axis in source.axes.values():
        scanner.fail("no axis, since a custom activation acts on each entry", token=axis)
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
