"""Trajectories of training from a point of a manifold: gradient flow and gradient descent, and how far they drift."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import diffrax
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from invman.flow.options import CheckOptions
from invman.flow.projection import Projection

Gradient = Callable[[Float[Array, " D"]], Float[Array, " D"]]

SAVED = 16
"""Times at which gradient flow is compared with the manifold."""

SMALLEST = 1000
"""The smallest step of gradient flow is this fraction of its time."""


class Run(NamedTuple):
    """One trajectory.

    Attributes
    ----------
    drift : scalar
        Largest distance from the manifold, in units of the distance travelled.
    travelled : scalar
        Length of the path.
    finished : boolean scalar
        Whether it reached its end with finite numbers.
    """

    drift: Float[Array, "*b"]
    travelled: Float[Array, "*b"]
    finished: Bool[Array, "*b"]


def _run(off: Float[Array, ""], travelled: Float[Array, ""], done: Bool[Array, ""]) -> Run:
    # a trajectory that does not move at all has not drifted
    still = travelled == 0
    drift = jnp.where(still, 0.0, off / jnp.where(still, 1.0, travelled))
    return Run(drift, travelled, done & jnp.isfinite(off) & jnp.isfinite(travelled))


def distance(projection: Projection, theta: Float[Array, " D"]) -> Float[Array, ""]:
    """Return the distance of a point from the manifold."""
    return jnp.linalg.norm(theta - projection.nearest(theta))


def gradient_descent(
    gradient: Gradient, projection: Projection, theta: Float[Array, " D"], options: CheckOptions
) -> Run:
    """Run gradient descent with a constant step, the learning rate over 1 + |gradient at the start|.

    A move longer than the learning rate is shortened to it (clipped in norm, its direction kept), so that steep losses
    do not throw the point to infinity; linear and affine manifolds do not notice.
    """
    step = options.learning_rate / (1 + jnp.linalg.norm(gradient(theta)))

    def advance(
        state: tuple[Float[Array, " D"], Float[Array, ""], Float[Array, ""]], _: None
    ) -> tuple[tuple[Float[Array, " D"], Float[Array, ""], Float[Array, ""]], None]:
        point, off, length = state
        g = gradient(point)
        move = g * jnp.minimum(step, options.learning_rate / jnp.maximum(jnp.linalg.norm(g), 1e-300))
        point = point - move
        return (point, jnp.maximum(off, distance(projection, point)), length + jnp.linalg.norm(move)), None

    zero = jnp.zeros((), theta.dtype)
    (_, off, length), _ = jax.lax.scan(advance, (theta, zero, zero), None, length=options.steps)
    return _run(off, length, jnp.array(True))


def gradient_flow(gradient: Gradient, projection: Projection, theta: Float[Array, " D"], options: CheckOptions) -> Run:
    """Run gradient flow along ``-g / (1 + |g|)``, whose orbits are those of ``-g``, by adaptive Tsitouras 5(4).

    The step is bounded from below, so that a run ends even where the field is stiff or, on the border of an activation
    region, not smooth. Every Runge-Kutta step is a combination of gradients, so accuracy does not matter for the drift.
    """

    def field(_time: object, point: Float[Array, " D"], _args: object) -> Float[Array, " D"]:
        g = gradient(point)
        return -g / (1 + jnp.linalg.norm(g))

    times = jnp.linspace(0.0, options.horizon, SAVED + 1)
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(field),
        diffrax.Tsit5(),
        t0=0.0,
        t1=options.horizon,
        dt0=None,
        y0=theta,
        saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=diffrax.PIDController(
            rtol=1e-7, atol=1e-9, dtmin=options.horizon / SMALLEST, force_dtmin=True
        ),
        max_steps=2 * SMALLEST,
        throw=False,
    )
    points = solution.ys
    assert points is not None  # noqa: S101 - SaveAt(ts=...) saves
    off = jnp.max(jax.vmap(lambda point: distance(projection, point))(points))
    length = jnp.sum(jnp.linalg.norm(jnp.diff(points, axis=0), axis=1))
    return _run(off, length, solution.result == diffrax.RESULTS.successful)
