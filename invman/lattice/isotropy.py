"""The isotropy lattice up to conjugacy: one fixed set a class, found from the top downwards.

Every fixed set is an intersection of *atoms*, fixed sets of single elements of prime-power order that are no
intersections of larger ones. Below a representative M the intersections of M with all atoms are made; the largest of
them that differ from M are the fixed sets just below M. They are sorted into orbits of the setwise stabiliser of M,
and one of each orbit goes on, unless a conjugate is known already by its canonical form. The intersections made for M
are what the next step starts from: a fixed set inside M meets an atom where it meets the intersection of the atom with
M.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from invman.errors import OverBudgetError
from invman.manifold import points
from invman.manifold.symmetric import SymmetricSpace
from invman.symmetry.conjugacy import prime_power_elements
from invman.symmetry.relations import Form

ATOMS = 1_000_000
"""Fixed sets of single elements that are held, at most."""

Progress = Callable[[int, int], None]


@dataclass
class FixedClass:
    """One class of conjugate fixed sets.

    Attributes
    ----------
    leaders : array, shape (2D,)
        The representative.
    form : Form
        Its canonical form and setwise stabiliser.
    below : array, shape (k, 2D)
        All fixed sets just below the representative.
    covers : list of bytes
        Keys of the classes of these.
    """

    leaders: np.ndarray
    form: Form
    below: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype=np.uint8))
    covers: list[bytes] = field(default_factory=list)


def atom_classes(space: SymmetricSpace) -> list[tuple[np.ndarray, int]]:
    """Return one fixed set of a single element a class, with the number of its conjugates."""
    found: dict[bytes, tuple[np.ndarray, int]] = {}
    seen: set[bytes] = set()
    for element in prime_power_elements(space.points):
        leaders = points.fixed_set([element], space.points.degree)
        if leaders.tobytes() not in seen:
            seen.add(leaders.tobytes())
            form = space.graph.form(leaders)
            found.setdefault(form.key, (leaders, space.points.order // form.order))
    return list(found.values())


def isotropy_classes(
    space: SymmetricSpace, *, budget: int, progress: Progress | None = None
) -> dict[bytes, FixedClass]:
    """Find the fixed sets of an architecture up to conjugacy, with what is just below each.

    Parameters
    ----------
    space : SymmetricSpace
        The family.
    budget : int
        Largest number of classes.
    progress : callable, optional
        Called with the number of classes that are done and that are known.

    Returns
    -------
    dict of bytes to FixedClass
        By canonical form.

    Raises
    ------
    OverBudgetError
        There are more fixed sets of single elements than are held, by their exact number, or more classes.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> space = SymmetricSpace.of(read_architecture("1-3sigmoid-3sigmoid-1"))
    >>> len(isotropy_classes(space, budget=100))
    12
    """
    atoms = _atoms(space)
    top = points.whole(space.points.degree)
    form = space.graph.form(top)
    known = {form.key: FixedClass(top, form)}
    stack = [(form.key, atoms)]
    done = 0
    while stack:
        key, candidates = stack.pop()
        node = known[key]
        inside = points.meets(node.leaders, candidates)
        inside = inside[np.any(inside != node.leaders, axis=1)]
        heads, node.below = _largest(inside, node.form.generators)
        for leaders in heads:
            lower = space.graph.form(leaders)
            if lower.key not in known:
                known[lower.key] = FixedClass(leaders, lower)
                stack.append((lower.key, inside))
                if len(known) > budget:
                    advice = "There are more; raise the budget with --budget, or use narrower layers."
                    raise OverBudgetError(_what(space, "classes of symmetric"), len(known), budget, advice)
            if lower.key not in node.covers:
                node.covers.append(lower.key)
        done += 1
        if progress is not None:
            progress(done, len(known))
    return known


def _atoms(space: SymmetricSpace) -> np.ndarray:
    """Return the fixed sets of single elements that are no intersections of larger ones, made from one a class."""
    found = points.whole(space.points.degree)[None][:0]
    total = 0
    for leaders, size in sorted(atom_classes(space), key=lambda atom: -points.dimensions(atom[0][None])[0]):
        larger = found[points.contained(leaders, found)]
        if np.array_equal(points.meet_of_all(larger), leaders):
            continue
        total += size
        if total > ATOMS:
            advice = "The symmetric family is for small nets: use fewer or narrower layers, or --family condensed."
            raise OverBudgetError(_what(space, "one-element symmetric"), total, ATOMS, advice)
        found = np.concatenate([found, points.orbit(leaders, space.points.generators)])
    return found


def _what(space: SymmetricSpace, kind: str) -> str:
    return f"{kind} manifolds of {space.program!r}"


def _largest(inside: np.ndarray, generators: Sequence[np.ndarray]) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the largest of some subspaces that a group permutes: one of each orbit, and all."""
    if not len(inside):
        return [], inside
    table = points.keys(inside)
    actions = [points.places(points.moved(inside, generator), table) for generator in generators]
    orbits = _orbits(actions, len(inside))
    dimensions = points.dimensions(inside)
    heads = np.unique(orbits)
    heads = heads[np.argsort(-dimensions[heads], kind="stable")]
    chosen, above = [], np.zeros(len(inside), dtype=bool)
    for head in heads:
        larger = above & (dimensions > dimensions[head])
        if not np.any(points.contained(inside[head], inside[larger])):
            chosen.append(inside[head])
            above |= orbits == head
    return chosen, inside[above]


def _orbits(actions: Sequence[np.ndarray], size: int) -> np.ndarray:
    """Return the smallest number in the orbit of each under permutations."""
    labels = np.arange(size)
    while True:
        before = labels.copy()
        for action in actions:
            low = np.minimum(labels, labels[action])
            np.minimum.at(low, action, labels)
            labels = low
        labels = labels[labels]
        if np.array_equal(before, labels):
            return labels
