"""The report that a reader opens first: what the network is, what was found, how it was checked."""

from __future__ import annotations

import re
from collections.abc import Mapping

from invman.report.classes import class_rows, one_line
from invman.report.document import (
    INVARIANT,
    Document,
    checked,
    interval,
    manifolds,
    number,
    plural,
    reason,
    verdict,
    whole,
)
from invman.report.text import clean

_MEANING = (
    "A manifold is *invariant-in-test* when, at every sampled point of it and under every loss and optimiser listed "
    "above, the update pointed along the manifold and training stayed on it up to rounding. `normal` is the largest "
    "component of the update that leaves the manifold, `drift` the largest distance from it after the steps. "
    "This is a numerical check at sampled points: it is not a proof."
)


def markdown(document: Document) -> str:
    """Write the report of a lattice document in Markdown.

    Parameters
    ----------
    document : Mapping
        The lattice document.

    Returns
    -------
    str
        The text of ``report.md``: architecture, symmetry group, table of classes, check, and every manifold that is not
        invariant in the test.
    """
    sections = [
        [f"# Invariant manifolds of {_code(document['architecture'])}"],
        _architecture(document),
        _symmetry(document),
        _classes(document),
        _check(document),
        _exceptions(document),
    ]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _architecture(document: Document) -> list[str]:
    program = clean(document.get("program") or document["architecture"])
    fence = "`" * max(3, _longest_run(program) + 1)
    return [
        "## Architecture",
        "",
        f"{fence}text",
        program,
        fence,
        "",
        f"It has {plural(document['parameters'], 'parameter')}. "
        f"The family `{clean(document.get('family', 'unknown'))}` holds "
        f"{plural(document.get('count', len(document['manifolds'])), 'manifold')} in "
        f"{plural(document.get('classes', 0), 'class', 'classes')} of conjugates, "
        f"joined by {plural(len(document['covers']), 'cover')}.",
        *_labels(document.get("labels") or {}),
    ]


def _labels(labels: Mapping[str, object] | list[object]) -> list[str]:
    """Write the labels of the architecture, which say under what restriction the results hold."""
    if isinstance(labels, Mapping):
        lines = [f"- {_plain(key)}: {_plain(value)}" for key, value in labels.items()]
    else:
        lines = [f"- {_plain(label)}" for label in labels]
    return ["", *lines] if lines else []


def _symmetry(document: Document) -> list[str]:
    symmetry = document.get("symmetry") or {}
    if "order" not in symmetry:
        return []
    lines = ["## Symmetry group", "", f"Order {whole(symmetry['order'])}."]
    factors = [factor for factor in symmetry.get("factors") or [] if isinstance(factor, Mapping)]
    if factors:
        # a column that says nothing of any factor is left out
        keys = list(dict.fromkeys(key for factor in factors for key in factor if factor[key] != []))
        lines += ["", *_table(keys, [[_plain(factor.get(key, "")) for key in keys] for factor in factors])]
    return lines


def _classes(document: Document) -> list[str]:
    rows = []
    certified = all(manifold.get("orbit") for manifold in manifolds(document))
    for row in class_rows(document):
        first = row.representative
        rows.append(
            [
                _cell_code(first["name"]),
                str(first["dimension"]),
                whole(row.size),
                _plain(first.get("origin", "unknown")),
                _cell_code(one_line(first.get("reduced"))),
                *([interval(first["orbit"])] if certified else []),
                *([_plain(row.verdict), number(row.normal), number(row.drift)] if checked(document) else []),
            ]
        )
    head = ["representative", "dimension", "size", "origin", "trains like"]
    head += ["generic orbit"] if certified else []
    head += ["worst verdict", "worst normal", "worst drift"] if checked(document) else []
    return ["## Classes", "", "One row a class of conjugate manifolds.", "", *_table(head, rows)]


def _check(document: Document) -> list[str]:
    lines = ["## How it was checked", ""]
    if not checked(document):
        return [*lines, "Nothing was checked numerically; `invman verify` does it."]
    facts = document.get("check") or {}
    for key, value in facts.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        lines.append(f"- {_plain(key)}: {_plain(shown)}")
    return [*lines, *([""] if facts else []), _MEANING]


def _exceptions(document: Document) -> list[str]:
    if not checked(document):
        return []
    lines = ["## Manifolds that are not invariant in the test", ""]
    others = [manifold for manifold in manifolds(document) if verdict(manifold) != INVARIANT]
    lines += [
        f"- {_code(manifold['name'])} (dimension {manifold['dimension']}): {_plain(reason(manifold))}"
        for manifold in others
    ]
    return lines if others else [*lines, f"None: all {whole(len(document['manifolds']))} are invariant-in-test."]


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    numeric = {"dimension", "size", "worst normal", "worst drift", "order", "signs"}
    rule = ["---:" if title in numeric else "---" for title in head]
    return ["| " + " | ".join(cells) + " |" for cells in ([_plain(title) for title in head], rule, *rows)]


def _plain(text: object) -> str:
    """Escape a text so that Markdown shows it as it is."""
    return re.sub(r"([\\`*_\[\]<>&|~$])", r"\\\1", " ".join(clean(text).split()))


def _code(text: object) -> str:
    """Write a code span whose fence is longer than any run of backticks in it."""
    line = " ".join(clean(text).split())
    if not line:
        return ""
    fence = "`" * (_longest_run(line) + 1)
    pad = " " if "`" in line else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _cell_code(text: object) -> str:
    """Write a code span for a table, where a pipe would end the cell."""
    return _code(text).replace("|", "\\|")


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
