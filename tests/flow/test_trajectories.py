from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from invman.flow.draws import draw_trials
from invman.flow.problem import Examples, Problem
from invman.flow.projection import signed_classes
from invman.flow.trajectories import SEGMENTS, Course, follow, scale_of


def line(theta, x):
    return theta * x


def test_scale_is_the_largest_curvature_or_the_gradient():
    with jax.enable_x64(True):
        start = jnp.array([0.6, 0.8])
        assert float(scale_of(lambda t: jnp.array([1.0, 7.0]) * t, jnp.zeros(2), start)) == pytest.approx(7, rel=1e-3)
        assert float(scale_of(lambda t: 0 * t + jnp.array([3.0, 4.0]), jnp.zeros(2), start)) == pytest.approx(5)
        assert float(scale_of(lambda t: 0 * t, jnp.zeros(2), start)) == 1


def run(poly, y, *, rate=0.1, horizon=5.0, steps=80):
    """Least squares of one weight t and one example (1, y): L = (t - y)^2 / 2, kappa = max(1, |t - y|)."""
    problem = Problem(line, 1, 1, 1, "float64", ("squared",), 1, 1)
    draws, _ = draw_trials(problem, 0, 1, 1.0)
    data = Examples(jnp.ones((1, 1)), jnp.full((1, 1), y), jnp.ones((1, 1)))
    course = Course(
        jnp.linspace(0, horizon, SEGMENTS + 1), jnp.arange(SEGMENTS + 1, dtype=jnp.int32) * (steps // SEGMENTS),
        jnp.array(rate), jnp.array(1e-8), jnp.array(False), jnp.array(1.0), jnp.array(1e-5),
    )  # fmt: skip
    start = float(draws.start[0, 0])
    found = follow(problem, True, True, signed_classes([poly([0])]), draws, jnp.zeros(1, jnp.int32), data, course)
    return start, jax.tree.map(lambda leaf: np.asarray(leaf)[0], found)


def test_least_squares(poly):
    with jax.enable_x64(True):
        start, found = run(poly, 0.5)
        gap = abs(start - 0.5)
        kappa = max(1.0, gap)
        assert found.finished.tolist() == [SEGMENTS, SEGMENTS]
        assert found.distance[1] == pytest.approx(gap * (1 - (1 - 0.1 / kappa) ** 80), rel=1e-9)
        # u' = -u / (kappa + u) has kappa log(u0 / u) + u0 - u = time
        left = gap - found.distance[0]
        assert kappa * np.log(gap / left) + gap - left == pytest.approx(5.0, rel=1e-4)
        assert found.drifts.max() == 0


def test_no_move_of_descent_is_longer_than_the_rate(poly):
    with jax.enable_x64(True):
        _, found = run(poly, 1e6, rate=1.0)
        assert found.finished.tolist() == [SEGMENTS, SEGMENTS]
        assert found.distance[1] <= 80 * (1 + 1e-12)
        assert np.isfinite(found.distance).all()
