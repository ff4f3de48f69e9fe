"""``find_orbit``: how large the set is that training can reach from a point, with a certificate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from invman.architecture import Program, read_architecture
from invman.architecture.scalars import operations
from invman.errors import DataError, OverBudgetError, UnsupportedError
from invman.manifold.balanced import BalancedManifold
from invman.manifold.coarsest import coarsest
from invman.orbit.certificate import Bound, Certificate
from invman.orbit.exact import ExactFamily
from invman.orbit.generic import DRIVERS, generic_rank
from invman.orbit.hull import affine_hull
from invman.orbit.points import FlatManifold, Theta, draw_point, exact_point
from invman.orbit.rank import BallRank, ModularRank
from invman.orbit.series import BallRing, ModularRing
from invman.orbit.transport import transport
from invman.symmetry.infinitesimal.census import take_census
from invman.symmetry.infinitesimal.tower import RedrawError, draw_tower

Arithmetic = Literal["auto", "ball", "modular"]
Progress = Callable[[int, int], None]

WORK = 20_000_000
"""Operations on series before refusing: some minutes."""
ORDER = 14
"""The last order of formal transport, brackets of length 15."""
BITS = (256, 1024)
"""Precisions of balls; the second is used where the first leaves something undecided."""


@dataclass(frozen=True)
class OrbitOptions:
    """How an orbit is measured.

    Attributes
    ----------
    arithmetic : {"auto", "ball", "modular"}
        Of the lower bound; auto takes residues for programs of + - * / only, and balls for all others.
    order : int
        The last order of formal transport.
    seed : int
        Of all random choices.
    budget : int
        Largest number of operations on series.
    """

    arithmetic: Arithmetic = "auto"
    order: int = ORDER
    seed: int = 0
    budget: int = WORK

    def __post_init__(self) -> None:
        for name, least in (("order", 0), ("seed", 0), ("budget", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                msg = f"option {name}: got {value!r}, expected a whole number from {least} on"
                raise DataError(msg)
        if self.arithmetic not in ("auto", "ball", "modular"):
            msg = f"option arithmetic: got {self.arithmetic!r}, expected auto, ball or modular"
            raise DataError(msg)


def find_orbit(
    architecture: str | Program,
    at: Mapping[str, Any] | Sequence[Any] | np.ndarray | FlatManifold | BalancedManifold | None = None,
    *,
    options: OrbitOptions | None = None,
    progress: Progress | None = None,
) -> Certificate:
    """Bound the dimension of an orbit from both sides.

    The lower bound is a rank of formal transport at the point, proved with balls or modulo a prime. The upper bound is
    the smallest of: the whole space; the leaf of the coarsest balanced partition of the neurons; the affine hull; and
    the dimension of the orbits of generic points of the hull, which knows the conservation laws.

    Parameters
    ----------
    architecture : str or Program
        Any architecture.
    at : D numbers, mapping of names to arrays, or a manifold, optional
        The point, exactly; floats are the binary fractions that they are. On a manifold a generic point is drawn;
        without it a generic point of the whole space.
    options : OrbitOptions, optional
        Arithmetic, order, seed and budget.
    progress : callable, optional
        Called with the order that is done and the last one.

    Returns
    -------
    Certificate

    Raises
    ------
    OverBudgetError
        The computation would take more operations than the budget; the message names the size.
    UnsupportedError
        Residues were asked for a program that is not rational, or the map is not defined near the point.
    DataError
        The point does not fit the architecture, or an option is out of range.

    References
    ----------
    Zhao, Luo, Zhang, arXiv:2510.09564 (orbits are the smallest invariant manifolds; their tangent spaces by
    Hermann and Nagano).

    Examples
    --------
    >>> find_orbit("1-2tanh-1", [0, 0, 2, 1]).dimension
    4
    >>> find_orbit("2-2identity-2").profile
    (4, 5)
    """
    program = read_architecture(architecture) if isinstance(architecture, str) else architecture
    options = options or OrbitOptions()
    place = None
    if at is None or hasattr(at, "polydiagonal") or isinstance(at, BalancedManifold):
        theta = draw_point(program, options.seed, at)  # type: ignore[arg-type]
        place = None if at is None else repr(at)
    else:
        theta = exact_point(at, program)  # type: ignore[arg-type]
    search = _Search(program, theta, options)
    try:
        return search.run(place, progress)
    except RedrawError:
        msg = (
            f"orbit of a point of {program!r}: got a map that is not defined near the point (a pole, a root of a "
            "negative number, or an argument of relu of which the sign cannot be told), expected an analytic one. "
            "Move the point"
        )
        raise UnsupportedError(msg) from None


class _Search:
    def __init__(self, program: Program, theta: Theta, options: OrbitOptions) -> None:
        self.program, self.theta, self.options = program, theta, options
        self.kinds = take_census(program, options.budget).kinds
        self.samples = math.ceil(program.parameter_count / program.output_count) + 2
        work = operations(program) * (self.samples + DRIVERS * program.parameter_count)
        if work > options.budget:
            advice = "Use smaller sizes, or raise the budget with --budget."
            raise OverBudgetError(f"operations on series for the orbit in {program!r}", work, options.budget, advice)

    def run(self, place: str | None, progress: Progress | None) -> Certificate:
        upper = self._leaf()
        lower, profile = Bound(0, "nothing was shown"), ()
        for bits in BITS:
            rank, description, orders = self._transport(bits)
            found: list[int] = []
            asked = upper.value == self.program.parameter_count and upper.error > 0
            for matrix in orders:
                rank.most = upper.value
                found.append(rank.add(matrix))
                if progress is not None:
                    progress(len(found) - 1, self.options.order)
                if found[-1] < upper.value and not asked and found[-2:-1] == found[-1:]:
                    upper, asked = self._hull(upper), True
                if found[-1] >= upper.value:
                    break
            if not profile or found[-1] > profile[-1]:
                profile = tuple(found)
                lower = Bound(profile[-1], f"rank of formal transport up to order {len(profile) - 1}", description)
            if lower.value >= upper.value or not rank.blurred:
                break
        if lower.value < upper.value:
            upper = self._hull(upper)
        return Certificate(self.program, self.theta, place, lower, upper, profile, self.options.seed)

    def _transport(self, bits: int) -> tuple[BallRank | ModularRank, str, Iterator[Any]]:
        """Return an empty rank, the arithmetic in words, and the coefficients order by order."""
        program, options = self.program, self.options
        modular = options.arithmetic == "modular" or (options.arithmetic == "auto" and not self.kinds)
        if modular and self.kinds:
            msg = (
                f"arithmetic modular for {program!r}: got functions that are not rational, expected + - * / only. "
                "Use balls (--arithmetic ball)"
            )
            raise UnsupportedError(msg)
        if modular:
            tower = draw_tower(np.random.default_rng([options.seed, 4]), 0)
            ring, rank = ModularRing(1, tower, options.seed), ModularRank(tower.primes[0], program.parameter_count)
            text = f"modulo the prime {tower.primes[0]}, a certain lower bound over the rational numbers"
        else:
            ring, rank = BallRing(1, bits, options.seed), BallRank(bits, program.parameter_count)
            text = f"real balls of {bits} bits, each pivot proved not to vanish"
        start = [ring.embed(value) for value in self.theta]
        family = ExactFamily(program, ring, start, self.samples, DRIVERS + 1, options.budget)
        return rank, text, transport(family, options.order)

    def _leaf(self) -> Bound:
        """Return the leaf of the coarsest balanced partition; in nets that are not fully connected the whole space."""
        count = self.program.parameter_count
        try:
            found = coarsest(list(self.theta), self.program)
        except UnsupportedError:
            return Bound(count, "the whole parameter space")
        method = "leaf of the coarsest balanced partition of the neurons"
        return Bound(found.leaf_dimension, method, manifold=found.name)

    def _hull(self, upper: Bound) -> Bound:
        """Return the generic orbits of the affine hull, where they are smaller than what is known."""
        if upper.error > 0:
            return upper
        budget, seed = self.options.budget, self.options.seed
        hull = affine_hull(self.program, self.theta, seed=seed, budget=budget)
        found = generic_rank(self.program, hull, seed=seed, budget=budget)
        if found.rank >= upper.value:
            return upper
        where = "the whole space" if hull.dimension == self.program.parameter_count else "the affine hull"
        method = f"dimension of the orbits of generic points of {where}, of dimension {hull.dimension}"
        same = hull.dimension == upper.value
        return Bound(found.rank, method, f"modulo the prime {found.prime}", upper.manifold if same else None, found.error)
