"""``find_orbit``: how large the set is that training can reach from a point, with a certificate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from invman.architecture import Program, read_architecture
from invman.architecture.scalars import operations
from invman.errors import DataError, OverBudgetError, UnsupportedError
from invman.manifold.balanced import BalancedManifold
from invman.manifold.coarsest import coarsest
from invman.orbit.balls import BallRing
from invman.orbit.certificate import Bound, Certificate, NumericalRank
from invman.orbit.exact import ExactFamily
from invman.orbit.generic import DRIVERS, generic_rank
from invman.orbit.hull import affine_hull
from invman.orbit.points import FlatManifold, Theta, draw_point, exact_point
from invman.orbit.rank import BallRank, MinorRank, ModularRank, Rank
from invman.orbit.residues import ModularRing
from invman.orbit.transport import transport
from invman.symmetry.infinitesimal.census import take_census
from invman.symmetry.infinitesimal.tower import RedrawError, draw_tower

Arithmetic = Literal["auto", "ball", "modular", "float"]
Progress = Callable[[int, int], None]

WORK = 20_000_000
"""Operations on series before refusing: some minutes."""
ORDER = 14
"""The last order of formal transport, brackets of length 15."""
FLOAT_ORDER = 3
"""The last order in floating point."""
LARGE = 120
"""Parameters from which on one minor is proved regular, in place of an elimination."""
CHEAP = 500_000
"""Operations on series up to which one order more is spent on testing the upper bound."""
REGIONS = 6
"""Inputs of relu and abs are of sizes up to two to this power, and four times as many, to reach all regions."""
BALLS = ((256, 0), (1024, 6), (4096, 6))
"""Precisions of balls, and by how many powers of two inputs are shrunk beyond the largest parameter, where the one
before leaves the bounds apart: for neurons that saturate. The last one is used where it is cheap."""


@dataclass(frozen=True)
class OrbitOptions:
    """How an orbit is measured.

    Attributes
    ----------
    arithmetic : {"auto", "ball", "modular", "float"}
        Of the lower bound; auto takes residues for programs of + - * / only, and balls for all others. float gives a
        numerical rank beside a lower bound of 0.
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
        if self.arithmetic not in get_args(Arithmetic):
            msg = f"option arithmetic: got {self.arithmetic!r}, expected one of {', '.join(get_args(Arithmetic))}"
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
    (4, 5, 5)
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


def leaf_of(program: Program, theta: Theta) -> BalancedManifold | None:
    """Return the smallest balanced manifold that holds a point; None where a net is not fully connected."""
    try:
        return coarsest(list(theta), program)
    except UnsupportedError:
        return None


