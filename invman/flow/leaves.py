"""Random leaves of a balanced manifold for the checker: block-constant directions, and a frozen part."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from invman.flow.projection import FlatManifold, SignedClasses, signed_classes
from invman.manifold.balanced import BalancedManifold
from invman.manifold.subspace import Polydiagonal


class RandomLeaves:
    """One leaf of a balanced manifold for each trial.

    Parameters
    ----------
    manifold : BalancedManifold
        The balanced weights.
    seed : int
        Trial t reads the stream that NumPy derives from ``[seed, t, 1]``.
    spread : float
        The frozen part is the projection of normal numbers with one standard deviation, log-uniform between an eighth
        of this and this.
    """

    def __init__(self, manifold: BalancedManifold, seed: int, spread: float) -> None:
        self.manifold, self.seed, self.spread = manifold, seed, spread
        self.direction: Polydiagonal = manifold.leaf()

    @property
    def parameters(self) -> int:
        """D, the number of coordinates of the surrounding space."""
        return self.direction.parameters

    def frozen(self, trial: int) -> np.ndarray:
        """Return the frozen part of the leaf of a trial, float64 array of shape (D,)."""
        random = np.random.default_rng([self.seed, trial, 1])
        size = self.spread * 2.0 ** -random.uniform(0, 3)
        return self.manifold.frozen_part(size * random.normal(size=self.parameters))


class FrozenClasses(FlatManifold):
    """An affine leaf: a signed polydiagonal moved by a vector orthogonal to it.

    Attributes
    ----------
    moving : SignedClasses
        The directions of the leaf.
    frozen : float array, shape (D,)
        Its frozen part; the distance from the leaf is how far this has moved.
    """

    moving: SignedClasses
    frozen: Float[Array, "*b D"]

    def normal(self, vector: Float[Array, " D"]) -> Float[Array, " D"]:
        """Return the component orthogonal to the leaf."""
        return self.moving.normal(vector)

    def nearest(self, theta: Float[Array, " D"]) -> Float[Array, " D"]:
        """Return the signed class means plus the frozen part."""
        return self.moving.nearest(theta) + self.frozen.astype(theta.dtype)

    def offset(self, theta: Float[Array, " D"]) -> Float[Array, " D"]:
        """Return what the frozen part of theta has more than that of the leaf."""
        return self.moving.normal(theta) - self.frozen.astype(theta.dtype)

    def point(self, free: Float[Array, " D"]) -> Float[Array, " D"]:
        """Return a point of the leaf."""
        return self.moving.point(free) + self.frozen.astype(free.dtype)


def frozen_classes(leaves: Sequence[tuple[RandomLeaves, int]], dtype: str) -> FrozenClasses:
    """Stack the leaves of (manifold, trial) pairs along a new first axis."""
    frozen = np.stack([own.frozen(trial) for own, trial in leaves])
    return FrozenClasses(signed_classes([own.direction for own, _ in leaves]), jnp.asarray(frozen, dtype))
