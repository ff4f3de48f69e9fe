"""Symmetry of the map written out in scalars: found on a graph, proved by a normal form."""

from invman.symmetry.scalar.affine import AffineSymmetry, affine_symmetry
from invman.symmetry.scalar.find import ScalarSymmetry, scalar_symmetry
from invman.symmetry.scalar.proof import AffineMap, Proof, prove

__all__ = [
    "AffineMap",
    "AffineSymmetry",
    "Proof",
    "ScalarSymmetry",
    "affine_symmetry",
    "prove",
    "scalar_symmetry",
]
