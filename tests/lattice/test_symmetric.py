"""The symmetric family against brute force over the whole group, published counts, and limits."""

import re
import time
from collections import Counter

import pytest

from invman.architecture import read_architecture
from invman.errors import ManifoldError, OverBudgetError, UnsupportedError
from invman.lattice import Lattice, build_lattice, count_condensed, count_symmetric, isotropy, lattice_document
from invman.manifold import CondensedSpace, SymmetricManifold, SymmetricSpace
from tests.lattice.brute import brute

ARCHITECTURES = [
    "2-2identity-1",
    "1-3tanh-1",
    "1-3cos-1",
    "2-2tanh-2+bias",
    "1-2sigmoid-2sigmoid-1",
    "1-3sigmoid-3sigmoid-1",
    "1-2tanh-2tanh-1",
    "1-2tanh-2cos-1",
    "1-2cos-2tanh-1+bias",
    "1-2gelu-2tanh-1",
    "1-3sigmoid-2tanh-1+bias",
    "1-2sigmoid-2sigmoid-2sigmoid-1",
    "attention(d=2,heads=2,dk=1,seq=2,output=no)",
    "moe(d=2,experts=2,ff=2)",
    "conv1d(length=3,kernel=2,channels=2)",
    "rnn(input=1,hidden=3,steps=2)",
    "transformer(vocab=2,d=2,heads=1,dk=1,ff=2,layers=1,seq=2,norm=none)",
    "input x[i]; h[k]=cos(w[k,i]*x[i])*tanh(v[k,i]*x[i]); f=a[k]*h[k]; size i=1,k=3",
    "2-2tanh-2sigmoid-2cos-1",
    "1-2sigmoid-2sigmoid-2tanh-1+bias",
    "input x[i]; h[k]=tanh(w[k,i]*x[i]); g[k]=h[k]+tanh(v[k,l]*h[l]); f=a[k]*g[k]; size i=1,k=2,l=2",
    "input x[c,t]; h[k,t]=sigmoid(w[k,c]*x[c,t]); g[m,t]=sigmoid(v[m,k]*h[k,t]); f=a[m]*g[m,t]; size c=1,t=2,k=2,m=3",
]


@pytest.mark.parametrize("text", ARCHITECTURES)
def test_everything_agrees_with_brute_force(text: str):
    truth = brute(text)
    program = read_architecture(text)
    lattice = build_lattice(program, family="symmetric")
    nodes = [m.leaders for m in listed(lattice)]
    assert lattice.space.symmetry.order == truth.order
    assert len(nodes) == len(set(nodes)) == lattice.count.manifolds
    assert set(nodes) == truth.nodes
    assert {(nodes[upper], nodes[lower]) for upper, lower in lattice.covers} == truth.covers
    assert all(m.stabiliser_order == truth.stabilisers[m.leaders] for m in listed(lattice))
    class_of = {node: number for number, members in enumerate(truth.classes) for node in members}
    for manifold, number in zip(listed(lattice), lattice.class_of, strict=True):
        same = {nodes[place] for place, other in enumerate(lattice.class_of) if other == number}
        assert same == truth.classes[class_of[manifold.leaders]]
        assert manifold.orbit_size == len(same)
    up_to = build_lattice(program, family="symmetric", classes=True)
    assert up_to.count == lattice.count
    first = [class_of[m.leaders] for m in listed(up_to)]
    assert sorted(first) == list(range(len(truth.classes)))
    edges = {(class_of[upper], class_of[lower]) for upper, lower in truth.covers}
    assert {(first[upper], first[lower]) for upper, lower in up_to.covers} == edges


def listed(lattice: Lattice) -> list[SymmetricManifold]:
    return [manifold for manifold in lattice.manifolds if isinstance(manifold, SymmetricManifold)]


@pytest.mark.parametrize(
    ("text", "order", "sets", "classes", "by_dimension"),
    [
        ("1-2sigmoid-2sigmoid-1", 4, 5, 5, {3: 1, 4: 1, 5: 2, 8: 1}),
        ("1-2tanh-2tanh-1", 64, 135, 48, {0: 1, 1: 32, 2: 52, 3: 24, 4: 17, 5: 8, 8: 1}),
        (
            "1-2tanh-2tanh-2tanh-1",
            512,
            2700,
            515,
            {0: 1, 1: 56, 2: 502, 3: 952, 4: 747, 5: 240, 6: 148, 7: 40, 8: 5, 9: 8, 12: 1},
        ),
        ("1-3sigmoid-3sigmoid-1", 36, 42, 12, {3: 1, 4: 6, 5: 8, 7: 2, 8: 9, 9: 9, 11: 6, 15: 1}),
    ],
)
def test_published_numbers(text: str, order: int, sets: int, classes: int, by_dimension: dict[int, int]):
    lattice = build_lattice(read_architecture(text), family="symmetric")
    assert (lattice.space.symmetry.order, *lattice.count) == (order, sets, classes)
    assert Counter(m.dimension for m in lattice.manifolds) == by_dimension


