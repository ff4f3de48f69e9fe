"""The four losses that a check trains with, each of one prediction and one target."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

STEEPEST = 50.0
"""Exponent from which the exponential loss goes on as a straight line, so that no gradient overflows."""

Loss = Callable[[Float[Array, " o"], Float[Array, " o"]], Float[Array, ""]]


def squared(prediction: Float[Array, " o"], target: Float[Array, " o"]) -> Float[Array, ""]:
    """Return ``sum (f - y)^2 / 2``.

    Examples
    --------
    >>> float(squared(jnp.array([3.0, 1.0]), jnp.array([1.0, 1.0])))
    2.0
    """
    return jnp.sum((prediction - target) ** 2) / 2


def logistic(prediction: Float[Array, " o"], target: Float[Array, " o"]) -> Float[Array, ""]:
    """Return ``sum log(1 + exp(-y f))`` for targets +1 and -1."""
    return jnp.sum(jax.nn.softplus(-target * prediction))


def exponential(prediction: Float[Array, " o"], target: Float[Array, " o"]) -> Float[Array, ""]:
    """Return ``sum exp(-y f)`` for targets +1 and -1, continued by its tangent where the exponent exceeds 50."""
    exponent = -target * prediction
    return jnp.sum(jnp.exp(jnp.minimum(exponent, STEEPEST)) * (1 + jnp.maximum(exponent - STEEPEST, 0.0)))


def quartic(prediction: Float[Array, " o"], target: Float[Array, " o"]) -> Float[Array, ""]:
    """Return ``sum (f - y)^4 / 4``."""
    return jnp.sum((prediction - target) ** 4) / 4


LOSSES: dict[str, Loss] = {
    "squared": squared,
    "logistic": logistic,
    "exponential": exponential,
    "quartic": quartic,
}
"""The losses by name, in the order in which the trials of a check use them."""

SIGNED = frozenset({"logistic", "exponential"})
"""The losses whose targets are +1 and -1."""


def mean_loss(
    index: Array | int,
    names: tuple[str, ...],
    predictions: Float[Array, "n o"],
    targets: Float[Array, "n o"],
    signs: Float[Array, "n o"],
) -> Float[Array, ""]:
    """Return the mean over the samples of the loss ``names[index]``.

    A switch, not a sum with weights: a loss that is not used may overflow without spoiling the gradient.

    Parameters
    ----------
    index : int array, scalar
        Which loss; may be traced.
    names : tuple of str
        Keys of ``LOSSES``.
    predictions, targets : float array, shape (n, o)
        What the model gives and what it should give.
    signs : float array, shape (n, o)
        The targets as +1 and -1, which the losses in ``SIGNED`` read.
    """

    def branch(name: str) -> Callable[[Array, Array, Array], Array]:
        each = jax.vmap(LOSSES[name])
        if name in SIGNED:
            return lambda f, _, s: jnp.mean(each(f, s))
        return lambda f, y, _: jnp.mean(each(f, y))

    return jax.lax.switch(index, [branch(name) for name in names], predictions, targets, signs)
