"""Signed points beyond the parameters: characters of the sign changes that no parameter has alone."""

from __future__ import annotations

import itertools

import numpy as np

from invman.errors import UnsupportedError
from invman.symmetry.points import PointGroup


class Characters:
    """Signed points beyond the parameters: characters of the sign changes, as products of those of parameters.

    Where the sign of w2[l,k] is that of neuron l times that of neuron k, and no parameter has that of l alone, the
    character of l is a pair of points of its own.

    Parameters
    ----------
    points : PointGroup
        The group.
    """

    def __init__(self, points: PointGroup) -> None:
        self.points = points
        basis = points.sign_basis
        columns = [sum((v >> i & 1) << place for place, v in enumerate(basis)) for i in range(points.parameters)]
        self.columns = columns
        self.values = list(columns)
        self.known: dict[int, frozenset[int]] = {}
        for i, column in enumerate(columns):
            if column:
                self.known.setdefault(column, frozenset([i]))

    def extend(self) -> tuple[int, list[np.ndarray]]:
        """Return the number of points of a new orbit of characters and how the generators move them.

        Products of characters of two orbits come first: those of one orbit, (neuron 0)(neuron 1), seldom help.
        """
        orbit_of: dict[int, int] = {}
        for number, (character, support) in enumerate(self.known.items()):
            if character not in orbit_of:
                orbit_of.update(dict.fromkeys(self._orbit(support), number))
        best: dict[int, frozenset[int]] = {}
        for within in (False, True):
            seen: set[int] = set(self.known)
            for (one, left), (two, right) in itertools.combinations(self.known.items(), 2):
                if (orbit_of[one] == orbit_of[two]) is within and one ^ two not in seen:
                    found = self._orbit(left ^ right)
                    seen.update(found)
                    if not best or len(found) < len(best):
                        best = found
            if best:
                break
        if not best:
            msg = (
                f"symmetry group of {self.points.group.program!r}: got one that needs relations of more than three "
                "parameters, expected at most three"
            )
            raise UnsupportedError(msg)
        self.known.update(best)
        self.values += best
        place = {character: number for number, character in enumerate(best)}
        size, half = 2 * len(best), self.points.parameters
        actions = []
        for generator in self.points.generators:
            action = np.empty(size, dtype=np.int32)
            for character, support in best.items():
                image, sign = self._moved(support, generator), sum(int(generator[i]) >= half for i in support) % 2
                target = place[self._product(image)]
                start = place[character]
                action[start] = target + sign * len(best)
                action[start + len(best)] = target + (1 - sign) * len(best)
            actions.append(action)
        return size, actions

    def _orbit(self, support: frozenset[int]) -> dict[int, frozenset[int]]:
        found, queue = {self._product(support): support}, [support]
        for one in queue:
            for generator in self.points.generators:
                image = self._moved(one, generator)
                if self._product(image) not in found:
                    found[self._product(image)] = image
                    queue.append(image)
        return found

    def _moved(self, support: frozenset[int], generator: np.ndarray) -> frozenset[int]:
        return frozenset(int(generator[i]) % self.points.parameters for i in support)

    def _product(self, support: frozenset[int]) -> int:
        product = 0
        for i in support:
            product ^= self.columns[i]
        return product
