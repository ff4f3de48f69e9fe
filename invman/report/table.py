"""Plain tables for a terminal: what was listed, and what a check found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from invman.report.classes import class_rows
from invman.report.document import Document, manifolds, whole
from invman.report.text import abbreviate, columns

WIDEST = 48
"""Columns of the widest cell."""


def aligned(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Lay out cells in columns, numbers to the right.

    Examples
    --------
    >>> print(aligned(["name", "dim"], [["free", 9], ["0=1", 6]]), end="")
    name  dim
    free    9
    0=1     6
    """
    cells = [list(header), *[[abbreviate(cell, WIDEST) for cell in row] for row in rows]]
    widths = [max(columns(line[column]) for line in cells) for column in range(len(header))]
    right = [bool(rows) and all(isinstance(row[column], int | float) for row in rows) for column in range(len(header))]
    lines = []
    for line in cells:
        padded = [
            " " * (width - columns(cell)) + cell if to_right else cell + " " * (width - columns(cell))
            for cell, width, to_right in zip(line, widths, right, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines) + "\n"


def headline(document: Document) -> str:
    """Say what the document is about: architecture, parameters, symmetry and counts."""
    factors = " x ".join(
        f"{'B' if factor['signs'] else 'S'}_{factor['size']}"
        f"{'^' + str(factor['copies']) if factor.get('copies', 1) > 1 else ''} on {factor['axis']}"
        for factor in document["symmetry"]["factors"]
    )
    return (
        f"{_title(document)}\n"
        f"{document['parameters']} parameters; symmetry of the hidden axes of order {document['symmetry']['order']}"
        f" ({factors or 'trivial'})\n"
        f"{document['count']} {document['family']} manifolds in {document['classes']} classes\n"
    )


def table(document: Document) -> str:
    """Print the manifolds of a document, one a line; only the headline where they were counted but not listed."""
    if "manifolds" not in document:
        return headline(document)
    listed = manifolds(document)
    leaves = [key for key in ("leaf_dimension", "frozen_dimension") if any(key in m for m in listed)]
    fixed = any("stabiliser" in m for m in listed)
    rows = [
        [
            *(m[key] for key in ["id", "name", "dimension", *leaves, "orbit_size"]),
            whole(m["stabiliser"]["order"]) if fixed else m["origin"],
            _reduced(m["reduced"]),
            *([m["reason"]] if leaves else []),
        ]
        for m in listed
    ]
    header = ["id", "name", "dim", *(key.removesuffix("_dimension") for key in leaves), "conjugates"]
    header += ["stabiliser" if fixed else "origin", "reduced", *(["reason"] if leaves else [])]
    return f"{headline(document)}{len(document['covers'])} covers\n\n{aligned(header, rows)}"


def summary(document: Document) -> str:
    """Print the classes of a verified document, one a line, and how they were checked."""
    rows = [
        [
            row.representative["name"],
            row.representative["dimension"],
            row.size,
            row.representative["origin"],
            _reduced(row.representative["reduced"]),
            row.verdict,
        ]
        for row in class_rows(document)
    ]
    header = ["class of", "dim", "size", "origin", "reduced", "worst verdict"]
    tail = check_line(document["check"]) if "check" in document else ""
    return f"{headline(document)}{len(document['covers'])} covers\n\n{aligned(header, rows)}\n{tail}"


def check_table(document: Document) -> str:
    """Print what a check found: one line a manifold, and the witness where one fails."""
    results = document["results"]
    header = ["manifold", "dim", "verdict", "normal", "flow drift", "descent drift"]
    rows = []
    for result in results:
        drift = result["drift"]
        numbers = [result["normal"], drift["gradient-flow"], drift["gradient-descent"]]
        rows.append([result["name"], result["dimension"], result["verdict"], *map(_number, numbers)])
    text = f"{document['architecture']}, {document['parameters']} parameters\n\n{aligned(header, rows)}\n"
    for result in results:
        if result["verdict"] != "invariant-in-test":
            text += f"{result['name']}: {result['verdict']}: {result['reason']}\n"
            text += "".join(f"  {line}\n" for line in _witness_lines(result.get("witness")))
    passed = sum(result["verdict"] == "invariant-in-test" for result in results)
    return f"{text}{check_line(document['check'])}{passed} of {len(results)} passed\n"


def check_line(check: Mapping[str, Any]) -> str:
    """Say how a check was made."""
    return (
        f"checked numerically, not proved: {check['dtype']}, seed {check['seed']}, {check['trials']} starts a "
        f"manifold, {check['steps']} steps of gradient descent, losses {', '.join(check['losses'])}\n"
    )


def _reduced(text: str | None) -> str:
    return "-" if text is None else "; ".join(text.splitlines())


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1e}"


