"""The gradient family at random points of a manifold, and its worst component normal to it."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from invman.architecture.evaluate import Map
from invman.flow.projection import Projection


class FieldTest(NamedTuple):
    """The worst of some random fields at one random point.

    Attributes
    ----------
    theta : shape (D,)
        The point.
    x : shape (d,)
        The input.
    direction : shape (o,)
        The combination of outputs.
    field, normal, relative : scalars
        Norm of the field, of its normal component, and their ratio.
    coordinate : integer scalar
        Where the normal component is largest.
    """

    theta: Float[Array, "*b D"]
    x: Float[Array, "*b d"]
    direction: Float[Array, "*b o"]
    field: Float[Array, "*b"]
    normal: Float[Array, "*b"]
    relative: Float[Array, "*b"]
    coordinate: Int[Array, "*b"]


def gradient(
    forward: Map, theta: Float[Array, " D"], x: Float[Array, " d"], c: Float[Array, " o"]
) -> Float[Array, " D"]:
    """Return the field ``grad_theta <c, F(theta)(x)>``."""
    return jax.grad(lambda point: jnp.dot(c, forward(point, x)))(theta)


def worst_field(
    forward: Map,
    projection: Projection,
    key: PRNGKeyArray,
    sizes: tuple[int, int, int],
    fields: int,
    typical: Float[Array, ""],
) -> FieldTest:
    """Try random fields at one random point of a manifold and return the worst.

    The normal component is taken relative to the field, but never to less than a thousandth of a typical field of the
    architecture: where the field vanishes it has no direction.

    Parameters
    ----------
    forward : callable
        The map.
    projection : Projection
        Of one manifold.
    key : PRNG key
        Source of the point and of the fields.
    sizes : (D, d, o)
        Numbers of parameters, inputs and outputs.
    fields : int
        How many fields.
    typical : scalar
        Typical norm of a field.
    """
    parameters, inputs, outputs = sizes
    point_key, x_key, c_key = jax.random.split(key, 3)
    theta = projection.nearest(jax.random.normal(point_key, (parameters,)))
    x = jax.random.normal(x_key, (fields, inputs))
    c = jax.random.normal(c_key, (fields, outputs))
    field = jax.vmap(lambda a, b: gradient(forward, theta, a, b))(x, c)
    normal = field - jax.vmap(projection.tangent)(field)
    lengths, off = jnp.linalg.norm(field, axis=1), jnp.linalg.norm(normal, axis=1)
    relative = off / jnp.maximum(lengths, 1e-3 * typical)
    worst = jnp.argmax(jnp.where(jnp.isnan(relative), jnp.inf, relative))
    coordinate = jnp.argmax(jnp.abs(normal[worst]))
    return FieldTest(theta, x[worst], c[worst], lengths[worst], off[worst], relative[worst], coordinate)


def typical_field(forward: Map, key: PRNGKeyArray, sizes: tuple[int, int, int], trials: int = 64) -> Float[Array, ""]:
    """Return the median norm of random fields at random points of the whole parameter space."""
    parameters, inputs, outputs = sizes
    keys = jax.random.split(key, 3)
    theta = jax.random.normal(keys[0], (trials, parameters))
    x, c = jax.random.normal(keys[1], (trials, inputs)), jax.random.normal(keys[2], (trials, outputs))
    fields = jax.vmap(lambda p, a, b: gradient(forward, p, a, b))(theta, x, c)
    return jnp.nanmedian(jnp.linalg.norm(fields, axis=1))
