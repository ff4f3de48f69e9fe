"""The Hasse diagram as one SVG file that needs nothing else."""

from __future__ import annotations

from invman.report.document import Document, checked, covers, headline, manifolds, plural, tooltip, verdict
from invman.report.layout import COLUMN, FONT, HEIGHT, PADDING, Box, Layout, arrange
from invman.report.text import abbreviate, clean, columns, xml
from invman.report.theme import MARKS, node_class, node_css, origins, verdicts

GUTTER = 104.0
"""Width of the strip left of the diagram that holds the labels of the levels."""
BAND = 12.0
MARGIN = 28.0
MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
SANS = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"

_STYLE = f"""text{{font-family:{SANS};fill:#1f2733}}
.title{{font-family:{MONO};font-size:20px;font-weight:600}}
.facts{{font-size:13px;fill:#566172}}
.key text{{font-size:12px;fill:#566172}}
.band{{fill:#f6f8fa}}
.level{{font-size:13px;font-weight:600}}
.population{{font-size:11px;fill:#6b7686}}
.edges{{fill:none;stroke:#8a97a8;stroke-width:.8;stroke-opacity:.5}}
.node rect{{stroke-width:1.2}}
.node text{{font-family:{MONO};font-size:{FONT:g}px}}
.mark{{fill:none;stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round}}
"""


def svg(document: Document) -> str:
    """Draw the Hasse diagram of a lattice document as a standalone SVG.

    A level is a dimension, the largest at the top; every node carries a tooltip with its equations, dimension, number
    of conjugates, origin and verdict. The same document gives the same text, byte for byte.

    Parameters
    ----------
    document : Mapping
        The lattice document.

    Returns
    -------
    str
        The text of the file.
    """
    layout = arrange(document)
    title = abbreviate(document["architecture"], 72)
    facts = abbreviate("  ·  ".join(headline(document)), 150)
    inner = max(GUTTER + layout.width, columns(title) * 12.1, columns(facts) * 7.6, 420.0)
    legend, legend_height = _legend(document, inner)
    top = 62.0 + legend_height + 2 * BAND
    width, height = inner + BAND + 2 * MARGIN, top + layout.height + BAND + 2 * MARGIN
    left = GUTTER + (inner - GUTTER - layout.width) / 2
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {num(width)} {num(height)}" '
            f'width="{num(width)}" height="{num(height)}" role="img">',
            f"<title>{xml(document['architecture'])}: lattice of invariant manifolds</title>",
            f"<style>{_STYLE}{node_css(document)}</style>",
            '<rect width="100%" height="100%" fill="#fff"/>',
            f'<g transform="translate({num(MARGIN)},{num(MARGIN)})">',
            f'<text class="title" y="18">{xml(title)}</text>',
            f'<text class="facts" y="42">{xml(facts)}</text>',
            f'<g class="key" transform="translate(0,62)">{legend}</g>',
            f'<g transform="translate(0,{num(top)})">',
            diagram(document, layout, left, inner),
            "</g></g>",
            "</svg>",
            "",
        ]
    )


def diagram(document: Document, layout: Layout, left: float, width: float, focusable: bool = False) -> str:
    """Draw the levels, edges and nodes, without frame or style.

    Parameters
    ----------
    document : Mapping
        The lattice document.
    layout : Layout
        Where its nodes stand.
    left, width : float
        Where the layout begins, and how far the strips of the levels reach.
    focusable : bool
        Let the keyboard reach the nodes.
    """
    return "\n".join(
        [
            *_levels(layout, width),
            f'<g transform="translate({num(left)},0)">',
            '<g class="edges">',
            *_edges(document, layout),
            "</g>",
            '<g class="lit"></g>' if focusable else "",
            '<g class="nodes">',
            *_nodes(document, layout, focusable),
            "</g></g>",
        ]
    )


