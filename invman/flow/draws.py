"""The random numbers of a check, drawn by NumPy from the seed and the number of the trial alone."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from invman.flow.problem import Examples, Problem

INPUT_NORM = 2.0
"""Random inputs are standard normal in up to four dimensions; beyond, they are scaled to this typical norm."""


class Draw(NamedTuple):
    """The random numbers of one trial, the same for every manifold.

    Attributes
    ----------
    point, start : float array, shape (D,)
        Free numbers behind the point where the gradient family is tried, and behind the start of the trajectories.
    direction : float array, shape (D,)
        Unit vector from which the power iteration starts.
    x, c : float array, shapes (fields, d) and (fields, o)
        Inputs and unit output directions of the fields.
    """

    point: Float[Array, "*b D"]
    start: Float[Array, "*b D"]
    direction: Float[Array, "*b D"]
    x: Float[Array, "*b fields d"]
    c: Float[Array, "*b fields o"]


def draw_trials(problem: Problem, seed: int, trials: int, spread: float) -> tuple[Draw, Examples]:
    """Draw everything that the trials of a check need.

    Parameters
    ----------
    problem : Problem
        The model: its sizes and its dtype.
    seed, trials : int
        Trial t reads the stream that NumPy derives from ``[seed, t]``.
    spread : float
        Parameters are normal with one standard deviation a point, log-uniform between an eighth of this and this.

    Returns
    -------
    draws : Draw
        Arrays with first axis ``trials``.
    examples : Examples
        Random data with first axis ``trials``: normal inputs and targets, and the signs of the targets.
    """
    both = [_one(problem, np.random.default_rng([seed, trial]), spread) for trial in range(trials)]
    draws = Draw(*(jnp.asarray(np.stack(parts), problem.dtype) for parts in zip(*(d for d, _ in both), strict=True)))
    data = Examples(*(jnp.asarray(np.stack(parts), problem.dtype) for parts in zip(*(e for _, e in both), strict=True)))
    return draws, data


def _one(
    problem: Problem, random: np.random.Generator, spread: float
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    def free() -> np.ndarray:
        return spread * 2.0 ** -random.uniform(0, 3) * random.normal(size=problem.parameters)

    def inputs(count: int) -> np.ndarray:
        scale = min(1.0, INPUT_NORM / max(1, problem.inputs) ** 0.5)
        return scale * random.normal(size=(count, problem.inputs))

    point, start = free(), free()
    direction = random.normal(size=problem.parameters)
    x = inputs(problem.fields)
    c = random.normal(size=(problem.fields, problem.outputs))
    direction, c = direction / np.linalg.norm(direction), c / np.linalg.norm(c, axis=1, keepdims=True)
    y = random.normal(size=(problem.samples, problem.outputs))
    return (point, start, direction, x, c), (inputs(problem.samples), y, np.where(y > 0, 1.0, -1.0))
