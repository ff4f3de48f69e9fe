"""Condensed manifolds: all of them (brute force over the group), invariant (gradient), named and labelled rightly."""

from __future__ import annotations

import itertools

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from invman.architecture import read_architecture
from invman.architecture.evaluate import jax_map
from invman.lattice import build_lattice
from invman.lattice.enumeration import partitions
from invman.manifold import CondensedManifold, CondensedSpace, Origin, parse_equations


def space_of(text):
    return CondensedSpace.of(read_architecture(text))


@pytest.mark.parametrize(
    ("text", "count"),
    # fixed sets of one hidden layer, GROUP by GROUP: odd 2,6,24,116; none Bell(m); even 2,7,31
    [("1-1tanh-1", 2), ("1-2tanh-1", 6), ("1-3tanh-1", 24), ("2-3sin-2", 24), ("1-2tanh-1+bias", 6),
     ("1-1sigmoid-1", 1), ("1-2sigmoid-1", 2), ("1-3sigmoid-1", 5), ("1-4exp-1", 15),
     ("1-1cos-1", 2), ("1-2cos-1", 7), ("1-3cos-1", 31), ("1-2gaussian-1+bias", 7),
     pytest.param("1-4tanh-1", 116, marks=pytest.mark.slow)],
)  # fmt: skip
def test_condensed_are_the_fixed_sets_of_one_layer(text, count, oracle):
    program = read_architecture(text)
    sets = oracle.meets({oracle.fixed(g) for g in oracle.group(oracle.find_symmetry(program))})
    listed = {oracle.of(m) for m in build_lattice(program).manifolds}
    assert listed == sets
    assert len(listed) == count


@pytest.mark.parametrize(
    ("text", "count"),
    # with a dead block, no parity: Bell(m + 1)
    [
        ("1-1silu-1", 2),
        ("1-2silu-1", 5),
        ("2-3gelu-1", 15),
        ("1-4silu-1", 52),
        ("1-2square-1", 12),
        ("1-3square-1", 59),
    ],
)
def test_dead_neurons_of_one_layer(text, count, oracle):
    """Fixed sets and the sets "neuron j has no weights", closed under intersection; square: by this oracle only."""
    program = read_architecture(text)
    symmetry = oracle.find_symmetry(program)
    sets = {oracle.fixed(g) for g in oracle.group(symmetry)}
    for axis in symmetry.axes:
        sets |= {oracle.dead(program, axis.axis, value) for value in range(axis.axis.size)}
    listed = {oracle.of(m) for m in build_lattice(program).manifolds}
    assert listed == oracle.meets(sets)
    assert len(listed) == count


MIXED = [
    "1-2tanh-2cos-1", "1-2silu-2silu-1", "1-2silu-2silu-2silu-1", "1-2tanh-2silu-2tanh-1", "1-2square-2square-1",
    "1-2tanh-2square-1", "1-2silu-2cos-1+bias", "1-3silu-2", "1-2sigmoid-2silu-1", "1-2cos-2square-1",
    "1-1tanh-1silu-1",
    "input x[i]; h[k]=(u[k,i]*x[i])*sigmoid(v[k,i]*x[i]); f=a[k]*h[k]; size i=1,k=3",
    "input x[i]; g[e]=softmax[e](v[e,i]*x[i]); f=g[e]*u[e]*tanh(w[e,i]*x[i]); size i=1,e=3",
]  # fmt: skip


@pytest.mark.parametrize("text", MIXED)
def test_origin_against_the_pointwise_stabiliser(text, oracle):
    """Symmetry-induced means: the fixed set of all group elements that fix the manifold pointwise is the manifold."""
    program = read_architecture(text)
    elements = oracle.group(oracle.find_symmetry(program))
    images = np.array([g[0] for g in elements])
    signs = np.array([g[1] for g in elements])
    random = np.random.default_rng(5)
    labels = set()
    for manifold in build_lattice(program).manifolds:
        point = oracle.random_point(manifold, random)
        kept = np.all(signs * point[images] == point, axis=1)  # a generic point: what fixes it fixes the manifold
        links = [
            (i, int(j), int(s))
            for image, sign in zip(images[kept], signs[kept], strict=True)
            for i, (j, s) in enumerate(zip(image, sign, strict=True))
        ]
        symmetric = oracle.subspace(program.parameter_count, links) == oracle.of(manifold)
        assert (manifold.origin is Origin.SYMMETRY) == symmetric, manifold
        labels.add(symmetric)
    if "silu" in text or "square" in text:
        assert labels == {True, False}


NETS = [
    "2-3tanh-1", "2-3sigmoid-2", "1-3silu-1+bias", "2-3cos-1", "2-2square-2+bias", "1-2gelu-2tanh-1", "1-2tanh-2tanh-1",
    "2-2tanh-2cos-1+bias", "1-2silu-2square-2tanh-1", "1-2tanh-2sigmoid-2square-1", "1-2custom(u+u^2)-2-1"[:-2],
    "input x[i]; h[k]=w[k,i]*x[i]; g[k]=h[k]+u[k,m]*tanh(v[m,i]*x[i]); f=a[k]*cos(g[k]); size i=2,k=2,m=2",
    "input x[i]; h[k]=(u[k,i]*x[i])*sigmoid(v[k,i]*x[i]); f=a[k]*h[k]; size i=2,k=3",
    "input x[i]; g[e]=softmax[e](v[e,i]*x[i]); f=g[e]*u[e,k]*tanh(w[e,k,i]*x[i]); size i=2,e=3,k=2",
    "input x[s,i]; q[s,k]=Q[k,i]*x[s,i]; r[s,k]=K[k,i]*x[s,i]; A[s,t]=softmax[t](q[s,k]*r[t,k]);"
    " f[s]=A[s,t]*V[i]*x[t,i]; size s=3,t=3,i=2,k=3",
    "input x; h[k]=cos(sum[l](cos(w[k,l]*x))); f=c[k]*h[k]; size k=2,l=2",
]  # fmt: skip


