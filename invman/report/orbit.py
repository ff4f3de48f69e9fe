"""The certificate of an orbit as text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from invman.report.document import interval
from invman.report.text import abbreviate


def orbit_text(document: Mapping[str, Any]) -> str:
    """Write the certificate of an orbit as aligned lines.

    Parameters
    ----------
    document : mapping
        With ``architecture``, ``parameters``, ``one_region`` and ``orbit``, a document of a certificate.
    """
    orbit, size = document["orbit"], document["parameters"]
    lower, upper = orbit["lower"], orbit["upper"]
    where = f"a generic point of {orbit['place']}" if orbit["place"] is not None else "one point"
    found = f"{lower['value']}, exact" if orbit["exact"] else f"from {lower['value']} to {upper['value']}, not decided"
    lines = [
        ("architecture", f"{document['architecture']} ({size} parameters)".replace("\n", "; ")),
        ("point", f"{where}, seed {orbit['seed']}"),
        ("dimension", f"{found}, of {size}"),
        (f"at least {lower['value']}", _bound(lower)),
        (f"at most {upper['value']}", _bound(upper)),
        ("by order", " ".join(map(str, orbit["profile"])) or "-"),
    ]
    numerical = orbit["numerical"]
    if numerical is not None:
        profile = " ".join(map(str, numerical["profile"]))
        gap = "no gap, full rank" if numerical["gap"] is None else f"gap {numerical['gap']:.1e}"
        text = f"rank {numerical['rank']} by order {profile}, {gap}; no proof: it ends where an order adds nothing"
        lines.append(("in floats", text))
    if document["one_region"]:
        lines.append(("note", "the lower bound holds at this point, the upper one in every activation region"))
    width = max(len(name) for name, _ in lines)
    return "".join(f"{name:<{width}}  {text}\n" for name, text in lines)


def _bound(bound: Mapping[str, Any]) -> str:
    text = bound["method"]
    if bound["manifold"] is not None:
        text += f" ({bound['manifold']})"
    text += f"; {bound['arithmetic']}"
    if bound["error"]:
        text += f"; chance of an error below {_ceiling(bound['error'])}"
    return text


def _ceiling(value: float) -> str:
    """Write a positive number with one digit, rounded up."""
    exponent = math.floor(math.log10(value))
    return f"{math.ceil(value / 10.0**exponent):.0f}e{exponent}"


def certify_text(document: Mapping[str, Any]) -> str:
    """Write the orbits of all classes of manifolds as a table, then what they say of the theory.

    Parameters
    ----------
    document : mapping
        A document of ``invman certify``.
    """
    head = ("representative", "manifolds", "dimension", "leaf", "orbit", "origin", "finding")
    rows: list[tuple[str, ...]] = [head]
    notes: list[str] = []
    for entry in document["classes"]:
        orbits = entry["orbits"]
        leaves = _joined("-" if o["leaf_dimension"] is None else str(o["leaf_dimension"]) for o in orbits)
        findings = _joined(o["finding"] for o in orbits)
        sizes = _joined(interval(o) for o in orbits)
        name, counts = entry["representative"], (str(entry["manifolds"]), str(entry["dimension"]))
        rows.append((abbreviate(name, 48), *counts, leaves, sizes, entry["origin"], findings))
        notes += [
            f"{o['finding']} at seed {o['seed']} on {name}: {interval(o)} of leaf {o['leaf_dimension']}, "
            f"point [{', '.join(o['point'])}]"
            for o in orbits
            if o["finding"] in ("violation", "undecided")
        ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    total = document["manifolds"]
    lines += ["", f"exact on {document['exact']} of {total} manifolds of the family {document['family']}"]
    lines.append(f"symmetry-induced: {document['symmetry_induced']} of {total}")
    lines.append(f"foliated, orbits being smaller than the manifold: {document['foliated']} of {total}")
    lines.append(_theorem(document))
    return "\n".join([*lines, *notes]) + "\n"


def _joined(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(texts))


def _theorem(document: Mapping[str, Any]) -> str:
    found = {orbit["finding"] for entry in document["classes"] for orbit in entry["orbits"]}
    if found <= {"leaf"}:
        return "every generic orbit is the leaf of its coarsest balanced partition"
    reasons = sorted(found - {"leaf", "no leaf"})
    if not reasons:
        return "no leaf is known to compare with: the architecture is not fully connected"
    return f"orbits that are not a whole leaf: {', '.join(reasons)}"
