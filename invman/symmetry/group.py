"""The discrete symmetry of the hidden axes: permutations, signs, dead values and absorbing weights, axis by axis."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from invman.architecture.program import Program
from invman.symmetry.axes import AxisClass, AxisClasses, Carrier
from invman.symmetry.characters import absorbers, signs, silent
from invman.symmetry.discrete import AxisGroup, Generator, axis_group


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
class DiscreteSymmetry:
    """The permutations and sign changes of the hidden axes of an architecture.

    Attributes
    ----------
    program : Program
        The architecture.
    axes : tuple of AxisSymmetry
        What acts on each hidden axis by itself, in the order of the program.
    group : AxisGroup
        The whole group, permutations that depend on other axes and joint sign changes included.
    """

    program: Program
    axes: tuple[AxisSymmetry, ...]
    group: AxisGroup

    @property
    def order(self) -> int:
        """The exact order of the group of signed permutations of theta."""
        return self.group.order

    def generators(self) -> Iterator[Generator]:
        """Yield generators of the whole group."""
        return self.group.generators()


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
        axis_group(program),
    )
