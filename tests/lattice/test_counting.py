"""Exact counts against tables, brute force and independent recurrences."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invman.architecture import read_architecture
from invman.errors import OverBudgetError
from invman.lattice import count_condensed, enumerate_condensed
from invman.lattice.counting import Count, count_axis, integer_partitions, signed_partitions
from invman.manifold import CondensedManifold, CondensedSpace
from invman.manifold.partition import Kind


def count(text):
    return count_condensed(CondensedSpace.of(read_architecture(text)))


@pytest.mark.parametrize(
    ("act", "manifolds"),
    [
        # fixed sets and orbit types of one hidden layer by brute force over the whole group, m = 1, 2, 3, ...
        ("sigmoid", [1, 2, 5, 15, 52, 203, 877, 4140]),
        ("silu", [2, 5, 15, 52, 203]),
        ("tanh", [2, 6, 24, 116, 648, 4088, 28640, 219920]),
        ("cos", [2, 7, 31, 164]),
    ],
)
def test_one_hidden_layer(act, manifolds):
    assert [count(f"2-{m}{act}-1").manifolds for m in range(1, len(manifolds) + 1)] == manifolds


@pytest.mark.parametrize(
    ("act", "classes"),
    # integer partitions; pairs (partition of the live, number of dead)
    [("sigmoid", [1, 2, 3, 5, 7, 11, 15, 22]), ("tanh", [2, 4, 7, 12]), ("silu", [2, 4, 7, 12])],
)
def test_classes_of_one_hidden_layer(act, classes):
    assert [count(f"2-{m}{act}-1").classes for m in range(1, len(classes) + 1)] == classes


def test_odd_by_number_of_blocks():
    """The rank of a manifold of 1-m-1 is its dimension over two: Whitney numbers of the Dowling lattice."""
    for m, numbers in {2: [1, 4, 1], 3: [1, 13, 9, 1], 4: [1, 40, 58, 16, 1]}.items():
        found = Counter(
            x.dimension // 2 for x in enumerate_condensed(CondensedSpace.of(read_architecture(f"1-{m}tanh-1")))
        )
        assert [found[r] for r in range(m + 1)] == numbers


def test_bell_200_by_the_triangle():
    """Aitken's triangle: independent of the binomial recurrence of the package."""
    row = [1]
    for _ in range(200):
        following = [row[-1]]
        for value in row:
            following.append(following[-1] + value)
        row = following
    assert count("10-200sigmoid-1").manifolds == row[0]
    assert count("10-199silu-1").manifolds == row[0]


def test_dowling_by_stirling_numbers():
    """sum_k C(m, k) sum_r S(k, r) 2^(k - r), with Stirling numbers of the second kind."""
    m = 40
    stirling = [[1]]
    for n in range(1, m + 1):
        last = [*stirling[-1], 0]
        stirling.append([0, *(last[r - 1] + r * last[r] for r in range(1, n + 1))])
    expected = sum(math.comb(m, k) * sum(s * 2 ** (k - r) for r, s in enumerate(stirling[k])) for k in range(m + 1))
    assert count(f"3-{m}tanh-1").manifolds == expected


