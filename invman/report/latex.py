"""The table of classes in LaTeX, without any package."""

from __future__ import annotations

from collections.abc import Callable

from invman.report.classes import ClassRow, class_rows, one_line
from invman.report.document import Document, checked, headline, number
from invman.report.text import clean

ROWS = 30
"""Rows of one tabular; more rows begin another, so that pages can break between them."""

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\ensuremath{<}",
    ">": r"\ensuremath{>}",
    "|": r"\ensuremath{|}",
    '"': r"{\tt\char34}",
    "`": r"{}`{}",
    "'": r"'{}",
    "·": r"\ensuremath{\cdot}",
    "×": r"\ensuremath{\times}",
    "≈": r"\ensuremath{\approx}",
    "–": r"\textendash{}",
    "…": r"\ldots{}",
}


def latex(document: Document) -> str:
    r"""Write the classes of a lattice document as plain LaTeX tabulars, to be read with ``\input`` in any article.

    Parameters
    ----------
    document : Mapping
        The lattice document.

    Returns
    -------
    str
        The text of the file: a line of facts, then a row a class. It needs no package.
    """
    facts = ", ".join(_escape(fact) for fact in headline(document))
    lines = [
        "% Written by invman; read it with \\input in a document of any class.",
        f"\\noindent Architecture {_code(document['architecture'])}: {facts}.",
        "",
    ]
    rows = class_rows(document)
    for start in range(0, len(rows), ROWS):
        lines += _tabular(rows[start : start + ROWS], checked(document))
    if checked(document):
        lines.append("\\noindent{\\footnotesize A verdict is a numerical check at sampled points, not a proof.}")
    return "\n".join(lines) + "\n"


def _tabular(rows: list[ClassRow], with_verdict: bool) -> list[str]:
    """Write one tabular: columns of short texts are as wide as they need, the others break their lines."""
    first = [row.representative for row in rows]
    columns = [
        _column("representative", [str(one["name"]) for one in first], 0.24, _code),
        ("r", ["dim", *(str(one["dimension"]) for one in first)]),
        ("r", ["size", *(str(row.size) for row in rows)]),
        _column("origin", [str(one.get("origin", "unknown")) for one in first], 0.13, _escape),
        _column("trains like", [one_line(one.get("reduced")) for one in first], 0.2, _code),
    ]
    if with_verdict:
        columns += [
            _column("worst verdict", [row.verdict for row in rows], 0.14, _escape),
            ("r", ["normal", *(_escape(number(row.normal)) for row in rows)]),
            ("r", ["drift", *(_escape(number(row.drift)) for row in rows)]),
        ]
    form = "".join(form for form, _ in columns)
    title, *cells = [
        " & ".join(row) + " \\tabularnewline" for row in zip(*(texts for _, texts in columns), strict=True)
    ]
    return [
        "\\par\\medskip",
        "{\\footnotesize\\setlength{\\tabcolsep}{3pt}\\noindent",
        f"\\begin{{tabular}}{{@{{}}{form}@{{}}}}",
        "\\hline",
        title,
        "\\hline",
        *cells,
        "\\hline",
        "\\end{tabular}\\par}",
    ]


def _column(title: str, texts: list[str], share: float, write: Callable[[object], str]) -> tuple[str, list[str]]:
    """Give the form of a column and its cells, the title first; `share` is its part of the line when it must break."""
    if max(map(len, texts)) <= 80 * share:
        return "l", [title, *map(write, texts)]
    return f"p{{{share}\\linewidth}}", [title, *(f"\\raggedright {_breakable(write(text))}" for text in texts)]


def _escape(text: object) -> str:
    """Escape a text for LaTeX; a character beyond ASCII without a LaTeX name is written as its code point."""
    shown = []
    for character in " ".join(clean(text).split()):
        if character in _SPECIAL:
            shown.append(_SPECIAL[character])
        else:
            shown.append(character if character.isascii() else f"{{U+{ord(character):04X}}}")
    return "".join(shown).replace("--", "-{}-{}")  # two hyphens would become a dash


def _code(text: object) -> str:
    return f"\\texttt{{{_escape(text)}}}"


def _breakable(text: str) -> str:
    """Let an escaped text break after a comma, slash, semicolon or equality sign."""
    for mark in (",", "/", ";", "="):
        text = text.replace(mark, mark + "\\allowbreak{}")
    return text
