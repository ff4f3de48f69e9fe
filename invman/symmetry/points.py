"""The discrete symmetry as permutations of signed points: +i and -i for every parameter i.

Point ``i`` stands for parameter i and point ``i + D`` for its opposite, so that a signed permutation of theta is a
permutation of 2D points, and orbits, stabilisers and canonical forms are those of permutation groups.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from invman.symmetry.discrete import AxisGroup, Generator, SignFactor
from invman.symmetry.signed import SignedPermutation


def signed_points(element: SignedPermutation) -> np.ndarray:
    """Write a signed permutation of D parameters as a permutation of 2D points.

    Examples
    --------
    >>> signed_points(SignedPermutation(np.array([1, 0]), np.array([1, -1]))).tolist()
    [1, 2, 3, 0]
    """
    size = len(element.images)
    up = np.where(element.signs > 0, element.images, element.images + size)
    return np.concatenate([up, (up + size) % (2 * size)]).astype(np.int32)


def inverse(permutation: np.ndarray) -> np.ndarray:
    """Return the inverse of a permutation."""
    back = np.empty_like(permutation)
    back[permutation] = np.arange(len(permutation), dtype=permutation.dtype)
    return back


def orbit_leaders(generators: Sequence[np.ndarray], size: int) -> np.ndarray:
    """Return the smallest point of the orbit of each point under a group.

    Examples
    --------
    >>> orbit_leaders([np.array([1, 0, 2])], 3).tolist()
    [0, 0, 2]
    """
    labels = np.arange(size, dtype=np.int32)
    while True:
        before = labels.copy()
        for generator in generators:
            low = np.minimum(labels, labels[generator])
            labels = np.minimum(low, low[inverse(generator)])
        labels = labels[labels]
        if np.array_equal(before, labels):
            return labels


@dataclass(frozen=True)
class PointGroup:
    """The discrete group of an architecture on its 2D signed points.

    Attributes
    ----------
    group : AxisGroup
        The group, described on axes.
    """

    group: AxisGroup

    @property
    def parameters(self) -> int:
        """D."""
        return self.group.program.parameter_count

    @property
    def degree(self) -> int:
        """Number of points, 2D."""
        return 2 * self.parameters

    @property
    def order(self) -> int:
        """The exact order of the group."""
        return self.group.order

    def written(self, generator: Generator) -> np.ndarray:
        """Write one generator on the points."""
        return signed_points(generator.on_parameters(self.group.program))

    @cached_property
    def generators(self) -> list[np.ndarray]:
        """Generators on the points; those that move nothing are left out."""
        identity = np.arange(self.degree)
        written = [self.written(generator) for generator in self.group.generators()]
        return [images for images in written if not np.array_equal(images, identity)]

    @cached_property
    def sign_basis(self) -> list[int]:
        """A basis of the sign changes: bit i is set where parameter i changes its sign."""
        pure = [g for g in self.group.generators() if isinstance(g.factor, SignFactor)]
        moves = [self.written(g) for g in self.group.generators() if not isinstance(g.factor, SignFactor)]
        found = SignSpace()
        queue = [
            sum(1 << int(place) for place in np.flatnonzero(self.written(g)[: self.parameters] >= self.parameters))
            for g in pure
        ]
        for vector in queue:
            if found.include(vector):
                queue += [moved_bits(vector, move) for move in moves]
        return found.vectors


class SignSpace:
    """A space of sign changes over the field of two elements, vectors being integers."""

    def __init__(self) -> None:
        self.pivots: dict[int, int] = {}
        self.vectors: list[int] = []

    def include(self, vector: int) -> bool:
        """Add a vector; tell whether it was new."""
        rest = vector
        while rest and (top := rest.bit_length()) in self.pivots:
            rest ^= self.pivots[top]
        if rest:
            self.pivots[rest.bit_length()] = rest
            self.vectors.append(vector)
        return rest != 0


def moved_bits(vector: int, permutation: np.ndarray) -> int:
    """Move a sign change by a permutation of the points that changes no sign."""
    size, moved, place = len(permutation) // 2, 0, 0
    while vector:
        skip = (vector & -vector).bit_length()
        place += skip
        moved |= 1 << int(permutation[place - 1]) % size
        vector >>= skip
    return moved


def element_order(permutation: np.ndarray) -> int:
    """Return the order of a permutation: the least common multiple of its cycle lengths."""
    lengths, seen = {1}, np.zeros(len(permutation), dtype=bool)
    for start in range(len(permutation)):
        length, point = 0, start
        while not seen[point]:
            seen[point] = True
            point, length = int(permutation[point]), length + 1
        lengths.add(max(length, 1))
    return math.lcm(*lengths)


def is_prime_power(number: int) -> int:
    """Return the prime of a prime power above 1, else 0."""
    prime = next((p for p in range(2, number + 1) if number % p == 0), 0)
    while prime and number % prime == 0:
        number //= prime
    return prime if number == 1 else 0
