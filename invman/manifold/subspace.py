"""Linear and affine subspaces of parameter space, exactly: the common form of every flat manifold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np


@dataclass(frozen=True, eq=False)
class Polydiagonal:
    """A signed polydiagonal subspace: parameters equal, opposite or zero.

    Parameter ``i`` is ``signs[i] * t[classes[i]]`` with one free number ``t`` a class, and 0 where ``classes[i] = -1``.
    The classes are numbered ``0, 1, ...`` by their first parameter, and the first parameter of a class has sign +1,
    so that equal subspaces have equal arrays.

    Attributes
    ----------
    classes : int32 array, shape (D,)
        Class of each parameter, -1 where the parameter is zero.
    signs : int8 array, shape (D,)
        +1 or -1 relative to the first parameter of the class; 0 where the parameter is zero.
    """

    classes: np.ndarray
    signs: np.ndarray

    @property
    def parameters(self) -> int:
        """D, the number of coordinates of the surrounding space."""
        return len(self.classes)

    @property
    def dimension(self) -> int:
        """The number of free classes."""
        return int(self.classes.max(initial=-1)) + 1

    def basis(self) -> np.ndarray:
        """Return an exact basis, int8 array of shape (dimension, D): one row a class, entries -1, 0, 1."""
        rows = np.zeros((self.dimension, self.parameters), dtype=np.int8)
        alive = np.flatnonzero(self.classes >= 0)
        rows[self.classes[alive], alive] = self.signs[alive]
        return rows

    def key(self) -> bytes:
        """Return a hashable value that is equal exactly for equal subspaces."""
        return self.classes.tobytes() + self.signs.tobytes()

    def __le__(self, other: Polydiagonal) -> bool:
        """Tell whether this subspace lies in the other one."""
        alive = other.classes >= 0
        if np.any((self.classes >= 0) & ~alive):
            return False
        # every class of `other` must be constant (up to its signs) on self
        first = np.full(other.dimension, -1)
        index = np.flatnonzero(alive)[::-1]
        first[other.classes[index]] = index
        lead = first[other.classes[alive]]
        same = self.classes[alive] == self.classes[lead]
        sign = self.signs[alive] == self.signs[lead] * other.signs[alive] * other.signs[lead]
        return bool(np.all(same & sign))


@dataclass(frozen=True)
class LinearEquations:
    """An affine subspace given by linear equations over the rationals, each touching few parameters.

    Every row reads ``sum(coefficient * theta[index]) = constant``; the rows are linearly independent.

    Attributes
    ----------
    parameters : int
        D, the number of coordinates of the surrounding space.
    rows : tuple of (tuple of (int, Fraction), Fraction)
        The left-hand side as (index, coefficient) pairs in increasing index, and the constant on the right.
    """

    parameters: int
    rows: tuple[tuple[tuple[tuple[int, Fraction], ...], Fraction], ...]

    @property
    def dimension(self) -> int:
        """D minus the number of independent equations."""
        return self.parameters - len(self.rows)

    def support(self) -> np.ndarray:
        """Return the sorted indices of the parameters that occur, int64 array of shape (s,)."""
        return np.array(sorted({index for row, _ in self.rows for index, _ in row}), dtype=np.int64)

    def dense(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients on the support, float64 of shape (rows, s), and the constants, shape (rows,)."""
        support = self.support()
        place = {int(index): column for column, index in enumerate(support)}
        matrix = np.zeros((len(self.rows), len(support)))
        constants = np.zeros(len(self.rows))
        for number, (row, constant) in enumerate(self.rows):
            constants[number] = float(constant)
            for index, coefficient in row:
                matrix[number, place[index]] = float(coefficient)
        return matrix, constants
