"""Which transformations of theta leave the map F unchanged, found on named axes."""

from invman.symmetry.axes import AxisClass, AxisClasses, Carrier
from invman.symmetry.group import AxisSymmetry, DiscreteSymmetry, Generator, SignedPermutation, find_symmetry

__all__ = [
    "AxisClass",
    "AxisClasses",
    "AxisSymmetry",
    "Carrier",
    "DiscreteSymmetry",
    "Generator",
    "SignedPermutation",
    "find_symmetry",
]
