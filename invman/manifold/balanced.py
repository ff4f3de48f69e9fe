"""Balanced manifolds: neurons of a block receive the same and get the same back, whatever their single weights are.

A tuple of partitions, one a hidden layer, gives one linear invariant subspace, the *balanced* weights. It is foliated
by affine leaves: the block-constant weights move, what is orthogonal to them is frozen for ever. The condensed manifold
is the leaf whose frozen part is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from invman.architecture.program import Program
from invman.manifold import naming
from invman.manifold.condensed import CondensedManifold, CondensedSpace, Origin, Partitions
from invman.manifold.layers import DenseNet, Layer, dense_net, incoming, outgoing
from invman.manifold.pairs import Group, groups
from invman.manifold.partition import Block, Labels, blocks, canonical, orbit_size, shape
from invman.manifold.reduction import Reduction
from invman.manifold.subspace import LinearEquations, Polydiagonal
from invman.manifold.weights import BalancedWeights
from invman.symmetry.group import DiscreteSymmetry


class BalancedSpace:
    """All balanced manifolds of a fully connected architecture, as tuples of partitions.

    Parameters
    ----------
    net : DenseNet
        The architecture.
    """

    family = "invariant"

    def __init__(self, net: DenseNet) -> None:
        self.net, self.program = net, net.program

    @classmethod
    def of(cls, program: Program) -> BalancedSpace:
        """Return the space of an architecture (UnsupportedError unless it is fully connected)."""
        return cls(dense_net(program))

    @property
    def rules(self) -> tuple[Layer, ...]:
        """Which partitions each hidden layer has."""
        return self.net.layers

    @cached_property
    def condensed(self) -> CondensedSpace:
        """The condensed manifolds of the same architecture."""
        return CondensedSpace.of(self.program)

    @property
    def symmetry(self) -> DiscreteSymmetry:
        """Symmetry of the hidden axes."""
        return self.condensed.symmetry

    @property
    def whole(self) -> BalancedManifold:
        """The whole parameter space."""
        return BalancedManifold(self, self.closure(tuple(layer.free for layer in self.rules)))

    def closure(self, partitions: Partitions) -> Partitions:
        """Return the coarsest balanced partitions of a generic point of the balanced weights.

        They differ where a layer receives nothing, for lack of live classes before it.
        """
        current = list(partitions)
        while True:
            lives = [any(labels) for labels in current]
            gives = [live or layer.constant for live, layer in zip(lives, self.rules, strict=True)]
            for number, layer in enumerate(self.rules):
                edges = incoming(self.net.edges, number)
                if any(edge.source is None or gives[edge.source] for edge in edges):
                    continue
                back = (e.target is None or lives[e.target] for e in outgoing(self.net.edges, number))
                if layer.singular or not any(back):
                    current[number] = (0 if layer.has_dead else 2,) * layer.size
            if lives == [any(labels) for labels in current]:
                return tuple(current)

    def named(self, name: str) -> BalancedManifold:
        """Return the manifold of this name (SyntaxProblem, ManifoldError if there is none).

        Examples
        --------
        >>> from invman.architecture import read_architecture
        >>> BalancedSpace.of(read_architecture("1-3sigmoid-3sigmoid-1")).named("k1:0=1=2/k2:0=1=2").leaf_dimension
        3
        """
        return BalancedManifold(self, self.closure(naming.parse_name(self.rules, name)))


@dataclass(frozen=True, eq=False)
class BalancedManifold:
    """The balanced weights of one signed partition a hidden layer: a linear subspace made of affine leaves.

    Attributes
    ----------
    space : BalancedSpace
        The family it belongs to.
    partitions : tuple of tuple of int
        Labels (see :mod:`invman.manifold.partition`), one tuple a hidden layer; label 0 is null: dead or singular.
    """

    space: BalancedSpace
    partitions: Partitions

    def __eq__(self, other: object) -> bool:
        """Compare architecture and partitions."""
        return (
            isinstance(other, BalancedManifold)
            and self.partitions == other.partitions
            and (self.space is other.space or self.space.program == other.space.program)
        )

    def __hash__(self) -> int:
        """Hash the partitions."""
        return hash(self.partitions)

    def __repr__(self) -> str:
        """Print the name; ``BalancedSpace.named`` reads it back."""
        return self.name

    @cached_property
    def name(self) -> str:
        """The name in the grammar of :mod:`invman.manifold.naming`."""
        return naming.print_name(self.space.rules, self.partitions)

    @cached_property
    def blocks(self) -> tuple[list[Block], ...]:
        """The blocks of each hidden layer; at most one of them, the null class, is not live."""
        return tuple(blocks(labels) for labels in self.partitions)

    @cached_property
    def groups(self) -> tuple[list[Group], ...]:
        """The classes of each hidden layer with the signs of their values and signals."""
        return tuple(groups(layer, labels) for layer, labels in zip(self.space.rules, self.partitions, strict=True))

    @cached_property
    def weights(self) -> BalancedWeights:
        """What balance asks of the weights."""
        return BalancedWeights(self.space.net, self.groups)

    @property
    def dimension(self) -> int:
        """Dimension of the balanced weights: ``1 + (p-1)(q-1)`` for p x q weights between live blocks."""
        return self.weights.dimension

    @property
    def leaf_dimension(self) -> int:
        """Dimension of every leaf: one for each live block and each block (or input) whose value it receives."""
        return self.weights.leaf_dimension

    @property
    def frozen_dimension(self) -> int:
        """How many dimensions never move: ``dimension - leaf_dimension``."""
        return self.dimension - self.leaf_dimension

    @cached_property
    def _label(self) -> tuple[bool, str]:
        from invman.manifold.subgroup import symmetry_label

        return symmetry_label(self)

    @property
    def origin(self) -> Origin:
        """Whether the balanced weights are the fixed set of a group of permutations and signs."""
        return Origin.SYMMETRY if self._label[0] else Origin.OTHER

    @property
    def reason(self) -> str:
        """The group by its factors, or why there is none."""
        return self._label[1]

    @property
    def shape(self) -> tuple[object, ...]:
        """What conjugate manifolds have in common: sizes of live blocks and of the null class, a layer each."""
        return tuple(shape(labels) for labels in self.partitions)

    @property
    def orbit_size(self) -> int:
        """Number of conjugate tuples of partitions under permutations and signs, this one included."""
        size = 1
        for layer, labels in zip(self.space.rules, self.partitions, strict=True):
            size *= orbit_size(layer, labels)
        return size

    def leaf(self) -> Polydiagonal:
        """Return the directions of every leaf, exactly: the leaf through theta is theta plus this subspace."""
        return self.weights.leaf()

    def point(self, free: np.ndarray) -> np.ndarray:
        """Map D free numbers linearly onto the balanced weights, exactly on integers; (D,) to (D,)."""
        return self.weights.point(free)

    def frozen_part(self, free: np.ndarray) -> np.ndarray:
        """Project a float array (D,) orthogonally to what is frozen on the leaves of this manifold."""
        return self.weights.frozen_part(free)

    @cached_property
    def rows(self) -> list[dict[int, int]]:
        """Independent equations of the balanced weights: integer coefficients by coordinate, the sum is zero."""
        return [dict(left) | {i: -sign for i, sign in right} for left, right in self.weights.rows()]

    def linear_equations(self) -> LinearEquations:
        """Return the balanced weights as linear equations."""
        rows = [(tuple((i, Fraction(c)) for i, c in sorted(row.items())), Fraction(0)) for row in self.rows]
        return LinearEquations(self.space.program.parameter_count, tuple(rows))

    def leaf_equations(self, theta: Sequence[object] | np.ndarray) -> LinearEquations:
        """Return the leaf through a point of D integers, Fractions or floats (taken exactly) as linear equations."""
        leaf = self.leaf()
        values = [Fraction(v) for v in np.asarray(theta).tolist()]
        first: dict[int, int] = {}
        rows = []
        for i, (own, sign) in enumerate(zip(leaf.classes.tolist(), leaf.signs.tolist(), strict=True)):
            lead = first.setdefault(own, i) if own >= 0 else None
            if lead is None:
                rows.append((((i, Fraction(1)),), values[i]))
            elif lead != i:
                rows.append((((lead, Fraction(-sign)), (i, Fraction(1))), values[i] - sign * values[lead]))
        return LinearEquations(leaf.parameters, tuple(rows))

    @cached_property
    def equations(self) -> list[str]:
        """Equations of the balanced weights, one sum of entries each; ``parse_equations`` reads them."""
        names = self.space.program.coordinate
        return [
            " = ".join(_sum([(sign, names(i)) for i, sign in side]) for side in sides) for sides in self.weights.rows()
        ]

    def contains(self, theta: Sequence[object] | np.ndarray, tolerance: float = 0.0) -> bool:
        """Tell whether a point of D numbers lies on the manifold; each equation must hold up to the tolerance."""
        values = np.asarray(theta)
        return all(abs(sum(c * values[i] for i, c in row.items())) <= tolerance for row in self.rows)

    @cached_property
    def reduction(self) -> Reduction:
        """The narrower architecture that is equivalent on every leaf, and the metric of its learning rates."""
        space = self.space.condensed
        chosen: list[Labels] = []
        for rules, labels in zip(space.rules, self.partitions, strict=True):
            null = 2 * rules.size + 3 if rules.has_zero else 2 * rules.size + 2
            null = 0 if rules.symmetry.dead or rules.dead_by_symmetry else null
            chosen.append(canonical([label or null for label in labels]))
        return CondensedManifold(space, space.closure(tuple(chosen))).reduction


def _sum(terms: Sequence[tuple[int, str]]) -> str:
    """Write a sum of entries, ``-w[0] + w[1]``; an empty one is 0."""
    text = "".join(f" {'-' if sign < 0 else '+'} {name}" for sign, name in terms)
    return "-" + text[3:] if text.startswith(" - ") else text[3:] or "0"
