"""``invman symmetry``: every transformation of the parameters that leaves the map unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from invman.cli.options import Architecture, OneRegion, emit, write_json


def symmetry(
    arch: Architecture,
    /,
    *,
    check: bool = True,
    format: Literal["table", "json"] = "table",  # noqa: A002 - the name of the option
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    one_region: OneRegion = False,
) -> int:
    """Find the discrete and the continuous symmetry of an architecture, without data.

    Permutations, signs, matrix groups, scalings and translations are found on the named axes, at any size, and compared
    with complete searches at a small one.

    Parameters
    ----------
    check
        Compare with complete searches at a small size.
    format
        What is printed.
    output
        File to write instead of stdout.
    """
    from invman.architecture import read_architecture
    from invman.lattice.document import program_document
    from invman.report.table import symmetry_table
    from invman.symmetry.document import findings_document
    from invman.symmetry.findings import find_all_symmetry

    program = read_architecture(arch, one_region=one_region)
    document = {**program_document(program), **findings_document(find_all_symmetry(program, check=check))}
    emit(write_json(document) if format == "json" else symmetry_table(document), output)
    return 0
