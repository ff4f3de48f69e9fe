"""Printing: what is printed is read back as the same program, statement by statement, and has the same values."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from invman.architecture import parse_program
from invman.errors import SyntaxProblem

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture]
SIZES = {"i": 2, "j": 2, "k": 3, "l": 3}
FUNCTIONS = ["tanh", "sin", "gelu", "sigmoid", "identity", "square", "custom(u - u^2/3)", "custom(tanh(u)/(2 + u^2))"]


@st.composite
def expressions(draw, scope, depth, tensors):
    """An expression over the axes in scope; every other axis stands under a written sum or in a product."""
    inner = lambda axes=scope: draw(expressions(axes, depth - 1, tensors))  # noqa: E731
    spare = [axis for axis in SIZES if axis not in scope]
    kind = draw(st.integers(0, 14 if depth else 3))
    if kind == 0:
        return draw(st.sampled_from(["2", "1/3", "0.25", "(-3/2)", "0", "7"]))
    if kind in (1, 2):
        return draw(reads(scope, tensors))
    if kind == 3:
        chosen = draw(st.lists(st.sampled_from(scope), unique=True)) if scope else []
        return f"p{''.join(chosen)}[{','.join(chosen)}]" if chosen else "p"
    if kind == 4:
        signs = draw(st.lists(st.sampled_from([" + ", " - "]), min_size=1, max_size=3))
        return draw(st.sampled_from(["", "-"])) + inner() + "".join(sign + inner() for sign in signs)
    if kind in (5, 6):
        operators = draw(st.lists(st.sampled_from(["*", "*", "/4", "/(2 + q^2)*", "*-"]), min_size=1, max_size=3))
        return f"({inner()})" + "".join(o if o == "/4" else f"{o}({inner()})" for o in operators)
    if kind == 7:
        return f"-({inner()})"
    if kind == 8:
        return f"({inner()})^{draw(st.sampled_from(['2', '3', '1', '(2)']))}"
    if kind == 9:
        return f"(2 + ({inner()})^2)^{draw(st.sampled_from(['-1', '(1/2)', '(-1/2)', '(-3/2)', '-2']))}"
    if kind == 10:
        return f"{draw(st.sampled_from(FUNCTIONS))}({inner()})"
    if kind == 11:
        return f"1/sqrt(1 + ({inner()})^2)"
    if kind == 12 and scope:
        axis = draw(st.sampled_from(scope))
        others = [other for other in scope if other != axis]
        until = "<=" + draw(st.sampled_from(others)) if others and draw(st.booleans()) else ""
        return f"softmax[{axis}{until}]({inner()})"
    if spare:
        chosen = draw(st.lists(st.sampled_from(spare), unique=True, min_size=1, max_size=2))
        if kind == 13:
            return f"{draw(st.sampled_from(['sum', 'mean']))}[{','.join(chosen)}]({inner([*scope, *chosen])})"
        head = f"r{''.join(chosen)}[{','.join(chosen)}]"
        return f"{head}*({inner([*scope, *chosen])})" if draw(st.booleans()) else f"{head}*q"
    return "q"


@st.composite
def reads(draw, scope, tensors):
    """An input or a statement, read at axes in scope, at constants or at affine indices."""
    name, shape = draw(st.sampled_from(tensors))
    indices = []
    for size in shape:
        fitting = [axis for axis in scope if size == SIZES[axis]]
        choice = draw(st.integers(0, 3))
        if choice == 0 or not fitting:
            indices.append(str(draw(st.integers(0, size - 1))))
        elif choice == 1:
            indices.append(f"{size - 1}-{draw(st.sampled_from(fitting))}")
        else:
            indices.append(draw(st.sampled_from(fitting)))
    return f"{name}[{','.join(indices)}]" if indices else name


@st.composite
def programs(draw, depth=3):
    tensors = [("x", (2,)), ("y", (3, 2)), ("z", ()), ("m", (2,))]
    lines = ["input x[i], y[k,j], z", "constant m[i] = [-1/3,2]"]
    count = draw(st.integers(1, 3))
    for number in range(count):
        left = draw(st.lists(st.sampled_from(list(SIZES)), unique=True, max_size=3))
        bracket = f"[{','.join(left)}]" if left else ""
        lines.append(f"h{number}{bracket} = {draw(expressions(left, depth, tensors))} + p")
        tensors.append((f"h{number}", tuple(SIZES[axis] for axis in left)))
    lines.append("output " + ", ".join(f"h{number}" for number in draw(st.permutations(range(count)))))
    lines.append("size " + ", ".join(f"{axis}={size}" for axis, size in SIZES.items()))
    try:
        return parse_program("\n".join(lines))
    except SyntaxProblem as error:
        assume("in use already" not in str(error) and "divisor other than 0" not in str(error))
        raise


@settings(max_examples=300, deadline=None, suppress_health_check=SLOW)
@given(programs(depth=4))
def test_round_trip(program):
    again = parse_program(program.text)
    assert again == program
    assert again.text == program.text
    assert again.statements == program.statements
    assert (again.inputs, again.parameters, again.constants) == (program.inputs, program.parameters, program.constants)
    assert (again.outputs, dict(again.sizes)) == (program.outputs, dict(program.sizes))


@settings(max_examples=30, deadline=None, suppress_health_check=SLOW)
@given(programs(depth=2))
def test_both_evaluations_agree(agree, program):
    agree(program)


@pytest.mark.parametrize(
    "statement",
    [
        "f = -1*(a*x)", "f = -(a + x)", "f = -1*2*a*x", "f = a*x/2", "f = 2*x*1/2*a", "f = a/x/(2*b)", "f = a/(b/x)",
        "f = (a*b)*x", "f = 2*(3*a*x)", "f = (a + b) + x", "f = a + (b - x)", "f = a - (b - x)", "f = (a^2)^3*x",
        "f = (-a)^2*x", "f = (-1/2)^3*a*x", "f = sqrt(a^2 + 1)^3*x", "f = 1/sqrt(2)*a*x", "f = a^(-1/2)*x",
        "f = tanh(-a*x)^2", "f = -1/3*a*x", "f = a*-x", "f = x*a*0", "f = 1 - 1 + a*x", "f = a - 3/4 + x",
        "f = a + -1*x",
    ],
)  # fmt: skip
def test_signs_brackets_and_fractions(statement):
    program = parse_program(f"input x; {statement}")
    again = parse_program(program.text)
    assert again.statements == program.statements
    assert again.text == program.text


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("f=a [k] * b[ k]", "f = a[k]*b[k]"),
        ("f = sum[k](a[k]*b[k])", "f = a[k]*b[k]"),
        ("f = sum[k](a[k]*tanh(b[k]))", "f = a[k]*tanh(b[k])"),
        ("f = tanh(sum[k](a[k]))", "f = tanh(sum[k](a[k]))"),
        ("f = sum[l,k](a[k]*b[l])", "f = sum[l,k](a[k]*b[l])"),
        ("f = c*sum[k](a[k])", "f = c*sum[k](a[k])"),
        ("f = mean[k](a[k])", "f = mean[k](a[k])"),
        ("f = a[k]*1/2", "f = a[k]/2"),
        ("f = a[0+k]*b[k-k+1] + c[-k+2]", "f = a[k]*b[1] + c[-k+2]"),
        ("f = -2*a[k]", "f = -2*a[k]"),
        ("f = - a[k] - -b[k]", "f = -a[k] + b[k]"),
        ("f = a[k]**2*3", "f = a[k]^2*3"),
    ],
)
def test_canonical_text(written, printed):
    assert parse_program(f"input x; {written}; size k=3, l=2; output f").text == (f"input x\n{printed}\nsize k=3, l=2")
