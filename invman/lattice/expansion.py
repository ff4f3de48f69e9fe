"""From one fixed set a class to all of them: orbits of the representatives, covers carried along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from invman.lattice.isotropy import FixedClass, Progress
from invman.manifold import points
from invman.manifold.symmetric import SymmetricSpace


@dataclass(frozen=True)
class Expansion:
    """All fixed sets of some classes and their covers.

    Attributes
    ----------
    rows : list of array
        For each class its members, rows of leaders.
    covers : list of (int, int)
        Numbers of a member and of one just below it; members are numbered class after class.
    """

    rows: list[np.ndarray]
    covers: list[tuple[int, int]]


def expand(space: SymmetricSpace, classes: Mapping[bytes, FixedClass], progress: Progress | None = None) -> Expansion:
    """List the members of all classes, and what is just below each of them.

    A generator of the group permutes the fixed sets; a member that it reaches from another one has below it the images
    of what the other one has.

    Parameters
    ----------
    space : SymmetricSpace
        The family.
    classes : mapping of bytes to FixedClass
        The representatives.
    progress : callable, optional
        Called with the number of members done and the total.

    Returns
    -------
    Expansion
    """
    generators = space.points.generators
    rows = [points.orbit(one.leaders, generators) for one in classes.values()]
    every = np.concatenate(rows)
    sorting = np.argsort(points.keys(every))
    table = points.keys(every)[sorting]
    actions = [sorting[points.places(points.moved(every, generator), table)] for generator in generators]
    below: dict[int, np.ndarray] = {}
    for one in classes.values():
        start = int(sorting[points.places(one.leaders[None], table)][0])
        below[start] = sorting[points.places(one.below, table)] if len(one.below) else np.array([], dtype=np.intp)
        queue = [start]
        for member in queue:
            for action in actions:
                image = int(action[member])
                if image not in below:
                    below[image] = action[below[member]]
                    queue.append(image)
        if progress is not None:
            progress(len(below), len(every))
    covers = [(member, int(lower)) for member in range(len(every)) for lower in np.sort(below[member])]
    return Expansion(rows, covers)
