"""The Hasse diagram as one HTML page to explore: hover, pin, search, filter, pan and zoom; no network."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from invman.report.classes import class_rows
from invman.report.document import Document, covers, factor_lines, headline, manifolds, tooltip, verdict
from invman.report.layout import HEIGHT, arrange
from invman.report.svg import BAND, GUTTER, diagram, num
from invman.report.text import clean, xml
from invman.report.theme import MARKS, node_css, origins, verdicts

WIDTH, ASPECT = 1180.0, 1.36
"""Shape of the diagram beside the panel on an ordinary screen."""


def html(document: Document) -> str:
    """Make the page that shows a lattice document.

    Hovering a node lights its covers up and down, a click or Enter pins its details; a search box and three filters
    dim what does not match; wheel, drag and buttons zoom and move. The page obeys the light or dark preference of the
    reader and loads nothing: the diagram, the data, the style and the script are all in it.

    Parameters
    ----------
    document : Mapping
        The lattice document.

    Returns
    -------
    str
        The text of the file, the same for the same document.
    """
    layout = arrange(document, WIDTH, ASPECT)
    width, height = GUTTER + layout.width + BAND, layout.height + 2 * BAND
    boxes = {
        name: [round(box.centre, 1), round(box.y, 1), round(box.y + HEIGHT, 1), round(box.width, 1)]
        for name, box in layout.boxes.items()
    }
    data = {
        "manifolds": [
            {**manifold, "verdict_name": verdict(manifold), "text": tooltip(manifold)}
            for manifold in manifolds(document)
        ],
        "covers": covers(document),
        "classes": [[row.representative["id"], row.size] for row in class_rows(document)],
        "facts": headline(document),
        "symmetry": factor_lines(document),
        **{key: document[key] for key in ("architecture", "program", "check", "labels") if key in document},
        "boxes": boxes,
        "frame": [0, round(-BAND, 1), round(width, 1), round(height, 1)],
    }
    parts = {
        "TITLE": xml(document["architecture"]),
        "FACTS": "".join(f"<li>{xml(fact)}</li>" for fact in headline(document)),
        "STYLE": _asset("page.css"),
        "LIGHT": node_css(document),
        "DARK": node_css(document, dark=True),
        "LEGEND": _legend(document),
        "VIEWBOX": f"0 {num(-BAND)} {num(width)} {num(height)}",
        "DIAGRAM": diagram(document, layout, GUTTER, width - BAND, focusable=True),
        "DATA": embed(data),
        "SCRIPT": _asset("page.js"),
    }
    return re.sub("@@([A-Z]+)@@", lambda match: parts[match[1]], _asset("page.html"))


def embed(data: object) -> str:
    r"""Write data as JSON that is safe between ``<script>`` tags: no character there can end the element.

    Numbers that JSON does not know (infinities, NaN) become texts.

    Examples
    --------
    >>> embed({"name": "</script>", "drift": float("inf")})
    '{"name":"\\u003c/script\\u003e","drift":"inf"}'
    """
    text = json.dumps(_finite(data), separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(data: Any) -> Any:
    if isinstance(data, float) and not math.isfinite(data):
        return str(data)
    if isinstance(data, Mapping):
        return {clean(key): _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return clean(data) if isinstance(data, str) else data


def _legend(document: Document) -> str:
    items = [
        f'<li><svg width="18" height="14" class="origin-{index}">'
        f'<rect x=".7" y=".7" width="16.6" height="12.6" rx="4"/></svg>{xml(name)}</li>'
        for index, name in enumerate(origins(document))
    ]
    for name in verdicts(document):
        mark = f'<path class="mark" transform="translate(2,2)" d="{MARKS[name][0]}"/>' if name in MARKS else ""
        items.append(f'<li><svg width="14" height="14" class="{name if mark else ""}">{mark}</svg>{xml(name)}</li>')
    return "".join(items)


def _asset(name: str) -> str:
    return (files("invman.report") / "assets" / name).read_text(encoding="utf-8")