@pytest.mark.parametrize(
    ("activation", "counts"),
    [("sigmoid", [1, 2, 5, 15, 52]), ("tanh", [2, 6, 24, 116, 648]), ("cos", [2, 7, 31, 164])],
)
def test_one_hidden_layer_is_condensed(activation: str, counts: list[int]):
    for width, expected in enumerate(counts, 1):
        program = read_architecture(f"2-{width}{activation}-1")
        symmetric, condensed = build_lattice(program, family="symmetric"), build_lattice(program)
        assert symmetric.count == condensed.count
        assert len(symmetric) == expected
        assert {m.polydiagonal().key() for m in symmetric.manifolds} == {
            m.polydiagonal().key() for m in condensed.manifolds
        }
        assert {m.name for m in symmetric.manifolds} == {m.name for m in condensed.manifolds}
        assert named_covers(symmetric) == named_covers(condensed)


def named_covers(lattice: Lattice) -> set[tuple[str, str]]:
    return {(lattice.manifolds[upper].name, lattice.manifolds[lower].name) for upper, lower in lattice.covers}


def test_a_wide_hidden_layer_by_classes():
    program = read_architecture("1-10tanh-1")
    assert count_symmetric(SymmetricSpace.of(program), budget=1000) == count_condensed(CondensedSpace.of(program))


def test_condensed_manifolds_without_dead_neurons_are_symmetric():
    program = read_architecture("1-2tanh-3tanh-1")
    space = SymmetricSpace.of(program)
    for manifold in build_lattice(CondensedSpace.of(program), classes=True).manifolds:
        assert space.named(manifold.name).condensed == manifold


def test_names_are_read_back():
    lattice = build_lattice(read_architecture("1-2tanh-2tanh-1"), family="symmetric")
    for manifold in lattice.manifolds:
        assert lattice.named(manifold.name) == manifold
    assert lattice.named("m3") == lattice.manifolds[3]


def test_sets_that_are_not_fixed_have_no_name():
    space = SymmetricSpace.of(read_architecture("1-2sigmoid-2sigmoid-1"))
    for text in ["w1[0,0]=w1[1,0]", "w1[0,0]=-w1[1,0]"]:
        with pytest.raises(ManifoldError, match="got a set that no group of permutations and signs fixes"):
            space.named(text)
    for text in ["w1[0,0]=1", "w1[0,0]=2*w1[1,0]", "w1[0,0]+w1[1,0]=w3[0]"]:
        with pytest.raises(ManifoldError, match="expected entries equal, opposite or zero"):
            space.named(text)
    gelu = SymmetricSpace.of(read_architecture("1-2gelu-1"))
    with pytest.raises(ManifoldError, match="no group"):
        gelu.named("0=dead")


def test_document_has_stabilisers_and_reduced_nets_only_where_there_are_any():
    document = lattice_document(build_lattice(read_architecture("1-2sigmoid-2sigmoid-1"), family="symmetric"))
    assert document["family"] == "symmetric"
    by_name = {m["name"]: m for m in document["manifolds"]}
    diagonal = by_name["w1[0,0]=w1[1,0],w2[0,0]=w2[1,1],w2[0,1]=w2[1,0],w3[0]=w3[1]"]
    assert diagonal["reduced"] is None
    assert diagonal["learning_rates"] == {}
    assert diagonal["stabiliser"] == {
        "order": "2",
        "generators": ["(w1[0,0] w1[1,0])(w2[0,0] w2[1,1])(w2[0,1] w2[1,0])(w3[0] w3[1])"],
    }
    assert by_name["k1:0=1"]["reduced"] == "1-1sigmoid-2sigmoid-1"


def test_refuses_with_numbers(monkeypatch: pytest.MonkeyPatch):
    program = read_architecture("1-3tanh-3tanh-1")
    with pytest.raises(OverBudgetError, match=r"got [0-9,]+, expected at most 100\. There are at least so many"):
        build_lattice(program, family="symmetric", budget=100)
    with pytest.raises(OverBudgetError, match=re.escape("got 8,093, expected at most 5,000. There are 353 classes.")):
        build_lattice(program, family="symmetric", budget=5000)
    with pytest.raises(OverBudgetError, match="classes of symmetric"):
        count_symmetric(SymmetricSpace.of(program), budget=100)
    monkeypatch.setattr(isotropy, "ATOMS", 400)
    with pytest.raises(OverBudgetError, match="one-element symmetric"):
        build_lattice(program, family="symmetric", classes=True)


def test_family_must_be_known():
    program = read_architecture("1-2tanh-1")
    with pytest.raises(ManifoldError, match="expected one of condensed, invariant, symmetric"):
        build_lattice(program, family="other")


def test_interchangeable_branches_are_refused():
    """With one input, one output and nothing between, a[k] and w[k] can be swapped, which no axis explains."""
    with pytest.raises(UnsupportedError, match="interchangeable branches"):
        SymmetricSpace.of(read_architecture("1-2identity-1"))


def test_speed():
    start = time.perf_counter()
    assert len(build_lattice(read_architecture("1-4sigmoid-4sigmoid-1"), family="symmetric")) == 851
    assert time.perf_counter() - start < 5
    start = time.perf_counter()
    lattice = build_lattice(read_architecture("1-3tanh-3tanh-1"), family="symmetric", classes=True)
    assert lattice.count == (8093, 353)
    assert time.perf_counter() - start < 30
