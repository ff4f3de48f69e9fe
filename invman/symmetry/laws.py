"""The conserved quantities of an architecture: in closed form at any size, entry by entry and all at small ones."""

from __future__ import annotations

from dataclasses import dataclass

from invman.architecture.program import Program
from invman.errors import OverBudgetError, UnsupportedError
from invman.symmetry.continuous import continuous_group
from invman.symmetry.infinitesimal import (
    Law,
    affine_generators,
    independent,
    polynomial_laws,
    prove_laws,
    quadratic_laws,
)
from invman.symmetry.lawfamilies import LawFamily, law_families

LARGEST = 128
"""Parameters up to which laws are written out entry by entry."""


@dataclass(frozen=True)
class Laws:
    """What gradient flow conserves, whatever the data and the loss.

    Attributes
    ----------
    program : Program
        The architecture.
    families : tuple of LawFamily
        Laws in closed form, from the continuous symmetry of the axes.
    laws : tuple of Law or None
        All linear and quadratic laws (and those of a higher degree, where asked for), entry by entry; None where there
        are too many parameters.
    independent : int
        Number of functionally independent ones at a generic point.
    method : str
        How the number was found, and how the laws were proved.
    """

    program: Program
    families: tuple[LawFamily, ...]
    laws: tuple[Law, ...] | None
    independent: int
    method: str


def find_laws(program: Program, *, degree: int = 2, largest: int = LARGEST) -> Laws:
    """Find the polynomial laws that the symmetry of an architecture gives.

    A generator ``A theta + b`` with symmetric A conserves ``theta^T A theta / 2 + b . theta``. Up to ``largest``
    parameters all such generators are found, exactly, as a null space; beyond it those of the named axes are used.

    Parameters
    ----------
    program : Program
        The architecture.
    degree : int
        Search polynomials up to this degree (2: all linear and quadratic laws).
    largest : int
        Parameters up to which laws are written out.

    Returns
    -------
    Laws

    Raises
    ------
    OverBudgetError
        A higher degree was asked for and has too many monomials.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> find_laws(read_architecture("1-2identity-1")).independent
    3
    """
    families = law_families(continuous_group(program))
    on_axes = sum(family.independent for family in families)
    if program.parameter_count > largest:
        method = f"axes: {program.parameter_count} parameters are more than {largest}, so laws are not written out"
        return Laws(program, families, None, on_axes, method)
    try:
        laws = quadratic_laws(affine_generators(program)) if degree <= 2 else polynomial_laws(program, degree)
    except (OverBudgetError, UnsupportedError) as error:
        if degree > 2:
            raise
        return Laws(program, families, None, on_axes, f"axes: {error}")
    proofs = prove_laws(program, laws) if laws else ()
    error = max((proof.error for proof in proofs), default=0.0)
    held = all(proof.holds for proof in proofs)
    assert held, "a law of the null space fails at fresh points"  # noqa: S101 - would be a fault of this package
    method = (
        f"null space modulo primes ({proofs[0].arithmetic.model if proofs else 'no law'}); each law holds at fresh "
        f"random points, chance of an error below {error:.0e}"
    )
    return Laws(program, families, laws, independent(laws, program) if laws else 0, method)
