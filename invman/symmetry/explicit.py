"""Generators of the continuous symmetry of named axes, written out entry by entry on small sizes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np

from invman.architecture.program import Program, Tensor
from invman.symmetry.axes import AxisClasses, Carrier
from invman.symmetry.continuous import ContinuousGroup, ScalingFactor
from invman.symmetry.infinitesimal import AffineGenerator
from invman.symmetry.infinitesimal.modular import rank
from invman.symmetry.infinitesimal.tape import residue
from invman.symmetry.infinitesimal.tower import draw_tower
from invman.symmetry.linear import LinearFactor, VectorFactor
from invman.symmetry.shifts import ShiftFactor, undo_entries

ONE = Fraction(1)


def explicit_generators(group: ContinuousGroup) -> list[AffineGenerator]:
    """Return affine vector fields that span the continuous symmetry of the axes, not necessarily independent.

    Wherever a constant field b is a symmetry, so is ``l(theta) b`` for every linear form l; these are included.

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
    >>> len(explicit_generators(continuous_group(read_architecture("2-2identity-2"))))
    7
    """
    program, classes = group.program, AxisClasses(group.program)
    found = [g for factor in group.linear for g in _linear(program, classes, factor)]
    found += [g for factor in group.vectors for g in _vectors(program, classes, factor)]
    found += [g for factor in group.scalings for g in _scaling(program, factor)]
    translations = [g for factor in group.shifts for g in _translations(program, factor)]
    for translation in translations:
        for column in range(program.parameter_count if not translation.linear else 0):
            linear = {(row, column): value for row, value in translation.shift.items()}
            found.append(AffineGenerator(linear, {}))
    return found + translations


def span_dimension(generators: Iterable[AffineGenerator]) -> int:
    """Return the dimension of the span of some fields, computed modulo a random prime: never too large.

    Examples
    --------
    >>> field = AffineGenerator({(0, 0): ONE}, {})
    >>> span_dimension([field, field])
    1
    """
    fields = [{**g.linear, **{(row, -1): value for row, value in g.shift.items()}} for g in generators]
    keys = sorted({key for field in fields for key in field})
    prime = draw_tower(np.random.default_rng(0), 0).primes[0]
    rows = [[residue(field[key], prime) if key in field else 0 for key in keys] for field in fields]
    return rank(rows, prime) if keys else 0


def _indices(program: Program, tensor: Tensor) -> np.ndarray:
    return np.arange(tensor.size).reshape(tensor.shape) + program.offsets[tensor.name]


def _matrices(factor: LinearFactor) -> Iterator[np.ndarray]:
    """Yield a basis of the Lie algebra, int arrays of shape (n, n)."""
    n = factor.size
    vectors = np.eye(n, dtype=int)
    if factor.ones:
        vectors = vectors[:-1] - vectors[-1]
    for a, b in itertools.product(range(len(vectors)), repeat=2):
        matrix = np.outer(vectors[a], vectors[b])
        if factor.kind == "GL":
            yield matrix
        elif a < b:
            yield matrix - matrix.T


def _columns(
    program: Program, classes: AxisClasses, factor: LinearFactor, carrier: Carrier, cell: tuple[int, ...]
) -> np.ndarray:
    """Return the positions in theta of a tensor at one cell, as a matrix of n rows."""
    tensor = program.parameter(carrier.tensor)
    at = [classes.of(tensor.name, p) for p in range(len(tensor.shape))]
    own = [carrier.position, *(at.index(axis) for axis in factor.axes[1:])]
    fixed = [at.index(axis) for axis in factor.local_to]
    index = np.moveaxis(_indices(program, tensor), [*fixed, *own], range(len(fixed + own)))
    return index[cell].reshape(factor.size, -1)


def _cells(factor: LinearFactor) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(axis.size) for axis in factor.local_to)))


def _linear(program: Program, classes: AxisClasses, factor: LinearFactor) -> Iterator[AffineGenerator]:
    for matrix, cell in itertools.product(_matrices(factor), _cells(factor)):
        entries: dict[tuple[int, int], Fraction] = {}
        for carrier in (*factor.covariant, *factor.contravariant):
            own = matrix if carrier in factor.covariant else -matrix.T
            index = _columns(program, classes, factor, carrier, cell)
            for row, column in np.argwhere(own):
                for left, right in zip(index[row], index[column], strict=True):
                    key = (int(left), int(right))
                    entries[key] = entries.get(key, Fraction(0)) + int(own[row, column])
        yield AffineGenerator({key: value for key, value in entries.items() if value}, {})


def _vectors(program: Program, classes: AxisClasses, factor: VectorFactor) -> Iterator[AffineGenerator]:
    for cell in _cells(factor.group):
        vector = _columns(program, classes, factor.group, factor.vector, cell)[:, 0]
        for carrier in factor.moved:
            index = _columns(program, classes, factor.group, carrier, cell)
            for column in index.T:
                for k, m in itertools.combinations(range(factor.group.size), 2):
                    entries = {(int(column[k]), int(vector[m])): ONE, (int(column[m]), int(vector[k])): -ONE}
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
    tensor = program.parameter(factor.tensor)
    constant = None if factor.constant_along is None else factor.constant_along.position
    rest = [size for position, size in enumerate(tensor.shape) if position != constant]
    index = _indices(program, tensor)
    index = index[None] if constant is None else np.moveaxis(index, constant, 0)
    for place in itertools.product(*map(range, rest)):
        linear: dict[tuple[int, int], Fraction] = {}
        shift = {int(entry): ONE for entry in index[(slice(None), *place)]}
        for undo in factor.undone:
            target = _indices(program, program.parameter(undo.tensor))
            for entry, at, value in undo_entries(program, undo, {place: ONE}):
                row = int(target[entry])
                if undo.factor is None or at is None:
                    shift[row] = shift.get(row, Fraction(0)) + value
                else:
                    key = (row, int(_indices(program, program.parameter(undo.factor))[at]))
                    linear[key] = linear.get(key, Fraction(0)) + value
        yield AffineGenerator({k: v for k, v in linear.items() if v}, {k: v for k, v in shift.items() if v})
