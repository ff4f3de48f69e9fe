r"""The second half of a check: gradient flow and gradient descent from random points of the manifold.

Both are followed in units of the loss itself. With :math:`\kappa = \max(|g(\theta_0)|, \lambda)`, where
:math:`\lambda` estimates the largest curvature of the loss at the start, gradient descent steps by
:math:`\eta g / \kappa`, constant along the run, and the flow is
:math:`\theta' = -g(\theta) / (\kappa + |g(\theta)|)`: time is rescaled by a positive function, so the orbits are
those of gradient flow, but steep losses and activations stay integrable. A Runge-Kutta step from a point of a flat
invariant manifold stays on it whatever its step size, so drift is not caused by the integrator.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, cast

import diffrax
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from invman.flow.draws import Draw
from invman.flow.family import Tangency, tangency
from invman.flow.problem import Examples, Problem
from invman.flow.projection import FlatManifold

SEGMENTS = 8
"""Into how many parts a trajectory is cut; the distance from the manifold is measured at the end of each."""

SMALLEST = 200
"""The smallest step of the integrator is this fraction of a segment."""

MAX_STEPS = 512
"""Steps of the integrator in a segment, after which the trajectory counts as not finished."""

POWER_STEPS = 6
"""Power iterations for the largest curvature."""

Point = Float[Array, " D"]
Gradient = Callable[[Point], Point]
Advance = Callable[[Point, Array, Array], tuple[Point, Array]]


class Course(NamedTuple):
    """What the optimisers do and which sizes count, as traced values: changing them compiles nothing anew."""

    times: Float[Array, " bounds"]
    steps: Int[Array, " bounds"]
    rate: Float[Array, ""]
    integration: Float[Array, ""]
    project: Bool[Array, ""]
    spread: Float[Array, ""]
    floor: Float[Array, ""]


class Run(NamedTuple):
    """One trajectory.

    Attributes
    ----------
    distance : float array, scalar
        Length of the polygon through the ends of the segments.
    drifts : float array, shape (segments,)
        Distance from the manifold at the end of each segment.
    finished : int array, scalar
        How many segments were finished.
    worst : Tangency
        Of the loss gradient at the nearest points of the manifold at the start of each segment, the least tangent.
    point : float array, shape (D,)
        Where that was.
    segment : int array, scalar
        In which segment.
    guard : float array, scalar
        A distance below this counts as this.
    """

    distance: Float[Array, "*b"]
    drifts: Float[Array, "*b segments"]
    finished: Int[Array, "*b"]
    worst: Tangency
    point: Float[Array, "*b D"]
    segment: Int[Array, "*b"]
    guard: Float[Array, "*b"]


def scale_of(gradient: Gradient, theta: Point, start: Point) -> Float[Array, ""]:
    r"""Estimate :math:`\max(|g|, \lambda)` at a point, 1 where both vanish.

    :math:`\lambda` comes from power iteration on central differences of the gradient: no second derivative is
    compiled. It starts from the unit vector ``start``.

    Examples
    --------
    >>> round(float(scale_of(lambda t: 3 * t, jnp.zeros(2), jnp.array([0.6, 0.8]))), 3)
    3.0
    """
    epsilon = jnp.cbrt(jnp.finfo(theta.dtype).eps) * (1 + jnp.linalg.norm(theta))

    def step(_: Array, state: tuple[Point, Array]) -> tuple[Point, Array]:
        direction, largest = state
        # one call for the three points, so that the gradient is compiled once here
        there, back, here = jax.vmap(gradient)(theta + epsilon * jnp.stack([direction, -direction, 0 * direction]))
        image = (there - back) / (2 * epsilon)
        norm = jnp.linalg.norm(image)
        unit = image / jnp.where(norm > 0, norm, jnp.ones_like(norm))
        return unit, jnp.maximum(largest, jnp.maximum(norm, jnp.linalg.norm(here)))

    _, found = jax.lax.fori_loop(0, POWER_STEPS, step, (start, jnp.zeros((), theta.dtype)))
    return jnp.where(found == 0, jnp.ones_like(found), found)


def _flow(gradient: Gradient, kappa: Array, course: Course) -> Advance:
    def field(_time: Any, theta: Point, _args: Any) -> Point:
        g = gradient(theta)
        return -g / (kappa + jnp.linalg.norm(g))

    term = diffrax.ODETerm(field)
    length = course.times[1] - course.times[0]
    # The smallest step is forced, so that a run ends also where the field is stiff or, on the border of an activation
    # region, jumps. A Runge-Kutta step is a combination of gradients: its accuracy does not matter for the drift.
    controller = diffrax.PIDController(
        rtol=course.integration,
        atol=course.integration * 1e-2,
        dtmin=length / SMALLEST,
        force_dtmin=True,
    )
    first = length / 16

    def advance(theta: Point, start: Array, stop: Array) -> tuple[Point, Array]:
        solution = diffrax.diffeqsolve(
            term,
            diffrax.Tsit5(),
            start,
            stop,
            dt0=first,
            y0=theta,
            stepsize_controller=controller,
            saveat=diffrax.SaveAt(t1=True),
            adjoint=diffrax.ForwardMode(),
            max_steps=MAX_STEPS,
            throw=False,
        )
        last = cast("Array", solution.ys)[0]  # SaveAt(t1=True) saves one point
        return last, solution.result == diffrax.RESULTS.successful

    return advance


def _descent(gradient: Gradient, kappa: Array, course: Course) -> Advance:
    step = course.rate / kappa

    def move(theta: Point) -> Point:
        # clipped in norm, so that a steep loss does not throw the point to infinity; its direction stays
        g = step * gradient(theta)
        return g * jnp.minimum(1.0, course.rate / jnp.maximum(jnp.linalg.norm(g), jnp.finfo(g.dtype).tiny))

    def advance(theta: Point, start: Array, stop: Array) -> tuple[Point, Array]:
        return jax.lax.fori_loop(start, stop, lambda _, t: t - move(t), theta), jnp.array(True)

    return advance


class _Path(NamedTuple):
    lengths: Array
    drifts: Array
    alive: Array
    starts: Array


def _follow(advance: Advance, manifold: FlatManifold, theta: Point, bounds: Array, project: Array) -> _Path:
    def segment(state: tuple[Point, Array], interval: tuple[Array, Array]) -> tuple[tuple[Point, Array], _Path]:
        here, alive = state
        start, stop = interval
        # a trajectory that has failed rests, so that the others of the batch need not wait for it
        there, fine = advance(here, start, jnp.where(alive, stop, start))
        alive = alive & fine & jnp.all(jnp.isfinite(there))
        there = jnp.where(alive, there, here)
        drift, length = jnp.linalg.norm(manifold.offset(there)), jnp.linalg.norm(there - here)
        there = jnp.where(project, manifold.nearest(there), there)
        return (there, alive), _Path(length, drift, alive, manifold.nearest(here))

    return jax.lax.scan(segment, (theta, jnp.array(True)), (bounds[:-1], bounds[1:]))[1]


@partial(jax.jit, static_argnums=(0, 1, 2))
def follow(
    problem: Problem,
    stacked: bool,
    shared: bool,
    manifolds: FlatManifold,
    draws: Draw,
    losses: Int[Array, " b"],
    data: Examples,
    course: Course,
) -> Run:
    """Follow gradient flow and gradient descent from one random point for each manifold and draw.

    Parameters
    ----------
    problem : Problem
        The model.
    stacked : bool
        Whether the manifold has a first axis of length b, or is one for all draws.
    shared : bool
        Whether the data are common to all, or have a first axis of length b.
    manifolds : FlatManifold
        What is checked.
    draws : Draw
        With first axis b.
    losses : int array, shape (b,)
        Numbers of the losses in ``problem.losses``.
    data : Examples
        Training data.
    course : Course
        Times, steps and rates. With ``project`` the point is put back on the manifold after each segment, and the
        drifts are summed: that tells drift from rounding that an unstable manifold amplifies.

    Returns
    -------
    Run
        Arrays with first axes (b, 2): flow, then descent.
    """

    def one(manifold: FlatManifold, draw: Draw, loss: Array, examples: Examples) -> Run:
        theta = manifold.point(draw.start)

        def gradient(t: Point) -> Point:
            return problem.loss_gradient(t, loss, examples)

        kappa = scale_of(gradient, theta, draw.direction)
        flow = _follow(_flow(gradient, kappa, course), manifold, theta, course.times, course.project)
        descent = _follow(_descent(gradient, kappa, course), manifold, theta, course.steps, course.project)
        both = jax.tree.map(lambda *leaves: jnp.stack(leaves), flow, descent)
        floor = course.floor * kappa
        flat = both.starts.reshape(-1, theta.shape[0])
        found = jax.lax.map(lambda t: tangency(manifold, gradient(t), floor), flat)
        found = jax.tree.map(lambda leaf: leaf.reshape(2, SEGMENTS), found)
        worst = jnp.argmax(jnp.where(jnp.isfinite(found.ratio), found.ratio, -1.0), axis=1)
        row = jnp.arange(2)
        guard = course.floor * (jnp.linalg.norm(theta) + course.spread)
        return Run(
            distance=jnp.sum(both.lengths, axis=1),
            drifts=jnp.where(course.project, jnp.cumsum(both.drifts, axis=1), both.drifts),
            finished=jnp.sum(both.alive, axis=1),
            worst=jax.tree.map(lambda leaf: leaf[row, worst], found),
            point=both.starts[row, worst],
            segment=worst,
            guard=jnp.broadcast_to(guard, (2,)),
        )

    return jax.vmap(one, in_axes=(0 if stacked else None, 0, 0, None if shared else 0))(manifolds, draws, losses, data)
