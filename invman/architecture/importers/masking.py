"""The softmax over what a constant mask leaves: causal where the mask is, else the quotient written out."""

from __future__ import annotations

import numpy as np

from invman.architecture.importers import algebra
from invman.architecture.importers.nodes import Mask, Masked
from invman.architecture.program import Add, Expr, Softmax


def masked_softmax(axes: tuple[str, ...], body: Expr) -> Expr | None:
    """Return the softmax of a body in which some entries are minus infinity, or None when none are.

    A mask that keeps the entries ``axis <= until`` gives ``softmax[axis<=until]``; any other mask m gives
    ``m*exp(u) / sum(m*exp(u))``.
    """
    masks: list[Mask] = []
    terms: list[Expr] = []
    for term in body.terms if type(body) is Add else (body,):
        while isinstance(term, Masked) and isinstance(term.factors[1], Mask):
            masks.append(term.factors[1])
            term = term.factors[0]
        terms.append(term)
    if not masks:
        return None
    clean = algebra.add(*terms)
    if len(axes) == 1 and len(set(masks)) == 1 and (until := causal(masks[0], axes[0])) is not None:
        return Softmax(axes[0], clean, until)
    return algebra.quotient(axes, algebra.mul(algebra.apply("exp", clean), *dict.fromkeys(masks)))


def causal(mask: Mask, axis: str) -> str | None:
    """Return the axis t when the mask keeps exactly the entries with ``axis <= t``, else None."""
    names = [index.axis for index in mask.indices]
    if len(names) != 2 or axis not in names or None in names:
        return None
    place = names.index(axis)
    until = names[1 - place]
    table = mask.values if place == 1 else mask.values.T
    limit, position = np.indices(table.shape)
    return until if np.array_equal(table != 0, position <= limit) else None


def keeps(expr: Expr, mask: Mask) -> bool:
    """Tell whether an expression is 0, or still minus infinity, wherever the mask is 0."""
    match expr:
        case Softmax(axis, _, until):
            return until is not None and causal(mask, axis) == until
        case Masked():
            return expr.factors[1] == mask or keeps(expr.factors[0], mask)
        case Add(terms):
            return any(isinstance(term, Masked) and keeps(term, mask) for term in terms)
    return algebra.is_apply(expr, "exp") and keeps(expr.argument, mask)  # type: ignore[union-attr]
