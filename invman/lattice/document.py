"""A lattice as plain data: what JSON files hold, what every report is drawn from, and what other programs read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from invman.architecture.program import Program
from invman.errors import OverBudgetError
from invman.lattice.counting import Count
from invman.lattice.lattice import Lattice, Manifold, Progress, Space, count_manifolds
from invman.lattice.symmetric import BUDGET, count_symmetric
from invman.manifold.balanced import BalancedManifold
from invman.manifold.reduction import Reduction
from invman.manifold.symmetric import SymmetricManifold, SymmetricSpace
from invman.symmetry.discrete import PermutationFactor
from invman.symmetry.document import decimal, discrete_document
from invman.symmetry.group import AxisSymmetry, DiscreteSymmetry
from invman.symmetry.pools import Pool

SCHEMA_VERSION = "1"
"""Version of the documents; it changes when a key changes its meaning or goes away."""

LONGEST = 4000
"""Digits of the largest count in a document: Python and most other readers refuse JSON numbers of many more."""

Document = dict[str, Any]


def count_document(space: Space, *, budget: int = BUDGET, progress: Progress | None = None) -> Document:
    """Return the head of a document: architecture, symmetry and exact counts, without the manifolds.

    Parameters
    ----------
    space : CondensedSpace or SymmetricSpace
        The family.
    budget : int
        Largest number of classes that are visited where counting needs that (the symmetric family).
    progress : callable, optional
        Called with the number of classes that are done and that are known.

    Returns
    -------
    dict
        Keys ``schema_version``, ``architecture``, ``program``, ``parameters`` (D), ``family``, ``symmetry``,
        ``count``, ``classes`` and ``one_region``.

    Raises
    ------
    OverBudgetError
        The count has more digits than a JSON number may have, or there are too many classes to count.
    """
    if isinstance(space, SymmetricSpace):
        return _head(space, count_symmetric(space, budget=budget, progress=progress))
    return _head(space, count_manifolds(space))


def _head(space: Space, count: Count) -> Document:
    if count.manifolds >= 10**LONGEST:
        digits = len(decimal(count.manifolds))
        raise OverBudgetError("digits of the number of manifolds", digits, LONGEST, "Use fewer or narrower layers.")
    return {
        **program_document(space.program),
        "family": space.family,
        "symmetry": symmetry_document(space.symmetry),
        "count": count.manifolds,
        "classes": count.classes,
    }


def program_document(program: Program) -> Document:
    """Return what every document starts with: schema version, architecture, program, D, one_region."""
    return {
        "schema_version": SCHEMA_VERSION,
        "architecture": repr(program),
        "program": program.text,
        "parameters": program.parameter_count,
        "one_region": program.one_region,
    }


def symmetry_document(symmetry: DiscreteSymmetry) -> Document:
    """Return the group of the hidden axes; orders are decimal strings, since they outgrow every number type."""
    return {
        "order": decimal(symmetry.order),
        "sign_rank": symmetry.group.sign_rank,
        "factors": [
            {
                "axis": factor.name,
                "size": factor.size,
                "signs": max((len(a.flips) for a in symmetry.axes if _within(a, factor)), default=0),
                "local_to": [axis.name for axis in factor.local_to],
                "copies": factor.copies,
                "order": decimal(factor.order),
            }
            for factor in symmetry.group.permutations
        ],
        "generators": discrete_document(symmetry.group)["generators"],
    }


def _within(axis: AxisSymmetry, factor: PermutationFactor | Pool) -> bool:
    """Tell whether a factor of the group permutes the values of an axis."""
    if isinstance(factor, Pool):
        return set(axis.axis.carriers) <= factor.covered
    return axis.axis in factor.axes


def lattice_document(
    lattice: Lattice,
    verdicts: Mapping[int, Document] | None = None,
    orbits: Mapping[int, Document] | None = None,
) -> Document:
    """Return a lattice with all of its listed manifolds and covers.

    Parameters
    ----------
    lattice : Lattice
        The lattice.
    verdicts : mapping of int to dict, optional
        What the checker found, by the position of the manifold.
    orbits : mapping of int to dict, optional
        Certificates of the generic orbits, by the position of the manifold.

    Returns
    -------
    dict
        The keys of :func:`count_document`, ``manifolds`` (see :func:`manifold_document`) and ``covers``, pairs of
        ids from a manifold to one just below it.
    """
    document = _head(lattice.space, lattice.count)
    document["manifolds"] = [
        {
            "id": f"m{number}",
            "class": f"c{lattice.class_of[number]}",
            **manifold_document(manifold),
            **({"verdict": verdicts[number]} if verdicts is not None else {}),
            **({"orbit": orbits[number]} if orbits is not None else {}),
        }
        for number, manifold in enumerate(lattice.manifolds)
    ]
    document["covers"] = [[f"m{upper}", f"m{lower}"] for upper, lower in lattice.covers]
    return document


def manifold_document(manifold: Manifold) -> Document:
    """Return one manifold.

    Returns
    -------
    dict
        ``name``, ``dimension``, ``orbit_size`` (number of conjugates), ``origin``, ``equations``, ``reduced`` and
        ``learning_rates`` (exact factors as strings); of a balanced manifold :func:`leaf_document` as well. A symmetric
        manifold that is no condensed one has ``reduced`` null and no learning rates: no narrower net is equivalent to
        it. Symmetric ones have ``stabiliser`` as well: order and generators of the isotropy subgroup.
    """
    reduction = manifold.reduction
    document: Document = {
        "name": manifold.name,
        "dimension": manifold.dimension,
        "orbit_size": manifold.orbit_size,
        "origin": manifold.origin.value,
        **(leaf_document(manifold) if isinstance(manifold, BalancedManifold) else {}),
        "equations": manifold.equations,
        "reduced": None if reduction is None else repr(reduction.program),
        "learning_rates": {} if reduction is None else rates_document(reduction),
    }
    if isinstance(manifold, SymmetricManifold):
        document["stabiliser"] = {
            "order": decimal(manifold.stabiliser_order),
            "generators": manifold.stabiliser_generators,
        }
    return document


def leaf_document(manifold: BalancedManifold) -> Document:
    """Return ``leaf_dimension``, ``frozen_dimension`` and ``reason`` of a balanced manifold."""
    return {
        "leaf_dimension": manifold.leaf_dimension,
        "frozen_dimension": manifold.frozen_dimension,
        "reason": manifold.reason,
    }


def rates_document(reduction: Reduction) -> dict[str, dict[str, list[str]]]:
    """Return the factors of the learning rates of a reduced architecture as strings."""
    return {
        name: {axis: [str(factor) for factor in factors] for axis, factors in by_axis.items()}
        for name, by_axis in reduction.rates.items()
    }
