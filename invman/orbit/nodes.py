"""Orbits of a whole family of manifolds: the size of the generic orbit of each, and what the theory says of it.

Conjugate manifolds have conjugate generic points, so that one manifold a class is measured. Two statements are tested:
the classification of two-layer nets (the generic orbit of a manifold is the whole of its leaf), and for deep nets the
conjecture that the orbit of a point is the leaf of its coarsest balanced partition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from invman.architecture.program import Add, Apply, Program, Ref
from invman.errors import ManifoldError
from invman.lattice.lattice import Lattice
from invman.manifold.balanced import BalancedManifold
from invman.manifold.condensed import Origin
from invman.manifold.partition import Kind
from invman.orbit.certificate import Certificate
from invman.orbit.find import OrbitOptions, find_orbit, leaf_of

TRIALS = 2
"""Random points of each class in ``certify``."""

Progress = Callable[[int, int], None]


class Finding(Enum):
    """How an orbit compares with the leaf of the coarsest balanced partition."""

    LEAF = "leaf"
    """It is the leaf."""
    NULL = "null layer"
    """It is smaller, and a hidden layer is wholly dead or singular, so that F does not depend on x."""
    CONSTANT = "constant neuron"
    """It is smaller by exactly what neurons with a constant value share: their outgoing weights move as one, and with
    the bias of the layer they feed, so that the differences are frozen."""
    LAWS = "conservation laws"
    """It is smaller, and so are the orbits of generic points of the whole space: the activations are degenerate."""
    VIOLATION = "violation"
    """It is smaller for no known reason."""
    UNDECIDED = "undecided"
    """The bounds do not meet."""
    UNKNOWN = "no leaf"
    """No leaf is known: the architecture is not fully connected."""


@dataclass(frozen=True)
class NodeOrbit:
    """The orbit of one random point of a manifold.

    Attributes
    ----------
    manifold : a manifold of any family
        Where the point was drawn.
    certificate : Certificate
        The dimension of its orbit.
    leaf : BalancedManifold or None
        The coarsest balanced manifold of the point; None where the architecture is not fully connected.
    finding : Finding
        How the two compare.
    """

    manifold: Any
    certificate: Certificate
    leaf: BalancedManifold | None
    finding: Finding

    @property
    def foliated(self) -> bool | None:
        """Whether orbits are smaller than the manifold, so that a continuum of them fills it; None if undecided."""
        size = self.manifold.dimension
        if self.certificate.upper.value < size:
            return True
        return False if self.certificate.lower.value == size else None

    def document(self) -> dict[str, Any]:
        """Return the certificate with ``leaf_dimension``, ``foliated`` and ``finding``."""
        return {
            **self.certificate.document(),
            "leaf_dimension": None if self.leaf is None else self.leaf.leaf_dimension,
            "foliated": self.foliated,
            "finding": self.finding.value,
        }


@dataclass(frozen=True)
class CertifyReport:
    """The orbits of all classes of manifolds of an architecture.

    Attributes
    ----------
    lattice : Lattice
        The manifolds.
    orbits : tuple of tuples of NodeOrbit
        For each class, in the order of ``lattice.class_of``, one a trial.
    options : OrbitOptions
        How they were found.
    """

    lattice: Lattice
    orbits: tuple[tuple[NodeOrbit, ...], ...]
    options: OrbitOptions

    @property
    def passed(self) -> bool:
        """Whether no orbit is smaller than its leaf for an unknown reason."""
        return all(trial.finding is not Finding.VIOLATION for trials in self.orbits for trial in trials)

    def by_node(self) -> dict[int, dict[str, Any]]:
        """Return for each listed manifold the document of the first trial of its class."""
        documents = [trials[0].document() for trials in self.orbits]
        return {place: documents[number] for place, number in enumerate(self.lattice.class_of)}

    def document(self) -> dict[str, Any]:
        """Return the report as plain data: counts, one entry a class, and the findings with their points."""
        sizes = [0] * len(self.orbits)
        induced = 0
        for manifold, number in zip(self.lattice.manifolds, self.lattice.class_of, strict=True):
            sizes[number] += 1
            induced += manifold.origin is Origin.SYMMETRY
        classes = []
        for number, trials in enumerate(self.orbits):
            manifold = trials[0].manifold
            classes.append(
                {
                    "class": f"c{number}",
                    "representative": manifold.name,
                    "manifolds": sizes[number],
                    "dimension": manifold.dimension,
                    "origin": manifold.origin.value,
                    "orbits": [trial.document() for trial in trials],
                }
            )
        exact = sum(s for s, trials in zip(sizes, self.orbits, strict=True) if all(t.certificate.exact for t in trials))
        return {
            "family": self.lattice.family,
            "manifolds": len(self.lattice),
            "exact": exact,
            "symmetry_induced": induced,
            "foliated": sum(s for s, t in zip(sizes, self.orbits, strict=True) if t[0].foliated),
            "passed": self.passed,
            "seed": self.options.seed,
            "classes": classes,
        }


def certify_lattice(
    lattice: Lattice, *, options: OrbitOptions | None = None, trials: int = 1, progress: Progress | None = None
) -> CertifyReport:
    """Certify the size of the generic orbit of every manifold of a lattice.

    Parameters
    ----------
    lattice : Lattice
        The manifolds; one of each class of conjugate ones is measured.
    options : OrbitOptions, optional
        Arithmetic, order, seed and budget; trial t draws its point with seed + t.
    trials : int
        Random points of each class.
    progress : callable, optional
        Called with the number of classes that are done and that there are.

    Returns
    -------
    CertifyReport

    Raises
    ------
    ManifoldError
        No trial was asked for.
    OverBudgetError
        The orbit of one point takes more operations than the budget.

    References
    ----------
    Zhao, Luo, Zhang, arXiv:2510.09564 (classification of two-layer nets).

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> from invman.lattice import build_lattice
    >>> report = certify_lattice(build_lattice(read_architecture("2-2tanh-1")))
    >>> sorted({trial.certificate.dimension for trials in report.orbits for trial in trials})
    [0, 3, 6]
    """
    if trials < 1:
        msg = f"trials: got {trials}, expected at least one"
        raise ManifoldError(msg)
    options = options or OrbitOptions()
    firsts: dict[int, Any] = {}
    for manifold, number in zip(lattice.manifolds, lattice.class_of, strict=True):
        firsts.setdefault(number, manifold)
    degenerate: bool | None = None
    found = []
    for number, manifold in firsts.items():
        row = []
        for trial in range(trials):
            chosen = replace(options, seed=options.seed + trial)
            certificate = find_orbit(lattice.program, manifold, options=chosen)
            leaf = leaf_of(lattice.program, certificate.theta)
            if degenerate is None and leaf is not None and certificate.upper.value < leaf.leaf_dimension:
                degenerate = _degenerate(lattice.program, options)
            row.append(NodeOrbit(manifold, certificate, leaf, _compare(certificate, leaf, bool(degenerate))))
        found.append(tuple(row))
        if progress is not None:
            progress(number + 1, len(firsts))
    return CertifyReport(lattice, tuple(found), options)


def _degenerate(program: Program, options: OrbitOptions) -> bool:
    """Tell whether orbits of generic points of the whole space are proved to be smaller than the space."""
    return find_orbit(program, options=options).upper.value < program.parameter_count


def _compare(certificate: Certificate, leaf: BalancedManifold | None, degenerate: bool) -> Finding:
    if not certificate.exact:
        return Finding.UNDECIDED
    if leaf is None:
        return Finding.UNKNOWN
    if certificate.upper.value == leaf.leaf_dimension:
        return Finding.LEAF
    if any(not any(labels) for labels in leaf.partitions):
        return Finding.NULL
    if certificate.upper.value == leaf.leaf_dimension - _shared(leaf):
        return Finding.CONSTANT
    return Finding.LAWS if degenerate else Finding.VIOLATION


def _shared(leaf: BalancedManifold) -> int:
    """Count the directions of a leaf that constant neurons lose.

    A singular neuron with sigma(0) not 0 has a constant value, as a bias has. All constant sources of one neuron get
    multiples of the same gradient: of n of them, n - 1 combinations are frozen for each class of neurons that they
    feed.
    """
    net, lost = leaf.space.net, 0
    biases = _biases(leaf.space.program)
    for target in {edge.target for edge in net.edges}:
        sources = [
            edge
            for edge in net.edges
            if edge.target == target
            and (
                edge.tensor in biases
                if edge.source is None
                else net.layers[edge.source].constant and 0 in leaf.partitions[edge.source]
            )
        ]
        if target is not None:
            classes = sum(block.kind is Kind.LIVE for block in leaf.blocks[target])
        else:
            classes = leaf.space.program.output_count
        lost += max(0, len(sources) - 1) * classes
    return lost


def _biases(program: Program) -> set[str]:
    """Return the parameters that are added as they stand."""
    found = set()
    for statement in program.statements:
        expr = statement.expr.argument if isinstance(statement.expr, Apply) else statement.expr
        found |= {term.tensor for term in (expr.terms if isinstance(expr, Add) else (expr,)) if isinstance(term, Ref)}
    return found
