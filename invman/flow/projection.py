"""Orthogonal projections onto flat manifolds, as arrays that JAX can batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from invman.manifold.subspace import LinearEquations, Polydiagonal


class Averages(NamedTuple):
    """Projection onto a signed polydiagonal subspace: signed averages over classes of coordinates.

    Attributes
    ----------
    classes : int32 array, shape (D,), leading axes for a batch
        Class of each coordinate; 0 where the sign is 0.
    signs, weights : float arrays, shape (D,)
        Sign of each coordinate (0 where it vanishes), and one over the size of its class.
    """

    classes: Int[Array, "*b D"]
    signs: Float[Array, "*b D"]
    weights: Float[Array, "*b D"]

    def tangent(self, vector: Float[Array, " D"]) -> Float[Array, " D"]:
        """Project a vector onto the directions of the manifold."""
        sums = jax.ops.segment_sum(self.signs * vector, self.classes, num_segments=vector.shape[0])
        return self.signs * self.weights * sums[self.classes]

    def nearest(self, point: Float[Array, " D"]) -> Float[Array, " D"]:
        """Project a point onto the manifold."""
        return self.tangent(point)


class Rows(NamedTuple):
    """Projection onto an affine subspace given by orthonormal equations on few coordinates.

    Attributes
    ----------
    support : int32 array, shape (s,)
        Coordinates that occur in the equations.
    normals : float array, shape (r, s)
        Orthonormal basis of the normal space.
    base : float array, shape (s,)
        The solution of least norm.
    """

    support: Int[Array, "*b s"]
    normals: Float[Array, "*b r s"]
    base: Float[Array, "*b s"]

    def tangent(self, vector: Float[Array, " D"]) -> Float[Array, " D"]:
        """Project a vector onto the directions of the manifold."""
        return vector.at[self.support].add(-self.normals.T @ (self.normals @ vector[self.support]))

    def nearest(self, point: Float[Array, " D"]) -> Float[Array, " D"]:
        """Project a point onto the manifold."""
        return self.tangent(point).at[self.support].add(self.base)


Projection = Averages | Rows


def averages(manifolds: Sequence[Polydiagonal]) -> Averages:
    """Stack the projections onto signed polydiagonal subspaces, float64 of shape (manifolds, D) each."""
    classes = np.stack([manifold.classes for manifold in manifolds])
    weights = np.zeros(classes.shape)
    for row, manifold in zip(weights, manifolds, strict=True):
        sizes = np.bincount(manifold.classes[manifold.classes >= 0], minlength=1)
        row[:] = np.where(manifold.classes >= 0, 1 / np.maximum(sizes, 1)[manifold.classes], 0)
    signs = np.stack([manifold.signs for manifold in manifolds]).astype(np.float64)
    return Averages(jnp.asarray(np.maximum(classes, 0)), jnp.asarray(signs), jnp.asarray(weights))


def rows(equations: LinearEquations) -> Rows:
    """Return the projection onto an affine subspace, with a leading axis of one for the batch."""
    support = equations.support()
    matrix, constants = equations.dense()
    # rows are independent, so Q has orthonormal columns and R is invertible
    q, r = np.linalg.qr(matrix.T)
    base = q @ np.linalg.solve(r.T, constants) if len(constants) else np.zeros(len(support))
    return Rows(jnp.asarray(support.astype(np.int32))[None], jnp.asarray(q.T)[None], jnp.asarray(base)[None])
