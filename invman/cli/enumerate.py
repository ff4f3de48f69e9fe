"""``invman enumerate``: list or count the manifolds of an architecture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from invman.cli.options import Architecture, Budget, Classes, Family, OneRegion, Progress, emit, write_json


def enumerate_(
    arch: Architecture,
    /,
    *,
    family: Family = "condensed",
    classes: Classes = False,
    count: Annotated[bool, Parameter(negative="")] = False,
    format: Literal["table", "json", "latex"] = "table",  # noqa: A002 - the name of the option
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    budget: Budget = 250_000,
    one_region: OneRegion = False,
) -> int:
    """List the invariant manifolds of an architecture, or count them.

    Parameters
    ----------
    count
        Only count, exactly, at any width.
    format
        What is printed.
    output
        File to write instead of stdout.
    """
    from invman.architecture import read_architecture
    from invman.lattice import build_lattice, count_document, lattice_document, space_of
    from invman.report import latex
    from invman.report.table import table

    space = space_of(read_architecture(arch, one_region=one_region), family)
    document: dict[str, Any]
    progress = Progress("counting manifolds" if count else "listing manifolds")
    if count:
        document = count_document(space, budget=budget, progress=progress)
    else:
        document = lattice_document(build_lattice(space, classes=classes, budget=budget, progress=progress))
    progress.close()
    writer = {"json": write_json, "latex": latex, "table": table}[format]
    emit(writer(document), output)
    return 0
