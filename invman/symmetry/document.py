"""The symmetry of an architecture as plain data."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from invman.symmetry.continuous import ContinuousGroup
from invman.symmetry.discrete import AxisGroup
from invman.symmetry.findings import Findings

GENERATORS = 1000
"""Generators that are listed; larger groups are described by their factors alone."""


def findings_document(findings: Findings) -> dict[str, Any]:
    """Return all that was found about the symmetry of an architecture.

    Returns
    -------
    dict
        ``order`` (decimal string), ``discrete`` (factors, sign components, generators), ``continuous`` (factors,
        dimension), ``affine`` (isometries that translate), ``proof``, ``complete`` and ``unexplained``.
    """
    return {
        "order": decimal(findings.order),
        "discrete": discrete_document(findings.discrete.group),
        "continuous": continuous_document(findings.continuous),
        "affine": list(findings.affine),
        "proof": findings.proof,
        "complete": findings.complete,
        "unexplained": list(findings.unexplained),
    }


def discrete_document(group: AxisGroup) -> dict[str, Any]:
    """Return the permutations and sign changes that the axes explain."""
    generators = []
    for generator in group.generators():
        if len(generators) == GENERATORS:
            break
        generators.append(generator.describe())
    return {
        "order": decimal(group.order),
        "factors": [
            {
                "axis": factor.name,
                "group": f"S_{factor.size}",
                "local_to": [axis.name for axis in factor.local_to],
                "copies": factor.copies,
                "order": decimal(factor.order),
            }
            for factor in group.permutations
        ],
        "signs": [
            {
                "axes": [axis.name for axis in factor.axes],
                "rank": factor.rank,
                "tensors": [sorted({tensor for tensor, _ in pattern}) for pattern in factor.patterns],
            }
            for factor in group.signs
        ],
        "sign_rank": group.sign_rank,
        "generators": generators,
    }


def continuous_document(group: ContinuousGroup) -> dict[str, Any]:
    """Return the matrix groups, scalings and translations that the axes explain."""
    factors: list[dict[str, Any]] = [
        {
            "axis": ",".join(axis.name for axis in factor.axes),
            "group": factor.name,
            "local_to": [axis.name for axis in factor.local_to],
            "copies": factor.copies,
            "dimension": factor.dimension,
            "covariant": [carrier.tensor for carrier in factor.covariant],
            "contravariant": [carrier.tensor for carrier in factor.contravariant],
        }
        for factor in group.linear
    ]
    factors += [
        {
            "group": "motions along the kernel of a vector",
            "tensors": [carrier.tensor for carrier in factor.moved],
            "dimension": factor.dimension,
            "reason": f"which meet only {factor.vector.tensor}",
        }
        for factor in group.vectors
    ]
    if group.idle_dimension:
        factors.append({"group": "scalars of several matrix groups that cancel", "dimension": -group.idle_dimension})
    if group.scaling_dimension:
        factors.append({"group": "further scalings", "dimension": group.scaling_dimension})
    factors += [
        {"group": "translations", "tensors": list(f.tensors), "dimension": f.dimension, "reason": f.reason}
        for f in group.shifts
    ]
    scalings = [
        {
            "axes": [axis.name for axis in factor.axes],
            "dimension": factor.dimension,
            "exponents": [_exponents(exponents) for exponents in factor.exponents],
        }
        for factor in group.scalings
    ]
    return {"dimension": group.dimension, "factors": factors, "scalings": scalings}


def _exponents(exponents: Any) -> dict[str, str]:
    total: dict[str, Fraction] = {}
    for (tensor, _), value in exponents.items():
        total[tensor] = total.get(tensor, Fraction(0)) + value
    return {tensor: str(value) for tensor, value in total.items()}


def decimal(number: int) -> str:
    """Print a non-negative integer of any length, also beyond the 4300 digits at which ``str`` refuses.

    Examples
    --------
    >>> decimal(7), len(decimal(10**5000))
    ('7', 5001)
    """
    chunk = 10**4000
    parts = []
    while number >= chunk:
        number, rest = divmod(number, chunk)
        parts.append(f"{rest:04000d}")
    return str(number) + "".join(reversed(parts))
