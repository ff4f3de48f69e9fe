"""Short forms that read like calls, ``attention(d=4,heads=2,dk=2)``: their options, read with carets and printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from invman.architecture.activations import REGISTERED, Activation, nearest
from invman.architecture.assemble import LARGEST
from invman.architecture.expressions import read_activation
from invman.architecture.program import Program
from invman.architecture.text import parse_program
from invman.architecture.tokens import Scanner, Token

Value = int | str | Activation


@dataclass(frozen=True)
class Option:
    """One option of a short form.

    Attributes
    ----------
    name : str
        As it is written.
    words : tuple of str
        The values it may have; empty for a whole number.
    default : value, callable or None
        What it is when left out, or a function of the options before it; None when it is required.
    largest : int
        Largest whole number.
    activation : bool
        Whether the value is an activation.
    """

    name: str
    words: tuple[str, ...] = ()
    default: Value | Callable[[Mapping[str, Value]], Value] | None = None
    largest: int = LARGEST
    activation: bool = False

    def read(self, scanner: Scanner) -> Value:
        """Read a value, or raise with the caret under it."""
        if self.activation:
            return read_activation(scanner, f"an activation for {self.name}, as in {self.name}=tanh")
        place = scanner.next
        if self.words:
            expected = f"{self.name}={' or '.join(self.words)}"
            word = scanner.name(expected).text
            return word if word in self.words else scanner.fail(expected, nearest(word, list(self.words)), place)
        expected = f"a whole number from 1 to {self.largest:,} for {self.name}"
        if scanner.at("-"):
            scanner.fail(expected)
        value = scanner.integer(expected)
        return value if 1 <= value <= self.largest else scanner.fail(expected, token=place)


def switch(name: str, default: str = "no") -> Option:
    """Return an option that is yes or no."""
    return Option(name, ("yes", "no"), default)


def function(name: str, default: str) -> Option:
    """Return an option whose value is an activation."""
    return Option(name, default=REGISTERED[default], activation=True)


class Chosen:
    """The options of one short form: sizes by ``size``, yes or no by ``on``, others by ``word``.

    Parameters
    ----------
    values : mapping of str to value
        Every option of the preset.
    places : mapping of str to Token
        Where the values that are not defaults stand; "" is the closing bracket.
    scanner : Scanner
        Of the text they stand in.
    """

    def __init__(self, values: Mapping[str, Value], places: Mapping[str, Token], scanner: Scanner) -> None:
        self.values, self.places, self.scanner = values, places, scanner

    def size(self, name: str) -> int:
        """Return a whole number."""
        return int(str(self.values[name]))

    def word(self, name: str) -> str:
        """Return a word, or the name of an activation."""
        return str(self.values[name])

    def on(self, name: str) -> bool:
        """Tell whether a switch says yes."""
        return self.values[name] == "yes"

    def fail(self, name: str, expected: str, hint: str = "") -> NoReturn:
        """Raise a SyntaxProblem at the value of an option, or at the closing bracket if it was left out."""
        self.scanner.fail(expected, hint, self.places.get(name, self.places[""]))


@dataclass(frozen=True)
class Preset:
    """A family of architectures with a short form of its own.

    Attributes
    ----------
    name : str
        What stands before the bracket.
    options : tuple of Option
        In the order in which they are printed.
    build : callable
        From the chosen options to the text of the program.
    """

    name: str
    options: tuple[Option, ...]
    build: Callable[[Chosen], str]

    def usage(self) -> str:
        """Show the options that are required, as in ``attention(d=...,heads=...)``."""
        return f"{self.name}({','.join(f'{option.name}=...' for option in self.options if option.default is None)})"

    def read(self, scanner: Scanner) -> Program:
        """Read the options in brackets and build the program, whose repr is the canonical short form."""
        known = {option.name: option for option in self.options}
        given: dict[str, Value] = {}
        places: dict[str, Token] = {}
        scanner.expect("(")
        while not scanner.at(")"):
            token = scanner.name("the name of an option")
            if token.text not in known:
                scanner.fail(f"an option of {self.name}: {', '.join(known)}", nearest(token.text, list(known)), token)
            if token.text in given:
                scanner.fail(f"option {token.text} once", token=token)
            scanner.expect("=", f"'=' and a value for {token.text}")
            places[token.text] = scanner.next
            given[token.text] = known[token.text].read(scanner)
            if not scanner.accept(","):
                break
        places[""] = scanner.next
        missing = [name for name, option in known.items() if option.default is None and name not in given]
        if missing and scanner.at(")"):
            scanner.fail(", ".join(f"{name}=..." for name in missing), f"{self.usage()} has no default for them.")
        scanner.expect(")", "',' or ')'")
        if scanner.next.kind != "end":
            scanner.fail("the end of the short form")
        values: dict[str, Value] = {}
        shown = []
        for option in self.options:
            default = option.default(values) if callable(option.default) else option.default
            value = given.get(option.name, default)
            values[option.name] = value if value is not None else 0
            if value != default:
                shown.append(f"{option.name}={value}")
        text = self.build(Chosen(values, places, scanner))
        return parse_program(text).with_notation(f"{self.name}({','.join(shown)})")


def sizes_line(sizes: Mapping[str, int]) -> str:
    """Write the line that gives the axes their sizes."""
    return "size " + ", ".join(f"{axis}={size}" for axis, size in sizes.items())


def bracket(axes: Sequence[str]) -> str:
    """Write axes in brackets, or nothing for a scalar."""
    return f"[{','.join(axes)}]" if axes else ""
