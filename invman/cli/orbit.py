"""``invman orbit``: how large the set is that training can reach from a point, proved from both sides."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from invman.cli.options import Architecture, Family, OneRegion, Progress, emit, write_json


def orbit(
    arch: Architecture,
    /,
    *,
    at: str | None = None,
    family: Family = "condensed",
    arithmetic: Literal["auto", "ball", "modular", "float"] = "auto",
    order: int = 14,
    seed: int = 0,
    format: Literal["table", "json"] = "table",  # noqa: A002 - the name of the option
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    budget: Annotated[int, Parameter(help="Largest number of operations on power series.")] = 20_000_000,
    one_region: OneRegion = False,
) -> int:
    """Bound the dimension of the orbit of a point from both sides, with a certificate.

    The lower bound is a rank that is proved at the point; the upper bound is that of a manifold which holds it. Exit 0
    also where only an interval is known; the table says so.

    Parameters
    ----------
    at
        The name of a manifold (0=-1,2=dead), on which a generic point is drawn, or a JSON file with a point: D numbers,
        or arrays by name. A generic point of the whole space if none is given.
    family
        Which family the name is of.
    arithmetic
        Of the lower bound. auto: modulo a prime for programs of + - * / only, real balls for all others. float: a
        numerical rank with its gap, which proves nothing, for what is too large to prove.
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
    from invman.lattice import space_of
    from invman.lattice.document import program_document
    from invman.orbit import OrbitOptions, find_orbit, read_point
    from invman.report.orbit import orbit_text

    program = read_architecture(arch, one_region=one_region)
    options = OrbitOptions(arithmetic, order, seed, budget)
    place = None
    if at is not None:
        path = Path(at)
        is_file = path.suffix == ".json" or path.is_file()
        place = read_point(path, program) if is_file else space_of(program, family).named(at)
    progress = Progress("orbit")
    certificate = find_orbit(program, place, options=options, progress=progress)
    progress.close()
    document = {**program_document(program), "orbit": certificate.document()}
    emit(write_json(document) if format == "json" else orbit_text(document), output)
    return 0
