"""Signed permutations of the parameters: how a discrete symmetry acts on theta."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SignedPermutation:
    """A signed permutation of the parameters: ``(g theta)[i] = signs[i] * theta[images[i]]``.

    Attributes
    ----------
    images : int64 array, shape (D,)
        A permutation of 0..D-1.
    signs : int8 array, shape (D,)
        Entries +1 and -1.
    """

    images: np.ndarray
    signs: np.ndarray

    def __call__(self, theta: np.ndarray) -> np.ndarray:
        """Apply it to a parameter vector, shape (D,)."""
        return self.signs * theta[self.images]