class _Search:
    """One point; the bounds are looked for in the order of their cost."""

    def __init__(self, program: Program, theta: Theta, options: OrbitOptions) -> None:
        self.program, self.theta, self.options = program, theta, options
        self.samples = math.ceil(program.parameter_count / program.output_count) + 2
        if program.one_region:
            self.samples *= 4
        self.work = operations(program) * (self.samples + DRIVERS * program.parameter_count)
        self._asked = False
        self.leaf = leaf_of(program, theta)
        self.upper = self._leaf()

    def run(self, place: str | None, progress: Progress | None) -> Certificate:
        options, affordable = self.options, self.work <= self.options.budget
        if options.arithmetic == "float":
            found = self._floats()
            if affordable and found.rank < self.upper.value:
                self._lower_by_hull()
            nothing = Bound(0, "nothing is proved in floating point", "float64")
            return Certificate(self.program, self.theta, place, nothing, self.upper, (), options.seed, found)
        if not affordable:
            advice = (
                "Use smaller sizes, raise the budget with --budget, or ask for --arithmetic float, which is no proof."
            )
            what = f"operations on series for the orbit in {self.program!r}"
            raise OverBudgetError(what, self.work, options.budget, advice)
        lower, profile = Bound(0, "nothing was shown"), ()
        size = max(1, *map(abs, self.theta)) if self.theta else 1
        for bits, shrink in BALLS if self.work <= CHEAP else BALLS[:2]:
            rank, description, orders = self._transport(bits, shrink and shrink + math.ceil(size).bit_length())
            found = self._climb(rank, orders, progress)
            if not profile or found[-1] > profile[-1]:
                profile = tuple(found)
                lower = Bound(
                    profile[-1], f"rank of formal transport up to order {found.index(found[-1])}", description
                )
            if lower.value >= self.upper.value or isinstance(rank, ModularRank):
                break
        if lower.value < self.upper.value:
            self._lower_by_hull()
        return Certificate(self.program, self.theta, place, lower, self.upper, profile, options.seed)

    def _climb(self, rank: Rank, orders: Iterator[Any], progress: Progress | None) -> list[int]:
        """Add order after order until the upper bound is reached; ask for a better one where the rank stands still.

        Where it is cheap the order that reaches the upper bound is followed by one more, which must add nothing: the
        lower bound then tests the upper one.
        """
        size, cheap = self.program.parameter_count, self.work <= CHEAP
        found: list[int] = []
        for matrix in orders:
            found.append(rank.add(matrix))
            if progress is not None:
                progress(len(found) - 1, self.options.order)
            still = found[-2:-1] == found[-1:]
            if found[-1] < self.upper.value and still:
                self._lower_by_hull()
            if found[-1] >= self.upper.value and (still or not cheap or found[-1] == size):
                break
        return found

    def _transport(self, bits: int, shrink: int) -> tuple[Rank, str, Iterator[Any]]:
        """Return an empty rank, the arithmetic in words, and the coefficients order by order."""
        program, options = self.program, self.options
        kinds = take_census(program, options.budget).kinds
        modular = options.arithmetic == "modular" or (options.arithmetic == "auto" and not kinds)
        if modular and kinds:
            msg = (
                f"arithmetic modular for {program!r}: got functions that are not rational, expected + - * / only. "
                "Use balls (--arithmetic ball)"
            )
            raise UnsupportedError(msg)
        if modular:
            tower = draw_tower(np.random.default_rng([options.seed, 4]), 0)
            ring, rank = ModularRing(1, tower, options.seed), ModularRank(tower.primes[0])
            text = f"modulo the prime {tower.primes[0]}, a certain lower bound over the rational numbers"
        else:
            large = program.parameter_count > LARGE
            ring = BallRing(1, bits, options.seed, shrink, REGIONS if program.one_region else 0)
            rank = (MinorRank if large else BallRank)(bits, program.parameter_count)
            text = f"real balls of {bits} bits, {'one minor' if large else 'each pivot'} proved not to vanish"
        start = [ring.embed(value) for value in self.theta]
        family = ExactFamily(program, ring, start, self.samples, DRIVERS + 1, options.budget)
        return rank, text, transport(family, options.order)

    def _leaf(self) -> Bound:
        if self.leaf is None:
            return Bound(self.program.parameter_count, "the whole parameter space")
        method = "leaf of the coarsest balanced partition of the neurons"
        return Bound(self.leaf.leaf_dimension, method, manifold=self.leaf.name)

    def _lower_by_hull(self) -> None:
        """Take the generic orbits of the affine hull for the upper bound, where they are smaller; once."""
        if self._asked:
            return
        self._asked = True
        budget, seed = self.options.budget, self.options.seed
        within = None if self.leaf is None else [list(map(Fraction, row)) for row in self.leaf.leaf().basis().tolist()]
        try:
            hull = affine_hull(self.program, self.theta, seed=seed, budget=budget, within=within)
            found = generic_rank(self.program, hull, seed=seed, budget=budget)
        except RedrawError:  # roots that hardly ever exist modulo a prime
            method = f"{self.upper.method}; the affine hull was not found, for lack of square roots modulo a prime"
            self.upper = replace(self.upper, method=method)
            return
        if found.rank >= self.upper.value:
            return
        where = "the whole space" if hull.dimension == self.program.parameter_count else "the affine hull"
        method = f"dimension of the orbits of generic points of {where}, of dimension {hull.dimension}"
        manifold = self.upper.manifold if hull.dimension == self.upper.value else None
        self.upper = Bound(found.rank, method, f"modulo the prime {found.prime}", manifold, found.error)

    def _floats(self) -> NumericalRank:
        from invman.orbit.floating import float_rank

        point = np.array([float(v) for v in self.theta])
        found = float_rank(self.program, point, seed=self.options.seed, order=min(self.options.order, FLOAT_ORDER))
        return NumericalRank(found.rank, found.profile, found.gap)
