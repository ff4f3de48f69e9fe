"""Colours and marks of the drawings: the fill of a node tells its origin, the mark its verdict."""

from __future__ import annotations

from dataclasses import dataclass

from invman.report.document import SEVERITY, UNCHECKED, Document, verdict


@dataclass(frozen=True)
class Paint:
    """Fill and stroke of one origin, on a light and on a dark page."""

    fill: str
    stroke: str
    dark_fill: str
    dark_stroke: str


_KNOWN = {
    "symmetry-induced": Paint("#e4eefc", "#5b8ccf", "#1d3352", "#5f93d8"),
    "dead-neuron": Paint("#eceef1", "#8b939e", "#2d333b", "#838d99"),
    "not symmetry-induced": Paint("#f7ecdf", "#b98a4e", "#3d2f1d", "#c79a5e"),
}
_OTHERS = (
    Paint("#efe6fa", "#8e6cc2", "#362851", "#9f80d4"),
    Paint("#dcf2ee", "#3b9a8d", "#153d38", "#46aa9c"),
    Paint("#fbe6f0", "#c2639a", "#4a2038", "#cf76a8"),
    Paint("#f6f0d3", "#a8923a", "#3d3715", "#b7a24c"),
)

MARKS = {
    "invariant-in-test": ("M0 5.2 3.4 8.6 9.4 1.6", "#15803d", "#4ade80"),
    "unchecked": ("M1.6 5H7.6", "#7b8794", "#8b97a5"),
    "inconclusive": ("M2 3.2C2 .2 7.6.2 7.6 3.2 7.6 5.2 4.8 5 4.8 7.2M4.8 9.6V9.8", "#b45309", "#fbbf24"),
    "not-invariant": ("M1 1.4 8.4 8.8M8.4 1.4 1 8.8", "#c81e1e", "#f87171"),
}
"""Verdict -> its mark (a path in a 10 by 10 box), its colour on a light and on a dark page."""


def origins(document: Document) -> dict[str, Paint]:
    """Give each origin that occurs its paint, the known origins first, the others in alphabetical order."""
    found = {str(manifold.get("origin", "unknown")) for manifold in document["manifolds"]}
    paints = {name: paint for name, paint in _KNOWN.items() if name in found}
    for index, name in enumerate(sorted(found - set(_KNOWN))):
        paints[name] = _OTHERS[index % len(_OTHERS)]
    return paints


def verdicts(document: Document) -> list[str]:
    """Give the verdicts that occur, the best first; empty when nothing was checked."""
    found = {verdict(manifold) for manifold in document["manifolds"]}
    if found <= {UNCHECKED}:
        return []
    return [name for name in SEVERITY if name in found] + sorted(found - set(SEVERITY))


def node_css(document: Document, scope: str = "", dark: bool = False) -> str:
    """Write the style rules of the nodes of one document.

    Parameters
    ----------
    document : Mapping
        The lattice document.
    scope : str
        Put before every selector, such as ``"svg "``.
    dark : bool
        Use the colours for a dark page.
    """
    rules = []
    for index, paint in enumerate(origins(document).values()):
        fill, stroke = (paint.dark_fill, paint.dark_stroke) if dark else (paint.fill, paint.stroke)
        rules.append(f"{scope}.origin-{index} rect{{fill:{fill};stroke:{stroke}}}")
    for name, (_, light_colour, dark_colour) in MARKS.items():
        colour = dark_colour if dark else light_colour
        rules.append(f"{scope}.{name} .mark{{stroke:{colour}}}")
        if name in ("inconclusive", "not-invariant"):
            dash = ";stroke-dasharray:4 3" if name == "inconclusive" else ""
            rules.append(f"{scope}.{name} rect{{stroke:{colour};stroke-width:2{dash}}}")
    return "\n".join(rules)


def node_class(document_origins: list[str], origin: str, verdict_name: str) -> str:
    """Name the style classes of a node with this origin and verdict."""
    known = f" {verdict_name}" if verdict_name in MARKS else ""
    return f"origin-{document_origins.index(origin)}{known}"
