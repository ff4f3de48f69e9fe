"""Every error that invman raises on purpose: what was got, what was expected, what to do."""

from __future__ import annotations

import math


class InvmanError(Exception):
    """Root of all errors that invman raises on purpose.

    Attributes
    ----------
    exit_code : int
        What the command line returns for it: 2 usage, 3 unsupported architecture, 4 over budget.
    """

    exit_code = 2


class SyntaxProblem(InvmanError):  # noqa: N818 - a problem in the text, named as the user sees it
    """A text could not be read; the message shows the line with a caret under the column.

    Parameters
    ----------
    text : str
        The whole text that was being read.
    position : int
        Offset of the first character that does not fit.
    got, expected : str
        What stands there, and what would be accepted there.
    hint : str, optional
        What to do about it.
    """

    def __init__(self, text: str, position: int, got: str, expected: str, hint: str = "") -> None:
        self.text, self.position, self.got, self.expected, self.hint = text, position, got, expected, hint
        start = text.rfind("\n", 0, position) + 1
        end = text.find("\n", position)
        line = text[start:] if end < 0 else text[start:end]
        where = f"line {text.count(chr(10), 0, position) + 1}, " if "\n" in text else ""
        column = position - start
        left = max(0, column - 60)
        shown = ("…" if left else "") + line[left : left + 110]
        caret = " " * (column - left + (1 if left else 0)) + "^"
        message = f"{where}column {column + 1}: got {got}, expected {expected}\n  {shown}\n  {caret}"
        super().__init__(message + (f"\n{hint}" if hint else ""))


class ArchitectureError(InvmanError):
    """The text is well formed but describes no architecture: sizes, names or shapes do not fit together."""


class UnsupportedError(InvmanError):
    """The architecture is meaningful but invman, or this command of it, does not support it."""

    exit_code = 3


class OverBudgetError(InvmanError):
    """The request is larger than the budget; the message names the exact size and how to ask for less.

    Parameters
    ----------
    what : str
        What was asked for.
    size, budget : int
        How large it is, and how large it may be.
    advice : str
        How to ask for less, or how to raise the budget.
    """

    exit_code = 4

    def __init__(self, what: str, size: int, budget: int, advice: str) -> None:
        self.size, self.budget = size, budget
        super().__init__(f"{what}: got {shown(size)}, expected at most {shown(budget)}. {advice}")


class ManifoldError(InvmanError):
    """A manifold was named or written that this architecture does not have, or equations that have no solution."""


class DataError(InvmanError):
    """A data file does not fit the architecture, or holds something that is no finite number."""


class ContradictionError(InvmanError):
    """Two results that were proved exclude each other: a fault of invman, with what is needed to reproduce it."""

    exit_code = 1


class OutputError(InvmanError):
    """A result could not be written; nothing half-written is left behind."""


def shown(number: int) -> str:
    """Print an exact integer, digits grouped; beyond what Python prints at all, the number of its digits.

    Examples
    --------
    >>> shown(1234567)
    '1,234,567'
    """
    try:
        return f"{number:,}"
    except ValueError:
        return f"an integer of about {int(number.bit_length() * math.log10(2)) + 1:,} digits"
