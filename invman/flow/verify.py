"""From an architecture, its manifolds or a user's equations to a report of the checker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from invman.architecture import Program, read_architecture
from invman.architecture.evaluate import Map, jax_map
from invman.flow.check import check
from invman.flow.data import DataSet
from invman.flow.leaves import RandomLeaves
from invman.flow.options import CheckOptions
from invman.flow.report import CheckReport
from invman.flow.verdict import CheckResult
from invman.lattice import Lattice, build_lattice, lattice_document
from invman.lattice.document import leaf_document, program_document
from invman.lattice.lattice import Manifold
from invman.manifold import BalancedManifold, LinearEquations, Polydiagonal, parse_equations

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Verification:
    """A check of named manifolds of an architecture.

    Attributes
    ----------
    program : Program
        The architecture.
    names : tuple of str
        Names of the manifolds, or the equations.
    dimensions : tuple of int
        Their dimensions.
    report : CheckReport
        How they were checked, and one result each.
    details : tuple of mapping
        What else the document says of each, if anything.
    """

    program: Program
    names: tuple[str, ...]
    dimensions: tuple[int, ...]
    report: CheckReport
    details: tuple[Mapping[str, Any], ...] = ()

    @property
    def results(self) -> tuple[CheckResult, ...]:
        """One result a manifold."""
        return self.report.results

    @property
    def passed(self) -> bool:
        """Whether every manifold is invariant in test."""
        return self.report.passed

    def document(self) -> dict[str, Any]:
        """Return the check as plain data: the JSON of ``invman verify``."""
        details = self.details or ({},) * len(self.names)
        rows = zip(self.names, self.dimensions, details, self.results, strict=True)
        return {
            **program_document(self.program),
            "check": self.report.method(),
            "results": [
                {"name": name, "dimension": d, **more, **self._result(result)} for name, d, more, result in rows
            ],
        }

    def _result(self, result: CheckResult) -> dict[str, Any]:
        document = result.to_dict()
        if result.witness is not None:
            theta = np.array(document["witness"].pop("point"))
            document["witness"]["theta"] = {
                tensor.name: theta[self.program.offsets[tensor.name] :][: tensor.size].reshape(tensor.shape).tolist()
                for tensor in self.program.parameters
            }
        return document


def verify(
    source: str | Program | Lattice | Sequence[Manifold],
    *,
    family: str = "condensed",
    options: CheckOptions | None = None,
    data: DataSet | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Check numerically that gradient training stays on manifolds of an architecture.

    For each manifold, at random points of it: the component normal to the manifold of random members of the gradient
    family, and the drift of gradient flow and gradient descent. Of a balanced manifold a random leaf is checked in
    each trial; the drift is how far the frozen part moves. A check is not a proof.

    Parameters
    ----------
    source : str, Program, Lattice, or sequence of CondensedManifold, of BalancedManifold or of SymmetricManifold
        All manifolds of an architecture, those of a lattice, or some.
    family : {"condensed", "invariant", "symmetric"}
        Which manifolds of an architecture.
    options : CheckOptions, optional
        Trials, steps, losses, seed, tolerances.
    data : DataSet, optional
        Training data; random ones if none are given.
    progress : callable, optional
        Called with the number of trials done and the total.

    Returns
    -------
    Verification

    Raises
    ------
    DataError
        The data do not fit the architecture.

    Examples
    --------
    >>> verify("1-2tanh-1", options=CheckOptions(trials=2, steps=20)).passed
    True
    """
    if isinstance(source, str):
        source = read_architecture(source)
    if isinstance(source, Program):
        source = build_lattice(source, family=family)
    manifolds = source.manifolds if isinstance(source, Lattice) else tuple(source)
    if not manifolds:
        msg = "verify: got no manifold, expected at least one"
        raise ValueError(msg)
    program = manifolds[0].space.program
    chosen = options or CheckOptions()
    leaves = [RandomLeaves(m, chosen.seed, chosen.spread) for m in manifolds if isinstance(m, BalancedManifold)]
    flat = [manifold.polydiagonal() for manifold in manifolds if not isinstance(manifold, BalancedManifold)]
    report = _check(program, leaves or flat, options, data, progress)
    names, dimensions = [m.name for m in manifolds], [m.dimension for m in manifolds]
    details = [leaf_document(m) if isinstance(m, BalancedManifold) else {} for m in manifolds]
    return Verification(program, tuple(names), tuple(dimensions), report, tuple(details))


def verify_equations(
    source: str | Program,
    equations: str | LinearEquations,
    *,
    options: CheckOptions | None = None,
    data: DataSet | None = None,
    progress: Progress | None = None,
) -> Verification:
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
    Verification
        With one result; its witness is a gradient that leaves the manifold.

    Raises
    ------
    SyntaxProblem, ManifoldError
        The equations cannot be read, or contradict each other.

    Examples
    --------
    >>> verify_equations("2-2tanh-1", "a[0]=a[1]").results[0].verdict.value
    'not-invariant'
    """
    program = read_architecture(source) if isinstance(source, str) else source
    name = equations if isinstance(equations, str) else f"{len(equations.rows)} equations"
    parsed = parse_equations(program, equations) if isinstance(equations, str) else equations
    report = _check(program, parsed, options, data, progress)
    return Verification(program, (name,), (parsed.dimension,), report)


def verified_document(lattice: Lattice, verification: Verification) -> dict[str, Any]:
    """Return the document of a lattice with the verdict of the checker on each manifold."""
    verdicts = {}
    for number, result in enumerate(verification.document()["results"]):
        drifts = [drift for drift in result["drift"].values() if drift is not None]
        verdicts[number] = {
            "verdict": result["verdict"],
            "reason": result["reason"],
            "normal": result["normal"],
            "drift": max(drifts, default=None),
        }
    return {**lattice_document(lattice, verdicts), "check": verification.report.method()}


@lru_cache(maxsize=32)
def _map(program: Program) -> Map:
    """Return one function a program, so that checking it again compiles nothing."""
    return jax_map(program)


def _check(
    program: Program,
    manifolds: Sequence[Polydiagonal] | Sequence[RandomLeaves] | LinearEquations,
    options: CheckOptions | None,
    data: DataSet | None,
    progress: Progress | None,
) -> CheckReport:
    return check(
        _map(program),
        manifolds,
        inputs=program.input_count,
        outputs=program.output_count,
        parameters=program.parameter_count,
        options=options,
        data=data,
        label=program.coordinate,
        progress=progress,
    )
