"""Affine generators of continuous symmetries: ``theta' = A theta + b`` with exact rational entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from invman.architecture.program import Program
from invman.symmetry.infinitesimal.fields import Arithmetic
from invman.symmetry.infinitesimal.modular import rational_echelon
from invman.symmetry.infinitesimal.tape import residue


@dataclass(frozen=True)
class AffineGenerator:
    """The vector field ``A theta + b``, sparse.

    Attributes
    ----------
    linear : mapping of (int, int) to Fraction
        Entries A[i, j] that are not zero.
    shift : mapping of int to Fraction
        Entries b[i] that are not zero.
    """

    linear: Mapping[tuple[int, int], Fraction]
    shift: Mapping[int, Fraction]

    @property
    def self_adjoint(self) -> bool:
        """Whether A is symmetric, so that the field is the gradient of a conserved polynomial."""
        return all(self.linear.get((j, i)) == value for (i, j), value in self.linear.items())

    @property
    def isometric(self) -> bool:
        """Whether A is antisymmetric, so that the flow of the field is made of isometries."""
        return all(self.linear.get((j, i)) == -value for (i, j), value in self.linear.items())

    def velocity(self, theta: Sequence[int], prime: int) -> dict[int, int]:
        """Return the entries of ``A theta + b`` that may not vanish, modulo a prime."""
        entries: dict[int, int] = {i: residue(value, prime) for i, value in self.shift.items()}
        for (i, j), value in self.linear.items():
            entries[i] = (entries.get(i, 0) + residue(value, prime) * theta[j]) % prime
        return entries

    def bracket(self, other: AffineGenerator) -> AffineGenerator:
        """Return the commutator ``(BA - AB) theta + (B a - A b)`` of (A, a) with (B, b).

        Examples
        --------
        >>> one = Fraction(1)
        >>> AffineGenerator({(0, 0): one}, {}).bracket(AffineGenerator({(0, 1): one}, {})).linear
        {(0, 1): Fraction(-1, 1)}
        """
        linear: dict[tuple[int, int], Fraction] = {}
        shift: dict[int, Fraction] = {}
        for left, right, sign in ((other, self, 1), (self, other, -1)):
            for (i, k), value in left.linear.items():
                for (l, j), factor in right.linear.items():  # noqa: E741 - an index
                    if k == l:
                        linear[i, j] = linear.get((i, j), Fraction(0)) + sign * value * factor
                if k in right.shift:
                    shift[i] = shift.get(i, Fraction(0)) + sign * value * right.shift[k]
        return AffineGenerator({k: v for k, v in linear.items() if v}, {k: v for k, v in shift.items() if v})

    def describe(self, program: Program) -> str:
        """Write the field with the names of the parameters.

        Examples
        --------
        >>> from invman.architecture import read_architecture
        >>> one = Fraction(1)
        >>> AffineGenerator({(0, 0): one, (1, 1): -one}, {}).describe(read_architecture("1-1identity-1"))
        'w[0,0] d/dw[0,0] - a[0] d/da[0]'
        """
        terms = [
            (value, f"{program.coordinate(j)} d/d{program.coordinate(i)}") for (i, j), value in self.linear.items()
        ]
        terms += [(value, f"d/d{program.coordinate(i)}") for i, value in self.shift.items()]
        text = ""
        for value, field in terms:
            text += (" - " if text else "-") if value < 0 else " + " if text else ""
            text += field if abs(value) == 1 else f"{abs(value)} {field}"
        return text or "0"


@dataclass(frozen=True)
class AffineGenerators:
    """The Lie algebra of all affine fields that annihilate F.

    Attributes
    ----------
    program : Program
        The architecture.
    basis : tuple of AffineGenerator
        Linearly independent over the rational numbers; a sparse echelon basis.
    arithmetic : Arithmetic
        Which arithmetic gave them.
    points : int
        Random points that gave equations.
    blocks : int
        Independent linear systems that were solved.
    error : float
        Bound on the probability that one given field that does not annihilate F was let through.
    """

    program: Program
    basis: tuple[AffineGenerator, ...]
    arithmetic: Arithmetic
    points: int
    blocks: int
    error: float

    def __iter__(self) -> Iterator[AffineGenerator]:
        """Iterate over the basis."""
        return iter(self.basis)

    def __len__(self) -> int:
        """Return the dimension."""
        return len(self.basis)

    @property
    def translations(self) -> tuple[AffineGenerator, ...]:
        """The members of the basis that are pure translations."""
        return tuple(generator for generator in self.basis if not generator.linear)

    @cached_property
    def _keys(self) -> list[tuple[int, int]]:
        return sorted({key for generator in self.basis for key in _entries(generator)})

    def __contains__(self, generator: object) -> bool:
        """Tell whether a field is a combination of the basis."""
        if not isinstance(generator, AffineGenerator):
            return False
        entries = _entries(generator)
        if not entries.keys() <= set(self._keys):
            return False
        rows = [[_entries(g).get(key, Fraction(0)) for key in self._keys] for g in (*self.basis, generator)]
        return not entries or len(rational_echelon(rows)) == len(self.basis)


def dimension(generators: Iterable[AffineGenerator]) -> int:
    """Return the dimension of the span of some fields over the rational numbers."""
    entries = [_entries(generator) for generator in generators]
    keys = sorted({key for row in entries for key in row})
    return len(rational_echelon([[row.get(key, Fraction(0)) for key in keys] for row in entries])) if keys else 0


def _entries(generator: AffineGenerator) -> dict[tuple[int, int], Fraction]:
    return {**generator.linear, **{(i, -1): value for i, value in generator.shift.items()}}
