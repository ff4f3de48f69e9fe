"""The classes of conjugate manifolds of a document, one row each, as the tables print them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from invman.report.document import SEVERITY, Document, Manifold, manifolds, verdict


@dataclass(frozen=True)
class ClassRow:
    """One class of conjugate manifolds.

    Attributes
    ----------
    id : str
        Id of the class.
    representative : Mapping
        Its first manifold.
    members : tuple of Mapping
        All its manifolds that the document lists.
    size : int
        How many manifolds are conjugate, those that the document does not list included.
    verdict : str
        The worst verdict of a member.
    normal, drift : float or None
        The largest numbers of a member, NaN counted as the largest; None when no member has any.
    """

    id: str
    representative: Manifold
    members: tuple[Manifold, ...]
    size: int
    verdict: str
    normal: float | None
    drift: float | None


def class_rows(document: Document) -> list[ClassRow]:
    """Gather the manifolds of a document by class, larger dimensions first, else in the order of the document."""
    groups: dict[str, list[Manifold]] = {}
    for manifold in manifolds(document):
        groups.setdefault(str(manifold["class"]), []).append(manifold)
    rows = [
        ClassRow(
            id=name,
            representative=members[0],
            members=tuple(members),
            size=max(len(members), *(int(member.get("orbit_size", 1)) for member in members)),
            verdict=max((verdict(member) for member in members), key=_severity),
            normal=_worst(members, "normal"),
            drift=_worst(members, "drift"),
        )
        for name, members in groups.items()
    ]
    return sorted(rows, key=lambda row: -row.representative["dimension"])


def one_line(text: object) -> str:
    """Write a reduced architecture on one line, the statements of a program parted by semicolons."""
    return "; ".join(" ".join(line.split()) for line in str(text or "").splitlines() if line.strip())


def _severity(name: str) -> int:
    return SEVERITY.index(name) if name in SEVERITY else len(SEVERITY)


def _worst(members: list[Manifold], key: str) -> float | None:
    values = [value for member in members if (value := (member.get("verdict") or {}).get(key)) is not None]
    numbers = [float(value) for value in values]
    if any(math.isnan(value) for value in numbers):
        return math.nan
    return max(numbers, default=None)
