"""``invman laws``: what gradient flow conserves, whatever the data and the loss."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from invman.cli.options import Architecture, OneRegion, emit, write_json


def laws(
    arch: Architecture,
    /,
    *,
    degree: int = 2,
    check: bool = False,
    seed: int = 0,
    format: Literal["table", "json", "latex"] = "table",  # noqa: A002 - the name of the option
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    one_region: OneRegion = False,
) -> int:
    """Find the conserved quantities of an architecture: linear, quadratic and, on request, of a higher degree.

    Parameters
    ----------
    degree
        Search polynomials up to this degree.
    check
        Also follow a gradient flow numerically and report how well each law is conserved.
    seed
        Of the numerical check.
    format
        What is printed.
    output
        File to write instead of stdout.
    """
    from invman.architecture import read_architecture
    from invman.errors import InvmanError
    from invman.lattice.document import program_document
    from invman.report.table import laws_table
    from invman.symmetry.laws import find_laws

    if degree < 1:
        msg = f"option degree: got {degree}, expected a whole number of at least 1"
        raise InvmanError(msg)
    program = read_architecture(arch, one_region=one_region)
    found = find_laws(program, degree=degree)
    written = found.laws or ()
    document = {
        **program_document(program),
        "independent": found.independent,
        "method": found.method,
        "families": [
            {"name": f.name, "latex": f.latex, "text": f.text, "count": f.count, "independent": f.independent}
            for f in found.families
        ],
        "laws": None
        if found.laws is None
        else [{"degree": law.degree, "python": law.python(program), "latex": law.latex(program)} for law in written],
    }
    if check:
        from invman.flow.conservation import law_drift

        drifts = law_drift(program, written, seed=seed)
        document["check"] = {"seed": seed, "dtype": "float64", "largest_drift": max(drifts, default=0.0)}
    if format == "json":
        text = write_json(document)
    elif format == "latex":
        rows = [law.latex(program) for law in written] or [family.latex for family in found.families]
        text = "".join(f"\\[ {row} \\]\n" for row in rows)
    else:
        text = laws_table(document)
    emit(text, output)
    return 0
