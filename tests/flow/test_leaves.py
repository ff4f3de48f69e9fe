"""The checker on random leaves: the frozen part stays, and a wrong leaf is found out."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from invman.architecture import read_architecture
from invman.flow import CheckOptions, verify
from invman.flow.leaves import RandomLeaves, frozen_classes
from invman.manifold import BalancedManifold, BalancedSpace, Polydiagonal

QUICK = CheckOptions(trials=2, steps=40, horizon=5.0)


@pytest.mark.parametrize("text", ["1-3sigmoid-3sigmoid-1", "1-2tanh-2cos-1+bias", "1-2silu-2silu-1", "2-2cube-1"])
def test_every_balanced_manifold_passes(text):
    report = verify(text, family="invariant", options=QUICK)
    assert report.passed
    document = report.document()
    assert max(result["normal"] for result in document["results"]) < 1e-10
    for result in document["results"]:
        assert result["dimension"] == result["leaf_dimension"] + result["frozen_dimension"]
        assert max(result["drift"].values()) < 1e-10


def test_leaves_have_a_frozen_part_and_differ():
    manifold = BalancedSpace.of(read_architecture("1-3sigmoid-3sigmoid-1")).named("k1:0=1=2/k2:0=1=2")
    leaves = RandomLeaves(manifold, 0, 1.0)
    one, two = leaves.frozen(0), leaves.frozen(1)
    assert np.linalg.norm(one) > 0.1 * np.linalg.norm(one - two) > 0.01
    np.testing.assert_array_equal(one, RandomLeaves(manifold, 0, 1.0).frozen(0))
    with jax.enable_x64(True):
        flat = jax.tree.map(lambda leaf: leaf[0], frozen_classes([(leaves, 0)], "float64"))
        theta = flat.point(jnp.linspace(-1, 1, 15))
        assert manifold.contains(np.asarray(theta), tolerance=1e-14)
        np.testing.assert_allclose(flat.offset(theta), 0, atol=1e-15)
        away = theta.at[3].add(0.3)
        np.testing.assert_allclose(flat.nearest(away) + flat.offset(away), away, atol=1e-15)


def test_a_smaller_leaf_fails():
    """Were the leaf only two-dimensional, the gradient would leave it."""

    class Wrong(BalancedManifold):
        def leaf(self) -> Polydiagonal:
            right = super().leaf()
            signs, classes = right.signs.copy(), right.classes.copy()
            signs[classes == 2], classes[classes == 2] = 0, -1
            return Polydiagonal(classes, signs)

    space = BalancedSpace.of(read_architecture("1-3sigmoid-3sigmoid-1"))
    right = space.named("k1:0=1=2/k2:0=1=2")
    report = verify([Wrong(space, right.partitions)], options=QUICK)
    assert report.results[0].verdict.value == "not-invariant"
