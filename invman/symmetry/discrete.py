"""All permutations and signs that act on named axes, with the exact order of the group they generate.

Permutations form a product over the hidden axes (composite ones where two axes are local to each other), each a power
of a symmetric group where the axis is local to others. Branches that differ in their own parameters only put the values
of several axes, or single values, into one symmetric group (:mod:`invman.symmetry.pools`). Signs form a vector space
over the field of two elements, the direct sum of its components (:func:`invman.symmetry.characters.sign_component`).
Signs are normal in the whole group, so its order is the product of the two.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from invman.architecture.program import Program
from invman.symmetry.axes import AxisClass, AxisClasses, Carrier
from invman.symmetry.characters import Unknown, sign_component
from invman.symmetry.locality import local_to
from invman.symmetry.pools import Pool, pools
from invman.symmetry.signed import SignedPermutation


@dataclass(frozen=True)
class PermutationFactor:
    """The symmetric group on the values of one hidden axis, a copy a cell of the axes that it is local to.

    Attributes
    ----------
    axes : tuple of AxisClass
        The axis; several of them where pairs or triples of values are permuted freely.
    local_to : tuple of AxisClass
        Axes for each cell of which the permutation can be chosen anew.
    """

    axes: tuple[AxisClass, ...]
    local_to: tuple[AxisClass, ...]

    @property
    def size(self) -> int:
        """Number n of values (or tuples of values) that are permuted."""
        return math.prod(axis.size for axis in self.axes)

    @property
    def copies(self) -> int:
        """Number of independent copies of S_n."""
        return math.prod(axis.size for axis in self.local_to)

    @property
    def order(self) -> int:
        """``(n!)^copies``."""
        return math.factorial(self.size) ** self.copies

    @property
    def name(self) -> str:
        """Names of the axes, joined by a comma."""
        return ",".join(axis.name for axis in self.axes)


@dataclass(frozen=True)
class SignFactor:
    """Sign changes that vary with exactly the axes of one component.

    Attributes
    ----------
    axes : tuple of AxisClass
        The component; empty for sign changes of whole tensors.
    patterns : tuple of frozenset
        Basis: which tensors change sign together, at which positions.
    """

    axes: tuple[AxisClass, ...]
    patterns: tuple[frozenset[Unknown], ...]

    @property
    def rank(self) -> int:
        """Dimension over the field of two elements."""
        return len(self.patterns) * math.prod(axis.size - 1 for axis in self.axes)


@dataclass(frozen=True)
class Generator:
    """One generator of the group, described on axes; ``on_parameters`` writes it out.

    Attributes
    ----------
    factor : PermutationFactor, Pool or SignFactor
        Where it acts.
    kind : {"swap", "cycle", "flip"}
        Swap of the first two values, cycle of all, or a sign change of one cell.
    cell : tuple of int
        Values of the axes that a permutation is local to, or of the axes of the sign change.
    pattern : int
        Which pattern of a sign factor.
    """

    factor: PermutationFactor | Pool | SignFactor
    kind: str
    cell: tuple[int, ...] = ()
    pattern: int = 0

    def describe(self) -> str:
        """Say in words what it does."""
        if isinstance(self.factor, SignFactor):
            tensors = ", ".join(sorted({tensor for tensor, _ in self.factor.patterns[self.pattern]}))
            return f"change the sign of {tensors}{self._at(self.factor.axes)}"
        cycle = "(0 1)" if self.kind == "swap" else f"(0 1 ... {self.factor.size - 1})"
        return f"permute {self.factor.name} by {cycle}{self._at(self.factor.local_to)}"

    def _at(self, axes: tuple[AxisClass, ...]) -> str:
        places = ", ".join(f"{axis.name}={value}" for axis, value in zip(axes, self.cell, strict=True))
        return f" at {places}" if places else ""

    def on_parameters(self, program: Program) -> SignedPermutation:
        """Write the generator as a signed permutation of theta."""
        if isinstance(self.factor, Pool):
            return SignedPermutation(*self.factor.move(program, self._order(), self.cell))
        images, signs = np.arange(program.parameter_count), np.ones(program.parameter_count, dtype=np.int8)
        classes = AxisClasses(program)
        for tensor in program.parameters:
            span = slice(program.offsets[tensor.name], program.offsets[tensor.name] + tensor.size)
            block, sign = images[span].reshape(tensor.shape), signs[span].reshape(tensor.shape)
            names = [classes.of(tensor.name, p).name for p in range(len(tensor.shape))]
            if isinstance(self.factor, SignFactor):
                for name, positions in self.factor.patterns[self.pattern]:
                    if name == tensor.name:
                        place: list[int | slice] = [slice(None)] * len(tensor.shape)
                        for position, value in zip(positions, self.cell, strict=True):
                            place[position] = value
                        sign[tuple(place)] *= -1
            else:
                images[span] = self._permuted(block, names).reshape(-1)
        return SignedPermutation(images, signs)

    def _order(self) -> np.ndarray:
        assert not isinstance(self.factor, SignFactor)  # noqa: S101 - the callers have told them apart
        order = np.arange(self.factor.size)
        if self.kind != "swap":
            return np.roll(order, -1)
        order[[0, 1]] = order[[1, 0]]
        return order

    def _permuted(self, block: np.ndarray, names: list[str]) -> np.ndarray:
        factor, order = self.factor, self._order()
        assert isinstance(factor, PermutationFactor)  # noqa: S101 - the caller has told them apart
        own = [axis.name for axis in factor.axes]
        if len(own) == 1:
            # an axis may stand at two positions of one tensor, and then both are permuted
            at = [p for p, name in enumerate(names) if name == own[0]]
        else:
            at = [names.index(name) for name in own if name in names]
            if len(at) < len(own):
                return block
        if not at:
            return block
        if len(own) == 1 and not factor.local_to:
            for position in at:
                block = np.take(block, order, axis=position)
            return block
        local = [names.index(axis.name) for axis in factor.local_to]
        moved = np.moveaxis(block, [*local, *at], range(len(local) + len(at))).copy()
        inner = moved[self.cell]
        shape = inner.shape
        inner = inner.reshape(factor.size, -1)[order].reshape(shape)
        moved[self.cell] = inner
        return np.moveaxis(moved, range(len(local) + len(at)), [*local, *at])


@dataclass(frozen=True)
class AxisGroup:
    """The group of signed permutations of theta that the named axes explain.

    Attributes
    ----------
    program : Program
        The architecture.
    permutations : tuple of PermutationFactor or Pool
        The symmetric groups.
    signs : tuple of SignFactor
        The components of the sign changes.
    """

    program: Program
    permutations: tuple[PermutationFactor | Pool, ...]
    signs: tuple[SignFactor, ...]

    @cached_property
    def sign_rank(self) -> int:
        """Number of independent sign changes."""
        return sum(factor.rank for factor in self.signs)

    @cached_property
    def order(self) -> int:
        """The exact order of the group."""
        return math.prod(factor.order for factor in self.permutations) * 2**self.sign_rank

    def generators(self) -> Iterator[Generator]:
        """Yield generators: swaps and cycles of each axis, and the sign changes of one cell of each component."""
        for factor in self.permutations:
            for cell in _cells(factor.local_to):
                if factor.size > 1:
                    yield Generator(factor, "swap", cell)
                if factor.size > 2:
                    yield Generator(factor, "cycle", cell)
        for factor in self.signs:
            for number in range(len(factor.patterns)):
                for cell in () if self._implied(factor, number) else _cells(factor.axes):
                    yield Generator(factor, "flip", cell, number)

    def _implied(self, factor: SignFactor, number: int) -> bool:
        """Tell whether a sign change is the product of those of the same tensors over the cells of more axes."""
        tensors = {tensor for tensor, _ in factor.patterns[number]}
        return any(
            set(other.axes) > set(factor.axes) and {tensor for tensor, _ in pattern} == tensors
            for other in self.signs
            for pattern in other.patterns
        )


def _cells(axes: tuple[AxisClass, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the cells of some axes that no permutation carries into each other: value 0 of a hidden axis alone."""
    yield from itertools.product(*(range(1 if axis.hidden else axis.size) for axis in axes))


