"""``invman analyze``: the main job, from an architecture to a verified lattice in every format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from invman.cli.lattice import writers
from invman.cli.options import Architecture, Budget, Classes, Family, OneRegion, Progress, check_writable


def analyze(
    arch: Architecture,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    family: Family = "condensed",
    classes: Classes = False,
    trials: int = 4,
    steps: int = 200,
    seed: int = 0,
    budget: Budget = 5_000,
    one_region: OneRegion = False,
) -> int:
    """Find the symmetry and the manifolds of a family, order and check them, and write a report.

    Parameters
    ----------
    output
        Directory for lattice.json, .graphml, .dot, .svg, .html and report.md.
    trials
        Random starting points a manifold.
    steps
        Steps of gradient descent.
    seed
        Of all random numbers.
    """
    from invman.architecture import read_architecture
    from invman.errors import OutputError
    from invman.flow import CheckOptions, verified_document, verify
    from invman.lattice import build_lattice
    from invman.report import markdown, write_files
    from invman.report.table import summary

    program = read_architecture(arch, one_region=one_region)
    if output.exists() and not output.is_dir():
        msg = f"output {output}: got a file, expected a directory or a name for a new one"
        raise OutputError(msg)
    check_writable(output / "report.md")
    options = CheckOptions(trials=trials, steps=steps, seed=seed)
    progress = Progress("listing manifolds")
    lattice = build_lattice(program, family=family, classes=classes, budget=budget, progress=progress)
    progress.close()
    progress = Progress("checking")
    report = verify(lattice, options=options, progress=progress)
    progress.close()
    document = verified_document(lattice, report)
    formats = [name for name in writers() if name != "tex"]
    files = {output / f"lattice.{name}": writers()[name](document) for name in formats}
    files[output / "report.md"] = markdown(document)
    write_files(files)
    sys.stdout.write(summary(document) + "".join(f"wrote {path}\n" for path in files))
    return 0 if report.passed else 1
