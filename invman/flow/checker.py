"""All (manifold, trial) pairs in chunks of one shape: bounded memory, one compilation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from invman.flow.draws import draw_trials
from invman.flow.evidence import Drift, Evidence
from invman.flow.family import generic_norms, sample_family
from invman.flow.leaves import RandomLeaves, frozen_classes
from invman.flow.options import CheckOptions
from invman.flow.problem import Examples, Problem
from invman.flow.projection import FlatManifold, affine_rows, signed_classes
from invman.flow.trajectories import SEGMENTS, Course, Run, follow
from invman.flow.verdict import FAMILY, LOSS, OPTIMIZERS, Witness
from invman.manifold.subspace import LinearEquations, Polydiagonal

Pairs = list[tuple[int, int]]


class Checker:
    """Measures manifolds of one model.

    Parameters
    ----------
    problem : Problem
        The model.
    options : CheckOptions
        How to check.
    items : sequence
        Signed polydiagonals, or balanced manifolds with their leaves, or linear equations alone.
    label : callable
        Name of a coordinate.
    data : Examples or None
        Training data, if not random.
    """

    def __init__(
        self,
        problem: Problem,
        options: CheckOptions,
        items: Sequence[Polydiagonal | RandomLeaves | LinearEquations],
        label: Callable[[int], str],
        data: Examples | None,
    ) -> None:
        self.problem, self.options, self.items, self.label, self.data = problem, options, items, label, data
        dtype, tolerances = problem.dtype, options.tolerances
        first = items[0] if items else None
        self.affine = affine_rows(first, dtype) if isinstance(first, LinearEquations) else None
        self.draws, self.examples = draw_trials(problem, options.seed, options.trials, options.spread)
        self.width = min(options.batch, len(items) * options.trials)
        norms = np.asarray(generic_norms(problem, self.draws))
        norms = norms[np.isfinite(norms)]
        self.floor = jnp.asarray(tolerances.floor * (np.median(norms) if len(norms) else 1.0), dtype)
        self.times = np.linspace(0.0, options.horizon, SEGMENTS + 1)
        self.steps = np.linspace(0, options.steps, SEGMENTS + 1).round().astype(np.int32)

    def run(self, progress: Callable[[int, int], None] | None = None) -> list[Evidence]:
        """Measure everything about every manifold; those that drift although they are tangent, twice."""
        found = [Evidence() for _ in self.items]
        total, done = len(self.items) * self.options.trials, 0
        for pairs, manifolds in self._chunks(range(len(self.items))):
            self._family(found, pairs, manifolds)
            self._trajectories(found, pairs, manifolds, project=False)
            done += len(pairs)
            if progress:
                progress(done, total)
        again = [number for number, evidence in enumerate(found) if evidence.drifted(self.options.tolerances)]
        for pairs, manifolds in self._chunks(again):
            self._trajectories(found, pairs, manifolds, project=True)
        return found

    def _chunks(self, numbers: Sequence[int]) -> Iterator[tuple[Pairs, FlatManifold]]:
        pairs = [(number, trial) for number in numbers for trial in range(self.options.trials)]
        for start in range(0, len(pairs), self.width or 1):
            chunk = pairs[start : start + self.width]
            yield chunk, self.affine or self._stack(self._filled(chunk))

    def _stack(self, pairs: Pairs) -> FlatManifold:
        leaves = [(item, trial) for number, trial in pairs if isinstance(item := self.items[number], RandomLeaves)]
        if leaves:
            return frozen_classes(leaves, self.problem.dtype)
        return signed_classes([item for number, _ in pairs if isinstance(item := self.items[number], Polydiagonal)])

    def _filled(self, pairs: Pairs) -> Pairs:
        # the last pair is repeated, so that every chunk has one shape
        return pairs + pairs[-1:] * (self.width - len(pairs))

    def _family(self, found: list[Evidence], pairs: Pairs, manifolds: FlatManifold) -> None:
        trials = np.array([trial for _, trial in self._filled(pairs)])
        draws = jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf)[trials]), self.draws)
        sample = sample_family(self.problem, self.affine is None, manifolds, draws, self.floor)
        sample = jax.tree.map(np.asarray, sample)
        for place, (number, trial) in enumerate(pairs):
            evidence = found[number]
            evidence.vanishing &= bool(sample.vanishing[place])
            if not sample.finite[place]:
                evidence.failures.append(
                    f"the gradient family is not finite at a point of trial {trial}; try a smaller spread"
                )

            def describe(at: int = place) -> dict[str, Any]:
                own = {"point": sample.theta[at], "input": sample.x[at], "direction": sample.c[at]}
                return {key: tuple(value.tolist()) for key, value in own.items()}

            self._tangency(
                evidence, FAMILY, trial, jax.tree.map(lambda leaf, at=place: leaf[at], sample.worst), describe
            )

    def _trajectories(self, found: list[Evidence], pairs: Pairs, manifolds: FlatManifold, *, project: bool) -> None:
        dtype = self.problem.dtype
        course = Course(
            times=jnp.asarray(self.times, dtype),
            steps=jnp.asarray(self.steps),
            rate=jnp.asarray(self.options.learning_rate, dtype),
            integration=jnp.asarray(self.options.tolerances.integration, dtype),
            project=jnp.asarray(project),
            spread=jnp.asarray(self.options.spread, dtype),
            floor=jnp.asarray(self.options.tolerances.floor, dtype),
        )
        trials = np.array([trial for _, trial in self._filled(pairs)], dtype=np.int32)
        losses = jnp.asarray(trials % len(self.options.losses))
        stacked, shared = self.affine is None, self.data is not None
        draws, own = jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf)[trials]), (self.draws, self.examples))
        data = own if self.data is None else self.data
        runs = follow(self.problem, stacked, shared, manifolds, draws, losses, data, course)
        runs = jax.tree.map(np.asarray, runs)
        for place, (number, trial) in enumerate(pairs):
            for which in range(len(OPTIMIZERS)):
                run = jax.tree.map(lambda leaf, at=(place, which): leaf[at], runs)
                drift = self._drift(run, which, trial)
                if project:
                    found[number].projected.append(drift)
                else:
                    found[number].drifts.append(drift)
                    self._loss_gradient(found[number], run, which, trial)

    def _clock(self, which: int) -> np.ndarray:
        return (self.times, self.steps)[which]

    def _drift(self, run: Run, which: int, trial: int) -> Drift:
        optimizer, loss, clock = OPTIMIZERS[which], self.options.loss(trial), self._clock(which)
        unit = max(float(run.distance), float(run.guard))
        finished = int(run.finished)
        failure = ""
        if finished < SEGMENTS:
            what = "units of time" if which == 0 else "steps"
            failure = (
                f"{optimizer} with the {loss} loss (trial {trial}) became not finite or too stiff after "
                f"{clock[finished]:g} of {clock[-1]:g} {what}; try a smaller spread or a shorter horizon"
            )
        relative = np.asarray(run.drifts) / unit
        return Drift(optimizer, loss, trial, float(relative[0]), float(relative.max()), float(run.distance), failure)

    def _loss_gradient(self, evidence: Evidence, run: Run, which: int, trial: int) -> None:
        def describe() -> dict[str, Any]:
            return {
                "point": tuple(np.asarray(run.point).tolist()),
                "loss": self.options.loss(trial),
                "optimizer": OPTIMIZERS[which],
                "time": float(self._clock(which)[int(run.segment)]),
            }

        self._tangency(evidence, LOSS, trial, run.worst, describe)

    def _tangency(
        self, evidence: Evidence, kind: str, trial: int, worst: Any, describe: Callable[[], dict[str, Any]]
    ) -> None:
        ratio = float(worst.ratio)
        if not np.isfinite(ratio):
            return
        evidence.normal = max(evidence.normal, ratio)
        if ratio > self.options.tolerances.violation:
            coordinate = self.label(int(worst.coordinate))
            size, left = float(worst.field_norm), float(worst.normal_norm)
            own = describe()
            evidence.add_witness(
                Witness(kind, trial, coordinate=coordinate, normal=ratio, field_norm=size, normal_norm=left, **own)
            )
