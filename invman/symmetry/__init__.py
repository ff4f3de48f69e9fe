"""Which transformations of theta leave the map F unchanged, found on named axes and checked on scalars."""

from invman.symmetry.axes import AxisClass, AxisClasses, Carrier
from invman.symmetry.continuous import ContinuousGroup, continuous_group
from invman.symmetry.discrete import AxisGroup, Generator, axis_group
from invman.symmetry.group import AxisSymmetry, DiscreteSymmetry, find_symmetry
from invman.symmetry.signed import SignedPermutation

__all__ = [
    "AxisClass",
    "AxisClasses",
    "AxisGroup",
    "AxisSymmetry",
    "Carrier",
    "ContinuousGroup",
    "DiscreteSymmetry",
    "Generator",
    "SignedPermutation",
    "axis_group",
    "continuous_group",
    "find_symmetry",
]
