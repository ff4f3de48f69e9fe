"""A small scanner with positions, shared by every text that invman reads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from invman.errors import SyntaxProblem

_PATTERN = re.compile(
    r"(?P<space>[ \t\r]+|#[^\n]*)|(?P<newline>\n|;)|(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3}(?![\w.]))?)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<symbol>\*\*|<=|[-+*/^()\[\]{},=:@])"
)

DEEPEST = 60
"""Largest depth of brackets within brackets."""
DIGITS = 200
"""Largest number of digits of a number."""


@dataclass(frozen=True)
class Token:
    """One token: its kind (number, name, symbol, newline, end), its text and where it starts."""

    kind: str
    text: str
    position: int

    def shown(self) -> str:
        """Describe the token for an error message."""
        text = self.text if len(self.text) <= 40 else self.text[:39] + "…"
        return {"end": "the end of the text", "newline": "the end of the statement"}.get(self.kind, f"'{text}'")


class Scanner:
    """Tokens of a text with one token of look-ahead, and errors that point at them.

    Brackets left open make a line break plain space, so that long lists can be laid out freely; without ``lines`` it
    is plain space everywhere.
    """

    def __init__(self, text: str, *, lines: bool = True) -> None:
        self.text = text
        self.tokens = self._scan(text, lines)
        self.place = 0

    @staticmethod
    def _scan(text: str, lines: bool) -> list[Token]:
        tokens: list[Token] = []
        opened: list[Token] = []
        position = 0
        while position < len(text):
            match = _PATTERN.match(text, position)
            if match is None:
                expected = "a name, a number, an operator or a bracket"
                raise SyntaxProblem(text, position, f"'{text[position]}'", expected)
            kind, token = str(match.lastgroup), Token(str(match.lastgroup), match.group(), position)
            position = match.end()
            if kind == "space" or (token.text == "\n" and (opened or not lines)):
                continue
            if kind == "symbol" and token.text in "([{":
                opened.append(token)
                if len(opened) > DEEPEST:
                    expected = f"brackets at most {DEEPEST} deep"
                    raise SyntaxProblem(text, token.position, token.shown(), expected, "Use several statements.")
            elif kind == "symbol" and token.text in ")]}":
                if not opened or "([{".index(opened[-1].text) != ")]}".index(token.text):
                    expected = f"'{')]}'['([{'.index(opened[-1].text)]}'" if opened else "no closing bracket here"
                    raise SyntaxProblem(text, token.position, token.shown(), expected, "The brackets do not balance.")
                opened.pop()
            tokens.append(token)
        if opened:
            closing = ")]}"["([{".index(opened[-1].text)]
            hint = f"The brackets do not balance: this '{opened[-1].text}' is never closed."
            raise SyntaxProblem(text, opened[-1].position, "the end of the text", f"'{closing}'", hint)
        return [*tokens, Token("end", "", len(text))]

    @property
    def next(self) -> Token:
        """The token that comes next."""
        return self.tokens[self.place]

    def peek(self, ahead: int = 1) -> Token:
        """Return the token after the next one."""
        return self.tokens[min(self.place + ahead, len(self.tokens) - 1)]

    def take(self) -> Token:
        """Return the next token and go on."""
        token = self.tokens[self.place]
        self.place = min(self.place + 1, len(self.tokens) - 1)
        return token

    def at(self, *symbols: str) -> bool:
        """Tell whether one of these symbols comes next."""
        return self.next.kind == "symbol" and self.next.text in symbols

    def accept(self, *symbols: str) -> Token | None:
        """Take the next token if it is one of these symbols."""
        return self.take() if self.at(*symbols) else None

    def expect(self, symbol: str, what: str = "") -> Token:
        """Take this symbol or raise."""
        return self.accept(symbol) or self.fail(what or f"'{symbol}'")

    def name(self, what: str) -> Token:
        """Take a name or raise."""
        return self.take() if self.next.kind == "name" else self.fail(what)

    def integer(self, what: str) -> int:
        """Take a non-negative whole number or raise."""
        return int(self.number(what)) if self.next.text.isdigit() else self.fail(what)

    def number(self, what: str) -> Fraction:
        """Take a non-negative decimal number or raise."""
        if self.next.kind != "number":
            return self.fail(what)
        exponent = abs(int(self.next.text.lower().partition("e")[2] or 0))
        if len(self.next.text) + exponent > DIGITS:
            return self.fail(f"a number of at most {DIGITS} digits")
        return Fraction(self.take().text)

    def fail(self, expected: str, hint: str = "", token: Token | None = None) -> NoReturn:
        """Raise a SyntaxProblem at the next token, or at the one given."""
        token = token or self.next
        raise SyntaxProblem(self.text, token.position, token.shown(), expected, hint)
