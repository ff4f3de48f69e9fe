"""All manifolds of a family, counted, listed and ordered by inclusion."""

from invman.lattice.counting import Count, count_condensed
from invman.lattice.document import count_document, lattice_document
from invman.lattice.enumeration import covers, enumerate_condensed
from invman.lattice.lattice import FAMILIES, Lattice, build_lattice, family_space
from invman.lattice.symmetric import count_symmetric

__all__ = [
    "FAMILIES",
    "Count",
    "Lattice",
    "build_lattice",
    "count_condensed",
    "count_document",
    "count_symmetric",
    "covers",
    "enumerate_condensed",
    "family_space",
    "lattice_document",
]
