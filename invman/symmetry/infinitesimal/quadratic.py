"""Laws of degree one and two: the self-adjoint part of the generators.

A generator ``A theta + b`` whose A is symmetric is the gradient of ``theta^T A theta / 2 + b^T theta``, which is
therefore conserved by every gradient flow (Marcotte, Gribonval and Peyre, arXiv:2307.00144). Translations give linear
laws; the law ``b - a^2/2`` of an exponential unit with a bias is of this kind, although its symmetry is not linear.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from invman.symmetry.infinitesimal.generators import AffineGenerator
from invman.symmetry.infinitesimal.law import Law, Monomial
from invman.symmetry.infinitesimal.modular import kernel, rational, rational_echelon
from invman.symmetry.infinitesimal.tape import residue
from invman.symmetry.infinitesimal.tower import draw_tower

ORDERS = 12
"""Orders of elimination that are tried for laws with few terms."""
LARGEST_REORDERED = 200


def quadratic_laws(generators: Iterable[AffineGenerator]) -> tuple[Law, ...]:
    """Return a basis of all laws of degree one and two, up to products of those of degree one.

    Parameters
    ----------
    generators : AffineGenerators, or an iterable of AffineGenerator
        However they were found, linearly independent; the laws are complete when these are.

    Returns
    -------
    tuple of Law
        Linearly independent, with few terms each; functionally they need not be, see :func:`independent`.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> from invman.symmetry.infinitesimal.nullspace import affine_generators
    >>> program = read_architecture("1-2identity-2")
    >>> quadratic_laws(affine_generators(program))[0].python(program)
    'w[0,0]*w[1,0] - a[0,0]*a[0,1] - a[1,0]*a[1,1]'
    """
    found = [potential for part in _parts(list(generators)) for potential in _self_adjoint(part)]
    # a linear law is what no elimination of quadratic terms leaves: quadratic terms are eliminated first
    monomials = sorted({m for potential in found for m in potential}, key=lambda m: (-sum(e for _, e in m), m))
    candidates = _eliminate(found, monomials)
    linear = [law for law in candidates if law.degree == 1]
    quadratic = sum(len(m) == 2 or m[-1][1] == 2 for m in monomials)
    rng = np.random.default_rng(0)
    for _ in range(ORDERS if 1 < len(candidates) <= LARGEST_REORDERED else 0):
        order = [*rng.permutation(quadratic), *range(quadratic, len(monomials))]
        candidates += [law for law in _eliminate(found, [monomials[k] for k in order]) if law.degree == 2]
    candidates.sort(key=lambda law: (len(law.terms), sum(abs(value) for _, value in law.terms), law.terms))
    span = _Span(left * right for left, right in itertools.combinations_with_replacement(linear, 2))
    chosen = [law for law in candidates if law.degree == 2 and span.enlarge(law)]
    return (*linear, *sorted(chosen, key=lambda law: law.terms))


def _eliminate(potentials: list[dict[Monomial, Fraction]], monomials: list[Monomial]) -> list[Law]:
    """Return the reduced echelon basis for one order of the monomials."""
    rows = [[potential.get(monomial, Fraction(0)) for monomial in monomials] for potential in potentials]
    return [Law.of(dict(zip(monomials, row, strict=True))) for row in rational_echelon(rows)]


class _Span:
    """The linear span of some polynomials modulo a prime."""

    def __init__(self, laws: Iterable[Law]) -> None:
        self.prime = draw_tower(np.random.default_rng(0), 0).primes[0]
        self.rows: list[dict[Monomial, int]] = []
        for law in laws:
            self.enlarge(law)

    def enlarge(self, law: Law) -> bool:
        """Add a polynomial; tell whether it was outside the span."""
        rest = {monomial: residue(value, self.prime) for monomial, value in law.terms}
        for row in self.rows:
            pivot, leading = next(iter(row.items()))
            factor = rest.get(pivot, 0) * pow(leading, -1, self.prime)
            if factor:
                rest = {m: (rest.get(m, 0) - factor * row.get(m, 0)) % self.prime for m in {**rest, **row}}
        rest = {monomial: value for monomial, value in rest.items() if value}
        if rest:
            self.rows.append(rest)
        return bool(rest)


def _parts(basis: Sequence[AffineGenerator]) -> Iterator[list[AffineGenerator]]:
    """Group generators that share an entry of A or its mirror image; laws do not mix the groups."""
    groups: list[tuple[set[tuple[int, int]], list[AffineGenerator]]] = []
    for generator in basis:
        places, members = {(min(k), max(k)) for k in generator.linear}, [generator]
        apart = []
        for group in groups:
            if group[0] & places:
                places, members = places | group[0], group[1] + members
            else:
                apart.append(group)
        groups = [*apart, (places, members)]
    return (members for _, members in groups)


def _self_adjoint(basis: list[AffineGenerator]) -> list[dict[Monomial, Fraction]]:
    """Return the potentials of the combinations whose A is symmetric."""
    prime = draw_tower(np.random.default_rng(0), 0).primes[0]
    places = sorted({(min(k), max(k)) for generator in basis for k in generator.linear if k[0] != k[1]})
    zero = Fraction(0)
    skew = [[g.linear.get((i, j), zero) - g.linear.get((j, i), zero) for g in basis] for i, j in places]
    rows = [[residue(value, prime) for value in row] for row in skew]
    potentials = []
    for vector in kernel(rows, len(basis), prime):
        potential: dict[Monomial, Fraction] = {}
        for value, generator in zip(vector, basis, strict=True):
            factor = rational(value, prime)
            if factor:
                _add_potential(potential, generator, factor)
        potentials.append(potential)
    return potentials


def _add_potential(potential: dict[Monomial, Fraction], generator: AffineGenerator, factor: Fraction) -> None:
    for (i, j), value in generator.linear.items():
        monomial: Monomial = ((i, 2),) if i == j else ((min(i, j), 1), (max(i, j), 1))
        potential[monomial] = potential.get(monomial, Fraction(0)) + factor * value / 2
    for i, value in generator.shift.items():
        potential[(i, 1),] = potential.get(((i, 1),), Fraction(0)) + factor * value
