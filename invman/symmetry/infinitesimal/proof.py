"""A law, however it was found, tested exactly at fresh random points modulo fresh primes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from invman.architecture.program import Program
from invman.symmetry.infinitesimal.fields import Arithmetic, Fields, Sample
from invman.symmetry.infinitesimal.law import Law

POINTS = 4


@dataclass(frozen=True)
class LawProof:
    """Outcome of testing ``<grad Q, grad F> = 0``.

    Attributes
    ----------
    holds : bool
        True is certain up to ``error``. False is certain, because a point was found where the inner product is not
        zero, unless ``arithmetic.kinds`` names stand-ins: it is then certain of the stand-ins.
    points : int
        Random points that were tried, each with all outputs.
    arithmetic : Arithmetic
        The primes, and what stands in for functions that are not rational.
    error : float
        Bound on the probability that a polynomial that is not conserved passes (Schwartz and Zippel).
    counterexample : str or None
        Where it failed.
    """

    holds: bool
    points: int
    arithmetic: Arithmetic
    error: float
    counterexample: str | None = None


def prove_law(program: Program, law: Law, *, seed: int = 0, points: int = POINTS) -> LawProof:
    """Test a law exactly at random points.

    Parameters
    ----------
    program : Program
        The architecture.
    law : Law
        The polynomial Q.
    seed : int
        Determines prime and points. Use one that the law was not found with.
    points : int
        Number of points.

    Returns
    -------
    LawProof

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> from invman.symmetry.infinitesimal.polynomial import polynomial_laws
    >>> program = read_architecture("1-1cube-1")
    >>> prove_law(program, polynomial_laws(program, 2)[0], seed=7).holds
    True
    """
    return prove_laws(program, [law], seed=seed, points=points)[0]


def prove_laws(program: Program, laws: Sequence[Law], *, seed: int = 0, points: int = POINTS) -> tuple[LawProof, ...]:
    """Test several laws at the same random points; see :func:`prove_law`.

    Returns
    -------
    tuple of LawProof
        One a law.
    """
    fields = Fields(program, seed)
    samples = [fields.sample() for _ in range(points)]
    proofs = []
    for law in laws:
        failed = _first_failure(law, samples, fields.prime)
        if failed is None:
            error = fields.arithmetic.miss(points, law.degree)
            proofs.append(LawProof(True, points, fields.arithmetic, error))
        else:
            tried, output = failed
            where = f"output {output} at random point {tried} modulo {fields.prime}"
            proofs.append(LawProof(False, tried, fields.arithmetic, 0.0, where))
    return tuple(proofs)


def _first_failure(law: Law, samples: Sequence[Sample], prime: int) -> tuple[int, int] | None:
    for tried, sample in enumerate(samples, 1):
        gradient = law.residues(sample.theta, prime)
        for output, field in enumerate(sample.gradients):
            if sum(a * b for a, b in zip(gradient, field, strict=True)) % prime:
                return tried, output
    return None
