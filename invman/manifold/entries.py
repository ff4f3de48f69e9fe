"""Polydiagonals and their symmetries written over single entries of the parameters, and read back."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from invman.architecture.program import Program
from invman.errors import ManifoldError
from invman.manifold.subspace import LinearEquations, Polydiagonal


def entry_equations(program: Program, subspace: Polydiagonal) -> list[str]:
    """Write a polydiagonal as chains of equal entries, one a class; what is zero comes last.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> space = Polydiagonal(np.array([0, 0, -1, 1]), np.array([1, -1, 0, 1]))
    >>> entry_equations(read_architecture("1-2tanh-1"), space)
    ['w[0,0] = -w[1,0]', 'a[0] = 0']
    """
    chains: dict[int, list[str]] = {}
    for index, (number, sign) in enumerate(zip(subspace.classes.tolist(), subspace.signs.tolist(), strict=True)):
        chains.setdefault(number, []).append(f"{'-' if sign < 0 else ''}{program.coordinate(index)}")
    zero = chains.pop(-1, [])
    lines = [" = ".join(chain) for chain in chains.values() if len(chain) > 1]
    return lines + ([" = ".join([*zero, "0"])] if zero else [])


def from_equations(equations: LinearEquations, text: str) -> Polydiagonal:
    """Return the polydiagonal that equations between entries define.

    Raises
    ------
    ManifoldError
        Some equation says more than that entries are equal, opposite or zero.
    """
    basis: dict[int, tuple[int, int]] = {}
    for row, constant in equations.rows:
        (first, leading), *others = row
        ratios = [coefficient / leading for _, coefficient in others]
        if constant or len(others) > 1 or not {*ratios} <= {Fraction(1), Fraction(-1)}:
            msg = f"manifold {text}: got an equation that says more, expected entries equal, opposite or zero"
            raise ManifoldError(msg)
        basis[first] = (others[0][0], -int(ratios[0])) if others else (-1, 0)
    # the pivot of a row is its first entry, so values are found from the last one on
    value: dict[int, tuple[int, int]] = {}
    for index in reversed(range(equations.parameters)):
        other, sign = basis.get(index, (index, 1))
        if sign and other != index:
            other, further = value[other]
            sign *= further
        value[index] = other, sign
    number: dict[int, tuple[int, int]] = {}
    classes = np.full(equations.parameters, -1, dtype=np.int32)
    signs = np.zeros(equations.parameters, dtype=np.int8)
    for index in range(equations.parameters):
        other, sign = value[index]
        if sign:
            place, first = number.setdefault(other, (len(number), sign))
            classes[index], signs[index] = place, sign * first
    return Polydiagonal(classes, signs)


def describe_permutation(program: Program, images: np.ndarray) -> str:
    """Write a signed permutation of the parameters as cycles, one of each pair of opposite cycles.

    ``(w1[0,0] -w1[1,0])`` replaces the first by minus the second and the second by minus the first.
    """
    half = len(images) // 2
    seen: set[int] = set()
    cycles = []
    for start in range(half):
        if start in seen or start + half in seen or images[start] == start:
            continue
        cycle, point = [], start
        while point not in cycle:
            cycle.append(point)
            point = int(images[point])
        seen.update(cycle)
        names = [f"{'-' if p >= half else ''}{program.coordinate(p % half)}" for p in cycle]
        cycles.append(f"({' '.join(names)})")
    return "".join(cycles) or "()"
