"""The scanner: kinds and places of tokens, brackets, numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invman.architecture.tokens import DEEPEST, Scanner
from invman.errors import SyntaxProblem


def kinds(text):
    return [(token.kind, token.text) for token in Scanner(text).tokens[:-1]]


def test_kinds_and_positions():
    scanner = Scanner("h[k] = 2*x # c\n f<=1.5e-3 ** y")
    assert [token.text for token in scanner.tokens] == [
        "h", "[", "k", "]", "=", "2", "*", "x", "\n", "f", "<=", "1.5e-3", "**", "y", "",
    ]  # fmt: skip
    assert all(scanner.text.startswith(token.text, token.position) for token in scanner.tokens)
    assert scanner.tokens[-1].kind == "end"
    assert scanner.tokens[-1].position == len(scanner.text)


def test_line_breaks_within_brackets_are_space():
    assert ("newline", "\n") not in kinds("m = [1,\n2]")
    assert ("newline", "\n") in kinds("m = [1]\nf")
    assert kinds("a;b\r\nc") == [("name", "a"), ("newline", ";"), ("name", "b"), ("newline", "\n"), ("name", "c")]


def test_a_width_and_its_activation_are_two_tokens():
    assert kinds("3exp") == [("number", "3"), ("name", "exp")]
    assert kinds("3erf") == [("number", "3"), ("name", "erf")]
    assert kinds("2e3") == [("number", "2e3")]
    assert kinds("2e3x") == [("number", "2"), ("name", "e3x")]


@pytest.mark.parametrize(
    ("marked", "got", "expected"),
    [
        ("f = ‸(a", "the end of the text", "')'"),
        ("f = a[‸(b", "the end of the text", "')'"),
        ("f = ‸[a", "the end of the text", "']'"),
        ("f = ‸{a", "the end of the text", "'}'"),
        ("a = (\n‸[", "the end of the text", "']'"),
        ("f = (a‸]", "']'", "')'"),
        ("f = [a‸)", "')'", "']'"),
        ("f = {a‸]", "']'", "'}'"),
        ("f = (a)‸)", "')'", "no closing bracket here"),
        ("f = a‸]", "']'", "no closing bracket here"),
        ("f = a\ng = b‸}", "'}'", "no closing bracket here"),
    ],
)
def test_brackets_that_do_not_balance(problem, marked, got, expected):
    message = problem(Scanner, marked)
    assert f"got {got}, expected {expected}\n" in message
    assert "The brackets do not balance" in message


def test_brackets_too_deep(problem):
    assert f"at most {DEEPEST} deep" in problem(Scanner, "(" * DEEPEST + "‸(" + ")" * (DEEPEST + 1))
    Scanner("(" * DEEPEST + ")" * DEEPEST)
    problem(Scanner, "(" * DEEPEST + "‸" + "(" * 100_000)


@pytest.mark.parametrize("character", ["$", "!", "?", "'", "\\", ".", "²", "\x00", "\ufeff"])
def test_a_character_that_nothing_begins_with(problem, character):
    if character == "²":  # a name may hold any letter or digit of Unicode, but this is no number
        assert Scanner(character).next.kind == "name"
        return
    assert f"got '{character}', expected a name, a number" in problem(Scanner, f"f = ‸{character}")


@given(st.integers(0, 10**12), st.integers(0, 999_999))
def test_numbers_are_exact(whole, part):
    text = f"{whole}.{part:06d}"
    assert Scanner(text).number("a number") == Fraction(whole) + Fraction(part, 10**6)
    assert Scanner(str(whole)).integer("a number") == whole


@pytest.mark.parametrize("text", ["9" * 5000, "1e999", "1" * 201])
def test_numbers_without_end_are_refused(text):
    with pytest.raises(SyntaxProblem, match="a number of at most 200 digits") as caught:
        Scanner(text).number("a number")
    assert len(str(caught.value)) < 500


def test_an_integer_is_no_decimal_number():
    for text in ("1.5", "1e3", "k", "", "-1"):
        with pytest.raises(SyntaxProblem, match="expected a width"):
            Scanner(text).integer("a width")


@given(st.text(alphabet="ab1[](){}=+-*/^,;:<=.#\n \t@", max_size=30))
def test_any_text_is_scanned_or_refused_with_a_place(text):
    try:
        tokens = Scanner(text).tokens
    except SyntaxProblem as error:
        assert 0 <= error.position <= len(text)  # noqa: PT017 - the property is about both outcomes
    else:
        assert all(text.startswith(token.text, token.position) for token in tokens)
