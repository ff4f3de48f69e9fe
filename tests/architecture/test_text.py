"""Index notation, read: the statements, and every way in which a text can fail to be one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from invman.architecture import parse_program
from invman.architecture.program import Add, Apply, Index, Mul, Number, Power, Ref, Softmax, Sum

TAIL = "; size i=2, k=3, l=3"


def expression(text, left="f"):
    """The expression of a program of one statement, with inputs x[i] and size i=2, k=l=3."""
    return parse_program(f"input x[i]; {left} = {text}{TAIL}").statements[0].expr


def ref(name, *axes):
    return Ref(name, tuple(Index(((axis, 1),)) for axis in axes))


def test_a_program():
    program = parse_program("""
        # a net
        input x[i]
        h[k] = tanh(w[k,i]*x[i] + b[k])   # hidden
        f = a[k]*h[k]; size i=2, k=3
    """)
    assert [(t.name, t.axes, t.shape) for t in program.parameters] == [
        ("w", ("k", "i"), (3, 2)),
        ("b", ("k",), (3,)),
        ("a", ("k",), (3,)),
    ]
    assert [tensor.name for tensor in program.inputs] == ["x"]
    assert program.outputs == ("f",)
    assert dict(program.sizes) == {"i": 2, "k": 3}
    hidden, out = program.statements
    assert isinstance(hidden.expr, Apply)
    assert hidden.expr.argument == Add((Sum(("i",), Mul((ref("w", "k", "i"), ref("x", "i")))), ref("b", "k")))
    assert out.expr == Sum(("k",), Mul((ref("a", "k"), ref("h", "k"))))


def test_lists_outputs_and_constants():
    program = parse_program(
        "input x[i], y; constant m[i,j] = [[1,-1/2],\n [0.25,2e2]]; constant c = 3/4\n"
        "g[j] = m[i,j]*x[i]*w; h = c*y*w; output h, g, h; size i=2, j=2"
    )
    assert program.outputs == ("h", "g")
    assert program.constants[0].values == (Fraction(1), Fraction(-1, 2), Fraction(1, 4), Fraction(200))
    assert program.constants[1].values == (Fraction(3, 4),)
    assert (program.input_count, program.parameter_count, program.output_count) == (3, 1, 3)


def test_precedence():
    a, b, c = ref("a"), ref("b"), ref("c")
    assert expression("a - b*c^2") == Add((a, Mul((Number(Fraction(-1)), b, Power(c, Fraction(2))))))
    assert expression("-a^2") == Mul((Number(Fraction(-1)), Power(a, Fraction(2))))
    assert expression("a/b/c") == Mul((a, Power(b, Fraction(-1)), Power(c, Fraction(-1))))
    assert expression("a**(-1/2)") == Power(a, Fraction(-1, 2)) == expression("a^(-1/2)")
    assert expression("a/4") == Mul((a, Number(Fraction(1, 4))))
    assert expression("6/4*a") == Mul((Number(Fraction(3, 2)), a))
    assert expression("sqrt(a)") == Power(a, Fraction(1, 2)) == expression("a^(1/2)")
    assert expression("a^1") == a == expression("--a")
    assert expression("2^-2*a") == Mul((Number(Fraction(1, 4)), a))
    assert expression("a*(b + c)") == Mul((a, Add((b, c))))
    assert expression("-" * 100_001 + "a") == Mul((Number(Fraction(-1)), a))


def test_functions_and_indices():
    assert expression("softmax[k](a[k])", "f[k]") == Softmax("k", ref("a", "k"))
    assert expression("softmax[k<=l](a[k])", "f[k,l]") == Softmax("k", ref("a", "k"), "l")
    assert expression("mean[k,l](a[k,l])") == Sum(("k", "l"), ref("a", "k", "l"), mean=True)
    affine = expression("sum[k](a[2*k-l+2, k+k, 0, 1+i-i, -l+2])", "f[l,i]")
    assert isinstance(affine, Sum)
    assert affine.body == Ref(
        "a", (Index((("k", 2), ("l", -1)), 2), Index((("k", 2),)), Index((), 0), Index((), 1), Index((("l", -1),), 2))
    )


S, M = Sum, Mul
MINUS = Number(Fraction(-1))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # a product at the top, and each term of a sum on its own
        ("a[k]*b[k]", S(("k",), M((ref("a", "k"), ref("b", "k"))))),
        ("a[k]*b[k] + c[k]", Add((S(("k",), M((ref("a", "k"), ref("b", "k")))), S(("k",), ref("c", "k"))))),
        ("a[k]*b[k] + c", Add((S(("k",), M((ref("a", "k"), ref("b", "k")))), ref("c")))),
        # the innermost product that holds all occurrences
        ("c*(a[k]*b[k])", M((ref("c"), S(("k",), M((ref("a", "k"), ref("b", "k"))))))),
        ("c[k]*(a[k]*b[k])", S(("k",), M((ref("c", "k"), M((ref("a", "k"), ref("b", "k"))))))),
        ("c*(a[k] + b[k])", S(("k",), M((ref("c"), Add((ref("a", "k"), ref("b", "k"))))))),
        ("c*(a[k]*d + b[k]*d)",
         M((ref("c"), Add((S(("k",), M((ref("a", "k"), ref("d")))), S(("k",), M((ref("b", "k"), ref("d"))))))))),
        ("a[k]*b[k,l]*c[l]", S(("k", "l"), M((ref("a", "k"), ref("b", "k", "l"), ref("c", "l"))))),
        # a sign is no product
        ("-a[k]", M((MINUS, S(("k",), ref("a", "k"))))),
        ("a - b[k]", Add((ref("a"), M((MINUS, S(("k",), ref("b", "k"))))))),
        ("-a[k]*b[k]", S(("k",), M((MINUS, ref("a", "k"), ref("b", "k"))))),
        # written sums stay where they are
        ("sum[k](a[k] + b)", S(("k",), Add((ref("a", "k"), ref("b"))))),
        ("a[l]*sum[k](b[k,l]*c)", S(("l",), M((ref("a", "l"), S(("k",), M((ref("b", "k", "l"), ref("c")))))))),
    ],
)  # fmt: skip
def test_implicit_summation(text, expected):
    assert expression(text) == expected


def test_summation_around_and_inside_functions(agree):
    """Values by numpy, for the product that is meant."""
    head, tail = "input x[i]; f = ", "; size i=2, k=3"
    cases = {
        "a*tanh(w[i]*x[i])": lambda a, w, x: a * np.tanh(w @ x),
        "a*tanh(-w[i]*x[i])": lambda a, w, x: a * np.tanh(-w @ x),
        "a[i]*tanh(w[i]*x[i])": lambda a, w, x: a @ np.tanh(w * x),
        "a*tanh(b[i] + x[i])": lambda a, b, x: a * np.tanh(b + x).sum(),
        "a*tanh(-b[i])*x[i]": lambda a, b, x: a * np.tanh(-b) @ x,
        "a*tanh(-b[i]) + x[i]": lambda a, b, x: a * np.tanh(-b).sum() + x.sum(),
        "a*tanh(w[i]*x[i] + u[k]*v[k])": lambda a, w, x, u, v: a * np.tanh(w @ x + u @ v),
        "a*tanh(w[i]*x[i] - u[i])": lambda a, w, x, u: a * np.tanh(w * x - u).sum(),
        "a*sum[k](b[k]*tanh(c[k]*x[i]))": lambda a, b, c, x: a * sum(b[k] * np.tanh(c[k] * x.sum()) for k in range(3)),
        "sin(mean[i](a*x[i]^2))": lambda a, x: np.sin((a * x**2).mean()),
    }
    for text, by_hand in cases.items():
        agree(parse_program(head + text + tail), by_hand)


BAD = [
    # statements
    ("‸3 = a", "a statement such as"),
    ("h[k] ‸tanh(a)", "expected '='", "NAME[AXES] = EXPRESSION"),
    ("inptu ‸x[i]", "Did you mean 'input'?"),
    ("input x[i]; f = a ‸b", "got 'b', expected an operator or the end of the statement"),
    ("input x[i] ‸+ 3", "got '+', expected ',' or the end of the line"),
    ("input ‸3", "the name of an input"),
    ("input x[i,‸]", "got ']', expected the name of an axis"),
    ("input x[i‸+1]", "',' or ']'"),
    ("input ‸tanh[i]", "a name that is not the name of a function"),
    ("input x; ‸sum = a*x", "got 'sum', expected a name that is not the name of a function"),
    ("output ‸3", "the name of a statement"),
    ("constant c ‸+ 3", "expected '='"),
    ("constant c = ‸k", "got 'k', expected a number"),
    ("constant c = 1/‸0", "a denominator other than 0"),
    ("constant c = [1,‸]", "expected a number"),
    ("constant c = [1 ‸2]", "',' or ']'"),
    ("size ‸3=k", "the name of an axis, as in 'size k=3'"),
    ("size k=‸-1", "The size of axis k cannot be negative"),
    ("size k=‸0", "got '0', expected a whole number of at least 1", "Axis k cannot be empty"),
    ("size k=‸2.5", "a whole number of at least 1"),
    ("size k‸", "got the end of the text, expected '='"),
    ("size k=2, ‸k=3", "got size 3 for axis k, expected one size an axis; k has size 2 already"),
    # expressions
    ("input x[i]\nf = a*‸", "got the end of the text, expected a number, a tensor, a function or '('"),
    ("input x[i]\nf = a*‸\nsize i=2", "got the end of the statement"),
    ("f = a ‸= b", "an operator or the end"),
    ("f = (a ‸b)", "an operator or ')'"),
    ("f = a/‸0", "a divisor other than 0"),
    ("f = 0^‸-1", "a whole power of a number"),
    ("f = 2^‸(1/2)", "a whole power of a number"),
    ("f = 2^‸1000000000", "a number of at most 200 digits"),
    ("f = (10^100)^‸3", "a number of at most 200 digits"),
    ("f = a^‸b", "a whole number or a fraction in brackets as exponent"),
    ("f = a^(‸b)", "a number"),
    ("f = a^‸0*b", "an exponent other than 0", "no part in the map"),
    ("f = a^2‸^3", "a second power", "(a^b)^c"),
    ("f = ‸tahn(a)", "got 'tahn', expected an activation (tanh, sin,", "Did you mean 'tanh'?"),
    ("f = ‸zzzz(a)", "For another function write custom(EXPRESSION in u)."),
    ("f = ‸softmx(a)", "Did you mean 'softmax'?"),
    ("f = softmax‸(a)", "'[' and the axis, as in softmax[k](...)"),
    ("f = sum‸", "'[' and the axis, as in sum[k](...)"),
    ("f = tanh ‸* a", "'(' after the function tanh"),
    ("f = sqrt‸", "'(' after the function sqrt"),
    ("f[s] = softmax[s‸,t](a[s])", "expected ']'"),
    ("f[s] = softmax[s<=‸s](a[s])", "got 's', expected an axis other than s"),
    ("f[s] = softmax[s<=‸3](a[s])", "softmax[s<=t]"),
    ("f = sum[k]‸a[k]", "expected '('"),
    ("f = a[‸*k]", "an index such as k, 2*t+s or 0"),
    ("f = a[2*‸3]", "the name of an axis"),
    ("f = a[‸1.5]", "a whole number"),
    ("f = a[k ‸l]", "',' or ']'"),
    ("f = custom(u)‸*a", "'(' and the argument, as in 'custom(u+u^2)(z[k])'"),
    # sums
    ("input x[i]; f = tanh(‸w[i]); size i=2",
     "got index i, which no product holds, expected a sum over it", "sum[i](...)"),
    ("input x[i]; g = a[i]*x[i]; f = g + tanh(b + ‸w[i]); size i=2", "index i, which no product holds", "on the left"),
    ("input x[i]; f = a[i]*x[i] + sqrt(‸w[i]); size i=2", "index i, which no product holds"),
    ("input x[i]; f = -tanh(‸x[i]) + a; size i=2", "index i, which no product holds"),
    ("input x[i]; f = sin(a + ‸softmax[i](b)); size i=2", "index i, which no product holds"),
    ("input x[i]; f[i] = sum[‸i](x[i]*a); size i=2", "a sum over i where i is in use already", "another axis name"),
    ("input x[i]; f = a[i]*sum[‸i](x[i]); size i=2", "a sum over i where i is in use already"),
    ("input x[i]; f = sum[i](a*sum[‸i](x[i])); size i=2", "a sum over i where i is in use already"),
    ("input x[i]; f = sum[i,‸i](a*x[i]); size i=2", "a sum over i where i is in use already"),
]  # fmt: skip


@pytest.mark.parametrize("case", BAD, ids=lambda case: case[0])
def test_messages(problem, case):
    message = problem(parse_program, case[0])
    for part in case[1:]:
        assert part in message
