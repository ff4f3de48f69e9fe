"""From statements to a program: sizes, shapes, definitions, outputs."""

from __future__ import annotations

import pytest

from invman.architecture import parse_program
from invman.errors import OverBudgetError

BAD = [
    ("‸", "got no statement, expected at least one statement"),
    ("input x[i]; size i=2‸", "no statement"),
    ("f = a*b‸", "got no input, expected a line such as 'input x[i]'"),
    ("input x[i]; f = a[‸k]*x[i]; size i=2", "got axis k without a size, expected a line 'size k=...'"),
    ("input x[‸i]; f = a*x[i]", "axis i without a size"),
    ("input x[i]; f = a*x[2*‸t]; size i=2", "axis t without a size"),
    ("input ‸x[i,i]; f = a[i]*x[i,i]; size i=2", "an axis twice in x, expected each axis once on the left"),
    ("input x[i]; ‸f[i,i] = a*x[i]; size i=2", "an axis twice in f"),
    # definitions
    ("input x[i]; f = a*x[i]; ‸f = b*x[i]; size i=2", "a second definition of f, expected each name defined once"),
    ("input x[i], ‸x[i]; f = a*x[i]; size i=2", "a second definition of x"),
    ("input x[i]; ‸x[i] = a*x[i]; size i=2", "a second definition of x"),
    ("input x[i]; constant ‸x = 3; f = a*x[i]; size i=2", "a second definition of x"),
    ("input x[i]; f = ‸g*x[i]; g = a; size i=2", "g read before it is defined, expected a statement above"),
    ("input x[i]; g = x[i]*‸g; f = g; size i=2", "g read before it is defined"),
    ("input x[i]\n‸g = a*x[i]\nf = b*x[i]\nsize i=2", "got g, which nothing reads, expected a use of it", "output g"),
    ("input x[i]; f = a*x[i]; output ‸g; size i=2", "got output g, expected one of the statements: f"),
    ("input x[i]; f = a*x[i]; output ‸x; size i=2", "got output x"),
    # shapes
    ("input x[i]; f = a[k]*‸x[k]; size i=2, k=3",
     "got axis k of size 3 at index 1 of x, expected an axis of size 2 (axis i)", "used with two sizes"),
    ("input x[i]; f = w[i]*x[i] + ‸w[k]*a[k]; size i=2, k=3", "axis k of size 3 at index 1 of w", "(axis i)"),
    ("input x[i]; h[k] = w[k,i]*x[i]; f = a[i]*‸h[i]; size i=2, k=3", "axis i of size 2 at index 1 of h"),
    ("input x[i]; f = a*‸x; size i=2", "x with 0 indices, expected 1, as elsewhere"),
    ("input x[i]; f = a[i]*x[i] + ‸a; size i=2", "a with 0 indices, expected 1"),
    ("input x[i]; f = a[i]*‸x[i,i]; size i=2", "x with 2 indices, expected 1"),
    ("input x[i]; f = a*‸x[i+1]; size i=2", "index 1 of x from 1 to 2, expected within 0 to 1"),
    ("input x[i]; f = a*‸x[-i]; size i=2", "index 1 of x from -1 to 0, expected within 0 to 1"),
    ("input x[i]; f = a*‸x[2]; size i=2", "index 1 of x from 2 to 2"),
    ("input x[i]; f = ‸a[i-1]*x[i]; size i=2", "index 1 of a from -1 to 0"),
    ("input x[t]; f = w[u]*‸x[2*o+u]*a[o]; size t=6, u=3, o=3", "index 1 of x from 0 to 6, expected within 0 to 5"),
    ("input x[i]; f = a[i]*x[i] + ‸a[2*i]*b; size i=2", "index 1 of a from 0 to 2"),
    # constants
    ("input x[i]; constant ‸c[i] = [1,2,3]; f = a*c[i]*x[i]; size i=2", "3 entries in constant c", "to shape (2,)"),
    ("input x[i]; constant ‸c[i] = 1; f = a*c[i]*x[i]; size i=2", "a number in constant c"),
    ("input x[i]; constant ‸c = [1]; f = a*c*x[i]; size i=2", "a list for c, expected a number"),
    ("input x[i]; constant ‸c[i,j] = [[1,2],[3]]; f = a*c[i,j]*x[i]; size i=2, j=2", "1 entries in constant c"),
]  # fmt: skip


@pytest.mark.parametrize("case", BAD, ids=lambda case: case[0].replace("\n", "; "))
def test_messages(problem, case):
    message = problem(parse_program, case[0])
    for part in case[1:]:
        assert part in message


def test_the_shape_of_a_parameter_that_is_read_affinely():
    program = parse_program("input x[i]; f = a[2*i+1]*x[i] + b[0]*b[3] + c[i]*c[0]; size i=3")
    assert [(t.name, t.axes, t.shape) for t in program.parameters] == [
        ("a", (None,), (6,)),
        ("b", (None,), (4,)),
        ("c", ("i",), (3,)),
    ]


def test_a_size_may_be_said_twice_and_late():
    program = parse_program("size i=2; input x[i]; size i=2; f = a[i]*x[i]")
    assert program.text == "input x[i]\nf = a[i]*x[i]\nsize i=2"


def test_too_many_parameters():
    with pytest.raises(OverBudgetError, match=r"got 4,000,000,000,000, expected at most 1,000,000,000\. Check the"):
        parse_program("input x[i]; f = w[i,k]*x[i]; size i=2000000, k=2000000")


def test_several_axes_of_one_size_may_be_used_at_one_place():
    program = parse_program("input x[i]; h[k] = w[k,i]*x[i]; f = a[k,l]*h[k]*h[l]; size i=2, k=3, l=3")
    assert [tensor.shape for tensor in program.parameters] == [(3, 2), (3, 3)]


def test_a_map_without_parameters(agree):
    """What is left of a net whose neurons are all dead."""
    program = parse_program("input x[i]; f = 0*x[0] + 3; size i=2")
    assert program.parameter_count == 0
    assert agree(program).tolist() == [3.0]
