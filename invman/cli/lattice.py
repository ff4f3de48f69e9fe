"""``invman lattice``: write the lattice of an architecture in a format for every purpose."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from invman.cli.options import (
    Architecture,
    Budget,
    Classes,
    Family,
    OneRegion,
    Progress,
    check_writable,
    write_json,
)
from invman.errors import OutputError

FORMATS = ("json", "graphml", "dot", "svg", "html", "tex")


def lattice(
    arch: Architecture,
    /,
    *,
    output: Annotated[list[Path], Parameter(name=["--output", "-o"])],
    family: Family = "condensed",
    classes: Classes = False,
    certify: Annotated[bool, Parameter(negative="")] = False,
    budget: Budget = 250_000,
    one_region: OneRegion = False,
) -> int:
    """Write the lattice of manifolds to files; the endings choose the formats.

    Parameters
    ----------
    output
        FILE.json, .graphml, .dot, .svg, .html or .tex; may be given several times.
    certify
        Attach to every manifold the dimension of its generic orbit, with the certificate.
    """
    from invman.architecture import read_architecture
    from invman.lattice import build_lattice, lattice_document
    from invman.report import write_files

    for path in output:
        if path.suffix.lstrip(".") not in FORMATS:
            msg = (
                f"output {path}: got the ending {path.suffix!r}, expected one of {', '.join('.' + f for f in FORMATS)}"
            )
            raise OutputError(msg)
        check_writable(path)
    progress = Progress("listing manifolds")
    program = read_architecture(arch, one_region=one_region)
    built = build_lattice(program, family=family, classes=classes, budget=budget, progress=progress)
    progress.close()
    orbits = None
    if certify:
        from invman.orbit import certify_lattice

        progress = Progress("certifying")
        orbits = certify_lattice(built, progress=progress).by_node()
        progress.close()
    document = lattice_document(built, orbits=orbits)
    write_files({path: writers()[path.suffix.lstrip(".")](document) for path in output})
    sys.stdout.write("".join(f"wrote {path}\n" for path in output))
    return 0


def writers() -> dict[str, Callable[[dict[str, Any]], str]]:
    """Return the function that writes each format."""
    from invman import report

    return {
        "json": write_json,
        "graphml": report.graphml,
        "dot": report.dot,
        "svg": report.svg,
        "html": report.html,
        "tex": report.latex,
    }
