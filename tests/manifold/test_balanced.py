"""Balanced manifolds: dimensions by rank, leaves by gradients of a hand-written net, singular sets, equations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from invman.architecture import read_architecture
from invman.architecture.evaluate import jax_map
from invman.lattice.enumeration import partitions
from invman.manifold import BalancedManifold, BalancedSpace, parse_equations

NETS = [
    "2-3tanh-1", "2-2silu-2", "1-2sigmoid-3sigmoid-1", "1-3cos-1", "1-3square-2", "1-3cube-1",
    "1-3custom(1+u^2+u^3)-1", "1-2tanh-2cos-1", "1-2cos-2tanh-1+bias", "1-2silu-2tanh-1+bias",
    "input x[i]; h[k]=tanh(w[k,i]*x[i]); g[l]=sin(v[l,k]*h[k]+u[l,i]*x[i]); f[o]=a[o,l]*g[l]+c[o,k]*h[k]; "
    "size i=1,k=2,l=2,o=2",
]  # fmt: skip


def space_of(text):
    return BalancedSpace.of(read_architecture(text))


def every(space):
    for chosen in itertools.product(*(partitions(rule) for rule in space.rules)):
        yield BalancedManifold(space, chosen)


@pytest.mark.parametrize("text", NETS)
def test_dimensions_leaves_and_equations(text):
    space, random = space_of(text), np.random.default_rng(1)
    size = space.program.parameter_count
    for manifold in every(space):
        rows = np.zeros((len(manifold.rows), size))
        for number, row in enumerate(manifold.rows):
            rows[number, list(row)] = list(row.values())
        assert np.linalg.matrix_rank(rows) == len(rows) == size - manifold.dimension if len(rows) else True
        basis = manifold.leaf().basis().astype(float)
        assert len(basis) == manifold.leaf_dimension == manifold.dimension - manifold.frozen_dimension
        assert not (rows @ basis.T).any()
        theta = manifold.point(random.integers(-1000, 1000, size))
        assert manifold.contains(theta)
        assert manifold.leaf_equations(theta).dimension == manifold.leaf_dimension
        frozen = manifold.frozen_part(random.normal(size=size))
        assert np.abs(rows @ frozen).max(initial=0) < 1e-13
        assert np.abs(basis @ frozen).max(initial=0) < 1e-13
        if manifold.equations:
            assert parse_equations(space.program, ", ".join(manifold.equations)).dimension == manifold.dimension
        assert space.named(manifold.name).partitions == space.closure(manifold.partitions)


@pytest.mark.parametrize("text", NETS)
def test_gradients_stay_on_the_leaf(text):
    """On random leaves with a frozen part all gradients are block-constant."""
    import jax

    space, random = space_of(text), np.random.default_rng(2)
    program = space.program
    with jax.enable_x64(True):
        jacobian = jax.jit(jax.jacrev(jax_map(program)))
        for manifold in every(space):
            basis = manifold.leaf().basis().astype(float)
            frozen = manifold.frozen_part(random.normal(size=program.parameter_count))
            theta = frozen + random.normal(size=len(basis)) @ basis
            fields = [np.asarray(jacobian(theta, random.normal(size=program.input_count))) for _ in range(8)]
            fields = np.concatenate(fields)
            tangent = np.linalg.qr(basis.T)[0] if len(basis) else np.zeros((program.parameter_count, 0))
            normal = fields - (fields @ tangent) @ tangent.T
            assert np.abs(normal).max() < 1e-12 * max(1, np.abs(fields).max()), manifold


def test_descent_moves_the_point_and_not_the_frozen_part():
    """1-3-3-1, sigmoid, 2,000 steps of gradient descent by hand."""
    space = space_of("1-3sigmoid-3sigmoid-1")
    frozen = 0.2 * np.array([[1, 2, -3], [0, -5, 5], [-1, 3, -2]])
    w1, w2, w3 = np.full((3, 1), 0.5), 0.3 + frozen, np.full(3, 0.4)
    manifold = space.named("k1:0=1=2/k2:0=1=2")
    assert (manifold.dimension, manifold.leaf_dimension, manifold.frozen_dimension) == (7, 3, 4)
    x = np.linspace(-2, 2, 20)[None]
    y = np.sin(x[0]) + 1
    start = np.concatenate([w1.ravel(), w2.ravel(), w3])
    for _ in range(2000):
        h1 = 1 / (1 + np.exp(-w1 @ x))
        h2 = 1 / (1 + np.exp(-w2 @ h1))
        error = (w3 @ h2 - y) / len(y)
        d2 = w3[:, None] * error * h2 * (1 - h2)
        d1 = (w2.T @ d2) * h1 * (1 - h1)
        w1, w2, w3 = w1 - 0.5 * d1 @ x.T, w2 - 0.5 * d2 @ h1.T, w3 - 0.5 * h2 @ error
    theta = np.concatenate([w1.ravel(), w2.ravel(), w3])
    assert np.linalg.norm(theta - start) > 1
    assert manifold.contains(theta, tolerance=1e-12)
    assert np.abs(w2 - w2.mean() - frozen).max() < 1e-13


@pytest.mark.parametrize(
    ("act", "leaf", "dimension"),
    # two layers, d = 1, m = 2, both neurons in the null class: w = 0
    [("tanh", 0, 0), ("silu", 0, 0), ("cos", 1, 2), ("gaussian", 1, 2), ("square", 0, 2), ("custom(u^2+u^4)", 0, 2),
     ("cube", 0, 2), ("custom(u^3+u^5)", 0, 2), ("custom(1+u^2+u^3)", 1, 2), ("custom(u^2+u^3)", 0, 2)],
)  # fmt: skip
def test_singular_sets(act, leaf, dimension):
    """w = 0: the a_k vanish (dead), differ by what is frozen (sigma(0) not 0), or are frozen themselves."""
    space = space_of(f"1-2{act}-1")
    null = BalancedManifold(space, ((0, 0),))
    assert (null.leaf_dimension, null.dimension) == (leaf, dimension)
    assert null.name == ("0=1=singular" if dimension else "0=1=dead")


@pytest.mark.parametrize(("act", "extra"), [("cos", 1), ("square", 0), ("cube", 0), ("custom(1+u^2+u^3)", 1)])
def test_leaf_dimension_of_the_table(act, extra):
    """r (d + 1), one more where the singular set is not empty and sigma(0) is not 0."""
    for manifold in every(space_of(f"2-3{act}-1")):
        live = len({abs(label) for label in manifold.partitions[0]} - {0})
        assert manifold.leaf_dimension == 3 * live + extra * (0 in manifold.partitions[0])


def test_relu_and_abs_have_dead_neurons_only():
    program = read_architecture("1-2relu-1", one_region=True)
    assert [rule.has_dead and not rule.singular for rule in BalancedSpace.of(program).rules] == [True]
    program = read_architecture("1-2abs-1", one_region=True)
    assert [(r.signed, r.singular) for r in BalancedSpace.of(program).rules] == [(False, False)]


def test_reduction_is_that_of_the_condensed_leaf():
    space = space_of("1-4tanh-4tanh-1")
    manifold = space.named("k1:0=1=2/k2:0=-1,2=3=dead")
    assert repr(manifold.reduction.program) == "1-2tanh-1tanh-1"


def test_layers_without_input_say_nothing():
    """cos after dead tanh: every argument is 0, whatever the partition."""
    space = space_of("1-2tanh-2cos-1")
    assert space.named("k1:0=1=dead/k2:0=-1").name == "k1:0=1=dead/k2:0=1=singular"