def test_classes_are_pairs_of_integer_partitions():
    """Odd: partitions of the live neurons, any number dead; Euler's pentagonal recurrence."""
    p = [1]
    for n in range(1, 61):
        terms = ((k, g) for k in range(1, n + 1) for g in (k * (3 * k - 1) // 2, k * (3 * k + 1) // 2) if g <= n)
        p.append(sum((-1) ** (k + 1) * p[n - g] for k, g in terms))
    assert integer_partitions(60) == tuple(p)
    assert count("10-60tanh-1").classes == sum(p)
    assert count("10-60cos-1").classes == sum(p[k] * p[60 - k] for k in range(61))


@given(st.integers(0, 25), st.integers(1, 2))
def test_signed_partitions_count_by_the_first_block(n, signs):
    counts = signed_partitions(n, signs)
    assert counts[:2][-1] == 1
    assert all(a <= b for a, b in itertools.pairwise(counts))
    assert signed_partitions(n + 1, signs)[: n + 1] == counts


DEEP = [
    ("1-2tanh-2tanh-1", 36),  # 6 x 6: no tuple is hidden
    ("1-2sigmoid-3sigmoid-1", 10),
    ("1-3sigmoid-3sigmoid-1", 25),
    ("1-2tanh-2tanh-2tanh-1", 211),  # 6^3 = 216, but between two dead layers one of six is left
    ("1-2tanh-2cos-1", 37),
    ("1-2silu-2square-2tanh-1", None),
    ("1-2silu-2silu-2silu-1", 121),
    ("1-2tanh-2cos-2square-1+bias", None),
    ("1-2tanh-2sigmoid-2tanh-1", None),
    ("1-1tanh-3cos-1tanh-1", None),
    ("1-1silu-2square-1silu-1silu-2", None),
    ("1-1cos-1square-2tanh-1cos-1", None),
    ("input x; h[k]=cos(sum[l](cos(w[k,l]*x))); f=sum[k](h[k]); size k=2,l=2", None),
    (
        "input x[i]; h[k]=(u[k,i]*x[i])*sigmoid(v[k,i]*x[i]); g[l]=tanh(b[l,k]*h[k]); f=a[l]*g[l]; size i=1,k=2,l=2",
        None,
    ),
    (
        "input x; h[k]=tanh(w[k]*x); g[l]=tanh(v[l]*x); p[m]=tanh(u[m]*x); f=T[k,l,m]*h[k]*g[l]*p[m]; size k=2,l=2,m=1",
        None,
    ),
    ("2-1", 1),
]


@pytest.mark.parametrize(("text", "known"), DEEP, ids=lambda v: str(v))
def test_deep_nets_by_distinct_subspaces(text, known):
    """All tuples of partitions of all axes, written out as subspaces; the different ones are counted."""
    space = CondensedSpace.of(read_architecture(text))
    choices = [signed_dead_zero(r.size, r) for r in space.rules]
    keys, classes = set(), set()
    for chosen in itertools.product(*choices):
        manifold = CondensedManifold(space, chosen)
        keys.add(manifold.polydiagonal().key())
        classes.add(CondensedManifold(space, space.closure(chosen)).shape)
    found = count_condensed(space)
    assert found.manifolds == len(keys)
    assert found.classes == len(classes)
    assert known is None or found.manifolds == known


def signed_dead_zero(size, rules):
    """All labels by brute force: every word over the alphabet, in normal form."""
    from invman.manifold.partition import canonical

    letters = [2 * b for b in range(1, size + 1)]
    letters += [-2 * b for b in range(1, size + 1)] if rules.signed else []
    letters += [2 * (size + b) + 1 for b in range(1, size + 1)] if rules.has_zero else []
    letters += [0] if rules.has_dead else []
    return sorted({canonical(word) for word in itertools.product(letters, repeat=size)})


@pytest.mark.parametrize("text", ["1-3tanh-1", "1-3silu-1", "1-3cos-1", "1-3square-1", "1-3sigmoid-1"])
def test_states_of_an_axis_add_up(text):
    rules = CondensedSpace.of(read_architecture(text)).rules[0]
    found = count_axis(rules, inner=True, outer=True)
    assert sum(c.manifolds for c in found.values()) == count(text).manifolds
    hidden = count_axis(rules, inner=False, outer=False)
    assert sum(c.manifolds for c in hidden.values()) == 1
    assert hidden[Kind.DEAD].manifolds == int(rules.has_dead)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["tanh", "silu", "cos", "square", "sigmoid"])), max_size=3)
)
def test_count_is_the_length_of_the_list(layers):
    text = "-".join(["1", *(f"{m}{act}" for m, act in layers), "1"])
    space = CondensedSpace.of(read_architecture(text))
    found = count_condensed(space)
    if found.manifolds <= 1500:
        assert sum(1 for _ in enumerate_condensed(space)) == found.manifolds
    listed = list(enumerate_condensed(space, classes=True)) if found.classes <= 1500 else []
    assert not listed or len(listed) == found.classes
    assert not listed or sum(m.orbit_size for m in listed) == found.manifolds


def test_width_limit():
    with pytest.raises(OverBudgetError) as caught:
        count("10-1001tanh-1")
    assert (caught.value.size, caught.value.budget) == (1001, 1000)
    assert count("10-1000sigmoid-1").manifolds > 10**1900


def test_many_layers():
    assert count("10" + "-5sigmoid" * 40 + "-1") == Count(52**40, 7**40)
