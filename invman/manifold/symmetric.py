"""Symmetric manifolds: fixed sets of groups of signed permutations, those that tie several axes together as well.

The subspace of a net 1-2-2-1 with ``w2 = [[p, q], [q, p]]``, equal rows of w1 and equal entries of w3 is fixed by the
swap of both hidden layers at once; no partition of neurons describes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from invman.architecture.program import Program
from invman.errors import ManifoldError, UnsupportedError
from invman.manifold import points
from invman.manifold.condensed import CondensedManifold, CondensedSpace, Origin
from invman.manifold.entries import describe_permutation, entry_equations, from_equations
from invman.manifold.equations import parse_equations
from invman.manifold.recognise import recognise
from invman.manifold.reduction import Reduction
from invman.manifold.subspace import Polydiagonal
from invman.symmetry.group import DiscreteSymmetry, find_symmetry
from invman.symmetry.points import PointGroup
from invman.symmetry.pools import Pool
from invman.symmetry.relations import Form, SymmetryGraph


class SymmetricSpace:
    """All fixed sets of one architecture: its isotropy lattice.

    Parameters
    ----------
    symmetry : DiscreteSymmetry
        Symmetry of the architecture's hidden axes.

    Raises
    ------
    UnsupportedError
        Branches that differ in their own parameters only are interchangeable, which this family does not know of.
    """

    family = "symmetric"

    def __init__(self, symmetry: DiscreteSymmetry) -> None:
        pool = next((factor for factor in symmetry.group.permutations if isinstance(factor, Pool)), None)
        if pool is not None:
            msg = (
                f"family symmetric of {symmetry.program!r}: got interchangeable branches ({pool.name}), expected "
                "permutations of axes only. Write the branches as one tensor with an axis that runs over them"
            )
            raise UnsupportedError(msg)
        self.symmetry = symmetry
        self.program = symmetry.program
        self.points = PointGroup(symmetry.group)

    @classmethod
    def of(cls, program: Program) -> SymmetricSpace:
        """Find the symmetry of an architecture and return its space of fixed sets."""
        return cls(find_symmetry(program))

    @cached_property
    def graph(self) -> SymmetryGraph:
        """The graph that gives canonical forms and stabilisers."""
        return SymmetryGraph(self.points)

    @cached_property
    def condensed(self) -> CondensedSpace | None:
        """The condensed manifolds of the same architecture, where it has any."""
        try:
            return CondensedSpace(self.symmetry)
        except UnsupportedError:
            return None

    @property
    def whole(self) -> SymmetricManifold:
        """The whole parameter space."""
        return self.manifold(points.whole(self.points.degree))

    def manifold(self, leaders: np.ndarray) -> SymmetricManifold:
        """Return the manifold with these leaders (see :mod:`invman.manifold.points`)."""
        return SymmetricManifold(self, tuple(leaders.tolist()), self.graph.form(leaders))

    def named(self, name: str) -> SymmetricManifold:
        """Return the manifold of this name: that of a condensed manifold, or equations between entries.

        Raises
        ------
        SyntaxProblem, ManifoldError
            The text is no name, or names no fixed set of this architecture.

        Examples
        --------
        >>> from invman.architecture import read_architecture
        >>> space = SymmetricSpace.of(read_architecture("1-2sigmoid-2sigmoid-1"))
        >>> name = "w1[0,0]=w1[1,0],w2[0,0]=w2[1,1],w2[0,1]=w2[1,0],w3[0]=w3[1]"
        >>> space.named(name).dimension
        4
        """
        if name == "free":
            return self.whole
        if "[" in name or self.condensed is None:
            subspace = from_equations(parse_equations(self.program, name), name)
        else:
            subspace = self.condensed.named(name).polydiagonal()
        leaders = points.leaders(subspace)
        generators, _ = self.graph.stabiliser(leaders)
        if not np.array_equal(points.fixed_set(generators, len(leaders)), leaders):
            msg = (
                f"manifold {name}: got a set that no group of permutations and signs fixes, expected one of the "
                "symmetric family. To test such a set anyway, write it with --equations."
            )
            raise ManifoldError(msg)
        return self.manifold(leaders)


@dataclass(frozen=True)
class SymmetricManifold:
    """One fixed set: a signed polydiagonal subspace of parameter space.

    Attributes
    ----------
    space : SymmetricSpace
        The family it belongs to.
    leaders : tuple of int
        For each signed point the smallest one equal to it.
    form : Form
        Canonical form and setwise stabiliser, of this manifold or of a conjugate one.
    """

    space: SymmetricSpace
    leaders: tuple[int, ...]
    form: Form

    def __eq__(self, other: object) -> bool:
        """Compare architecture and subspace."""
        return (
            isinstance(other, SymmetricManifold)
            and self.leaders == other.leaders
            and (self.space is other.space or self.space.program == other.space.program)
        )

    def __hash__(self) -> int:
        """Hash the subspace."""
        return hash(self.leaders)

    def __repr__(self) -> str:
        """Print the name; ``SymmetricSpace.named`` reads it back."""
        return self.name

    @cached_property
    def row(self) -> np.ndarray:
        """The leaders as an array."""
        return np.array(self.leaders, dtype=points.whole(len(self.leaders)).dtype)

    @cached_property
    def condensed(self) -> CondensedManifold | None:
        """The condensed manifold that is the same subspace, if there is one."""
        return None if self.space.condensed is None else recognise(self.space.condensed, self.polydiagonal())

    @cached_property
    def name(self) -> str:
        """The name of the same condensed manifold, else equations between entries of the parameters."""
        if self.condensed is not None:
            return self.condensed.name
        return ",".join(self.equations).replace(" ", "") or "free"

    @cached_property
    def dimension(self) -> int:
        """Dimension of the subspace."""
        return int(points.dimensions(self.row[None])[0])

    @property
    def shape(self) -> bytes:
        """What exactly the conjugate manifolds have in common: the canonical form."""
        return self.form.key

    @property
    def orbit_size(self) -> int:
        """Number of conjugate manifolds under the symmetry group, this one included."""
        return self.space.points.order // self.form.order

    @property
    def origin(self) -> Origin:
        """Symmetry-induced, by definition."""
        return Origin.SYMMETRY

    @cached_property
    def equations(self) -> list[str]:
        """Linear equations that define the subspace, over slices where it is condensed, else over entries."""
        if self.condensed is not None:
            return self.condensed.equations
        return entry_equations(self.space.program, self.polydiagonal())

    @cached_property
    def _stabiliser(self) -> tuple[list[np.ndarray], int]:
        return self.space.graph.stabiliser(self.row)

    @property
    def stabiliser_order(self) -> int:
        """Exact order of the isotropy subgroup: what leaves every point of the manifold where it is."""
        return self._stabiliser[1]

    @property
    def stabiliser_generators(self) -> list[str]:
        """Generators of the isotropy subgroup, as cycles of signed parameters."""
        return [describe_permutation(self.space.program, images) for images in self._stabiliser[0]]

    def polydiagonal(self) -> Polydiagonal:
        """Return the subspace in coordinates of theta, exactly."""
        return points.polydiagonal(self.row)

    @property
    def reduction(self) -> Reduction | None:
        """The narrower architecture that is equivalent on the manifold; None where it is no condensed manifold."""
        return None if self.condensed is None else self.condensed.reduction
