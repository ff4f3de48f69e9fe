"""Which condensed manifold a polydiagonal is, if it is one: its neurons are compared slice by slice."""

from __future__ import annotations

import numpy as np

from invman.manifold.condensed import CondensedManifold, CondensedSpace
from invman.manifold.partition import Labels, PartitionRules, canonical
from invman.manifold.subspace import Polydiagonal


def recognise(space: CondensedSpace, subspace: Polydiagonal) -> CondensedManifold | None:
    """Return the condensed manifold that is this subspace, or None.

    Two values of an axis belong to one block when all their parameters are equal on the subspace, up to the sign that
    the axis has; a value is dead when all its parameters vanish. The partitions found are the most condensed ones
    that contain the subspace.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> space = CondensedSpace.of(read_architecture("2-3tanh-1"))
    >>> recognise(space, space.named("0=-2,1=dead").polydiagonal())
    0=-2,1=dead
    """
    forms = (subspace.classes.astype(np.int64) + 1) * subspace.signs
    found = CondensedManifold(space, space.closure(tuple(_partition(space, rules, forms) for rules in space.rules)))
    return found if found.polydiagonal().key() == subspace.key() else None


def _partition(space: CondensedSpace, rules: PartitionRules, forms: np.ndarray) -> Labels:
    program = space.program
    flipped, others = [], []
    for carrier in rules.carriers:
        tensor = program.parameter(carrier.tensor)
        start = program.offsets[tensor.name]
        block = forms[start : start + tensor.size].reshape(tensor.shape)
        slices = np.moveaxis(block, carrier.position, 0).reshape(rules.size, -1)
        (flipped if carrier in rules.flip else others).append(slices)
    empty = np.zeros((rules.size, 0), dtype=np.int64)
    inner, outer = np.hstack([empty, *flipped]), np.hstack([empty, *others])
    names: dict[bytes, int] = {}
    labels = []
    for value in range(rules.size):
        plus, minus, rest = inner[value].tobytes(), (-inner[value]).tobytes(), outer[value].tobytes()
        silent = not inner[value].any()
        if rules.has_dead and silent and not outer[value].any():
            labels.append(0)
            continue
        zero = rules.has_zero and silent
        if minus + rest in names and minus != plus:
            labels.append(-names[minus + rest])
        else:
            labels.append(names.setdefault(plus + rest, 2 * (value + 1) + zero))
    return canonical(labels)
