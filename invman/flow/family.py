"""The first half of a check: how far the gradient family is from tangent at random points of the manifold."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from invman.flow.draws import Draw
from invman.flow.problem import Problem
from invman.flow.projection import FlatManifold


class Tangency(NamedTuple):
    """How far a vector at a point of a manifold is from being tangent."""

    ratio: Float[Array, "*b"]
    field_norm: Float[Array, "*b"]
    normal_norm: Float[Array, "*b"]
    coordinate: Int[Array, "*b"]


class FamilySample(NamedTuple):
    """The field with the largest relative normal component among those tried at one point."""

    worst: Tangency
    theta: Float[Array, "*b D"]
    x: Float[Array, "*b d"]
    c: Float[Array, "*b o"]
    finite: Bool[Array, "*b"]
    vanishing: Bool[Array, "*b"]


def tangency(manifold: FlatManifold, vector: Float[Array, " D"], floor: Float[Array, ""]) -> Tangency:
    """Measure the normal component of a vector, relative to ``max(|vector|, floor)``.

    With a positive floor a vector that vanishes has normal component 0, and its rounding is no violation.

    Parameters
    ----------
    manifold : FlatManifold
        M = p + S.
    vector : float array, shape (D,)
        A field at a point of M.
    floor : float array, scalar
        The smallest size that counts.

    Returns
    -------
    Tangency
        The ratio, both norms, and the coordinate where the normal component is largest.
    """
    normal = manifold.normal(vector)
    size, left = jnp.linalg.norm(vector), jnp.linalg.norm(normal)
    least = jnp.maximum(floor, jnp.finfo(vector.dtype).tiny)
    return Tangency(left / jnp.maximum(size, least), size, left, jnp.argmax(jnp.abs(normal)))


def _fields(problem: Problem, theta: Float[Array, " D"], draw: Draw) -> Float[Array, "fields D"]:
    return jax.vmap(problem.field, in_axes=(None, 0, 0))(theta, draw.x, draw.c)


@partial(jax.jit, static_argnums=0)
def generic_norms(problem: Problem, draws: Draw) -> Float[Array, "trials fields"]:
    """Return the norms of fields at generic points of the whole space, which say what size is typical.

    Parameters
    ----------
    problem : Problem
        The model.
    draws : Draw
        With first axis ``trials``; its free numbers are the points.

    Returns
    -------
    float array, shape (trials, fields)
    """
    return jax.vmap(lambda draw: jnp.linalg.norm(_fields(problem, draw.point, draw), axis=1))(draws)


@partial(jax.jit, static_argnums=(0, 1))
def sample_family(
    problem: Problem, stacked: bool, manifolds: FlatManifold, draws: Draw, floor: Float[Array, ""]
) -> FamilySample:
    """Try ``problem.fields`` random fields at one random point for each manifold and draw.

    Parameters
    ----------
    problem : Problem
        The model.
    stacked : bool
        Whether the manifold has a first axis of length b, or is one for all draws.
    manifolds : FlatManifold
        What is checked.
    draws : Draw
        With first axis b.
    floor : float array, scalar
        A field with a smaller norm counts as this long.

    Returns
    -------
    FamilySample
        Arrays with first axis b.
    """

    def one(manifold: FlatManifold, draw: Draw) -> FamilySample:
        theta = manifold.point(draw.point)
        found = jax.vmap(lambda field: tangency(manifold, field, floor))(_fields(problem, theta, draw))
        finite = jnp.isfinite(found.ratio) & jnp.isfinite(found.field_norm)
        worst = jnp.argmax(jnp.where(finite, found.ratio, -1.0))
        return FamilySample(
            worst=jax.tree.map(lambda values: values[worst], found),
            theta=theta,
            x=draw.x[worst],
            c=draw.c[worst],
            finite=jnp.all(finite),
            vanishing=jnp.all(found.field_norm <= floor),
        )

    return jax.vmap(one, in_axes=(0 if stacked else None, 0))(manifolds, draws)