def num(value: float) -> str:
    """Write a coordinate with at most one decimal.

    Examples
    --------
    >>> num(12.04), num(3.25)
    ('12', '3.2')
    """
    return f"{value:.1f}".removesuffix(".0")


def _levels(layout: Layout, width: float) -> list[str]:
    lines = []
    for level in layout.levels:
        top, middle = level.top - BAND, (level.top + level.bottom) / 2
        lines += [
            f'<rect class="band" x="0" y="{num(top)}" width="{num(width + BAND)}" '
            f'height="{num(level.bottom - top + BAND)}" rx="8"/>',
            f'<text class="level" x="12" y="{num(middle - 1)}">dim {level.dimension}</text>',
            f'<text class="population" x="12" y="{num(middle + 13)}">{plural(level.count, "manifold")}</text>',
        ]
    return lines


def _edges(document: Document, layout: Layout) -> list[str]:
    """Draw all covers below one manifold as one path."""
    below: dict[str, list[str]] = {}
    for bigger, smaller in covers(document):
        below.setdefault(bigger, []).append(smaller)
    lines = []
    for bigger, others in below.items():
        start = layout.boxes[bigger]
        path = "".join(_segment(start, layout.boxes[smaller]) for smaller in others)
        lines.append(f'<path data-from="{xml(bigger)}" d="{path}"/>')
    return lines


def _segment(upper: Box, lower: Box) -> str:
    return f"M{num(upper.centre)} {num(upper.y + HEIGHT)}L{num(lower.centre)} {num(lower.y)}"


def _nodes(document: Document, layout: Layout, focusable: bool) -> list[str]:
    paints = list(origins(document))
    by_id = {manifold["id"]: manifold for manifold in manifolds(document)}
    reach = ' tabindex="0" role="button"' if focusable else ""
    marked = checked(document)
    lines = []
    for name, box in layout.boxes.items():
        manifold = by_id[name]
        result = verdict(manifold)
        known = result in MARKS and marked
        style = node_class(paints, str(manifold.get("origin", "unknown")), result)
        label = f' aria-label="{xml(manifold["name"])}, dimension {manifold["dimension"]}"' if focusable else ""
        length = columns(box.label) * COLUMN
        mark = f'<path class="mark" transform="translate({num(PADDING)},7)" d="{MARKS[result][0]}"/>' if known else ""
        lines.append(
            f'<g class="node {style}" data-id="{xml(name)}"{reach}{label} '
            f'transform="translate({num(box.x)},{num(box.y)})"><title>{xml(tooltip(manifold))}</title>'
            f'<rect width="{num(box.width)}" height="{num(box.height)}" rx="5"/>'
            f'{mark}<text x="{num(box.width - PADDING - length)}" y="16" textLength="{num(length)}" '
            f'lengthAdjust="spacingAndGlyphs">{xml(box.label)}</text></g>'
        )
    return lines


def _legend(document: Document, width: float) -> tuple[str, float]:
    """Draw the key of origins and verdicts, wrapped to the width; give it with its height."""
    entries = [
        (f'<g class="node origin-{index}"><rect width="18" height="14" rx="4"/></g>', name)
        for index, name in enumerate(origins(document))
    ]
    for name in verdicts(document):
        mark = f'<path class="mark" transform="translate(4,2)" d="{MARKS[name][0]}"/>' if name in MARKS else ""
        sample = '<rect width="18" height="14" rx="4" style="fill:none;stroke-width:0"/>'
        entries.append((f'<g class="node {xml(name) if mark else ""}">{sample}{mark}</g>', name))
    x, y, parts = 0.0, 0.0, []
    for sample, full_name in entries:
        name = abbreviate(clean(full_name), 48)
        length = 26 + columns(name) * 6.9 + 22
        if x and x + length > width:
            x, y = 0.0, y + 22
        parts.append(
            f'<g transform="translate({num(x)},{num(y)})">{sample}<text x="25" y="11.5">{xml(name)}</text></g>'
        )
        x += length
    return "".join(parts), y + 22
