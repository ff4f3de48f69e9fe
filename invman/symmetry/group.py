"""The discrete symmetry of the hidden axes: permutations and signs, as a group and as signed permutations of theta."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from invman.architecture.program import Program
from invman.symmetry.axes import AxisClass, AxisClasses, Carrier
from invman.symmetry.characters import absorbers, signs, silent


@dataclass(frozen=True)
class AxisSymmetry:
    """What acts on the values of one hidden axis: the wreath product of its sign changes with S_n.

    Attributes
    ----------
    axis : AxisClass
        The hidden axis, of size n.
    flips : tuple of frozenset of Carrier
        Independent sign changes of one value; for an odd activation all weights of the neuron, for an even one its
        incoming weights.
    dead : bool
        Whether a value whose parameters are all zero stays so.
    absorbers : frozenset of Carrier or None
        Carriers that take up the multiplicity of equal values (the outgoing weights).
    """

    axis: AxisClass
    flips: tuple[frozenset[Carrier], ...]
    dead: bool
    absorbers: frozenset[Carrier] | None

    @property
    def order(self) -> int:
        """``n! 2^(n g)`` for g independent flips."""
        return math.factorial(self.axis.size) * 2 ** (self.axis.size * len(self.flips))


@dataclass(frozen=True)
class SignedPermutation:
    """A signed permutation of the parameters: ``(g theta)[i] = signs[i] * theta[images[i]]``.

    Attributes
    ----------
    images : int64 array, shape (D,)
        A permutation of 0..D-1.
    signs : int8 array, shape (D,)
        Entries +1 and -1.
    """

    images: np.ndarray
    signs: np.ndarray

    def __call__(self, theta: np.ndarray) -> np.ndarray:
        """Apply it to a parameter vector, shape (D,)."""
        return self.signs * theta[self.images]


@dataclass(frozen=True)
class Generator:
    """One generator on a hidden axis.

    Attributes
    ----------
    axis : AxisSymmetry
        Where it acts.
    kind : {"swap", "cycle", "flip"}
        Swap of values 0 and 1, the cycle of all values, or a sign change of value 0.
    flip : int
        Which sign change, for kind "flip".
    """

    axis: AxisSymmetry
    kind: str
    flip: int = 0

    def describe(self) -> str:
        """Say in words what it does."""
        size = self.axis.axis.size
        if self.kind == "flip":
            tensors = ", ".join(sorted({carrier.tensor for carrier in self.axis.flips[self.flip]}))
            return f"change the sign of {tensors} at {self.axis.axis.name}=0"
        cycle = "(0 1)" if self.kind == "swap" else f"(0 1 ... {size - 1})"
        return f"permute {self.axis.axis.name} by {cycle}"

    def on_parameters(self, program: Program) -> SignedPermutation:
        """Write the generator as a signed permutation of theta."""
        size = self.axis.axis.size
        values = np.arange(size)
        flips: frozenset[Carrier] = frozenset()
        if self.kind == "swap":
            values[[0, 1]] = values[[1, 0]]
        elif self.kind == "cycle":
            values = np.roll(values, -1)
        else:
            flips = self.axis.flips[self.flip]
        images, signs = np.arange(program.parameter_count), np.ones(program.parameter_count, dtype=np.int8)
        for tensor in program.parameters:
            at = [c.position for c in self.axis.axis.carriers if c.tensor == tensor.name]
            if not at:
                continue
            span = slice(program.offsets[tensor.name], program.offsets[tensor.name] + tensor.size)
            block, sign = images[span].reshape(tensor.shape), np.ones(tensor.shape, dtype=np.int8)
            for position in at:
                block = np.take(block, values, axis=position)
                if Carrier(tensor.name, position) in flips:
                    sign[(slice(None),) * position + (0,)] *= -1
            images[span], signs[span] = block.reshape(-1), sign.reshape(-1)
        return SignedPermutation(images, signs)


@dataclass(frozen=True)
class DiscreteSymmetry:
    """The group generated on all hidden axes: one wreath product an axis, and they commute.

    Attributes
    ----------
    program : Program
        The architecture.
    axes : tuple of AxisSymmetry
        One a hidden axis, in the order of the program.
    """

    program: Program
    axes: tuple[AxisSymmetry, ...]

    @cached_property
    def order(self) -> int:
        """The exact order of the group of signed permutations of theta.

        The product of the orders of the axes, except where sign changes of *all* values of some axes together change
        nothing, as on ``w[k,l]`` when rows and columns may both be flipped.
        """
        independent: list[int] = []
        trivial = 0
        tensors = {tensor.name: 1 << bit for bit, tensor in enumerate(self.program.parameters)}
        for flip in (flip for axis in self.axes for flip in axis.flips):
            changed = 0
            for carrier in flip:
                changed ^= tensors[carrier.tensor]
            for row in independent:
                changed = min(changed, changed ^ row)
            if changed:
                independent.append(changed)
            else:
                trivial += 1
        return math.prod(axis.order for axis in self.axes) >> trivial

    def generators(self) -> Iterator[Generator]:
        """Yield generators: for each axis a swap, a cycle from three values on, and the sign changes."""
        for axis in self.axes:
            if axis.axis.size > 1:
                yield Generator(axis, "swap")
            if axis.axis.size > 2:
                yield Generator(axis, "cycle")
            yield from (Generator(axis, "flip", number) for number in range(len(axis.flips)))


def find_symmetry(program: Program) -> DiscreteSymmetry:
    """Find the permutations and sign changes of the hidden axes of an architecture.

    Works on axes, never on scalars: the time is proportional to the length of the program, whatever the widths.

    Parameters
    ----------
    program : Program
        The architecture.

    Returns
    -------
    DiscreteSymmetry

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> find_symmetry(read_architecture("1-2tanh-3tanh-1")).order
    384
    """
    classes = AxisClasses(program)
    hidden = [axis for axis in classes.classes if axis.hidden]
    order = {tensor.name: number for number, tensor in enumerate(program.parameters)}
    hidden.sort(key=lambda axis: min((order[c.tensor], c.position) for c in axis.carriers))
    return DiscreteSymmetry(
        program,
        tuple(
            AxisSymmetry(
                axis, signs(program, classes, axis), silent(program, classes, axis), absorbers(program, classes, axis)
            )
            for axis in hidden
        ),
    )
