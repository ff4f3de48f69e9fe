"""Generators of the continuous symmetry of named axes, written out entry by entry on small sizes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from invman.architecture.program import Program, Tensor
from invman.symmetry.axes import AxisClasses
from invman.symmetry.continuous import ContinuousGroup, ScalingFactor
from invman.symmetry.infinitesimal import AffineGenerator
from invman.symmetry.linear import LinearFactor
from invman.symmetry.shifts import ShiftFactor

ONE = Fraction(1)


def explicit_generators(group: ContinuousGroup) -> list[AffineGenerator]:
    """Return affine vector fields that span the continuous symmetry of the axes, not necessarily independent.

    Wherever a translation b is a symmetry, so is ``l(theta) b`` for every linear form l; these are included.

    Parameters
    ----------
    group : ContinuousGroup
        The symmetry.

    Returns
    -------
    list of AffineGenerator
        Fields ``A theta + b`` with ``<A theta + b, grad F> = 0``.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> from invman.symmetry.continuous import continuous_group
    >>> len(explicit_generators(continuous_group(read_architecture("1-2identity-1"))))
    8
    """
    program, classes = group.program, AxisClasses(group.program)
    found = [g for factor in group.linear for g in _linear(program, classes, factor)]
    found += [g for factor in group.scalings for g in _scaling(program, factor)]
    translations = [g for factor in group.shifts for g in _translations(program, factor)]
    for translation in translations:
        for column in range(program.parameter_count):
            linear = {(row, column): value for row, value in translation.shift.items()}
            found.append(AffineGenerator(linear, {}))
    return found + translations


def _indices(program: Program, tensor: Tensor) -> np.ndarray:
    return np.arange(tensor.size).reshape(tensor.shape) + program.offsets[tensor.name]


def _matrices(factor: LinearFactor) -> Iterator[np.ndarray]:
    """Yield a basis of the Lie algebra, int arrays of shape (n, n)."""
    n = factor.axis.size
    vectors = np.eye(n, dtype=int)
    if factor.ones:
        vectors = vectors[:-1] - vectors[-1]
    for a, b in itertools.product(range(len(vectors)), repeat=2):
        matrix = np.outer(vectors[a], vectors[b])
        if factor.kind == "GL":
            yield matrix
        elif a < b:
            yield matrix - matrix.T


def _linear(program: Program, classes: AxisClasses, factor: LinearFactor) -> Iterator[AffineGenerator]:
    cells = list(itertools.product(*(range(axis.size) for axis in factor.local_to)))
    for matrix, cell in itertools.product(_matrices(factor), cells):
        entries: dict[tuple[int, int], Fraction] = {}
        for carrier in (*factor.covariant, *factor.contravariant):
            tensor = program.parameter(carrier.tensor)
            own = matrix if carrier in factor.covariant else -matrix.T
            at = [classes.of(tensor.name, p) for p in range(len(tensor.shape))]
            index = np.moveaxis(_indices(program, tensor), carrier.position, 0)
            rest = [axis for p, axis in enumerate(at) if p != carrier.position]
            place: list[slice | int] = [slice(None)] * len(rest)
            for axis, value in zip(factor.local_to, cell, strict=True):
                place[rest.index(axis)] = value
            index = index[(slice(None), *place)].reshape(factor.axis.size, -1)
            for row, column in np.argwhere(own):
                for left, right in zip(index[row], index[column], strict=True):
                    entries[int(left), int(right)] = Fraction(int(own[row, column]))
        yield AffineGenerator(entries, {})


def _scaling(program: Program, factor: ScalingFactor) -> Iterator[AffineGenerator]:
    cells = itertools.product(*(range(axis.size) for axis in factor.axes))
    for cell, exponents in itertools.product(list(cells), factor.exponents):
        linear: dict[tuple[int, int], Fraction] = {}
        shift: dict[int, Fraction] = {}
        for (name, positions), value in exponents.items():
            tensor = program.parameter(name.lstrip("+"))
            place: list[slice | int] = [slice(None)] * len(tensor.shape)
            for position, at in zip(positions, cell, strict=True):
                place[position] = at
            for index in np.atleast_1d(_indices(program, tensor)[tuple(place)]).ravel():
                if name.startswith("+"):
                    shift[int(index)] = shift.get(int(index), Fraction(0)) + value
                else:
                    linear[int(index), int(index)] = linear.get((int(index), int(index)), Fraction(0)) + value
        yield AffineGenerator({k: v for k, v in linear.items() if v}, {k: v for k, v in shift.items() if v})


def _translations(program: Program, factor: ShiftFactor) -> Iterator[AffineGenerator]:
    first = _indices(program, program.parameter(factor.tensors[0]))
    if len(factor.tensors) == 2:
        second = _indices(program, program.parameter(factor.tensors[1])).ravel()
        for gains, loses in zip(first.ravel(), second, strict=True):
            yield AffineGenerator({}, {int(gains): ONE, int(loses): -ONE})
    elif factor.constant_along is None:
        for index in first.ravel():
            yield AffineGenerator({}, {int(index): ONE})
    else:
        lines = np.moveaxis(first, factor.constant_along.position, 0)
        for line in lines.reshape(lines.shape[0], -1).T:
            yield AffineGenerator({}, {int(index): ONE for index in line})
