"""All affine symmetries of F: the null space of ``<A theta + b, grad F(theta)(x)> = 0``, exactly.

This is the completeness check of the symmetries that are found on axes: it knows nothing of axes and misses nothing.
"""

from __future__ import annotations

from invman.architecture.program import Program
from invman.architecture.scalars import BUDGET
from invman.errors import OverBudgetError, UnsupportedError
from invman.symmetry.infinitesimal.fields import Fields, Sample
from invman.symmetry.infinitesimal.generators import AffineGenerator, AffineGenerators
from invman.symmetry.infinitesimal.grading import Unknown, blocks, torus
from invman.symmetry.infinitesimal.modular import rational
from invman.symmetry.infinitesimal.solve import CHECKS, Pool, Row

LARGEST_PARAMETERS = 400
LARGEST_BLOCK = 3_000


def affine_generators(program: Program, *, seed: int = 0, budget: int = LARGEST_BLOCK) -> AffineGenerators:
    """Find all affine vector fields that leave F unchanged.

    The scalings of the architecture split the ``D^2 + D`` unknowns into blocks, each of which is a kernel modulo a
    random prime; the result is lifted to rational numbers and tested modulo another prime.

    Parameters
    ----------
    program : Program
        The architecture.
    seed : int
        Determines primes and points.
    budget : int
        Largest number of unknowns of one block.

    Returns
    -------
    AffineGenerators

    Raises
    ------
    OverBudgetError
        When a block, or the number of parameters, is too large.
    UnsupportedError
        When a coefficient is irrational, or square roots are too rarely defined modulo a prime.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> program = read_architecture("1-1identity-1")
    >>> [generator.describe(program) for generator in affine_generators(program).basis]
    ['w[0,0] d/dw[0,0] - a[0] d/da[0]']
    """
    count = program.parameter_count
    if count > LARGEST_PARAMETERS:
        advice = "The exact check is for small sizes; give the axes smaller sizes."
        raise OverBudgetError("parameters of the exact check", count, LARGEST_PARAMETERS, advice)
    fields = Fields(program, seed, BUDGET)
    pool = Pool(fields)
    systems = blocks(torus(pool), fields.prime)
    largest = max(map(len, systems), default=0)
    if largest > budget:
        advice = f"All {count * (count + 1):,} unknowns fall into {len(systems):,} systems. Use smaller sizes."
        raise OverBudgetError("unknowns of one linear system of the exact check", largest, budget, advice)
    found = [(system, vector) for system in systems for vector in pool.solve(len(system), _row(system, fields.prime))]
    basis = tuple(_lift(system, vector, count, fields.prime) for system, vector in found)
    _confirm(program, basis, seed)
    error = fields.arithmetic.miss(CHECKS, 1)
    return AffineGenerators(program, basis, fields.arithmetic, len(pool.samples), len(systems), error)


def _row(system: list[Unknown], prime: int) -> Row:
    def row(sample: Sample, output: int) -> list[int]:
        theta, gradient = (*sample.theta, 1), sample.gradients[output]
        return [theta[j] * gradient[i] % prime for i, j in system]

    return row


def _lift(system: list[Unknown], vector: list[int], count: int, prime: int) -> AffineGenerator:
    entries = [(unknown, rational(value, prime)) for unknown, value in zip(system, vector, strict=True) if value]
    linear = {(i, j): value for (i, j), value in entries if j < count}
    return AffineGenerator(linear, {i: value for (i, j), value in entries if j == count})


def _confirm(program: Program, basis: tuple[AffineGenerator, ...], seed: int) -> None:
    """Test the rational fields modulo another prime."""
    fields = Fields(program, seed + 1)
    for _ in range(CHECKS):
        sample = fields.sample()
        for generator in basis:
            velocity = generator.velocity(sample.theta, fields.prime)
            for gradient in sample.gradients:
                if sum(v * gradient[i] for i, v in velocity.items()) % fields.prime:
                    msg = "exact symmetry: got a generator with irrational coefficients, expected rational ones"
                    raise UnsupportedError(msg)
