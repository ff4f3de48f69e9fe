"""The nodes and the program as data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invman.architecture import Tensor, parse_program, read_architecture
from invman.architecture.program import Index, children, free_axes, walk

ATTENTION = parse_program(
    "input x[s,d]; p[s,t] = softmax[t<=s](Q[k,d]*x[s,d]*K[k,e]*x[t,e]); f = mean[s](p[s,t]*x[t,d]*v[d]);"
    "size s=2, t=2, d=3, e=3, k=2"
)


def test_an_index_that_is_an_axis():
    assert Index((("k", 1),)).axis == "k"
    assert Index((("k", 2),)).axis is Index((("k", 1),), 1).axis is Index((), 0).axis is None


def test_free_axes():
    scores, mean = (statement.expr for statement in ATTENTION.statements)
    assert free_axes(scores) == ("t", "s")
    assert free_axes(mean) == ()
    assert free_axes(children(mean)[0]) == ("s",)
    affine = parse_program("input x[t]; h[o] = w[u]*x[2*o+u]; f = a[o]*h[o]; size t=5, u=3, o=2").statements[0].expr
    assert free_axes(affine) == ("o",)


def test_walk_is_outermost_first():
    expr = parse_program("input x; f = a*tanh(b*x + 1)^2").statements[0].expr
    names = [type(node).__name__ for node in walk(expr)]
    assert names == ["Mul", "Ref", "Power", "Apply", "Add", "Mul", "Ref", "Ref", "Number"]


def test_counts_offsets_and_names():
    assert ATTENTION.parameter_count == 6 + 6 + 3
    assert (ATTENTION.input_count, ATTENTION.output_count) == (6, 1)
    assert ATTENTION.offsets == {"Q": 0, "K": 6, "v": 12}
    assert [ATTENTION.coordinate(index) for index in (0, 4, 6, 14)] == ["Q[0,0]", "Q[1,1]", "K[0,0]", "v[2]"]
    assert ATTENTION.parameter("K").shape == (2, 3)
    with pytest.raises(KeyError):
        ATTENTION.parameter("W")
    for index in (15, -1):
        with pytest.raises(IndexError, match=f"index {index} of 15 parameters"):
            ATTENTION.coordinate(index)


@given(st.lists(st.integers(1, 4), max_size=3), st.data())
def test_entries_are_in_c_order(shape, data):
    import numpy as np

    tensor = Tensor("w", (None,) * len(shape), tuple(shape))
    position = data.draw(st.integers(0, tensor.size - 1))
    where = ",".join(str(int(n)) for n in np.unravel_index(position, shape)) if shape else ""
    assert tensor.entry(position) == (f"w[{where}]" if shape else "w")


def test_equality_is_that_of_the_program():
    short = read_architecture("2-3tanh-1")
    long = read_architecture(short.text)
    assert short == long
    assert hash(short) == hash(long)
    assert (repr(short), repr(long)) == ("2-3tanh-1", short.text)
    assert repr(long.with_notation("a net")) == "a net"
    assert short != read_architecture("2-4tanh-1")
    assert short != "2-3tanh-1"


def test_one_region():
    assert not read_architecture("2-3tanh-1").one_region
    assert read_architecture("2-3relu-1", one_region=True).one_region
    assert parse_program("input x; f = a*tanh(b*abs(x))").one_region
