"""Linear equations in unknown coefficients, one a random field, solved until fresh points find nothing wrong."""

from __future__ import annotations

from collections.abc import Callable

from invman.symmetry.infinitesimal.fields import Fields, Sample
from invman.symmetry.infinitesimal.modular import annihilates, kernel

SPARE = 16
"""Rows beyond the number of unknowns."""
CHECKS = 3
"""Fresh points at which a kernel must hold before it is believed."""

Row = Callable[[Sample, int], list[int]]
"""The coefficients of the equation that a sample and the position of one of its outputs give."""


class Pool:
    """Samples of the fields, drawn when they are first needed and shared by several systems.

    Parameters
    ----------
    fields : Fields
        Where the samples come from.
    """

    def __init__(self, fields: Fields) -> None:
        self.fields = fields
        self.samples: list[Sample] = []

    def solve(self, width: int, row: Row) -> list[list[int]]:
        """Return the echelon basis of the coefficients that satisfy the equations of every sample.

        The true space, modulo the prime, is always contained in the result. A result that is too large survives the
        ``CHECKS`` fresh points with a probability of at most ``fields.arithmetic.miss(CHECKS, ...)``.

        Parameters
        ----------
        width : int
            Number of unknowns.
        row : callable
            Coefficients of one equation, a list of ``width`` residues.

        Returns
        -------
        list of lists of int, shape (nullity, width)
        """
        prime = self.fields.prime
        wanted = width + SPARE
        while True:
            rows, used = [], 0
            while len(rows) < wanted:
                sample = self._get(used)
                rows += [row(sample, output) for output in range(len(sample.outputs))]
                used += 1
            basis = kernel(rows, width, prime)
            fresh = [self._get(used + extra) for extra in range(CHECKS)]
            tests = [row(sample, output) for sample in fresh for output in range(len(sample.outputs))]
            if annihilates(tests, basis, prime):
                return basis
            wanted *= 2

    def _get(self, position: int) -> Sample:
        while len(self.samples) <= position:
            self.samples.append(self.fields.sample())
        return self.samples[position]
