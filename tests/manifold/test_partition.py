"""Signed partitions: normal form, blocks, classes, covers, order."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invman.architecture import read_architecture
from invman.errors import UnsupportedError
from invman.lattice.enumeration import partitions
from invman.manifold import CondensedManifold, CondensedSpace
from invman.manifold.partition import (
    Kind,
    blocks,
    canonical,
    coarsenings,
    finer,
    kind_of,
    orbit_size,
    representative,
    shape,
)

NETS = ["1-3tanh-1", "1-3sigmoid-1", "1-3silu-1", "1-3cos-1", "1-3square-1"]


def rules_of(text):
    return CondensedSpace.of(read_architecture(text)).rules[0]


any_labels = st.lists(st.sampled_from([0, 2, -2, 4, -4, 7, 9]), min_size=1, max_size=6)


@given(any_labels)
def test_canonical_is_a_normal_form(labels):
    form = canonical(labels)
    assert canonical(form) == form
    assert [kind_of(v) for v in form] == [kind_of(v) for v in labels]
    for (i, a), (j, b) in itertools.product(enumerate(labels), repeat=2):
        assert (form[i] == form[j]) == (a == b)
        assert (form[i] == -form[j]) == (a == -b)


@given(any_labels, st.sampled_from([1, -1]), st.permutations([1, 2, 3, 4]))
def test_canonical_forgets_names_and_overall_signs(labels, sign, names):
    def other(label):
        block = abs(label) >> 1
        value = 2 * names[block - 1] + (label & 1)
        return 0 if not label else value if label & 1 else value * (sign if label > 0 else -sign)

    assert canonical([other(v) for v in labels]) == canonical(labels)


def test_blocks_by_hand():
    found = blocks((2, 0, -2, 5, 5, 0))
    assert [(b.kind, b.values, b.signs) for b in found] == [
        (Kind.LIVE, (0, 2), (1, -1)),
        (Kind.DEAD, (1, 5), (1, 1)),
        (Kind.ZERO, (3, 4), (1, 1)),
    ]
    assert shape((2, 0, -2, 5, 5, 0)) == ((2,), (2,), 2)
    assert representative((2,), (2,), 2) == (2, 2, 5, 5, 0, 0)


@pytest.mark.parametrize("text", NETS)
def test_classes_are_the_orbits_of_permutations_and_signs(text):
    rules = rules_of(text)
    found = list(partitions(rules))
    assert len(found) == len(set(found))
    sizes = Counter(shape(labels) for labels in found)
    for labels in found:
        orbit = set()
        for places in itertools.permutations(range(3)):
            for signs in itertools.product((1, -1) if rules.signed else (1,), repeat=3):
                moved = [labels[p] * (1 if labels[p] & 1 else s) for p, s in zip(places, signs, strict=True)]
                orbit.add(canonical(moved))
        assert orbit <= set(found)
        assert orbit_size(rules, labels) == len(orbit) == sizes[shape(labels)]
        assert canonical(representative(*shape(labels))) in orbit


@pytest.mark.parametrize("text", NETS)
def test_order_is_inclusion_and_coarsenings_cover(text):
    space = CondensedSpace.of(read_architecture(text))
    rules = space.rules[0]
    found = list(partitions(rules))
    flat = {labels: CondensedManifold(space, (labels,)).polydiagonal() for labels in found}
    for a, b in itertools.product(found, repeat=2):
        assert finer(a, b) == (flat[b] <= flat[a])
    for a in found:
        below = [b for b in found if b != a and finer(a, b)]
        covers = {b for b in below if not any(c != b and finer(c, b) for c in below)}
        assert set(coarsenings(rules, a)) == covers
    assert all(finer(rules.free, labels) and finer(labels, labels) for labels in found)


def test_what_each_activation_has():
    facts = {t: (r.signed, r.has_zero, r.has_dead, r.dead_by_symmetry) for t in NETS for r in [rules_of(t)]}
    assert facts == {
        "1-3tanh-1": (True, False, True, True),
        "1-3sigmoid-1": (False, False, False, False),
        "1-3silu-1": (False, False, True, False),
        "1-3cos-1": (True, True, False, False),
        "1-3square-1": (True, True, True, False),
    }
    assert [rules_of(t).coarsest for t in NETS] == [(0,) * 3, (2,) * 3, (0,) * 3, (3,) * 3, (0,) * 3]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rnn(input=1,hidden=2,steps=2)", ["parameter U", "two positions"]),
        ("attention(d=2,heads=2,dk=2,seq=2)", ["axis h", "2 independent sign changes"]),
    ],
)
def test_what_is_not_supported(text, words):
    with pytest.raises(UnsupportedError) as caught:
        CondensedSpace.of(read_architecture(text))
    assert all(word in str(caught.value) for word in words)
