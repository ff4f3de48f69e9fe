"""``invman verify``: check numerically that training stays on the manifolds of an architecture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, get_args

from cyclopts import Parameter

from invman.cli.options import Architecture, Budget, Classes, Family, OneRegion, Progress, emit, write_json

LossName = Literal["squared", "logistic", "exponential", "quartic"]
LOSS_NAMES: tuple[str, ...] = get_args(LossName)


def verify(
    arch: Architecture,
    /,
    *,
    manifold: Annotated[list[str], Parameter(name=["--manifold", "-m"])] = [],  # noqa: B006 - cyclopts copies it
    equations: str | None = None,
    family: Family = "condensed",
    classes: Classes = False,
    data: Path | None = None,
    loss: list[LossName] = [],  # noqa: B006
    trials: int = 4,
    steps: int = 200,
    seed: int = 0,
    format: Literal["table", "json"] = "table",  # noqa: A002 - the name of the option
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    budget: Budget = 5_000,
    one_region: OneRegion = False,
) -> int:
    """Check that gradient training stays on the manifolds, on random or on your own data.

    Every manifold is tried at random points: the component of the gradient family normal to it, and the drift of
    gradient flow and gradient descent off it. This is a numerical check, not a proof. Exit 0 if every manifold passes.

    Parameters
    ----------
    manifold
        Only this one, by name (0=-1,2=dead); may be given several times.
    equations
        A manifold of your own: comma-separated linear equations, "w[0,:]=w[1,:], a[0]=-a[1]".
    data
        Train on this file instead of random data: CSV (inputs, then outputs) or NPZ (arrays x and y).
    loss
        Which losses: squared, logistic, exponential, quartic; all of them if none is given.
    trials
        Random starting points a manifold.
    steps
        Steps of gradient descent.
    seed
        Of all random numbers.
    format
        What is printed.
    output
        File to write instead of stdout.
    """
    from invman.architecture import read_architecture
    from invman.errors import ManifoldError
    from invman.flow import CheckOptions, load_data, verify_equations
    from invman.flow import verify as verify_manifolds
    from invman.lattice import build_lattice, space_of
    from invman.report.table import check_table

    program = read_architecture(arch, one_region=one_region)
    chosen = tuple(loss) or LOSS_NAMES
    options = CheckOptions(trials=trials, steps=steps, seed=seed, losses=chosen)
    examples = load_data(data, program.input_count, program.output_count) if data is not None else None
    progress = Progress("checking")
    if equations is not None:
        if manifold or classes:
            msg = "got --equations together with --manifold or --classes, expected one of them"
            raise ManifoldError(msg)
        report = verify_equations(program, equations, options=options, data=examples, progress=progress)
    else:
        space = space_of(program, family)
        if manifold:
            manifolds = [space.named(name) for name in manifold]
        else:
            manifolds = list(build_lattice(space, classes=classes, budget=budget).manifolds)
        report = verify_manifolds(manifolds, options=options, data=examples, progress=progress)
    progress.close()
    document = report.document()
    emit(write_json(document) if format == "json" else check_table(document), output)
    return 0 if report.passed else 1
