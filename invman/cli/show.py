"""``invman show``: an architecture as it was understood."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from invman.cli.options import Architecture, OneRegion, emit, write_json


def show(
    arch: Architecture,
    /,
    *,
    format: Literal["table", "json", "latex"] = "table",  # noqa: A002 - the name of the option
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    one_region: OneRegion = False,
) -> int:
    """Print an architecture as a program, its parameters with their shapes, and its map in LaTeX.

    Parameters
    ----------
    format
        What is printed.
    output
        File to write instead of stdout.
    """
    from invman.architecture import read_architecture
    from invman.architecture.latex import latex_map
    from invman.lattice.document import program_document
    from invman.report.table import aligned

    program = read_architecture(arch, one_region=one_region)
    rows = [[t.name, "x".join(map(str, t.shape)) or "scalar", t.size] for t in program.parameters]
    document = {
        **program_document(program),
        "tensors": [{"name": t.name, "axes": list(t.axes), "shape": list(t.shape)} for t in program.parameters],
        "inputs": program.input_count,
        "outputs": program.output_count,
        "latex": latex_map(program),
    }
    if format == "json":
        text = write_json(document)
    elif format == "latex":
        text = document["latex"] + "\n"
    else:
        table = aligned(["parameter", "shape", "size"], rows)
        text = f"{program.text}\n\n{table}\n{program.parameter_count} parameters, {program.input_count} inputs, "
        text += f"{program.output_count} outputs\n\n{document['latex']}\n"
    emit(text, output)
    return 0
