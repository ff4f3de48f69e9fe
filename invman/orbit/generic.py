"""The dimension of the orbits of almost all points of an affine leaf, exactly: an upper bound at every point of it.

At a generic point formal transport ends at the first order that adds nothing (see :mod:`invman.orbit.transport`). Two
runs, the second with one more input that drives the curve and one more whose fields are carried, must agree: then the
space is closed under the fields of a generic input, hence of all. Rank can only drop at special points, so what is
found bounds the orbit of every point of the leaf.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from invman.architecture.program import Program
from invman.orbit.exact import ExactFamily
from invman.orbit.hull import Leaf
from invman.orbit.rank import ModularRank
from invman.orbit.residues import ModularRing
from invman.orbit.transport import transport
from invman.symmetry.infinitesimal.census import take_census
from invman.symmetry.infinitesimal.tower import RedrawError

DRIVERS = 3
"""Inputs that drive the curve in the first run."""
POINTS = 200
"""Points that are tried before the map counts as undefined on the leaf."""


@dataclass(frozen=True)
class GenericRank:
    """The dimension of the orbits of generic points of a leaf.

    Attributes
    ----------
    rank : int
        The dimension.
    profile : tuple of int
        Rank by order of formal transport; the last order added nothing.
    prime : int
        The field of the computation.
    error : float
        Bound on the probability that the rank came out too small (Schwartz and Zippel; an exponential counts as a
        variable).
    """

    rank: int
    profile: tuple[int, ...]
    prime: int
    error: float


def generic_rank(program: Program, leaf: Leaf, *, seed: int, budget: int) -> GenericRank:
    """Return the dimension of the orbits of generic points of a leaf that training cannot leave.

    Parameters
    ----------
    program : Program
        The architecture.
    leaf : Leaf
        An affine subspace to which all fields are tangent.
    seed : int
        Of all random numbers.
    budget : int
        Largest number of scalar operations of one evaluation.

    Returns
    -------
    GenericRank

    Raises
    ------
    RedrawError
        The map is not defined on the leaf.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> net = read_architecture("2-2identity-2")
    >>> generic_rank(net, Leaf.whole(net, seed=0, budget=1000), seed=0, budget=1000).profile
    (4, 5, 5)
    """
    samples, drivers = math.ceil(leaf.dimension / max(1, program.output_count)) + 1, DRIVERS
    prime, before = leaf.tower.primes[0], None
    while True:
        profile = _run(program, leaf, samples, drivers, seed + drivers, budget)
        if before is not None and profile[-1] == before[-1]:
            break
        before, samples, drivers = profile, samples + 1, drivers + 1
    degree = take_census(program, budget).degree
    entry = (degree + 2) * (len(profile) + 1)
    return GenericRank(profile[-1], profile, prime, min(1.0, 2 * (profile[-1] + 1) * entry / prime))


def _run(program: Program, leaf: Leaf, samples: int, drivers: int, seed: int, budget: int) -> tuple[int, ...]:
    for attempt in range(POINTS):
        ring = ModularRing(1, leaf.tower, seed * POINTS + attempt)
        family = ExactFamily(program, ring, leaf.draw(ring), samples, drivers, budget)
        rank, profile = ModularRank(ring.prime), []
        try:
            for matrix in transport(family, leaf.dimension):
                profile.append(rank.add(matrix))
                if profile[-1] == leaf.dimension:
                    profile.append(profile[-1])
                if profile[-2:-1] == profile[-1:]:
                    break
        except RedrawError:
            continue
        return tuple(profile)
    raise RedrawError
