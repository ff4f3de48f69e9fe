"""What the writers of this room read of a lattice document: its manifolds, covers and headline, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from invman.errors import DataError

Document = Mapping[str, Any]
"""A lattice document: a JSON-able mapping with the keys ``manifolds`` and ``covers`` and a few facts beside them."""

Manifold = Mapping[str, Any]
"""One entry of ``document["manifolds"]``."""

UNCHECKED = "unchecked"
INVARIANT = "invariant-in-test"
SEVERITY = (INVARIANT, UNCHECKED, "inconclusive", "not-invariant")
"""The verdicts, from the best to the worst; a manifold without one is ``unchecked``."""


def manifolds(document: Document) -> list[Manifold]:
    """Give the manifolds of a document in its own order.

    Raises
    ------
    DataError
        If two manifolds carry the same id.
    """
    found = list(document["manifolds"])
    seen: set[str] = set()
    for manifold in found:
        if manifold["id"] in seen:
            raise DataError(
                f"lattice document: got the id {manifold['id']!r} twice, expected one manifold an id. "
                "Write the document anew with `invman lattice`."
            )
        seen.add(manifold["id"])
    return found


def covers(document: Document) -> list[tuple[str, str]]:
    """Give the covers of a document as pairs of ids, the bigger manifold first.

    Raises
    ------
    DataError
        If a cover names an id that no manifold carries.
    """
    known = {manifold["id"] for manifold in document["manifolds"]}
    pairs = [(bigger, smaller) for bigger, smaller in document["covers"]]
    for pair in pairs:
        for name in pair:
            if name not in known:
                raise DataError(
                    f"lattice document: got a cover {list(pair)} with the unknown id {name!r}, "
                    "expected ids of its manifolds. Write the document anew with `invman lattice`."
                )
    return pairs


def verdict(manifold: Manifold) -> str:
    """Give the verdict of one manifold, ``unchecked`` when it has none."""
    return str((manifold.get("verdict") or {}).get("verdict") or UNCHECKED)


def checked(document: Document) -> bool:
    """Tell whether any manifold of the document carries a verdict."""
    return any(verdict(manifold) != UNCHECKED for manifold in document["manifolds"])


def number(value: object) -> str:
    """Write a number of a verdict with two digits; what is missing is a dash.

    Examples
    --------
    >>> number(1.2345e-16), number(0.0), number(None)
    ('1.2e-16', '0', '–')
    """
    if isinstance(value, float):
        return f"{value:.1e}" if value and math.isfinite(value) else f"{value:g}"
    return "–" if value is None else str(value)


def whole(value: object) -> str:
    """Write an exact integer (or its decimal text) with grouped digits, a very long one by its leading digits.

    Examples
    --------
    >>> whole("10321920"), whole(str(10**30))
    ('10,321,920', '≈ 1.00e30')
    """
    digits = str(value)
    if not digits.isascii() or not digits.isdigit():
        return digits
    if len(digits) <= 18:
        return f"{int(digits):,}"
    return f"≈ {digits[0]}.{digits[1:3]}e{len(digits) - 1}"


def headline(document: Document) -> list[str]:
    """Give the facts of the title line: parameters, manifolds, classes, order of the symmetry group, family."""
    order = (document.get("symmetry") or {}).get("order")
    facts = [
        f"D = {whole(document['parameters'])}",
        plural(document.get("count", len(document["manifolds"])), "manifold"),
        plural(document.get("classes", 0), "class", "classes"),
    ]
    if order is not None:
        facts.append(f"symmetry group of order {whole(order)}")
    if document.get("family"):
        facts.append(f"family {document['family']}")
    return facts


def plural(count: object, one: str, many: str = "") -> str:
    """Write a count with its noun."""
    return f"{whole(count)} {one if str(count) == '1' else many or one + 's'}"


def factor_lines(document: Document) -> list[str]:
    """Describe each factor of the symmetry group in one line."""
    lines = []
    for factor in (document.get("symmetry") or {}).get("factors") or []:
        rest = ", ".join(f"{key} {factor[key]}" for key in factor if key not in ("axis", "order"))
        order = f", order {whole(factor['order'])}" if "order" in factor else ""
        lines.append(f"axis {factor.get('axis', '?')}: {rest}{order}")
    return lines


def reason(manifold: Manifold) -> str:
    """Write the verdict of one manifold with its numbers and its reason."""
    given = manifold.get("verdict") or {}
    parts = [verdict(manifold)]
    if given:
        parts.append(f"(normal {number(given.get('normal'))}, drift {number(given.get('drift'))})")
    if given.get("reason"):
        parts.append(str(given["reason"]))
    return " ".join(parts)


def leaf_lines(manifold: Manifold) -> list[str]:
    """Write the dimensions of a balanced manifold and why it is, in two lines; none for other manifolds."""
    if "leaf_dimension" not in manifold:
        return []
    dimensions = f"leaf dimension {manifold['leaf_dimension']}, frozen dimension {manifold['frozen_dimension']}"
    return [dimensions, str(manifold["reason"])]


def interval(orbit: Mapping[str, Any]) -> str:
    """Write the dimension of an orbit, or the interval that holds it."""
    lower, upper = orbit["lower"]["value"], orbit["upper"]["value"]
    return str(lower) if lower == upper else f"{lower} to {upper}"


def orbit_line(manifold: Manifold) -> str:
    """Write how large the generic orbit of a manifold is proved to be; empty where it was not asked for."""
    orbit = manifold.get("orbit")
    if not orbit:
        return ""
    size = f"dimension {interval(orbit)}{', exact' if orbit['exact'] else ''}"
    filled = {True: "a continuum of orbits fills the manifold", False: "open in the manifold", None: "undecided"}
    return f"generic orbit: {size}; {filled[orbit['foliated']]}"


def _stabiliser_lines(manifold: Manifold) -> list[str]:
    order = (manifold.get("stabiliser") or {}).get("order")
    return [] if order is None else [f"fixed by a group of order {whole(order)}"]


def tooltip(manifold: Manifold, limit: int = 12) -> str:
    """Write the short description of one manifold: name, dimension, conjugates, origin, verdict, equations.

    Parameters
    ----------
    manifold : Mapping
        One manifold of a document.
    limit : int
        How many equations are written out; the rest are counted.
    """
    equations = [str(equation) for equation in manifold.get("equations") or []]
    lines = [
        str(manifold["name"]),
        f"dimension {manifold['dimension']}, {plural(manifold.get('orbit_size', 1), 'conjugate')}",
        *leaf_lines(manifold),
        f"origin: {manifold.get('origin', 'unknown')}",
        *_stabiliser_lines(manifold),
        *filter(None, [orbit_line(manifold)]),
        f"verdict: {reason(manifold)}",
        *(equations[:limit] or ["no equation"]),
    ]
    if len(equations) > limit:
        lines.append(f"… and {plural(len(equations) - limit, 'equation')} more")
    return "\n".join(lines)
