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
from invman.orbit.residues import ModularRing
from invman.orbit.tape import Tape
from invman.symmetry.infinitesimal.census import take_census
from invman.symmetry.infinitesimal.fields import TALLEST
from invman.symmetry.infinitesimal.modular import echelon, rational
from invman.symmetry.infinitesimal.tape import residue
from invman.symmetry.infinitesimal.tower import RedrawError, Tower, draw_tower

QUIET = 8
"""Random inputs, each with a point of its own, whose fields must add nothing before a space counts as closed."""


Number = tuple[int, ...]
"""A number by its residues modulo the primes of a tower."""


@dataclass(frozen=True)
class Leaf:
    """An affine subspace ``theta + S``, exactly, by residues.

    Attributes
    ----------
    tower : Tower
        The primes.
    theta : tuple of D numbers
        A point of it.
    basis : tuple of tuples of D numbers
        A basis of S, in echelon form.
    """

    tower: Tower
    theta: tuple[Number, ...]
    basis: tuple[tuple[Number, ...], ...]

    @property
    def dimension(self) -> int:
        """Dimension of S."""
        return len(self.basis)

    @classmethod
    def spanned(cls, tower: Tower, theta: Sequence[Fraction], rows: Sequence[Sequence[Fraction]]) -> Leaf:
        """Return the leaf through a rational point with rational directions."""
        residues = {
            v: tuple(residue(v, prime) for prime in tower.primes) for v in {*theta, *(v for r in rows for v in r)}
        }
        return cls(tower, tuple(residues[v] for v in theta), tuple(tuple(residues[v] for v in row) for row in rows))

    @classmethod
    def whole(cls, program: Program, *, seed: int, budget: int) -> Leaf:
        """Return the whole parameter space of a program."""
        size = program.parameter_count
        rows = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
        return cls.spanned(tower_of(program, seed, budget), [Fraction(0)] * size, rows)

    def draw(self, ring: ModularRing) -> list[Number]:
        """Return a random point modulo the primes of a ring."""
        steps = [ring.draw() for _ in self.basis]
        point = []
        for i, start in enumerate(self.theta):
            entries = [(row[i], step) for row, step in zip(self.basis, steps, strict=True) if any(row[i])]
            point.append(
                tuple(
                    (start[level] + sum(c[level] * step[level] for c, step in entries)) % prime
                    for level, prime in enumerate(self.tower.primes)
                )
            )
        return point


def tower_of(program: Program, seed: int, budget: int) -> Tower:
    """Return random primes that serve the nested exponentials of a program."""
    depth = take_census(program, budget).depth
    return draw_tower(np.random.default_rng([seed, 2]), min(depth, TALLEST))


def affine_hull(
    program: Program,
    theta: Sequence[Fraction],
    *,
    seed: int,
    budget: int,
    within: Sequence[Sequence[Fraction]] | None = None,
) -> Leaf:
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
    within : rows of D Fractions, optional
        Directions of a leaf that is known to be closed; taken where the hull has irrational directions.

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
    tower = tower_of(program, seed, budget)
    ring = ModularRing(1, tower, seed)
    leaf = Leaf.spanned(tower, theta, [])
    while leaf.dimension < program.parameter_count:
        rows = _close(program, leaf, ring, budget)
        if len(rows) == leaf.dimension:
            break
        if len(tower.primes) > 1:  # exponentials need the directions modulo all primes
            try:
                leaf = Leaf.spanned(tower, theta, _rational(rows, ring.prime))
            except UnsupportedError:
                leaf = Leaf.spanned(tower, theta, _widened(rows, within))
        else:
            leaf = Leaf(tower, leaf.theta, tuple(tuple((v,) for v in row) for row in rows))
    return leaf


def _close(program: Program, leaf: Leaf, ring: ModularRing, budget: int) -> list[list[int]]:
    """Return the span of S and of the gradients at random points of the leaf, modulo the first prime."""
    rows = [[v[0] for v in row] for row in leaf.basis]
    while len(rows) < program.parameter_count:
        gradients: list[list[int]] = []
        rejected = 0
        while len(gradients) < QUIET * program.output_count:
            try:
                gradients += _gradients(program, leaf, ring, budget)
                rejected = 0
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
    return [[rational(value, prime) for value in row] for row in rows]


def _widened(rows: list[list[int]], within: Sequence[Sequence[Fraction]] | None) -> Sequence[Sequence[Fraction]]:
    """Return a larger space with rational directions, where those found are irrational (values of neurons, say)."""
    if within is not None:
        return within
    size = len(rows[0])
    return [[Fraction(int(i == j)) for j in range(size)] for i in range(size) if any(row[i] for row in rows)]
