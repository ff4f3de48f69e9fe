"""Affine isometries theta -> S theta + t: half periods of sin and cos, and functions with a shifted centre.

A bias b that enters nothing but arguments of sin and cos can be shifted by pi: sin(u + pi) = -sin u. Every function
that sees it is given a formal sign, its *phase*, and the signed permutations of parameters and phases together are
found on the graph; a phase that changes sign is a shift. A constant beside a bias, as in gaussian(w x + b - 1), is
absorbed into the bias first: a signed permutation about that centre is an affine map about the origin.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from invman.architecture.program import Program
from invman.symmetry.scalar.automorphisms import find_automorphisms
from invman.symmetry.scalar.cover import build_cover, form_for, normal_outputs
from invman.symmetry.scalar.find import is_identity, signed_permutation
from invman.symmetry.scalar.normal import NormalForm, Polynomial
from invman.symmetry.scalar.proof import AffineMap


@dataclass(frozen=True)
class AffineSymmetry:
    """The affine isometries found, up to whole periods of the biases that can be shifted.

    Attributes
    ----------
    order : int
        Of the group, translations by whole periods divided out. The signed permutations about the centre are part of
        it, so it is at least the order of :func:`~invman.symmetry.scalar.scalar_symmetry` and a multiple of it where
        no centre is shifted.
    generators : tuple of AffineMap
        None of them the identity.
    periods : dict of int to Fraction
        For every coordinate that can be shifted, its half period as a multiple of pi.
    vertices : int
        Of the graph.
    engine : str
        The library that found the automorphisms.
    """

    order: int
    generators: tuple[AffineMap, ...]
    periods: dict[int, Fraction]
    vertices: int
    engine: str


def affine_symmetry(program: Program, budget: int | None = None, engine: str | None = None) -> AffineSymmetry:
    """Find the affine isometries of theta that leave the map unchanged.

    Beyond signed permutations these are shifts of a bias by a half period of sin and cos, and signed permutations
    about another centre than the origin. A bias is looked at when it only ever enters on its own, the only one in its
    sum. That sin and cos are shifts of each other is not used.

    Parameters
    ----------
    program : Program
        The architecture.
    budget : int, optional
        Largest number of vertices.
    engine : {"igraph", "canonaut"}, optional
        As for :func:`~invman.symmetry.scalar.scalar_symmetry`.

    Returns
    -------
    AffineSymmetry

    Raises
    ------
    OverBudgetError
        With the exact number of vertices.

    Examples
    --------
    >>> from invman.architecture import parse_program
    >>> affine_symmetry(parse_program("input x; f = a*sin(w*x + b)")).order
    4
    """
    count = program.parameter_count
    units, centre = _biases(program)
    form = form_for(program)
    theta = [form.add([form.leaf("parameter", i), form.number(-centre[i])]) for i in range(count)]
    numbers = [form.leaf("parameter", i) for i in range(count)]
    for phase, (bias, unit) in enumerate(units.items()):
        (((atom, _),),) = numbers[bias]
        form.phases[atom] = (phase, unit)
    cover = build_cover(form, normal_outputs(program, form, theta), count)
    found = find_automorphisms(cover.colours, cover.edges, engine=engine, budget=budget)
    generators = []
    for images in found.generators:
        linear, phases = signed_permutation(cover.parameters, images), signed_permutation(cover.phases, images)
        turns = [Fraction(0)] * count
        for sign, (bias, unit) in zip(phases.signs, units.items(), strict=True):
            turns[bias] = 1 / unit if sign < 0 else Fraction(0)
        shift = tuple(int(linear.signs[i]) * centre[linear.images[i]] - centre[i] for i in range(count))
        if not (is_identity(linear) and not any(turns)):
            generators.append(AffineMap(linear, shift, tuple(turns)))
    periods = {bias: 1 / unit for bias, unit in units.items()}
    return AffineSymmetry(found.order, tuple(generators), periods, len(cover.colours), found.engine)


def _biases(program: Program) -> tuple[dict[int, Fraction], list[Fraction]]:
    """Return the biases that can be shifted, with their frequencies, and the centre of every parameter."""
    form = form_for(program)
    seen = list(_sums(form, normal_outputs(program, form)))
    alone: dict[int, list[tuple[str, Polynomial]]] = {}
    mixed: set[int] = set()
    for name, polynomial in seen:
        own = [m[0][0] for m in polynomial if len(m) == 1 and m[0][1] == 1 and form.atoms[m[0][0]].kind == "parameter"]
        for number in own:
            alone.setdefault(number, []).append((name, polynomial))
        inside = {number for m in polynomial if m not in [((n, 1),) for n in own] for number, _ in m}
        mixed |= inside | (set(own) if len(own) > 1 else set())
    units: dict[int, Fraction] = {}
    centre = [Fraction(0)] * program.parameter_count
    for number, places in sorted(alone.items()):  # parameters are the first atoms, in order
        if number in mixed:
            continue
        frequencies = [polynomial[((number, 1),)] for _, polynomial in places]
        if all(name in ("sin", "cos") for name, _ in places):
            units[number] = _common_measure(frequencies)
        offsets = {p.get((), Fraction(0)) / f for (_, p), f in zip(places, frequencies, strict=True)}
        if len(offsets) == 1 and all(name != "output" for name, _ in places):
            centre[number] = offsets.pop()
    return units, centre


def _sums(form: NormalForm, outputs: Sequence[Polynomial]) -> Iterator[tuple[str, Polynomial]]:
    """Yield every sum in the map once: the outputs, and what functions are applied to, with their names."""
    queue: list[tuple[str, Polynomial]] = [("output", output) for output in outputs]
    visited: set[int] = set()
    while queue:
        name, polynomial = queue.pop()
        yield name, polynomial
        for number in {number for monomial in polynomial for number, _ in monomial} - visited:
            visited.add(number)
            atom = form.atoms[number]
            if atom.level:
                kind = str(atom.shade[1]) if atom.kind == "core" else atom.kind
                queue.append((kind, dict(atom.argument)))


def _common_measure(values: Sequence[Fraction]) -> Fraction:
    """Return the largest number of which all are whole multiples."""
    common = math.lcm(*(value.denominator for value in values))
    return Fraction(math.gcd(*(int(value * common) for value in values)), common)
