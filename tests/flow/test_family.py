from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from invman.flow.family import tangency
from invman.flow.projection import signed_classes


@pytest.fixture
def line(poly):
    """t0 = t1 in the plane."""
    return jax.tree.map(lambda leaf: leaf[0], signed_classes([poly([0, 0])]))


def test_hand(line):
    found = tangency(line, jnp.array([3.0, 1.0]), jnp.array(1e-5))
    # normal component (1, -1)
    assert float(found.normal_norm) == pytest.approx(np.sqrt(2))
    assert float(found.field_norm) == pytest.approx(np.sqrt(10))
    assert float(found.ratio) == pytest.approx(np.sqrt(2 / 10))


def test_coordinate(poly):
    plane = jax.tree.map(lambda leaf: leaf[0], signed_classes([poly([0, 0, -1])]))
    assert int(tangency(plane, jnp.array([1.0, 1.0, -5.0]), jnp.array(1.0)).coordinate) == 2


@pytest.mark.parametrize("floor", [0.0, 1e-5])
def test_vanishing_field_is_tangent(line, floor):
    assert float(tangency(line, jnp.zeros(2), jnp.array(floor)).ratio) == 0


def test_rounding_of_a_vanishing_field_is_small(line):
    tiny = jnp.array([1e-17, -1e-17])
    assert float(tangency(line, tiny, jnp.array(1e-5)).ratio) < 1e-11
    assert float(tangency(line, tiny, jnp.array(0.0)).ratio) == pytest.approx(1)
