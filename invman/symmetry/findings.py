"""The whole symmetry of an architecture, discrete and continuous, and how far it is known to be complete.

The axis level finds what the names of the axes explain, at any size. It is compared, on small sizes, with two searches
that know nothing of axes: automorphisms of the graph of scalars, and the null space of ``<A theta + b, grad F> = 0``.
What they find beyond the axes is reported, never swallowed.
"""

from __future__ import annotations

from dataclasses import dataclass

from invman.architecture.program import Program
from invman.errors import OverBudgetError, UnsupportedError
from invman.symmetry.continuous import ContinuousGroup, continuous_group
from invman.symmetry.group import DiscreteSymmetry, find_symmetry
from invman.symmetry.shrink import shrink

LARGEST = 48
"""Parameters up to which the complete searches are run; beyond it the axes are cut down first."""

VERTICES = 3000
"""Vertices of the graph of scalars that are searched for the check."""


@dataclass(frozen=True)
class Findings:
    """The symmetry of an architecture.

    Attributes
    ----------
    program : Program
        The architecture.
    discrete : DiscreteSymmetry
        Signed permutations that the axes explain.
    continuous : ContinuousGroup
        Matrix groups, scalings and translations that the axes explain.
    order : int
        Order of the group of signed permutations of theta: of the scalar level where that was run on this very size.
    complete : str
        ``checked on size ...`` or ``not checked (reason)``.
    unexplained : tuple of str
        What the complete searches found beyond the axes.
    """

    program: Program
    discrete: DiscreteSymmetry
    continuous: ContinuousGroup
    order: int
    complete: str
    unexplained: tuple[str, ...]


def find_all_symmetry(program: Program, *, check: bool = True) -> Findings:
    """Find the symmetry of an architecture and check its completeness on a small size.

    Parameters
    ----------
    program : Program
        The architecture.
    check : bool
        Whether to run the complete searches.

    Returns
    -------
    Findings

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> found = find_all_symmetry(read_architecture("2-3tanh-1"))
    >>> found.order, found.complete, found.unexplained
    (48, 'checked on size i=2, k=3', ())
    """
    discrete, continuous = find_symmetry(program), continuous_group(program)
    if not check:
        return Findings(program, discrete, continuous, discrete.order, "not checked (not asked for)", ())
    small = program
    for size in (3, 2):
        if small.parameter_count > LARGEST:
            small = shrink(program, size)
    if small.parameter_count > LARGEST:
        reason = f"not checked ({small.parameter_count} parameters at the smallest size, more than {LARGEST})"
        return Findings(program, discrete, continuous, discrete.order, reason, ())
    same = small.sizes == program.sizes
    place = ", ".join(f"{axis}={size}" for axis, size in small.sizes.items()) or "1"
    unexplained, skipped, order = [], [], discrete.order
    try:
        found = _scalar_order(small)
        expected = discrete.order if same else find_symmetry(small).order
        order = found if same else order
        if found != expected:
            unexplained.append(
                f"on size {place} {found} signed permutations leave F unchanged, of which the axes explain {expected}"
            )
    except (OverBudgetError, UnsupportedError) as error:
        skipped.append(f"signed permutations: {error}")
    try:
        found, expected = _dimensions(small, continuous if same else continuous_group(small))
        if found != expected:
            unexplained.append(
                f"on size {place} the affine generators have dimension {found}, of which the axes explain {expected}"
            )
    except (OverBudgetError, UnsupportedError) as error:
        skipped.append(f"generators: {error}")
    if len(skipped) == 2:
        return Findings(program, discrete, continuous, order, f"not checked ({'; '.join(skipped)})", ())
    partly = f", except {skipped[0]}" if skipped else ""
    return Findings(program, discrete, continuous, order, f"checked on size {place}{partly}", tuple(unexplained))


def _scalar_order(program: Program) -> int:
    from invman.symmetry.scalar import scalar_symmetry

    return scalar_symmetry(program, budget=VERTICES).order


def _dimensions(program: Program, group: ContinuousGroup) -> tuple[int, int]:
    """Return the dimension of all affine generators, and of those that the axes explain."""
    from invman.symmetry.explicit import explicit_generators
    from invman.symmetry.infinitesimal import affine_generators
    from invman.symmetry.infinitesimal.generators import dimension

    found = affine_generators(program)
    explained = [generator for generator in explicit_generators(group) if generator in found]
    return len(found), dimension(explained)
