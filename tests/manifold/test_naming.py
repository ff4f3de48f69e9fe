"""Names of manifolds: printed and read back, and every mistake shown with a caret."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invman.architecture import read_architecture
from invman.errors import ManifoldError, SyntaxProblem
from invman.lattice.enumeration import partitions
from invman.manifold import CondensedSpace
from invman.manifold.naming import parse_name, print_name

NETS = ["1-4tanh-1", "1-4sigmoid-1", "1-4silu-1", "1-4cos-1", "1-3square-1", "1-3tanh-2cos-3silu-1"]
SPACES = {text: CondensedSpace.of(read_architecture(text)) for text in NETS}
CHOICES = {text: [list(partitions(rules)) for rules in space.rules] for text, space in SPACES.items()}


@given(st.data())
def test_round_trip(data):
    text = data.draw(st.sampled_from(NETS))
    rules = SPACES[text].rules
    chosen = tuple(data.draw(st.sampled_from(choice)) for choice in CHOICES[text])
    assert parse_name(rules, print_name(rules, chosen)) == chosen
    spaced = print_name(rules, chosen).replace("=", " = ").replace("/", " / ")
    assert parse_name(rules, spaced) == chosen


@given(st.text(alphabet="0123-=,/:k free dad zeros", max_size=20))
def test_any_text_is_read_or_refused(text):
    for space in SPACES.values():
        try:
            manifold = space.named(text)
        except (SyntaxProblem, ManifoldError):
            continue
        assert space.named(repr(manifold)) == manifold


@pytest.mark.parametrize(
    ("net", "name", "printed"),
    [
        ("1-4tanh-1", "free", "free"),
        ("1-4tanh-1", "2=0", "0=2"),
        ("1-4tanh-1", "-1=3,2=dead", "1=-3,2=dead"),
        ("1-4tanh-1", "k:0=1", "0=1"),
        ("1-4tanh-1", "1,2", "free"),
        ("1-4tanh-1", "3=dead,1=dead", "1=3=dead"),
        ("1-4cos-1", "-0=1=zero", "0=1=zero"),
        ("1-3square-1", "0=zero,1=2=dead", "0=zero,1=2=dead"),
        ("1-3tanh-2cos-3silu-1", "k2:0=zero/k1:free", "k2:0=zero"),
        ("1-3tanh-2cos-3silu-1", "k3:0=1/k1:2=-0", "k1:0=-2/k3:0=1"),
    ],
)
def test_names_by_hand(net, name, printed):
    assert SPACES[net].named(name).name == printed


DEEP = "1-3tanh-2cos-3silu-1"


@pytest.mark.parametrize(
    ("net", "name", "column", "words"),
    [
        ("1-4tanh-1", "0=4", 3, "'4', expected a neuron from 0 to 3"),
        ("1-4tanh-1", "0=0", 3, "each neuron once"),
        ("1-4tanh-1", "0=1,1=2", 5, "each neuron once"),
        ("1-4tanh-1", "0=ded", 3, "'ded', expected a neuron, 'dead' or 'zero'"),
        ("1-4tanh-1", "dead", 1, "the number of a neuron"),
        ("1-4tanh-1", "0=", 3, "the end of the text, expected the number of a neuron"),
        ("1-4tanh-1", "", 1, "the end of the text"),
        ("1-4tanh-1", "0=1 2", 5, "'=', ',' or the end of the name"),
        ("1-4tanh-1", "0=dead=1", 7, "'=', ',' or the end of the name"),
        ("1-4tanh-1", "0=?", 3, "'?'"),
        ("1-4tanh-1", "q:0=1", 1, "one of the axes k"),
        ("1-4tanh-1", "0=1/2=3", 5, "axis k once"),
        ("1-4tanh-1", "free=1", 5, "the end of the name"),
        (DEEP, "0=1", 1, "an axis and a colon (k1, k2, k3)"),
        (DEEP, "k1:0=1/k1:0=2", 8, "axis k1 once"),
        (DEEP, "k1:0=1/k4:0=1", 8, "'k4', expected one of the axes k1, k2, k3"),
        (DEEP, "k1:0=1/k2:0=2", 13, "a neuron from 0 to 1"),
        (DEEP, "k1:0=1/", 8, "an axis and a colon"),
        (DEEP, "k1:0=1/k2:0=?", 13, "'?'"),
        ("2-1", "0=1", 1, "there is no hidden axis"),
        ("2-1", "k:0=1", 1, "there is no hidden axis"),
    ],
)
def test_mistakes_have_a_caret(net, name, column, words):
    space = SPACES.get(net) or CondensedSpace.of(read_architecture(net))
    with pytest.raises(SyntaxProblem) as caught:
        space.named(name)
    message = str(caught.value)
    assert words in message
    assert caught.value.position == column - 1
    _, shown, caret = message.splitlines()[:3]
    assert shown == f"  {name}"
    assert caret == " " * (column + 1) + "^"


@pytest.mark.parametrize(
    ("net", "name", "words"),
    [
        ("1-4sigmoid-1", "0=dead", "sigma(0) is not 0"),
        ("1-4cos-1", "0=dead", "sigma(0) is not 0"),
        ("1-4sigmoid-1", "0=-1", "no parity"),
        ("1-4silu-1", "0=-1", "no parity"),
        ("1-4tanh-1", "0=zero", "not even"),
        (DEEP, "k3:0=zero", "axis k3"),
    ],
)
def test_what_the_architecture_does_not_have(net, name, words):
    with pytest.raises(ManifoldError) as caught:
        SPACES[net].named(name)
    assert words in str(caught.value)
    assert "--equations" in str(caught.value)


def test_net_without_hidden_axis():
    space = CondensedSpace.of(read_architecture("2-1"))
    assert space.named("free") == space.whole
    assert space.whole.name == "free"
    assert space.whole.dimension == 2
