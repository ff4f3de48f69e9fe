"""``invman certify``: the size of the generic orbit of every manifold, compared with what the theory says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from invman.cli.options import Architecture, Budget, OneRegion, Progress, emit, write_json


def certify(
    arch: Architecture,
    /,
    *,
    family: Literal["condensed", "invariant", "symmetric"] | None = None,
    trials: int = 2,
    order: int = 14,
    seed: int = 0,
    format: Literal["table", "json"] = "table",  # noqa: A002 - the name of the option
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    budget: Budget = 5_000,
    one_region: OneRegion = False,
) -> int:
    """Certify the generic orbit of every manifold and compare it with the leaf of its coarsest balanced partition.

    One manifold a class is measured at random points, frozen parts included. An orbit may be smaller than its leaf
    where a whole hidden layer is null, where constant neurons act as a second bias, or where conservation laws hold
    everywhere; anything else is reported with its point as a violation, and the exit code is 1.

    Parameters
    ----------
    family
        invariant for fully connected architectures, else condensed, unless one is given.
    trials
        Random points of each class.
    order
        The last order of formal transport.
    seed
        Of all random choices.
    format
        What is printed.
    output
        File to write instead of stdout.
    """
    from invman.architecture import read_architecture
    from invman.errors import UnsupportedError
    from invman.lattice import build_lattice, space_of
    from invman.lattice.document import program_document
    from invman.orbit import OrbitOptions, certify_lattice
    from invman.report.orbit import certify_text

    program = read_architecture(arch, one_region=one_region)
    try:
        space = space_of(program, family or "invariant")
    except UnsupportedError:
        if family is not None:
            raise
        space = space_of(program)
    progress = Progress("certifying")
    lattice = build_lattice(space, budget=budget)
    options = OrbitOptions(order=order, seed=seed)
    report = certify_lattice(lattice, options=options, trials=trials, progress=progress)
    progress.close()
    document = {**program_document(program), **report.document()}
    emit(write_json(document) if format == "json" else certify_text(document), output)
    return 0 if report.passed else 1
