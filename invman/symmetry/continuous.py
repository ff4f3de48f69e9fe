"""The continuous symmetry that the named axes explain: matrix groups, scalings, translations, and the laws they give.

A generator is an affine vector field ``A theta + b`` with ``<A theta + b, grad F> = 0``. Where A is symmetric the
function ``theta^T A theta / 2 + b . theta`` is conserved by gradient flow (Noether); antisymmetric ones move along the
level sets of every loss and conserve nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from invman.architecture.program import Program
from invman.symmetry.axes import AxisClass, AxisClasses
from invman.symmetry.characters import Unknown, independent_forms, scaling_component
from invman.symmetry.discrete import components
from invman.symmetry.linear import LinearFactor, VectorFactor, linear_factor, vector_factors
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
    def vectors(self) -> tuple[VectorFactor, ...]:
        """Motions along the kernel of a vector."""
        return tuple(found for factor in self.linear for found in vector_factors(self.program, factor))

    @cached_property
    def further_scalings(self) -> tuple[ScalingFactor, ...]:
        """The scalings beyond those inside a GL(n): a complement of these in each component."""
        classes = AxisClasses(self.program)
        kept = []
        for factor in self.scalings:
            new = independent_forms(self.tori(classes, factor.axes), factor.exponents)
            kept.append(ScalingFactor(factor.axes, tuple(new)))
        return tuple(factor for factor in kept if factor.exponents)

    def tori(self, classes: AxisClasses, axes: tuple[AxisClass, ...]) -> list[dict[Unknown, Fraction]]:
        """Return the scalings over a component of axes that the GL(n) contain."""
        found = (torus(classes, f, axes) for f in self.linear if f.kind == "GL" and not f.ones)
        return [form for form in found if form is not None]

    @cached_property
    def idle_dimension(self) -> int:
        """Dimension of the matrices that move nothing: scalars of several GL(n) that cancel everywhere."""
        classes, total = AxisClasses(self.program), 0
        for axes in components(self.program, classes):
            tori = self.tori(classes, axes)
            total += (len(tori) - len(independent_forms([], tori))) * math.prod(axis.size - 1 for axis in axes)
        return total

    @cached_property
    def scaling_dimension(self) -> int:
        """Dimension of the scalings beyond those inside a GL(n)."""
        return sum(factor.dimension for factor in self.further_scalings)

    @cached_property
    def dimension(self) -> int:
        """Dimension of the symmetry: matrix groups, motions along kernels, further scalings, translations."""
        matrices = sum(factor.dimension for factor in self.linear) - self.idle_dimension
        further = sum(factor.dimension for factor in (*self.vectors, *self.shifts))
        return matrices + self.scaling_dimension + further


def torus(classes: AxisClasses, factor: LinearFactor, axes: tuple[AxisClass, ...]) -> dict[Unknown, Fraction] | None:
    """Return the exponents of the diagonal matrices of a GL(n) that vary with some axes; None where none do."""
    if not set(axes) <= {*factor.axes, *factor.local_to}:
        return None
    total: dict[Unknown, Fraction] = {}
    for sign, carriers in ((1, factor.covariant), (-1, factor.contravariant)):
        for carrier in carriers:
            rank = len(classes.program.parameter(carrier.tensor).shape)
            at = [classes.of(carrier.tensor, p) for p in range(rank)]
            place = tuple(carrier.position if axis is factor.axes[0] else at.index(axis) for axis in axes)
            key = (carrier.tensor, place)
            total[key] = total.get(key, Fraction(0)) + sign
    return {key: value for key, value in total.items() if value}


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
    factors = [linear_factor(program, classes, axes, outer) for axes, outer in _groups(program, classes)]
    scalings = [ScalingFactor(axes, scaling_component(program, classes, axes)) for axes in components(program, classes)]
    return ContinuousGroup(
        program,
        tuple(factor for factor in factors if factor is not None and factor.dimension),
        tuple(factor for factor in scalings if factor.dimension),
        shifts(program),
    )


def _groups(program: Program, classes: AxisClasses) -> Iterator[tuple[tuple[AxisClass, ...], tuple[AxisClass, ...]]]:
    """Yield the hidden axes, joined where they are local to each other, with what they are local to."""
    around, used = local_to(program, classes), set[AxisClass]()
    for axis in classes.classes:
        if axis.hidden and axis not in used:
            outer = around.get(axis, frozenset())
            group = (axis, *(other for other in outer if axis in around.get(other, ())))
            used.update(group)
            rest = outer - set(group)
            yield _sorted(group), _sorted(rest)


def _sorted(axes: Iterable[AxisClass]) -> tuple[AxisClass, ...]:
    return tuple(sorted(axes, key=lambda axis: axis.name))