@pytest.mark.parametrize("text", NETS)
def test_every_manifold_is_invariant(text, oracle):
    """The gradient of every output at points of the manifold has no component normal to it."""
    program = read_architecture(text)
    random = np.random.default_rng(7)
    manifolds = build_lattice(program).manifolds
    points = np.array([oracle.random_point(m, random) for m in manifolds])
    with jax.enable_x64(True):
        field = jax.jit(jax.vmap(jax.jacrev(jax_map(program)), (0, None)))
        fields = np.asarray(field(points, random.normal(size=program.input_count)))
    for manifold, rows in zip(manifolds, fields, strict=True):
        basis = manifold.polydiagonal().basis().astype(float)
        unit = basis / np.sqrt((basis**2).sum(axis=1, keepdims=True))
        normal = rows - rows @ unit.T @ unit
        assert np.abs(normal).max() <= 1e-12 * max(1, np.abs(rows).max()), manifold


@pytest.mark.parametrize("text", NETS)
def test_equations_dimension_and_subspace_agree(text):
    program = read_architecture(text)
    for manifold in build_lattice(program).manifolds:
        flat = manifold.polydiagonal()
        basis = flat.basis()
        assert manifold.dimension == flat.dimension == len(basis)
        if not manifold.equations:
            assert flat.dimension == program.parameter_count
            continue
        equations = parse_equations(program, ", ".join(manifold.equations))
        assert equations.dimension == flat.dimension
        matrix, constants = equations.dense()
        assert not constants.any()
        assert not (matrix @ basis[:, equations.support()].T).any()


TUPLES = ["1-2tanh-2tanh-2tanh-1", "1-2silu-2silu-2silu-1", "1-2tanh-2cos-2square-1", "1-1silu-3cos-1tanh-1"]
CHOICES = {t: (s := space_of(t), [list(partitions(r)) for r in s.rules]) for t in TUPLES}


@given(st.sampled_from(TUPLES), st.data())
def test_closure(text, data):
    """Closure is idempotent, keeps the subspace, and gives equal tuples exactly for equal subspaces."""
    space, choices = CHOICES[text]
    first, second = (tuple(data.draw(st.sampled_from(c)) for c in choices) for _ in range(2))
    closed = space.closure(first)
    assert space.closure(closed) == closed
    flat, other = (CondensedManifold(space, p).polydiagonal() for p in (first, second))
    assert CondensedManifold(space, closed).polydiagonal().key() == flat.key()
    assert (flat.key() == other.key()) == (closed == space.closure(second))


def test_names_by_hand():
    space = space_of("2-3tanh-1")
    manifold = space.named("0=-2,1=dead")
    assert manifold.dimension == 3
    assert manifold.equations == ["w[2,:] = -w[0,:]", "a[2] = -a[0]", "w[1,:] = 0", "a[1] = 0"]
    assert manifold.orbit_size == 6
    assert manifold.origin is Origin.SYMMETRY
    assert repr(manifold) == "0=-2,1=dead"
    assert space.whole.equations == []
    assert space.named("0=1=2=dead").dimension == 0


def test_even_activation_by_hand():
    space = space_of("1-3cos-1")
    manifold = space.named("0=-1,2=zero")
    assert manifold.equations == ["w[1,:] = -w[0,:]", "a[1] = a[0]", "w[2,:] = 0"]
    assert (manifold.dimension, manifold.orbit_size) == (3, 6)


def test_one_subspace_has_one_name():
    """Between two dead layers nothing is left that a partition could say."""
    space = space_of("1-2tanh-2tanh-2tanh-1")
    dead = "k1:0=1=dead/k2:0=1=dead/k3:0=1=dead"
    assert space.named("k1:0=1=dead/k3:0=1=dead").name == dead
    assert space.named("k1:0=1=dead/k2:0=-1/k3:0=1=dead") == space.named(dead)
    assert space.named("k1:0=1=dead/k2:0=-1").name == "k1:0=1=dead/k2:0=-1"


def test_equality_and_hash():
    one, two = space_of("2-3tanh-1").named("0=1"), space_of("2-3tanh-1").named("0=1")
    assert one == two
    assert hash(one) == hash(two)
    assert one != space_of("2-3sin-1").named("0=1")
    assert one != "0=1"


@pytest.mark.parametrize("text", ["1-3tanh-1", "1-2square-2tanh-1", "1-2silu-2silu-2silu-1"])
def test_orbits_against_the_group(text, oracle):
    """Conjugate manifolds, by moving subspaces with every group element."""
    program = read_architecture(text)
    elements = list(oracle.group(oracle.find_symmetry(program)))
    for manifold in build_lattice(program, classes=True).manifolds:
        flat = oracle.of(manifold)
        orbit = {moved(oracle, g, flat) for g in elements}
        assert manifold.orbit_size == len(orbit)


def moved(oracle, g, flat):
    images, signs = g
    links = [(images[i], images[j], s * signs[i] * signs[j]) for i, j, s in oracle.links(flat)]
    return oracle.subspace(len(flat), links)


def test_intersections_are_condensed(oracle):
    for text in ["1-3tanh-1", "1-2tanh-2cos-1", "1-2silu-2silu-1"]:
        sets = {oracle.of(m) for m in build_lattice(read_architecture(text)).manifolds}
        assert all(oracle.meet(a, b) in sets for a, b in itertools.combinations(sets, 2))
