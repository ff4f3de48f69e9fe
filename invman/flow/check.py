"""The checker: gradient family and trajectories over many manifolds and trials at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from invman.architecture.evaluate import Map
from invman.errors import DataError
from invman.flow.data import DataSet
from invman.flow.family import FieldTest, typical_field, worst_field
from invman.flow.losses import LOSSES, SIGNED
from invman.flow.options import CheckOptions
from invman.flow.projection import Projection, averages, rows
from invman.flow.trajectories import Run, gradient_descent, gradient_flow
from invman.flow.verdict import CheckResult, Verdict, Witness
from invman.manifold.subspace import LinearEquations, Polydiagonal

Progress = Callable[[int, int], None]

STEEPEST = 1e50
"""Slopes of a loss are clipped here, where the exponential loss would overflow; any slope gives a field of V."""


@dataclass(frozen=True)
class Model:
    """The map under test.

    Attributes
    ----------
    forward : callable
        ``F(theta, x)`` from shapes (D,) and (d,) to (o,).
    parameters, inputs, outputs : int
        D, d and o.
    """

    forward: Map
    parameters: int
    inputs: int
    outputs: int

    @property
    def sizes(self) -> tuple[int, int, int]:
        """D, d, o."""
        return self.parameters, self.inputs, self.outputs


class Trial(NamedTuple):
    """What is measured from one random point of one manifold."""

    fields: FieldTest
    flow: Run
    descent: Run


def losses_for(options: CheckOptions, data: DataSet | None) -> tuple[str, ...]:
    """Return the losses that are used: those asked for, or all that the data admit.

    Raises
    ------
    DataError
        A loss with targets +1 and -1 was asked for and the data have others.
    """
    binary = data is None or data.signed is not None
    chosen = options.losses or tuple(name for name in LOSSES if binary or name not in SIGNED)
    if not binary and (wrong := SIGNED & set(chosen)):
        msg = (
            f"loss {min(wrong)}: got targets with other values, expected 0 and 1, or -1 and +1. "
            "Use the losses squared and quartic for such data"
        )
        raise DataError(msg)
    return chosen


def run_trials(
    model: Model,
    manifolds: Sequence[Polydiagonal] | LinearEquations,
    options: CheckOptions,
    data: DataSet | None = None,
    progress: Progress | None = None,
) -> Trial:
    """Run all trials of all manifolds, a batch at a time, jitted and vmapped, in float64.

    Returns
    -------
    Trial
        Numpy arrays with leading axes (manifolds, trials).
    """
    with jax.enable_x64(True):
        projection = rows(manifolds) if isinstance(manifolds, LinearEquations) else averages(manifolds)
        count = 1 if isinstance(manifolds, LinearEquations) else len(manifolds)
        total = count * options.trials
        losses = losses_for(options, data)
        key = jax.random.key(options.seed)
        typical = jax.jit(partial(typical_field, model.forward, sizes=model.sizes))(jax.random.fold_in(key, 0))
        samples = None
        if data is not None:
            signed = data.y if data.signed is None else data.signed
            samples = jnp.asarray(data.x), jnp.asarray(data.y), jnp.asarray(signed)
        batch = min(options.batch, total)
        step = jax.jit(jax.vmap(partial(_trial, model, options, losses), in_axes=(None, 0, 0, None, None)))
        parts = []
        for start in range(0, total, batch):
            # the last batch is padded with repetitions, so that nothing is compiled twice
            numbers = np.minimum(np.arange(start, start + batch), total - 1)
            chosen = jax.tree.map(lambda leaf, at=numbers // options.trials: leaf[at], projection)
            part = step(key, chosen, jnp.asarray(numbers), typical, samples)
            parts.append(jax.tree.map(lambda leaf, keep=total - start: np.asarray(leaf)[:keep], part))
            if progress is not None:
                progress(min(start + batch, total), total)
        joined = jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)
        return jax.tree.map(lambda leaf: leaf.reshape(count, options.trials, *leaf.shape[1:]), joined)


def _trial(
    model: Model,
    options: CheckOptions,
    losses: tuple[str, ...],
    key: PRNGKeyArray,
    projection: Projection,
    number: Int[Array, ""],
    typical: Float[Array, ""],
    samples: tuple[Array, Array, Array] | None,
) -> Trial:
    trial = number % options.trials
    keys = jax.random.split(jax.random.fold_in(key, number + 1), 3)
    fields = worst_field(model.forward, projection, keys[0], model.sizes, options.fields, typical)
    if samples is None:
        x = jax.random.normal(keys[1], (options.samples, model.inputs))
        y = jax.random.normal(keys[2], (options.samples, model.outputs))
        samples = x, y, jnp.where(y > 0, 1.0, -1.0)
    x, y, signed = samples

    def gradient(theta: Float[Array, " D"]) -> Float[Array, " D"]:
        predictions, pullback = jax.vjp(lambda point: jax.vmap(partial(model.forward, point))(x), theta)
        # the slopes of all losses cost little beside one pass through the net; the trial picks its own
        slopes = [jax.vmap(jax.grad(LOSSES[loss]))(predictions, signed if loss in SIGNED else y) for loss in losses]
        slope = jnp.clip(jnp.stack(slopes)[trial % len(losses)], -STEEPEST, STEEPEST)
        return pullback(slope / len(x))[0]

    start = fields.theta
    return Trial(
        fields,
        gradient_flow(gradient, projection, start, options),
        gradient_descent(gradient, projection, start, options),
    )


def judge(
    name: str,
    dimension: int,
    trial: Trial,
    options: CheckOptions,
    unflatten: Callable[[np.ndarray], dict[str, Any]],
    coordinate: Callable[[int], str],
) -> CheckResult:
    """Turn the trials of one manifold into a verdict.

    Parameters
    ----------
    name, dimension
        Of the manifold.
    trial : Trial
        Arrays with leading axis (trials,).
    options : CheckOptions
        Its thresholds.
    unflatten : callable
        From theta, shape (D,), to an entry a tensor.
    coordinate : callable
        Name of a coordinate.
    """
    relative = np.asarray(trial.fields.relative)
    worst = int(np.argmax(np.where(np.isnan(relative), np.inf, relative)))
    normal = float(relative[worst])
    runs = {"gradient-flow": trial.flow, "gradient-descent": trial.descent}
    drift = {k: float(np.max(run.drift)) if np.all(run.finished) else math.nan for k, run in runs.items()}
    travelled = {kind: float(np.median(run.travelled)) for kind, run in runs.items()}
    unfinished = [kind for kind, run in runs.items() if not np.all(run.finished)]
    witness = None
    if not math.isfinite(normal):
        verdict, reason = Verdict.INCONCLUSIVE, "the gradient is not finite at a random point"
    elif normal >= options.violation:
        verdict = Verdict.NOT_INVARIANT
        at = coordinate(int(trial.fields.coordinate[worst]))
        reason = f"a gradient has a normal component of {normal:.1e} of its length, largest in {at}"
        witness = Witness(
            unflatten(np.asarray(trial.fields.theta[worst])),
            np.asarray(trial.fields.x[worst]).tolist(),
            np.asarray(trial.fields.direction[worst]).tolist(),
            float(trial.fields.field[worst]),
            float(trial.fields.normal[worst]),
            at,
        )
    elif normal > options.rounding:
        verdict = Verdict.INCONCLUSIVE
        reason = f"a normal component of {normal:.1e} of the field is neither rounding nor a clear violation"
    elif unfinished:
        verdict = Verdict.INCONCLUSIVE
        reason = f"{' and '.join(unfinished)} did not finish with finite numbers, though the gradients are tangent"
    elif max(drift.values()) >= options.violation:
        verdict = Verdict.INCONCLUSIVE
        reason = (
            f"the gradients are tangent (normal component {normal:.1e}), but trajectories drift by "
            f"{max(drift.values()):.1e} of their length: training repels from the manifold and amplifies rounding"
        )
    else:
        verdict = Verdict.INVARIANT
        reason = f"normal component at most {normal:.1e} of the field, drift at most {max(drift.values()):.1e}"
    return CheckResult(name, dimension, verdict, reason, normal, drift, travelled, witness)
