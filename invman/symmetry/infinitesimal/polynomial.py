"""Laws of any degree: polynomials Q with ``<grad Q, grad F(theta)(x)> = 0`` for all theta and x, as a kernel."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from invman.architecture.program import Program
from invman.errors import OverBudgetError, UnsupportedError
from invman.symmetry.infinitesimal.fields import Fields, Sample
from invman.symmetry.infinitesimal.grading import signs, torus
from invman.symmetry.infinitesimal.law import Law, Monomial
from invman.symmetry.infinitesimal.modular import rational
from invman.symmetry.infinitesimal.proof import prove_laws
from invman.symmetry.infinitesimal.solve import Pool

LARGEST_BLOCK = 2_000
LARGEST_COUNT = 50_000


def polynomial_laws(program: Program, degree: int, *, seed: int = 0, budget: int = LARGEST_BLOCK) -> tuple[Law, ...]:
    """Return a basis of all polynomial laws up to a degree, products of lower ones included.

    Parameters
    ----------
    program : Program
        The architecture.
    degree : int
        Largest total degree.
    seed : int
        Determines primes and points.
    budget : int
        Largest number of monomials that occur together in one linear system.

    Returns
    -------
    tuple of Law

    Raises
    ------
    OverBudgetError
        When there are too many monomials.
    UnsupportedError
        When a coefficient is irrational.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> program = read_architecture("1-1cube-1")
    >>> [law.python(program) for law in polynomial_laws(program, 2)]
    ['w[0,0]**2 - 3*a[0]**2']
    """
    count = program.parameter_count
    total = math.comb(count + degree, degree) - 1
    if total > LARGEST_COUNT:
        raise OverBudgetError("monomials of a polynomial law", total, LARGEST_COUNT, "Ask for a lower degree.")
    fields = Fields(program, seed)
    pool, prime = Pool(fields), fields.prime
    laws = []
    for monomials in _sorted_by_sign(signs(torus(pool), prime), degree):
        if len(monomials) > budget:
            advice = f"There are {total:,} monomials in all. Ask for a lower degree."
            raise OverBudgetError("monomials of one linear system", len(monomials), budget, advice)

        def row(sample: Sample, output: int, monomials: list[Monomial] = monomials) -> list[int]:
            return _directional(monomials, sample.theta, sample.gradients[output], prime)

        for vector in pool.solve(len(monomials), row):
            terms = {m: rational(value, prime) for m, value in zip(monomials, vector, strict=True)}
            laws.append(Law.of(terms))
    if not all(proof.holds for proof in prove_laws(program, laws, seed=seed + 1)):
        msg = "polynomial laws: got irrational coefficients, expected rational ones"
        raise UnsupportedError(msg)
    return tuple(sorted(laws, key=lambda law: (law.degree, law.terms)))


def _sorted_by_sign(parities: list[tuple[int, ...]], degree: int) -> list[list[Monomial]]:
    sorted_by: dict[tuple[int, ...], list[Monomial]] = {}
    components = len(parities[0]) if parities else 0
    for monomial in sorted(_monomials(len(parities), degree, 0), key=lambda m: (sum(e for _, e in m), m)):
        sign = tuple(sum(parities[i][c] * e for i, e in monomial) % 2 for c in range(components))
        if monomial:
            sorted_by.setdefault(sign, []).append(monomial)
    return list(sorted_by.values())


def _monomials(count: int, degree: int, first: int) -> Iterator[Monomial]:
    yield ()
    for i in range(first, count):
        for exponent in range(1, degree + 1):
            for rest in _monomials(count, degree - exponent, i + 1):
                yield ((i, exponent), *rest)


def _directional(monomials: list[Monomial], theta: Sequence[int], gradient: Sequence[int], prime: int) -> list[int]:
    """Return the derivatives of monomials along a gradient, at a point without zeros."""
    rates = [g * pow(t, -1, prime) % prime for t, g in zip(theta, gradient, strict=True)]
    values = []
    for monomial in monomials:
        product, rate = 1, 0
        for i, exponent in monomial:
            product = product * pow(theta[i], exponent, prime) % prime
            rate += exponent * rates[i]
        values.append(product * rate % prime)
    return values
