"""Continuous symmetry on small sizes, exactly and completely, and the conservation laws that follow from it."""

from invman.symmetry.infinitesimal.fields import Arithmetic, Fields
from invman.symmetry.infinitesimal.generators import AffineGenerator, AffineGenerators
from invman.symmetry.infinitesimal.independence import independent
from invman.symmetry.infinitesimal.law import Law
from invman.symmetry.infinitesimal.nullspace import affine_generators
from invman.symmetry.infinitesimal.polynomial import polynomial_laws
from invman.symmetry.infinitesimal.proof import LawProof, prove_law, prove_laws
from invman.symmetry.infinitesimal.quadratic import quadratic_laws

__all__ = [
    "AffineGenerator",
    "AffineGenerators",
    "Arithmetic",
    "Fields",
    "Law",
    "LawProof",
    "affine_generators",
    "independent",
    "polynomial_laws",
    "prove_law",
    "prove_laws",
    "quadratic_laws",
]
