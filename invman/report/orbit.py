"""The certificate of an orbit as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


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
        text = f"rank {numerical['rank']} by order {profile}, {gap}; no proof"
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
        text += f"; chance of an error below {bound['error']:.0e}"
    return text
