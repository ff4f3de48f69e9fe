"""From an architecture, its manifolds or a user's equations to a report of the checker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from invman.architecture import Program, read_architecture
from invman.architecture.evaluate import jax_map
from invman.flow.check import Model, Progress, judge, losses_for, run_trials
from invman.flow.data import DataSet
from invman.flow.options import CheckOptions
from invman.flow.verdict import CheckReport, rounded
from invman.lattice import Lattice, build_lattice, lattice_document
from invman.lattice.document import program_document
from invman.manifold import CondensedManifold, LinearEquations, parse_equations


def verify(
    source: str | Program | Lattice | Sequence[CondensedManifold],
    *,
    options: CheckOptions | None = None,
    data: DataSet | None = None,
    progress: Progress | None = None,
) -> CheckReport:
    """Check numerically that gradient training stays on condensed manifolds.

    For each manifold, at random points of it: the component normal to the manifold of random members of the gradient
    family, and the drift of gradient flow and gradient descent. A check is not a proof.

    Parameters
    ----------
    source : str, Program, Lattice or sequence of CondensedManifold
        All manifolds of an architecture, those of a lattice, or some.
    options : CheckOptions, optional
        Trials, steps, losses, seed.
    data : DataSet, optional
        Training data; random ones if none are given.
    progress : callable, optional
        Called with the number of trials done and the total.

    Returns
    -------
    CheckReport

    Raises
    ------
    DataError
        The data do not fit a loss.

    Examples
    --------
    >>> verify("1-2tanh-1").passed
    True
    """
    if isinstance(source, str):
        source = read_architecture(source)
    if isinstance(source, Program):
        source = build_lattice(source)
    manifolds = source.manifolds if isinstance(source, Lattice) else tuple(source)
    program = manifolds[0].space.program
    options = options or CheckOptions()
    trials = run_trials(_model(program), [m.polydiagonal() for m in manifolds], options, data, progress)
    results = []
    for number, manifold in enumerate(manifolds):
        own = jax.tree.map(lambda leaf, at=number: leaf[at], trials)
        results.append(_judge(program, manifold.name, manifold.dimension, own, options))
    return _report(program, options, data, results)


def verify_equations(
    source: str | Program,
    equations: str | LinearEquations,
    *,
    options: CheckOptions | None = None,
    data: DataSet | None = None,
    progress: Progress | None = None,
) -> CheckReport:
    """Check numerically whether training stays on a manifold that is written as linear equations.

    Parameters
    ----------
    source : str or Program
        The architecture.
    equations : str or LinearEquations
        Such as ``"w[0,:]=w[1,:], a[0]=-a[1]"``.
    options, data, progress
        As for :func:`verify`.

    Returns
    -------
    CheckReport
        With one result; its witness is a gradient that leaves the manifold.

    Examples
    --------
    >>> verify_equations("2-2tanh-1", "a[0]=a[1]").results[0].verdict.value
    'not-invariant'
    """
    program = read_architecture(source) if isinstance(source, str) else source
    name = equations if isinstance(equations, str) else f"{len(equations.rows)} equations"
    parsed = parse_equations(program, equations) if isinstance(equations, str) else equations
    options = options or CheckOptions()
    trials = run_trials(_model(program), parsed, options, data, progress)
    own = jax.tree.map(lambda leaf: leaf[0], trials)
    return _report(program, options, data, [_judge(program, name, parsed.dimension, own, options)])


def verified_document(lattice: Lattice, report: CheckReport) -> dict[str, Any]:
    """Return the document of a lattice with the verdict of the checker on each manifold."""
    verdicts = {
        number: {
            "verdict": result.verdict.value,
            "reason": result.reason,
            "normal": rounded(result.normal),
            "drift": rounded(max(result.drift.values())),
        }
        for number, result in enumerate(report.results)
    }
    return {**lattice_document(lattice, verdicts), "check": dict(report.check)}


def _model(program: Program) -> Model:
    return Model(jax_map(program), program.parameter_count, program.input_count, program.output_count)


def _judge(program: Program, name: str, dimension: int, trial: Any, options: CheckOptions) -> Any:
    def unflatten(theta: np.ndarray) -> dict[str, Any]:
        return {
            tensor.name: theta[program.offsets[tensor.name] :][: tensor.size].reshape(tensor.shape).tolist()
            for tensor in program.parameters
        }

    return judge(name, dimension, trial, options, unflatten, program.coordinate)


def _report(program: Program, options: CheckOptions, data: DataSet | None, results: list[Any]) -> CheckReport:
    check = {
        "dtype": "float64",
        "platform": jax.default_backend(),
        "seed": options.seed,
        "trials": options.trials,
        "fields": options.fields,
        "steps": options.steps,
        "horizon": options.horizon,
        "losses": list(losses_for(options, data)),
        "optimizers": ["gradient-flow", "gradient-descent"],
        "data": f"{options.samples} random samples" if data is None else f"{len(data.x)} given samples",
    }
    return CheckReport(program_document(program), check, tuple(results))
