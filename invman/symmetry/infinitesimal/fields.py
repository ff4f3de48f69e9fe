"""The fields of the family V at random points, exactly, modulo a random prime.

A field of V is the gradient of an output ``<c, F(theta)(x)>`` with respect to theta. Rational programs are evaluated as
they stand; what stands in for other functions is told by :class:`Arithmetic`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from invman.architecture.program import Program
from invman.architecture.scalars import BUDGET, expand
from invman.errors import UnsupportedError
from invman.symmetry.infinitesimal.algebra import FieldAlgebra, draw
from invman.symmetry.infinitesimal.census import take_census
from invman.symmetry.infinitesimal.tower import RedrawError, draw_tower

TALLEST = 3
"""Nested exponentials that obey exp(u + v) = exp(u) exp(v); deeper ones obey exp(-u) = 1/exp(u) only."""
REDRAWS = 10_000
TOWERS = 8
AHEAD = 3
STRICT_REDRAWS = 50
"""Points that are tried with each tower before exponentials of roots are given up."""
_SENTENCES = {
    "root": "square roots are taken modulo the prime, up to sign",
    "exp": "exponentials are a homomorphism modulo the primes, which is exact by Ax's theorem",
    "loose": "some exponentials, of roots or of many nested ones, are random functions with exp(-u) = 1/exp(u); "
    "this is exact unless their arguments are linearly related in other ways",
    "random": "erf, arctan, log and softplus are random functions with their true derivative and reflection",
    "gate": "relu and abs are the path model: a free factor for every argument; what holds for it holds in every "
    "activation region",
}


@dataclass(frozen=True)
class Arithmetic:
    """Which arithmetic gave an answer.

    Attributes
    ----------
    primes : tuple of int
        The first is the field of the computation, the others serve nested exponentials.
    kinds : tuple of str
        What stands in for functions that are not rational, out of root, exp, loose, random, gate.
    degree : int
        Bound on the degree of a derivative of F, exponentials counted as variables.
    """

    primes: tuple[int, ...]
    kinds: tuple[str, ...]
    degree: int

    @property
    def model(self) -> str:
        """One sentence that says what was computed."""
        return "; ".join(("exact modulo a random prime", *(_SENTENCES[kind] for kind in self.kinds)))

    def miss(self, points: int, degree: int = 0) -> float:
        """Bound the probability that a false identity holds at random points (Schwartz and Zippel).

        ``degree`` is that of the polynomials with which the derivatives are multiplied. For programs with exponentials
        the bound treats their values as independent and uniform.
        """
        return min(1.0, (self.degree + degree) / self.primes[-1]) ** points


@dataclass(frozen=True)
class Sample:
    """One random point: theta, then inputs and gates, and the outputs with their derivatives with respect to each.

    Attributes
    ----------
    theta : tuple of int, length D
        Non-zero residues.
    free : tuple of int, length d + number of gates
        Inputs and gates.
    outputs : tuple of int, length o
        F.
    gradients : tuple of lists, o of length D
        With respect to theta.
    free_gradients : tuple of lists, o of length d + number of gates
        With respect to inputs and gates.
    """

    theta: tuple[int, ...]
    free: tuple[int, ...]
    outputs: tuple[int, ...]
    gradients: tuple[list[int], ...]
    free_gradients: tuple[list[int], ...]


class Fields:
    """Draws random points of theta and x and returns the gradients there.

    Parameters
    ----------
    program : Program
        The architecture.
    seed : int
        Determines the primes, the points and the random functions.
    budget : int
        Largest number of scalar operations of one evaluation.

    Raises
    ------
    OverBudgetError
        When one evaluation takes more operations than the budget.
    UnsupportedError
        When the program has roots that are too rarely defined.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> sample = Fields(read_architecture("1-1identity-1"), seed=0).sample()
    >>> len(sample.gradients), len(sample.gradients[0])
    (1, 2)
    """

    def __init__(self, program: Program, seed: int = 0, budget: int = BUDGET) -> None:
        self.program, self.budget = program, budget
        census = take_census(program, budget)
        self.rng = np.random.default_rng(seed)
        self.salt = f"invman {seed}".encode()
        for attempt in range(2 * TOWERS):
            self.lenient = attempt >= TOWERS
            self.tower = draw_tower(self.rng, min(census.depth, TALLEST))
            attempts = REDRAWS // TOWERS if self.lenient else STRICT_REDRAWS
            found = [self._try(attempts) for _ in range(AHEAD)]
            self._ahead = [sample for sample in found if sample is not None]
            if len(self._ahead) == AHEAD:
                break
        else:
            raise UnsupportedError(_rootless(REDRAWS))
        kinds = [kind for kind in ("root", "exp", "random", "gate") if kind in census.kinds]
        if census.depth > TALLEST or (self.lenient and "exp" in kinds):
            kinds.append("loose")
        self.prime = self.tower.primes[0]
        self.arithmetic = Arithmetic(self.tower.primes, tuple(kinds), census.degree)

    def peek(self) -> Sample:
        """Return the sample that comes next, and leave it there."""
        if not self._ahead:
            self._ahead.append(self.sample())
        return self._ahead[-1]

    def sample(self) -> Sample:
        """Draw a point and evaluate there."""
        if self._ahead:
            return self._ahead.pop()
        sample = self._try(REDRAWS)
        if sample is None:
            raise UnsupportedError(_rootless(REDRAWS))
        return sample

    def _try(self, attempts: int) -> Sample | None:
        for _ in range(attempts):
            try:
                return self._evaluate()
            except RedrawError:
                continue
        return None

    def _evaluate(self) -> Sample:
        algebra = FieldAlgebra(self.tower, self.salt, self.rng, self.lenient)
        count, inputs = self.program.parameter_count, self.program.input_count
        variables = [algebra.variable(draw(self.rng, self.tower)) for _ in range(count + inputs)]
        outputs = expand(self.program, algebra, variables[:count], variables[count:], self.budget)
        free = [*variables[count:], *algebra.gates]
        gradients = [algebra.gradient(output) for output in outputs]
        return Sample(
            tuple(scalar.residues[0] for scalar in variables[:count]),
            tuple(scalar.residues[0] for scalar in free),
            tuple(output.residues[0] for output in outputs),
            tuple(gradient[:count] for gradient in gradients),
            tuple([gradient[scalar.node] for scalar in free] for gradient in gradients),
        )


def _rootless(attempts: int) -> str:
    return (
        f"exact arithmetic: got no point among {attempts:,} random ones where all square roots exist modulo a prime, "
        "expected fewer square roots. Use smaller sizes."
    )
