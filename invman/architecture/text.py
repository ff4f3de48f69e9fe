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

from collections.abc import Callable

from invman.architecture.activations import REGISTERED, nearest
from invman.architecture.assemble import Source, assemble
from invman.architecture.expressions import SPECIAL, ExpressionReader, read_rational
from invman.architecture.program import Program
from invman.architecture.summation import make_sums_explicit
from invman.architecture.tokens import Scanner, Token

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
    return assemble(source)


def _line(scanner: Scanner, source: Source) -> None:
    token = scanner.name("a statement such as 'h[k] = tanh(w[k,i]*x[i])', or 'input', 'constant', 'size', 'output'")
    keyword = token.text if token.text in KEYWORDS and not scanner.at("=", "[") else None
    if keyword == "input":
        _list(scanner, lambda: source.inputs.append(_declared(scanner, "the name of an input")))
    elif keyword == "size":
        _list(scanner, lambda: _declare_size(scanner, source))
    elif keyword == "output":
        _list(scanner, lambda: source.outputs.append(scanner.name("the name of a statement")))
    elif keyword == "constant":
        declared = _declared(scanner, "the name of a constant")
        scanner.expect("=")
        source.constants.append((*declared, _literal(scanner)))
    else:
        _statement(scanner, source, token)
    if scanner.next.kind not in ("newline", "end"):
        scanner.fail("an operator or the end of the statement" if keyword is None else "',' or the end of the line")


def _statement(scanner: Scanner, source: Source, name: Token) -> None:
    axes = _axes(scanner)
    if not scanner.accept("="):
        known = nearest(name.text, list(KEYWORDS))
        scanner.fail("'='", f"A statement reads NAME[AXES] = EXPRESSION. {known}".strip())
    _check_name(scanner, name)
    source.summed.clear()
    expression = ExpressionReader(scanner, source).expression()
    if scanner.next.kind in ("newline", "end"):  # anything else is the first thing to complain about
        expression = make_sums_explicit(expression, tuple(axis.text for axis in axes), source)
    source.statements.append((name, axes, expression))


def _declared(scanner: Scanner, what: str) -> tuple[Token, list[Token]]:
    name = scanner.name(what)
    _check_name(scanner, name)
    return name, _axes(scanner)


def _check_name(scanner: Scanner, name: Token) -> None:
    if name.text in REGISTERED or name.text in SPECIAL:
        scanner.fail("a name that is not the name of a function", token=name)


def _list(scanner: Scanner, item: Callable[[], object]) -> None:
    item()
    while scanner.accept(","):
        item()


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
    if not scanner.accept("["):
        return read_rational(scanner)
    items = [_literal(scanner)]
    while scanner.accept(","):
        items.append(_literal(scanner))
    scanner.expect("]", "',' or ']'")
    return items
