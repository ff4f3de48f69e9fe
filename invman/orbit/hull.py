"""The affine hull of a point: the smallest ``theta + S`` that the gradient family is tangent to, by closure.

Start from ``S = {0}`` and add the gradients at random points of ``theta + S`` until nothing is new. The arithmetic is
exact modulo a random prime; functions that are not rational are stood in for by more general ones, so that what is
closed for them is closed for the function itself, and the hull can only come out too large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from invman.architecture.program import Program
from invman.architecture.scalars import expand
from invman.errors import UnsupportedError
from invman.orbit.exact import ATTEMPTS
from invman.orbit.series import ModularRing
from invman.orbit.tape import Tape
from invman.symmetry.infinitesimal.census import take_census
from invman.symmetry.infinitesimal.fields import TALLEST
from invman.symmetry.infinitesimal.modular import echelon, rational, rational_echelon
from invman.symmetry.infinitesimal.tape import residue
from invman.symmetry.infinitesimal.tower import RedrawError, Tower, draw_tower

QUIET = 8
"""Random inputs, each with a point of its own, whose fields must add nothing before a space counts as closed."""


@dataclass(frozen=True)
class Leaf:
    """An affine subspace ``theta + S`` with exact rational numbers.

    Attributes
    ----------
    theta : tuple of D Fractions
        A point of it.
    basis : tuple of tuples of D Fractions
        A basis of S, in echelon form.
    """

    theta: tuple[Fraction, ...]
    basis: tuple[tuple[Fraction, ...], ...]

    @property
    def dimension(self) -> int:
        """Dimension of S."""
        return len(self.basis)

    @classmethod
    def whole(cls, parameters: int) -> Leaf:
        """Return the whole space."""
        zero = (Fraction(0),) * parameters
        return cls(zero, tuple((*zero[:i], Fraction(1), *zero[i + 1 :]) for i in range(parameters)))

    def draw(self, ring: ModularRing) -> list[tuple[int, ...]]:
        """Return a random point modulo the primes of a ring."""
        steps = [ring.draw() for _ in self.basis]
        point = []
        for i, start in enumerate(self.theta):
            entries = [(row[i], step) for row, step in zip(self.basis, steps, strict=True) if row[i]]
            point.append(
                tuple(
                    (residue(start, prime) + sum(residue(c, prime) * step[level] for c, step in entries)) % prime
                    for level, prime in enumerate(ring.tower.primes)
                )
            )
        return point


def tower_of(program: Program, seed: int, budget: int) -> Tower:
    """Return random primes that serve the nested exponentials of a program."""
    depth = take_census(program, budget).depth
    return draw_tower(np.random.default_rng([seed, 2]), min(depth, TALLEST))


def affine_hull(program: Program, theta: Sequence[Fraction], *, seed: int, budget: int) -> Leaf:
    """Find an affine subspace through a point that training cannot leave, as small as the closure finds it.

    Parameters
    ----------
    program : Program
        The architecture.
    theta : sequence of D Fractions
        The point.
    seed : int
        Of all random numbers.
    budget : int
        Largest number of scalar operations of one evaluation.

    Returns
    -------
    Leaf
        The orbit of theta lies in it, up to the error that ``Arithmetic.miss`` of the fields bounds.

    Raises
    ------
    OverBudgetError
        One evaluation takes more operations than the budget.
    RedrawError
        The map is not defined at the point.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> net, point = read_architecture("1-2tanh-1"), [Fraction(v) for v in (1, -1, 2, -2)]
    >>> affine_hull(net, point, seed=0, budget=1000).dimension
    2
    """
    ring = ModularRing(1, tower_of(program, seed, budget), seed)
    leaf = Leaf(tuple(theta), ())
    while leaf.dimension < program.parameter_count:
        found = _close(program, leaf, ring, budget)
        if len(found) == leaf.dimension:
            break
        leaf = Leaf(leaf.theta, tuple(tuple(row) for row in _rational(found, ring.prime)))
    return leaf


def _close(program: Program, leaf: Leaf, ring: ModularRing, budget: int) -> list[list[int]]:
    """Return the span of S and of the gradients at random points of the leaf, modulo the first prime."""
    rows = [[residue(v, ring.prime) for v in row] for row in leaf.basis]
    while len(rows) < program.parameter_count:
        gradients: list[list[int]] = []
        rejected = 0
        while len(gradients) < QUIET * program.output_count:
            try:
                gradients += _gradients(program, leaf, ring, budget)
            except RedrawError:
                rejected += 1
                if rejected > ATTEMPTS:
                    raise
        size = len(rows)
        rows = echelon([*rows, *gradients], ring.prime)
        if len(rows) == size:
            break
    return rows


def _gradients(program: Program, leaf: Leaf, ring: ModularRing, budget: int) -> list[list[int]]:
    tape = Tape(ring)
    theta = [tape.variable(ring.series([value])) for value in leaf.draw(ring)]
    x = [tape.constant(ring.series([ring.draw()])) for _ in range(program.input_count)]
    outputs = expand(program, tape, theta, x, budget)
    found = [tape.gradient(output, len(theta)) for output in outputs]
    return [[0 if v is None else ring.coefficients(v)[0] for v in row] for row in found]


def _rational(rows: list[list[int]], prime: int) -> list[list[Fraction]]:
    """Reconstruct an echelon basis over the rational numbers.

    A row that has irrational entries (the value of a hidden neuron, say) is replaced by all coordinates that it touches,
    which makes the space larger and leaves it valid as a bound.
    """
    found: list[list[Fraction]] = []
    for row in rows:
        try:
            found.append([rational(value, prime) for value in row])
        except UnsupportedError:
            found += [[Fraction(int(i == j)) for j in range(len(row))] for i, value in enumerate(row) if value]
    return rational_echelon(found)
