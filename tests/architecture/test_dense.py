"""Short forms of fully connected nets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invman.architecture import REGISTERED, Layer, fully_connected, parse_program, parse_short_form, read_architecture
from invman.errors import OverBudgetError

FUNCTIONS = [str(name) for name in REGISTERED] + ["custom(u + u^2)", "custom(1/(2 + u^2))"]


@settings(max_examples=100, deadline=None)
@given(st.data(), st.lists(st.integers(1, 30), min_size=2, max_size=5), st.booleans())
def test_round_trip(data, widths, bias):
    hidden = [f"{width}{data.draw(st.sampled_from(FUNCTIONS))}" for width in widths[1:-1]]
    last = f"{widths[-1]}{data.draw(st.sampled_from(['', 'sigmoid', 'exp'])) if hidden else ''}"
    text = "-".join([str(widths[0]), *hidden, last]) + ("+bias" if bias else "")
    spaced = text.replace("-", " -\n ").replace("+bias", " + bias") if "(" not in text else text
    program = parse_short_form(spaced)
    assert repr(program) == text
    assert parse_program(program.text) == program
    layers = itertools.pairwise(widths)
    assert program.parameter_count == sum((below + bias) * above for below, above in layers)
    assert (program.input_count, program.output_count) == (widths[0], widths[-1])


def test_programs():
    assert parse_short_form("2-3tanh-4sigmoid-2+bias").text == (
        "input x[i]\n"
        "h1[k1] = tanh(w1[k1,i]*x[i] + b1[k1])\n"
        "h2[k2] = sigmoid(w2[k2,k1]*h1[k1] + b2[k2])\n"
        "f[o] = w3[o,k2]*h2[k2] + b3[o]\n"
        "size i=2, k1=3, k2=4, o=2"
    )
    assert parse_short_form("2-1+bias").text == "input x[i]\nf = w[i]*x[i] + b\nsize i=2"
    assert fully_connected([Layer(2, None), Layer(3, REGISTERED["tanh"]), Layer(1, None)], bias=False).text == (
        "input x[i]\nh[k] = tanh(w[k,i]*x[i])\nf = a[k]*h[k]\nsize i=2, k=3"
    )


def test_values(agree):
    def by_hand(w1, b1, w2, b2, w3, b3, x):
        hidden = np.tanh(w1 @ x + b1)
        return 1 / (1 + np.exp(-(w3 @ np.sin(w2 @ hidden + b2) + b3)))

    agree(read_architecture("3-4tanh-2sin-2sigmoid+bias"), by_hand)
    agree(read_architecture("3-2"), lambda w, x: w @ x)


BAD = [
    ("2-3‸tahn-1", "got 'tahn', expected an activation (tanh, sin,", "Did you mean 'tanh'?"),
    ("2-3‸zzz-1", "For another function write custom(EXPRESSION in u)."),
    ("2-‸0tanh-1", "got '0', expected a width of at least 1", "A layer without neurons"),
    ("‸0-3tanh-1", "a width of at least 1"),
    ("2-‸-3tanh-1", "got '-', expected a width of at least 1", "A layer is missing, or its width is negative."),
    ("‸-2-3tanh-1", "a width of at least 1"),
    ("2-3tanh-‸", "got the end of the text, expected a layer: a width and, if it is hidden, an activation"),
    ("2‸", "got the end of the text, expected '-' and an output layer"),
    ("‸2tanh-3tanh-1", "got '2', expected an input width without activation"),
    ("2-‸3-1", "got '3', expected an activation after the width of a hidden layer", "Write 3identity."),
    ("2-3tanh-1‸,4", "got ',', expected '-' and the next layer, '+bias' or the end"),
    ("2-3tanh-1+‸bais", "got 'bais', expected 'bias'"),
    ("2-3tanh-1+bias‸-2", "got '-', expected"),
    ("2-‸2.5tanh-1", "got '2.5', expected a layer"),
    ("2-3custom‸-1", "'(' and an expression in u"),
    ("2-3custom(u+‸v)-1", "'u', the only variable"),
    ("2-3custom(‸1/u)-1", "an analytic function of u", "singular where u is zero"),
    ("2-3custom‸(u-1", "The brackets do not balance"),
    ("2-3tanh-1‸)", "The brackets do not balance"),
    ("2-‸" + "9" * 250 + "tanh-1", "a number of at most 200 digits"),
]


@pytest.mark.parametrize("case", BAD, ids=lambda case: case[0][:40])
def test_messages(problem, case):
    message = problem(read_architecture, case[0])
    for part in case[1:]:
        assert part in message


@pytest.mark.parametrize("text", ["2-1000000000tanh-1", "99999-99999tanh-1+bias", "1-1" + "0" * 30 + "tanh-1"])
def test_too_wide(text):
    with pytest.raises(OverBudgetError, match=r"parameters of the net .*: got [\d,]+, expected at most 1,000,000,000"):
        read_architecture(text)
