"""Flat manifolds as JAX modules: the normal component of a vector, the way back, and random points."""

from __future__ import annotations

import abc
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from invman.errors import ManifoldError
from invman.manifold.subspace import LinearEquations, Polydiagonal


class FlatManifold(eqx.Module):
    """An affine subspace M = p + S of R^D, with the orthogonal projections that belong to it."""

    @abc.abstractmethod
    def normal(self, vector: Float[Array, " D"]) -> Float[Array, " D"]:
        """Return the component of a vector orthogonal to S."""

    @abc.abstractmethod
    def nearest(self, theta: Float[Array, " D"]) -> Float[Array, " D"]:
        """Return the point of M that is nearest to theta."""

    @abc.abstractmethod
    def offset(self, theta: Float[Array, " D"]) -> Float[Array, " D"]:
        """Return theta less its nearest point: its norm is the distance from M."""

    @abc.abstractmethod
    def point(self, free: Float[Array, " D"]) -> Float[Array, " D"]:
        """Map D free numbers to a point of M; independent normal numbers give a generic point."""


class SignedClasses(FlatManifold):
    """A signed polydiagonal: coordinate i is ``signs[i] * t[classes[i]]``; projections are signed class means.

    Attributes
    ----------
    classes : int32 array, shape (D,)
        Class of each coordinate; D where it is zero.
    signs : int8 array, shape (D,)
        +1, -1, or 0 where the coordinate is zero.
    sizes : int32 array, shape (D,)
        Number of members of the class of the coordinate.
    """

    classes: Int[Array, "*b D"]
    signs: Int[Array, "*b D"]
    sizes: Int[Array, "*b D"]

    def nearest(self, theta: Float[Array, " D"]) -> Float[Array, " D"]:
        """Return the signed class means; members of a class are equal bit for bit."""
        signs = self.signs.astype(theta.dtype)
        sums = jax.ops.segment_sum(signs * theta, self.classes, num_segments=len(theta) + 1)
        return signs * (sums[self.classes] / self.sizes.astype(theta.dtype))

    def normal(self, vector: Float[Array, " D"]) -> Float[Array, " D"]:
        """Return the vector less its signed class means."""
        return vector - self.nearest(vector)

    def offset(self, theta: Float[Array, " D"]) -> Float[Array, " D"]:
        """Return the normal component: M contains the origin."""
        return self.normal(theta)

    def point(self, free: Float[Array, " D"]) -> Float[Array, " D"]:
        """Return ``signs * free[classes]``, which is on M bit for bit."""
        return self.signs.astype(free.dtype) * free[jnp.minimum(self.classes, len(free) - 1)]


class AffineRows(FlatManifold):
    """An affine subspace ``B theta[support] = h`` with orthonormal rows B.

    Attributes
    ----------
    support : int32 array, shape (s,)
        The coordinates that occur.
    rows : float array, shape (r, s)
        B.
    heights : float array, shape (r,)
        h.
    """

    support: Int[Array, " s"]
    rows: Float[Array, "r s"]
    heights: Float[Array, " r"]

    def _lift(self, coefficients: Float[Array, " r"], like: Float[Array, " D"]) -> Float[Array, " D"]:
        values = jnp.matmul(coefficients, self.rows, precision="highest")
        return jnp.zeros_like(like).at[self.support].set(values)

    def normal(self, vector: Float[Array, " D"]) -> Float[Array, " D"]:
        """Return ``B^T B v`` on the support."""
        return self._lift(jnp.matmul(self.rows, vector[self.support], precision="highest"), vector)

    def offset(self, theta: Float[Array, " D"]) -> Float[Array, " D"]:
        """Return ``B^T (B theta - h)`` on the support."""
        return self._lift(jnp.matmul(self.rows, theta[self.support], precision="highest") - self.heights, theta)

    def nearest(self, theta: Float[Array, " D"]) -> Float[Array, " D"]:
        """Return theta less its offset."""
        return theta - self.offset(theta)

    def point(self, free: Float[Array, " D"]) -> Float[Array, " D"]:
        """Return the nearest point to the free numbers, projected twice to be on M to rounding."""
        return self.nearest(self.nearest(free))


def signed_classes(manifolds: Sequence[Polydiagonal]) -> SignedClasses:
    """Stack signed polydiagonals of one space along a new first axis.

    Parameters
    ----------
    manifolds : sequence of Polydiagonal
        m of them, with the same D.

    Returns
    -------
    SignedClasses
        Arrays of shape (m, D), to be mapped over.
    """
    classes = np.stack([m.classes for m in manifolds]).astype(np.int32)
    signs = np.stack([m.signs for m in manifolds]).astype(np.int8)
    sizes = np.ones_like(classes)
    for row, own in zip(sizes, classes, strict=True):
        alive = own >= 0
        row[alive] = np.bincount(own[alive], minlength=1)[own[alive]]
    classes[classes < 0] = classes.shape[1]
    return SignedClasses(jnp.asarray(classes), jnp.asarray(signs), jnp.asarray(sizes))


def affine_rows(equations: LinearEquations, dtype: str) -> AffineRows:
    """Return the orthonormal form of linear equations.

    Parameters
    ----------
    equations : LinearEquations
        Independent rows ``A theta = b``.
    dtype : str
        Of the float arrays; the factorisation itself is in float64.

    Raises
    ------
    ManifoldError
        The rows are independent, but not in floating point.
    """
    matrix, constants = equations.dense()
    scale = np.linalg.norm(matrix, axis=1, keepdims=True)
    orthogonal, triangular = np.linalg.qr((matrix / scale).T)
    diagonal = np.abs(np.diag(triangular))
    if len(diagonal) and diagonal.min() <= 1e-12:
        msg = (
            f"equations: got rows that are dependent to 12 digits (smallest pivot {diagonal.min():.1e}), expected rows "
            f"that floating point can tell apart. Combine the equations."
        )
        raise ManifoldError(msg)
    heights = np.linalg.solve(triangular.T, constants / scale[:, 0]) if len(diagonal) else constants
    support = equations.support().astype(np.int32)
    return AffineRows(jnp.asarray(support), jnp.asarray(orthogonal.T, dtype), jnp.asarray(heights, dtype))
