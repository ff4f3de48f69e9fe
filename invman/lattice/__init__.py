"""All manifolds of a family, counted, listed and ordered by inclusion."""

from invman.lattice.counting import Count, count_condensed
from invman.lattice.document import count_document, lattice_document
from invman.lattice.enumeration import covers, enumerate_condensed
from invman.lattice.invariant import count_invariant, enumerate_invariant
from invman.lattice.lattice import Lattice, build_lattice, count_manifolds, space_of
from invman.lattice.symmetric import count_symmetric

__all__ = [
    "Count",
    "Lattice",
    "build_lattice",
    "count_condensed",
    "count_document",
    "count_invariant",
    "count_manifolds",
    "count_symmetric",
    "covers",
    "enumerate_condensed",
    "enumerate_invariant",
    "lattice_document",
    "space_of",
]
