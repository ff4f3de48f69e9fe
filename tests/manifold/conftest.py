"""Oracles that know nothing of partitions: signed polydiagonal subspaces as graphs, groups as lists of elements."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from invman.symmetry import find_symmetry


def subspace(count, links):
    """Solve theta[i] = s theta[j] for all (i, j, s): for each coordinate (first of its class, sign), or (-1, 0)."""
    near = [[] for _ in range(count)]
    for i, j, s in links:
        near[i].append((j, s))
        near[j].append((i, s))
    value = [None] * count
    for first in range(count):
        if value[first] is not None:
            continue
        members, zero, queue = {first: 1}, False, [first]
        while queue:
            i = queue.pop()
            for j, s in near[i]:
                if j not in members:
                    members[j] = s * members[i]
                    queue.append(j)
                zero |= members[j] != s * members[i]
        for i, s in members.items():
            value[i] = (-1, 0) if zero else (first, s)
    return tuple(value)


def links(space):
    """Return equations that define a subspace."""
    return [(i, i, -1) if first < 0 else (i, first, s) for i, (first, s) in enumerate(space)]


def fixed(g):
    """Return the fixed set of a signed permutation."""
    return subspace(len(g[0]), [(i, j, s) for i, (j, s) in enumerate(zip(*g, strict=True))])


def meet(left, right):
    """Intersect two subspaces."""
    return subspace(len(left), links(left) + links(right))


def meets(spaces):
    """Close a set of subspaces under intersection."""
    found, fresh = set(spaces), set(spaces)
    while fresh:
        fresh = {meet(a, b) for a in fresh for b in spaces} - found
        found |= fresh
    return found


def group(symmetry):
    """Return all elements of the group as (images, signs), by composing generators."""
    count = symmetry.program.parameter_count
    generators = [g.on_parameters(symmetry.program) for g in symmetry.generators()]
    pairs = [(g.images.tolist(), g.signs.tolist()) for g in generators]
    start = (tuple(range(count)), (1,) * count)
    found, fresh = {start}, [start]
    while fresh:
        following = []
        for images, signs in fresh:
            for moved, turned in pairs:
                new = (
                    tuple(images[j] for j in moved),
                    tuple(s * signs[j] for j, s in zip(moved, turned, strict=True)),
                )
                if new not in found:
                    found.add(new)
                    following.append(new)
        fresh = following
    return found


def of(manifold):
    """Return the subspace of a manifold of invman in the form of this file."""
    flat = manifold.polydiagonal()
    first = {}
    return tuple(
        (-1, 0) if c < 0 else (first.setdefault(int(c), i), int(s))
        for i, (c, s) in enumerate(zip(flat.classes, flat.signs, strict=True))
    )


def dead(program, axis, value):
    """Return the subspace on which all parameters of one value of an axis vanish."""
    gone = []
    for tensor in program.parameters:
        cells = itertools.product(*map(range, tensor.shape))
        positions = [c.position for c in axis.carriers if c.tensor == tensor.name]
        start = program.offsets[tensor.name]
        gone += [start + n for n, cell in enumerate(cells) if any(cell[p] == value for p in positions)]
    return subspace(program.parameter_count, [(i, i, -1) for i in gone])


def random_point(manifold, random):
    """Return a random point of a manifold."""
    basis = manifold.polydiagonal().basis().astype(float)
    return random.normal(size=len(basis)) @ basis if len(basis) else np.zeros(manifold.space.program.parameter_count)


@pytest.fixture(scope="session")
def oracle():
    return SimpleNamespace(
        subspace=subspace, links=links, fixed=fixed, meet=meet, meets=meets, group=group, of=of, dead=dead,
        random_point=random_point, find_symmetry=find_symmetry,
    )  # fmt: skip
