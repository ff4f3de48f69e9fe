"""Every signed permutation of theta that leaves the scalar map unchanged, as far as the normal form can see."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from invman.architecture.program import Program
from invman.symmetry.scalar.automorphisms import find_automorphisms
from invman.symmetry.scalar.cover import build_cover, form_for, is_fine, normal_outputs
from invman.symmetry.signed import SignedPermutation


@dataclass(frozen=True)
class ScalarSymmetry:
    """The group of signed coordinate permutations found on the graph of scalars.

    Attributes
    ----------
    order : int
        Of the group acting on signed parameters, exactly.
    generators : tuple of SignedPermutation
        None of them the identity.
    vertices : int
        Of the graph.
    engine : str
        The library that found the automorphisms.
    fine : bool
        Whether products were multiplied out and activations split by parity, as for small programs. Then what is
        missed rests on a relation between different functions, or between values of one (exp(u) exp(v) = exp(u + v)).
    """

    order: int
    generators: tuple[SignedPermutation, ...]
    vertices: int
    engine: str
    fine: bool


def scalar_symmetry(program: Program, budget: int | None = None, engine: str | None = None) -> ScalarSymmetry:
    """Find the signed permutations of theta that leave the map unchanged, without looking at axes.

    The map is written out in scalars and brought to a normal form; its signed double cover is a coloured graph, the
    automorphisms of which are found by a library (B. D. McKay and A. Piperno, J. Symb. Comput. 60, 2014; T. Junttila
    and P. Kaski, ALENEX 2007).

    Parameters
    ----------
    program : Program
        The architecture.
    budget : int, optional
        Largest number of vertices; by default what the library does within seconds.
    engine : {"igraph", "canonaut"}, optional
        igraph where it is installed (extra ``fast``), else canonaut.

    Returns
    -------
    ScalarSymmetry

    Raises
    ------
    OverBudgetError
        With the exact number of vertices.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> scalar_symmetry(read_architecture("2-3tanh-1")).order
    48
    """
    form = form_for(program)
    cover = build_cover(form, normal_outputs(program, form), program.parameter_count)
    found = find_automorphisms(cover.colours, cover.edges, engine=engine, budget=budget)
    moves = (signed_permutation(cover.parameters, images) for images in found.generators)
    generators = tuple(g for g in moves if not is_identity(g))
    return ScalarSymmetry(found.order, generators, len(cover.colours), found.engine, is_fine(program))


def signed_permutation(sides: list[tuple[int, int]], images: np.ndarray) -> SignedPermutation:
    """Return what an automorphism does to the leaves with these vertices."""
    place = {plus: (index, 1) for index, (plus, _) in enumerate(sides)}
    place |= {minus: (index, -1) for index, (_, minus) in enumerate(sides)}
    moved = [place[int(images[plus])] for plus, _ in sides]
    return SignedPermutation(
        np.array([index for index, _ in moved], dtype=np.int64), np.array([sign for _, sign in moved], dtype=np.int8)
    )


def is_identity(move: SignedPermutation) -> bool:
    """Tell whether a signed permutation moves nothing."""
    return bool((move.images == np.arange(len(move.images))).all() and (move.signs == 1).all())
