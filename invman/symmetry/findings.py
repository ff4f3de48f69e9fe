"""The whole symmetry of an architecture, discrete and continuous, and how far it is known to be complete.

The axis level finds what the names of the axes explain, at any size. It is compared, on small sizes, with two searches
that know nothing of axes: automorphisms of the graph of scalars, and the null space of ``<A theta + b, grad F> = 0``.
What they find beyond the axes is reported, never swallowed.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from invman.architecture.program import Program
from invman.errors import InvmanError, OverBudgetError, UnsupportedError
from invman.symmetry.continuous import ContinuousGroup, continuous_group
from invman.symmetry.group import DiscreteSymmetry, find_symmetry
from invman.symmetry.shrink import shrink

if TYPE_CHECKING:
    from invman.symmetry.scalar import AffineMap

LARGEST = 48
"""Parameters up to which the complete searches are run; beyond it the axes are cut down first."""

VERTICES = 3000
"""Vertices of the graph of scalars that are searched for the check."""

PROVED = 100
"""Generators that are proved on the map."""


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
    proof : str
        How the generators of the discrete group were proved on the map; "" where the check was not run.
    affine : tuple of str
        Isometries that also translate, such as ``b[0] -> b[0] + pi, a[0] -> -a[0]`` of sin with a bias.
    """

    program: Program
    discrete: DiscreteSymmetry
    continuous: ContinuousGroup
    order: int
    complete: str
    unexplained: tuple[str, ...]
    proof: str = ""
    affine: tuple[str, ...] = ()


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
        if found % expected:
            # what the axes explain is proved, so the search has missed some of it
            skipped.append(f"signed permutations: the scalar level sees a group of order {found} only")
        elif found != expected:
            order = found if same else order
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
    return Findings(
        program,
        discrete,
        continuous,
        order,
        f"checked on size {place}{partly}",
        tuple(unexplained),
        _prove(discrete if same else find_symmetry(small), place),
        _affine(small),
    )


def _prove(symmetry: DiscreteSymmetry, place: str) -> str:
    """Prove generators of the axis level on the map, and say how."""
    from invman.symmetry.scalar import prove

    program = symmetry.program
    moves = [g.on_parameters(program) for g in itertools.islice(symmetry.generators(), PROVED)]
    proofs = [prove(program, move) for move in moves]
    if not all(proofs):
        msg = f"a generator of {program!r} does not leave the map unchanged: please report this architecture"
        raise InvmanError(msg)
    symbolic = sum(proof.method == "normal form" for proof in proofs)
    modular = [proof.bound for proof in proofs if proof.method != "normal form"]
    text = f"{len(proofs)} generators proved on size {place}: {symbolic} by normal form"
    return text + (f", {len(modular)} modulo primes (error below {max(modular):.0e})" if modular else "")


def _affine(program: Program) -> tuple[str, ...]:
    """Return the isometries with a translation that the scalar level finds."""
    from invman.symmetry.scalar import affine_symmetry

    try:
        found = affine_symmetry(program, budget=VERTICES)
    except (OverBudgetError, UnsupportedError):
        return ()
    return tuple(_describe(program, g) for g in found.generators if any(g.shift) or any(g.turns))


def _describe(program: Program, move: AffineMap) -> str:
    parts = []
    for index in range(program.parameter_count):
        image, sign = int(move.linear.images[index]), int(move.linear.signs[index])
        shift, turns = move.shift[index], move.turns[index]
        if image == index and sign > 0 and not shift and not turns:
            continue
        text = ("-" if sign < 0 else "") + program.coordinate(image)
        text += f" + {shift}" if shift else ""
        text += f" + {'' if turns == 1 else f'{turns}*'}pi" if turns else ""
        parts.append(f"{program.coordinate(index)} -> {text}")
    return ", ".join(parts)


def _scalar_order(program: Program) -> int:
    from invman.symmetry.scalar import scalar_symmetry

    return scalar_symmetry(program, budget=VERTICES).order


def _dimensions(program: Program, group: ContinuousGroup) -> tuple[int, int]:
    """Return the dimension of all affine generators, and of those that the axes explain."""
    from invman.symmetry.explicit import explicit_generators, span_dimension
    from invman.symmetry.infinitesimal import affine_generators

    found, explained = affine_generators(program), explicit_generators(group)
    if span_dimension([*found, *explained]) > len(found):
        explained = [generator for generator in explained if generator in found]
    return len(found), span_dimension(explained)