def _witness_lines(witness: Mapping[str, Any] | None) -> list[str]:
    if not witness:
        return []
    lines = []
    for key, value in witness.items():
        if isinstance(value, Mapping):
            inner = ", ".join(f"{name}={_short(number)}" for name, number in value.items())
            lines.append(f"{key}: {abbreviate(inner, 110)}")
        elif isinstance(value, list):
            lines.append(f"{key}: {abbreviate('[' + ', '.join(map(_short, value)) + ']', 110)}")
        elif value is not None:
            lines.append(f"{key}: {_short(value)}")
    return ["witness:", *(f"  {line}" for line in lines)]


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def symmetry_table(document: Document) -> str:
    """Print the symmetry of an architecture: discrete factors, continuous factors, completeness."""
    discrete, continuous = document["discrete"], document["continuous"]
    lines = [
        _title(document),
        f"signed permutations of the {document['parameters']} parameters: a group of order {whole(document['order'])}",
    ]
    for factor in discrete["factors"]:
        power = f"^{factor['copies']}" if factor["copies"] > 1 else ""
        local = f", chosen anew for each {', '.join(factor['local_to'])}" if factor["local_to"] else ""
        lines.append(f"  {factor['group']}{power} permutes {factor['axis']}{local}")
    if discrete["sign_rank"]:
        lines.append(f"  {discrete['sign_rank']} independent sign changes")
        for factor in discrete["signs"]:
            where = f" along {', '.join(factor['axes'])}" if factor["axes"] else ""
            lines += [f"    of {', '.join(tensors)}{where}" for tensors in factor["tensors"]]
    lines.append(f"continuous group of dimension {whole(continuous['dimension'])}")
    for factor in continuous["factors"]:
        if "axis" in factor:
            power = f" x {factor['copies']}" if factor["copies"] > 1 else ""
            tensors = ", ".join(dict.fromkeys([*factor["covariant"], *factor["contravariant"]]))
            lines.append(
                f"  {factor['group']}{power} on {factor['axis']} ({tensors}): dimension {factor['dimension']:,}"
            )
        elif "tensors" in factor:
            reason = f"{', '.join(factor['tensors'])} ({factor['reason']})"
            lines.append(f"  {factor['group']} of {reason}: dimension {factor['dimension']:,}")
        else:
            lines.append(f"  {factor['group']}: dimension {factor['dimension']:,}")
    if document["affine"]:
        lines.append("isometries that also translate:")
        lines += [f"  {move}" for move in document["affine"]]
    lines += [f"proof: {document['proof']}"] if document["proof"] else []
    lines.append(f"completeness: {document['complete']}")
    lines += [f"symmetry not explained by the axes: {finding}" for finding in document["unexplained"]]
    return "\n".join(lines) + "\n"


def _title(document: Document) -> str:
    architecture = str(document["architecture"])
    region = " (on one activation region)" if document.get("one_region") else ""
    title = architecture if "\n" not in architecture else "architecture:\n  " + architecture.replace("\n", "\n  ")
    return title + region


def laws_table(document: Document) -> str:
    """Print the conserved quantities of an architecture: families in closed form, then law by law."""
    lines = [_title(document), f"{whole(document['independent'])} independent laws at a generic point"]
    for family in document["families"]:
        lines.append(f"  {family['name']}: {whole(family['count'])} laws, {whole(family['independent'])} independent")
        lines.append(f"    {family['text']}")
    lines += [f"  {law['python']}" for law in document["laws"] or ()]
    lines.append(f"found by: {document['method']}")
    if "check" in document:
        check = document["check"]
        drift = f"largest relative change {check['largest_drift']:.1e}"
        lines.append(f"along a gradient flow ({check['dtype']}, seed {check['seed']}): {drift}")
    return "\n".join(lines) + "\n"
