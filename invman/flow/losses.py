"""The losses of the checker: what a gradient field of training may come from."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Loss = Callable[[Float[Array, " o"], Float[Array, " o"]], Float[Array, ""]]

SIGNED = frozenset({"logistic", "exponential"})
"""Losses whose targets are +1 and -1."""


def squared(prediction: Float[Array, " o"], target: Float[Array, " o"]) -> Float[Array, ""]:
    """Return ``|f - y|^2 / 2``."""
    return jnp.sum((prediction - target) ** 2) / 2


def logistic(prediction: Float[Array, " o"], target: Float[Array, " o"]) -> Float[Array, ""]:
    """Return ``sum log(1 + exp(-y f))`` for targets +1 and -1."""
    return jnp.sum(jax.nn.softplus(-target * prediction))


def exponential(prediction: Float[Array, " o"], target: Float[Array, " o"]) -> Float[Array, ""]:
    """Return ``sum exp(-y f)`` for targets +1 and -1."""
    return jnp.sum(jnp.exp(-target * prediction))


def quartic(prediction: Float[Array, " o"], target: Float[Array, " o"]) -> Float[Array, ""]:
    """Return ``sum (f - y)^4 / 4``."""
    return jnp.sum((prediction - target) ** 4) / 4


LOSSES: dict[str, Loss] = {
    "squared": squared,
    "logistic": logistic,
    "exponential": exponential,
    "quartic": quartic,
}
