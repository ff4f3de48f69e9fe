"""The continuous symmetry that the named axes explain: matrix groups, scalings, translations, and the laws they give.

A generator is an affine vector field ``A theta + b`` with ``<A theta + b, grad F> = 0``. Where A is symmetric the
function ``theta^T A theta / 2 + b . theta`` is conserved by gradient flow (Noether); antisymmetric ones move along the
level sets of every loss and conserve nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from invman.architecture.program import Program
from invman.symmetry.axes import AxisClass, AxisClasses
from invman.symmetry.characters import Unknown, scaling_component
from invman.symmetry.discrete import components
from invman.symmetry.linear import LinearFactor, linear_factor
from invman.symmetry.locality import local_to
from invman.symmetry.shifts import ShiftFactor, shifts


@dataclass(frozen=True)
class ScalingFactor:
    """Positive scalings that vary with exactly the axes of one component.

    Attributes
    ----------
    axes : tuple of AxisClass
        The component; empty for scalings of whole tensors.
    exponents : tuple of dict
        Basis: exponents of the tensors, at the positions of the component.
    """

    axes: tuple[AxisClass, ...]
    exponents: tuple[Mapping[Unknown, Fraction], ...]

    @property
    def dimension(self) -> int:
        """Number of independent scalings."""
        return len(self.exponents) * math.prod(axis.size - 1 for axis in self.axes)


@dataclass(frozen=True)
class ContinuousGroup:
    """The continuous symmetry of an architecture.

    Attributes
    ----------
    program : Program
        The architecture.
    linear : tuple of LinearFactor
        GL(n) and O(n) on hidden axes.
    scalings : tuple of ScalingFactor
        All positive scalings, those inside a GL(n) included.
    shifts : tuple of ShiftFactor
        Translations.
    """

    program: Program
    linear: tuple[LinearFactor, ...]
    scalings: tuple[ScalingFactor, ...]
    shifts: tuple[ShiftFactor, ...]

    @cached_property
    def torus_dimension(self) -> int:
        """Dimension of the scalings that the general linear groups contain."""
        return sum(f.axis.size * f.copies for f in self.linear if f.kind == "GL" and not f.ones)

    @cached_property
    def scaling_dimension(self) -> int:
        """Dimension of the scalings beyond those inside a GL(n)."""
        return sum(factor.dimension for factor in self.scalings) - self.torus_dimension

    @cached_property
    def dimension(self) -> int:
        """Dimension of the group: matrix groups, further scalings, translations."""
        matrices = sum(factor.dimension for factor in self.linear)
        return matrices + self.scaling_dimension + sum(factor.dimension for factor in self.shifts)


def continuous_group(program: Program) -> ContinuousGroup:
    """Find the continuous symmetry of the named axes of an architecture.

    The time grows with the length of the program, never with its sizes.

    Parameters
    ----------
    program : Program
        The architecture.

    Returns
    -------
    ContinuousGroup

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> group = continuous_group(read_architecture("attention(d=4,heads=2,dk=2,seq=3)"))
    >>> [(factor.name, factor.copies) for factor in group.linear], group.dimension
    ([('GL(2)', 2), ('GL(2)', 2)], 16)
    """
    classes = AxisClasses(program)
    around = local_to(program, classes)
    factors = [
        linear_factor(program, classes, axis, tuple(sorted(outer, key=lambda other: other.name)))
        for axis, outer in around.items()
    ]
    scalings = [ScalingFactor(axes, scaling_component(program, classes, axes)) for axes in components(program, classes)]
    return ContinuousGroup(
        program,
        tuple(factor for factor in factors if factor is not None and factor.dimension),
        tuple(factor for factor in scalings if factor.dimension),
        shifts(program),
    )
