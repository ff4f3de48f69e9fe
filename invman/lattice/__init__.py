"""All manifolds of a family, counted, listed and ordered by inclusion."""

from invman.lattice.counting import Count, count_condensed
from invman.lattice.document import count_document, lattice_document
from invman.lattice.enumeration import covers, enumerate_condensed
from invman.lattice.lattice import Lattice, build_lattice

__all__ = [
    "Count",
    "Lattice",
    "build_lattice",
    "count_condensed",
    "count_document",
    "covers",
    "enumerate_condensed",
    "lattice_document",
]