def axis_group(program: Program) -> AxisGroup:
    """Find all permutations and signs of the named axes of an architecture.

    The time grows with the length of the program, never with its sizes.

    Parameters
    ----------
    program : Program
        The architecture.

    Returns
    -------
    AxisGroup

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> axis_group(read_architecture("attention(d=4,heads=2,dk=2,seq=3)")).order
    8192
    """
    classes = AxisClasses(program)
    around = local_to(program, classes)
    used: set[AxisClass] = set()
    permutations = []
    for axis in classes.classes:
        if axis not in around and axis.hidden:
            around[axis] = frozenset()
        if not axis.hidden or axis in used:
            continue
        group = (axis, *(other for other in around[axis] if other.hidden and axis in around.get(other, ())))
        used.update(group)
        outer = tuple(sorted(around[axis] - set(group), key=lambda other: other.name))
        permutations.append(PermutationFactor(tuple(sorted(group, key=lambda a: a.name)), outer))
    signs = [SignFactor(axes, sign_component(program, classes, axes)) for axes in components(program, classes)]
    together = _with_pools(permutations, pools(program, classes))
    return AxisGroup(program, together, tuple(factor for factor in signs if factor.rank))


def _with_pools(factors: list[PermutationFactor], found: tuple[Pool, ...]) -> tuple[PermutationFactor | Pool, ...]:
    """Replace the factors of axes that are permuted within pools.

    A factor of which some carriers are in no pool stays: it acts on those as the whole symmetric group, whatever the
    pools do elsewhere. One of which all carriers are in pools is a product of what the pools do.
    """
    known = {(frozenset(_carriers(factor)), factor.size, factor.copies) for factor in factors}
    kept = []
    for pool in found:
        if (pool.covered, pool.size, pool.copies) not in known:
            replaced = math.prod(factor.order for factor in factors if _carriers(factor) <= pool.covered)
            kept += [pool] if pool.order % replaced == 0 else []
    covered = frozenset().union(*(pool.covered for pool in kept))
    left = [factor for factor in factors if not _carriers(factor) <= covered]
    return (*left, *kept)


def _carriers(factor: PermutationFactor) -> set[Carrier]:
    return {carrier for axis in factor.axes for carrier in axis.carriers}


def components(program: Program, classes: AxisClasses) -> list[tuple[AxisClass, ...]]:
    """Return the sets of axes that some parameter carries together, the empty set first; axes of size 1 left out."""
    found: dict[tuple[AxisClass, ...], None] = {(): None}
    for tensor in program.parameters:
        carried = list(dict.fromkeys(classes.of(tensor.name, p) for p in range(len(tensor.shape))))
        for size in range(1, len(carried) + 1):
            for chosen in itertools.combinations(sorted(carried, key=lambda axis: axis.name), size):
                if all(axis.size > 1 for axis in chosen):
                    found[chosen] = None
    return list(found)
