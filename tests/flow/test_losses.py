from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from invman.flow.losses import LOSSES, SIGNED, STEEPEST, mean_loss


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("squared", (2.0**2 + 1.0**2) / 2),
        ("quartic", (2.0**4 + 1.0**4) / 4),
        ("logistic", math.log(1 + math.exp(-3)) + math.log(1 + math.exp(-2))),
        ("exponential", math.exp(-3) + math.exp(-2)),
    ],
)
def test_values(name, value):
    found = LOSSES[name](jnp.array([3.0, -2.0]), jnp.array([1.0, -1.0]))
    assert float(found) == pytest.approx(value, rel=1e-5)


def test_logistic_does_not_overflow():
    assert float(LOSSES["logistic"](jnp.array([1e4]), jnp.array([-1.0]))) == pytest.approx(1e4)


def test_mean_reads_the_right_targets():
    names = tuple(LOSSES)
    f, y, signs = jnp.array([[2.0], [1.0]]), jnp.array([[0.5], [0.0]]), jnp.array([[1.0], [-1.0]])
    for index, name in enumerate(names):
        targets = signs if name in SIGNED else y
        expected = np.mean([float(LOSSES[name](f[i], targets[i])) for i in range(2)])
        assert float(mean_loss(index, names, f, y, signs)) == pytest.approx(expected, rel=1e-6)


def test_steep_exponential_goes_on_as_a_line():
    # exp(1e3) would be infinite; neither its own gradient nor that of the squared loss may suffer, also under vmap
    def gradient(index):
        f, y = jnp.array([[-1e3]]), jnp.array([[1.0]])
        return jax.grad(lambda f: mean_loss(index, ("squared", "exponential"), f, y, y))(f)

    found = jax.vmap(gradient)(jnp.array([0, 1]))
    assert float(found[0, 0, 0]) == -1001
    assert float(found[1, 0, 0]) == pytest.approx(-np.exp(STEEPEST), rel=1e-5)


def test_exponential_is_smooth_where_the_line_begins():
    slope = jax.grad(lambda f: LOSSES["exponential"](f, jnp.array([-1.0])))
    below, above = (float(slope(jnp.array([STEEPEST + step]))[0]) for step in (-1e-3, 1e-3))
    assert below == pytest.approx(above, rel=2e-3)
