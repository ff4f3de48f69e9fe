"""The same architecture at small sizes, on which complete but slow searches can be run."""

from __future__ import annotations

from invman.architecture.program import Program, Ref, walk
from invman.architecture.text import parse_program
from invman.symmetry.axes import AxisClass, AxisClasses


def shrink(program: Program, size: int = 2) -> Program:
    """Return the program with every axis cut down to a size.

    Axes in affine indices, axes of constants and all that must be as long as these keep their size, since the program
    says how they fit.

    Parameters
    ----------
    program : Program
        The architecture.
    size : int
        Largest size of the other axes.

    Returns
    -------
    Program

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> shrink(read_architecture("10-20tanh-5")).sizes
    {'i': 2, 'k': 2, 'o': 2}
    """
    classes = AxisClasses(program)
    fixed = {axis for constant in program.constants for axis in constant.tensor.axes if axis is not None}
    lengths = {tensor.name: tensor.axes for tensor in program.inputs}
    names_of: dict[AxisClass, set[str]] = {}
    for statement in program.statements:
        for position, axis in enumerate(statement.axes):
            names_of.setdefault(classes.of(statement.name, position), set()).add(axis)
        for node in walk(statement.expr):
            if not isinstance(node, Ref):
                continue
            for position, index in enumerate(node.indices):
                names = {axis for axis, _ in index.terms}
                names_of.setdefault(classes.of(node.tensor, position), set()).update(names)
                if index.axis is None:
                    # the tensor is as long as the affine index reaches
                    fixed |= names | {axis for axis in lengths.get(node.tensor, ())[position : position + 1] if axis}
    grown = True
    while grown:
        linked = {name for names in names_of.values() if names & fixed for name in names}
        grown = not linked <= fixed
        fixed |= linked
    sizes = {axis: old if axis in fixed else min(old, size) for axis, old in program.sizes.items()}
    lines = [line for line in program.text.splitlines() if not line.startswith("size ")]
    return parse_program("\n".join([*lines, "size " + ", ".join(f"{axis}={n}" for axis, n in sizes.items())]))
