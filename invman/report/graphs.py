"""The lattice as a graph for other programs: networkx, GraphML, Graphviz."""

from __future__ import annotations

import json
from typing import Any

import networkx as nx

from invman.report.document import Document, covers, manifolds, tooltip, verdict
from invman.report.text import abbreviate, clean
from invman.report.theme import origins


def graph(document: Document) -> nx.DiGraph:
    """Make the directed graph of a lattice document, an edge leading from the bigger manifold to the smaller.

    Every attribute is a text, an integer or a float: equations stand one a line, learning rates as JSON, an integer
    beyond 64 bits as its decimal text.

    Parameters
    ----------
    document : Mapping
        The lattice document.

    Returns
    -------
    networkx.DiGraph
        Nodes are the ids of the manifolds; the graph carries the facts of the document.
    """
    made = nx.DiGraph()
    for key in ("schema_version", "architecture", "program", "parameters", "family", "count", "classes"):
        if key in document:
            made.graph[key] = _scalar(document[key])
    order = (document.get("symmetry") or {}).get("order")
    if order is not None:
        made.graph["symmetry_order"] = clean(order)
    for manifold in manifolds(document):
        made.add_node(clean(manifold["id"]), **_attributes(manifold))
    made.add_edges_from((clean(bigger), clean(smaller)) for bigger, smaller in covers(document))
    return made


def graphml(document: Document) -> str:
    """Write the graph of a lattice document as GraphML, which `networkx.read_graphml` reads back.

    Parameters
    ----------
    document : Mapping
        The lattice document.

    Returns
    -------
    str
        The text of the file.
    """
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + "\n".join(nx.generate_graphml(graph(document))) + "\n"


def dot(document: Document) -> str:
    """Write the Hasse diagram of a lattice document for Graphviz, one rank a dimension.

    Parameters
    ----------
    document : Mapping
        The lattice document.

    Returns
    -------
    str
        The text of the file.
    """
    paints = origins(document)
    lines = [
        "digraph lattice {",
        f"  label={_label(document['architecture'])}; labelloc=t; rankdir=TB; ranksep=1;",
        '  node [shape=box, style="filled,rounded", fontname="monospace", fontsize=11, height=0.3];',
        '  edge [arrowhead=none, color="#8a97a8"];',
    ]
    by_dimension: dict[int, list[str]] = {}
    for manifold in manifolds(document):
        by_dimension.setdefault(manifold["dimension"], []).append(manifold["id"])
        paint = paints[str(manifold.get("origin", "unknown"))]
        colour = "#c81e1e" if verdict(manifold) == "not-invariant" else paint.stroke
        lines.append(
            f"  {_quote(manifold['id'])} [label={_label(abbreviate(manifold['name'], 60))}, "
            f'fillcolor="{paint.fill}", color="{colour}", tooltip={_label(tooltip(manifold))}];'
        )
    for dimension in sorted(by_dimension, reverse=True):
        members = " ".join(f"{_quote(name)};" for name in by_dimension[dimension])
        lines.append(f"  {{ rank=same; {members} }}")
    lines += [f"  {_quote(bigger)} -> {_quote(smaller)};" for bigger, smaller in covers(document)]
    return "\n".join([*lines, "}", ""])


def _attributes(manifold: Any) -> dict[str, str | int | float]:
    result = manifold.get("verdict") or {}
    values = {
        "name": manifold["name"],
        "class": manifold.get("class"),
        "dimension": manifold["dimension"],
        "orbit_size": manifold.get("orbit_size"),
        "origin": manifold.get("origin"),
        **_orbit(manifold.get("orbit")),
        "stabiliser_order": (manifold.get("stabiliser") or {}).get("order"),
        "equations": "\n".join(str(equation) for equation in manifold.get("equations") or []),
        "reduced": manifold.get("reduced"),
        "learning_rates": json.dumps(manifold["learning_rates"]) if manifold.get("learning_rates") else None,
        "verdict": verdict(manifold),
        "normal": result.get("normal"),
        "drift": result.get("drift"),
        "reason": result.get("reason"),
    }
    return {key: _scalar(value) for key, value in values.items() if value is not None}


def _orbit(orbit: Any) -> dict[str, object]:
    if not orbit:
        return {}
    return {
        "orbit_lower": orbit["lower"]["value"],
        "orbit_upper": orbit["upper"]["value"],
        "orbit_finding": orbit["finding"],
    }


def _scalar(value: object) -> str | int | float:
    if isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**63):
        return value
    return clean(value)


def _quote(text: object) -> str:
    """Quote an id for Graphviz."""
    return '"' + clean(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


def _label(text: object) -> str:
    """Quote a text that Graphviz shows: there a backslash and an ampersand have a meaning, and lines end with it."""
    plain = clean(text).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return '"' + plain.replace("\n", "\\n") + '"'
