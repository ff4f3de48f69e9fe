"""Equations that a user writes: what they mean, their rank, and every mistake with a caret."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from invman.architecture import read_architecture
from invman.errors import ManifoldError, SyntaxProblem
from invman.manifold import parse_equations

NET = read_architecture("2-3tanh-1")  # w[3,2] at 0..5, a[3] at 6..8
BIAS = read_architecture("2-3tanh-1+bias")  # and a scalar c


def rows_of(text, program=NET):
    return [(dict(row), constant) for row, constant in parse_equations(program, text).rows]


@pytest.mark.parametrize(
    ("text", "dimension"),
    [
        ("w[0,:]=w[1,:]", 7),
        ("w[0,:]=w[1,:], a[0]=-a[1]", 6),
        ("w=0", 3),
        ("w=0, a=0", 0),
        ("w[:,0]=w[:,1]", 6),
        ("w[:,1:]=0", 6),
        ("w[1:,:]=0", 5),
        ("w[:2,0]=a[1:]", 7),
        ("w[-1,:]=0", 7),
        ("a[0]=a[1]=a[2]", 7),
        ("a=a[0]", 7),
        ("a[0]=a[0]", 9),
        ("0=0", 9),
        ("a[0]=a[1], a[1]=a[2], a[2]=a[0]", 7),
        ("w[0,0]=w[0,1], w[0,:]=0", 7),
        ("a[0]+a[1]+a[2]=1", 8),
        ("a=1/2", 6),
    ],
)
def test_dimensions(text, dimension):
    assert parse_equations(NET, text).dimension == dimension


def test_coefficients_by_hand():
    assert rows_of("2*a[0] - a[1]/3 = 1.5") == [({6: Fraction(2), 7: Fraction(-1, 3)}, Fraction(3, 2))]
    assert rows_of("-(a[0]-2*(a[1]+1)) = 3*4/6") == [({6: Fraction(-1), 7: Fraction(2)}, Fraction(0))]
    assert rows_of("a[0]*2 = --a[1]") == [({6: Fraction(2), 7: Fraction(-1)}, Fraction(0))]
    assert rows_of("1e-2 = a[2]") == [({8: Fraction(-1)}, Fraction(-1, 100))]
    assert rows_of("c = 2", BIAS) == [({12: Fraction(1)}, Fraction(2))]


def test_rows_are_independent_and_in_order():
    rows = rows_of("a[2]=a[1], a[0]=a[1], a[0]=a[2], w[0,0]=1")
    assert [min(form) for form, _ in rows] == [0, 6, 7]


def test_many_minus_signs():
    assert rows_of("-" * 4000 + "a[0] = 1") == [({6: Fraction(1)}, Fraction(1))]


@given(st.lists(st.tuples(st.lists(st.integers(-2, 2), min_size=4, max_size=4), st.integers(-2, 2)), max_size=5))
def test_rank_and_solutions_against_linear_algebra(system):
    program = read_architecture("1-2tanh-1")
    names = [program.coordinate(index) for index in range(4)]
    text = ", ".join(
        " + ".join(f"{c}*{name}".replace("-", "-") for c, name in zip(row, names, strict=True)) + f" = {constant}"
        for row, constant in system
    )
    if not system:
        return
    matrix = np.array([row for row, _ in system], dtype=float)
    full = np.array([[*row, constant] for row, constant in system], dtype=float)
    rank = np.linalg.matrix_rank(matrix)
    if np.linalg.matrix_rank(full) > rank:
        with pytest.raises(ManifoldError, match="contradict"):
            parse_equations(program, text)
        return
    equations = parse_equations(program, text)
    assert equations.dimension == 4 - rank
    found = np.zeros((len(equations.rows), 5))
    for number, (row, constant) in enumerate(equations.rows):
        for place, coefficient in row:
            found[number, place] = float(coefficient)
        found[number, 4] = float(constant)
    assert np.linalg.matrix_rank(np.vstack([full, found])) == rank


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("", 1, "got the end of the text, expected a parameter"),
        ("a[0]", 5, "'=' and the other side"),
        ("a[0]=", 6, "a parameter such as w[0,:], a number or '('"),
        ("a[0]=a[1] a[2]", 11, "'=', ',' or the end of the equations"),
        ("a[0]=0,", 8, "the end of the text"),
        ("q[0]=0", 1, "a parameter (w, a)"),
        ("x[0]=0", 1, "a parameter (w, a)"),
        ("ww[0,0]=0", 1, "Did you mean 'w'?"),
        ("a[3]=0", 3, "'3', expected an index from 0 to 2"),
        ("a[-4]=0", 3, "an index from 0 to 2"),
        ("a[b]=0", 3, "an index from 0 to 2, or ':'"),
        ("w[0]=0", 1, "2 indices for w"),
        ("w[0,0,0]=0", 7, "']': w has 2 indices"),
        ("c[0]=0", 3, "']': c has 0 indices"),
        ("a[2:2]=0", 3, "a slice with at least one entry"),
        ("a[0:9]=0", 5, "an index from 0 to 3"),
        ("a[]=0", 3, "an index"),
        ("w[0,:]=a", 1, "(2,) stands beside (3,)"),
        ("a=0, w=a", 6, "(3, 2) stands beside (3,)"),
        ("w[0,:]+a=0", 7, "shapes that agree"),
        ("a[0]*a[1]=0", 6, "Equations must be linear"),
        ("1/a[0]=0", 3, "a number other than 0 as divisor"),
        ("a[0]/0=1", 6, "a number other than 0 as divisor"),
        ("(a[0]=0", 1, "never closed"),
        ("a[0]=(0", 6, "never closed"),
        ("a[0]=0)", 7, "no closing bracket"),
        ("a[0]=?", 6, "'?'"),
        ("a[0]=" + "9" * 300, 6, "at most 200 digits"),
        ("a[0]=1e999", 6, "at most 200 digits"),
        ("a[0]=0\na[1]=0", 7, "the end of the statement"),
    ],
)
def test_mistakes_have_a_caret(text, column, words):
    with pytest.raises(SyntaxProblem) as caught:
        parse_equations(BIAS if text.startswith("c[") else NET, text)
    assert words in str(caught.value)
    assert caught.value.position == column - 1
    assert str(caught.value).splitlines()[2].endswith("^")


@pytest.mark.parametrize("text", ["a[0]=0, a[0]=1", "0=1", "a=a[0], a[0]=1, a[2]=2", "a[0]-a[0]=1"])
def test_contradictions(text):
    with pytest.raises(ManifoldError) as caught:
        parse_equations(NET, text)
    assert "contradict" in str(caught.value)
    assert text in str(caught.value)
