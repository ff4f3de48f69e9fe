"""The numerical check of many manifolds: the public function."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp

from invman.errors import ManifoldError
from invman.flow.checker import Checker
from invman.flow.data import DataSet
from invman.flow.leaves import RandomLeaves
from invman.flow.options import CheckOptions
from invman.flow.problem import Examples, Forward, Problem
from invman.flow.report import CheckReport
from invman.flow.verdict import OPTIMIZERS
from invman.manifold.subspace import LinearEquations, Polydiagonal


def check(
    forward: Forward,
    manifolds: Sequence[Polydiagonal] | Sequence[RandomLeaves] | LinearEquations,
    *,
    inputs: int,
    outputs: int,
    parameters: int,
    options: CheckOptions | None = None,
    data: DataSet | None = None,
    label: Callable[[int], str] = "theta[{}]".format,
    progress: Callable[[int, int], None] | None = None,
) -> CheckReport:
    """Test numerically whether flat manifolds are invariant under gradient training.

    At random points of each manifold M the fields ``grad_theta <c, F(theta)(x)>`` must be tangent to M, since every
    gradient of every loss is a combination of them; and gradient flow and gradient descent, started on M, must stay.

    Parameters
    ----------
    forward : callable
        ``F(theta, x)`` from (D,) and (d,) to (o,), pure, traceable by JAX, its dtype that of theta. Hand over the same
        function again and nothing is compiled anew.
    manifolds : sequence of Polydiagonal or of RandomLeaves, or LinearEquations
        What is checked; of a balanced manifold another random leaf in each trial.
    inputs, outputs, parameters : int
        d, o and D.
    options : CheckOptions, optional
        Sizes, seed and tolerances.
    data : DataSet, optional
        Training data for the trajectories; random ones for each trial if not given.
    label : callable
        Name of a coordinate of theta, such as ``"w[0,1]"``.
    progress : callable, optional
        Called with how many (manifold, trial) pairs are done and how many there are.

    Returns
    -------
    CheckReport
        One result a manifold; the result of a manifold does not depend on which others are checked, up to rounding.

    Raises
    ------
    ManifoldError
        A manifold lies in a space of another dimension.
    ArchitectureError
        The function does not map (D,) and (d,) to (o,).
    DataError
        The data have other dimensions than the function.
    """
    options = options or CheckOptions()
    items: list[Polydiagonal | RandomLeaves | LinearEquations]
    items = [manifolds] if isinstance(manifolds, LinearEquations) else list(manifolds)
    for number, item in enumerate(items):
        if item.parameters != parameters:
            msg = (
                f"manifold {number}: got one of a space of {item.parameters} parameters, expected {parameters}. "
                f"Build the manifold for this architecture."
            )
            raise ManifoldError(msg)
    if data is not None:
        data.expect(inputs, outputs)
    with jax.enable_x64(options.dtype == "float64"):
        problem = Problem(
            forward, inputs, outputs, parameters, options.dtype, options.losses, options.fields, options.samples
        )
        problem.validate()
        arrays = None
        if data is not None:
            arrays = Examples(*(jnp.asarray(array, options.dtype) for array in (data.x, data.y, data.signs)))
        found = Checker(problem, options, items, label, arrays).run(progress)
    return CheckReport(
        dtype=options.dtype,
        platform=jax.default_backend(),
        seeds=(options.seed,),
        trials=options.trials,
        fields=options.fields,
        steps=options.steps,
        horizon=options.horizon,
        learning_rate=options.learning_rate,
        losses=options.losses,
        optimizers=OPTIMIZERS,
        data=f"random, {options.samples} examples a trial" if data is None else f"given, {len(data.x)} examples",
        tolerance=options.tolerances.rounding,
        violation=options.tolerances.violation,
        results=tuple(evidence.result(options.tolerances) for evidence in found),
    )
