from __future__ import annotations

import jax
import numpy as np

from invman.flow.draws import draw_trials
from invman.flow.problem import Problem


def test_a_trial_depends_on_seed_and_number_alone():
    problem = Problem(lambda _, x: x, 9, 2, 4, "float64", ("squared",), 3, 5)
    with jax.enable_x64(True):
        three, data = draw_trials(problem, 7, 3, 1.0)
        two, _ = draw_trials(problem, 7, 2, 1.0)
        other, _ = draw_trials(problem, 8, 2, 1.0)
    for long, short, different in zip(three, two, other, strict=True):
        assert np.array_equal(long[:2], short)
        assert not np.array_equal(short, different)
        assert not np.array_equal(long[0], long[1])
    np.testing.assert_allclose(np.linalg.norm(three.c, axis=2), 1)
    assert data.x.shape == (3, 5, 9)
    assert np.array_equal(data.signs, np.sign(data.y))
