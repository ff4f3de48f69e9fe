"""Whether balanced weights are the fixed set of a group of permutations and signs, and of which.

The stabiliser of a generic point of the balanced weights keeps every class. On a class that has no frozen weights it is
the whole group of permutations within the class (and of signs, where the class is null). On a class with frozen
weights it must act on them trivially, and frozen weights between p and q neurons are a tensor product of two
irreducible pieces: both factors act by one and the same sign. That leaves the swap of two neurons and the joint sign
change of null ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from invman.manifold.balanced import BalancedManifold
from invman.manifold.pairs import Group

Class = tuple[int, int]
"""Number of a layer and of a class of it."""

Turn = tuple[Class, str]
"""A class and what turns it: the swap of its two neurons, or their signs."""

Join = tuple[Class | None, Class | None, bool, bool]
"""Classes between which weights are frozen, target first; whether their column sums and their row sums are bound."""


@dataclass(frozen=True)
class Element:
    """A signed permutation of the neurons of some layers: layer to (image of each neuron, sign of each neuron)."""

    moves: dict[int, tuple[np.ndarray, np.ndarray]]

    def on_parameters(self, manifold: BalancedManifold) -> tuple[np.ndarray, np.ndarray]:
        """Return images and signs on theta, arrays of shape (D,): coordinate i goes to ``images[i]`` times the sign."""
        space = manifold.space
        images, signs = np.arange(space.program.parameter_count), np.ones(space.program.parameter_count, dtype=int)
        for edge in space.net.edges:
            index = manifold.weights.indices(edge)
            rows, columns = np.arange(index.shape[0]), np.arange(index.shape[1])
            turn = np.ones(index.shape, dtype=int)
            if edge.target is not None and edge.target in self.moves:
                rows, sign = self.moves[edge.target]
                turn = turn * sign[:, None]
            if edge.source is not None and edge.source in self.moves:
                columns, sign = self.moves[edge.source]
                turn = turn * sign if space.rules[edge.source].odd else turn
            images[index] = index[np.ix_(rows, columns)]
            signs[index] = turn
        return images, signs


def generators(manifold: BalancedManifold) -> Iterator[tuple[str, Element]]:
    """Yield generators of the stabiliser of a generic point, each with a description of the factor it belongs to."""
    frozen_in, frozen_out, joined = _frozen(manifold)
    for (number, place), group in _classes(manifold):
        layer, name = manifold.space.rules[number], manifold.space.rules[number].symmetry.axis.name
        inside, outside = (number, place) in frozen_in, (number, place) in frozen_out
        text = "{" + ",".join(map(str, group.values)) + "}"
        if not group.live and layer.signed and not inside and not (outside and layer.odd):
            for value in group.values:
                yield f"signs of {name}:{text}", _element(manifold, [(number, group, None, value)])
        if not inside and not outside:
            for first, second in zip(group.values, group.values[1:], strict=False):
                yield f"S_{len(group)} on {name}:{text}", _element(manifold, [(number, group, (first, second), None)])
    for chosen in _joint_signs(manifold, joined, frozen_in):
        parts, words = [], []
        for (number, place), kind in chosen:
            group, name = manifold.groups[number][place], manifold.space.rules[number].symmetry.axis.name
            words.append(f"{kind} of {name}:" + "{" + ",".join(map(str, group.values)) + "}")
            if kind == "swap":
                parts.append((number, group, (group.values[0], group.values[1]), None))
            else:
                parts += [(number, group, None, value) for value in group.values]
        yield " with ".join(words), _element(manifold, parts)


def _classes(manifold: BalancedManifold) -> Iterator[tuple[Class, Group]]:
    for number, own in enumerate(manifold.groups):
        for place, group in enumerate(own):
            yield (number, place), group


def _frozen(manifold: BalancedManifold) -> tuple[set[Class], set[Class], list[Join]]:
    """Return the classes with frozen incoming weights, those with frozen outgoing ones, and the pairs."""
    place = {id(group): key for key, group in _classes(manifold)}
    inside: set[Class] = set()
    outside: set[Class] = set()
    joined = []
    for pair, _ in manifold.weights.pairs():
        if pair.frozen_dimension:
            target, source = place.get(id(pair.target)), place.get(id(pair.source))
            if target is not None:
                inside.add(target)
            if source is not None:
                outside.add(source)
            joined.append((target, source, pair.columns, pair.rows))
    return inside, outside, joined


def _joint_signs(manifold: BalancedManifold, joined: list[Join], inside: set[Class]) -> list[list[Turn]]:
    """Return a basis of the sets of classes with frozen weights that can change their sign together."""
    able: dict[Turn, bool] = {}
    rows = []
    for target, source, columns_bound, rows_bound in joined:
        row = []
        for key, bound, entering in ((target, columns_bound, True), (source, rows_bound, False)):
            turn = None if key is None else _turn(manifold, key, entering, key in inside)
            if turn is not None:
                # a swap is a change of sign on weights with zero sum only
                able[turn] = able.get(turn, True) and (turn[1] == "signs" or bound)
                row.append(turn)
        rows.append(row)
    turns = sorted(turn for turn, possible in able.items() if possible)
    place = {turn: number for number, turn in enumerate(turns)}
    pivots: dict[int, int] = {}
    for turning in rows:
        row = 0
        for turn in turning:
            row ^= 1 << place[turn] if turn in place else 0
        for pivot, other in pivots.items():
            row = row ^ other if row >> pivot & 1 else row
        if row:
            pivot = row.bit_length() - 1
            pivots = {p: other ^ row if other >> pivot & 1 else other for p, other in pivots.items()}
            pivots[pivot] = row
    free = [number for number in range(len(turns)) if number not in pivots]
    return [
        [turns[n] for n in sorted({number, *(p for p, row in pivots.items() if row >> number & 1)})] for number in free
    ]


def _turn(manifold: BalancedManifold, key: Class, entering: bool, inside: bool) -> Turn | None:
    """Return what changes the sign of all frozen weights that enter (leave) a class, or None where nothing does."""
    group, layer = manifold.groups[key[0]][key[1]], manifold.space.rules[key[0]]
    if not group.live and layer.signed and (entering or layer.odd):
        return key, "signs"
    if len(group) == 2 and (group.live or not (entering or inside)):
        return key, "swap"
    return None


def _element(manifold: BalancedManifold, parts: list[tuple[int, Group, tuple[int, int] | None, int | None]]) -> Element:
    """Return the element that exchanges two neurons of a class, up to their signs, or turns one, for each part."""
    moves: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for number, group, swap, turned in parts:
        size = manifold.space.rules[number].size
        images, signs = moves.setdefault(number, (np.arange(size), np.ones(size, dtype=int)))
        if swap is not None:
            first, second = swap
            relative = group.back[group.values.index(first)] * group.back[group.values.index(second)]
            images[[first, second]] = second, first
            signs[[first, second]] = relative
        if turned is not None:
            signs[turned] = -1
    return Element(moves)


def fixed_dimension(images: list[tuple[np.ndarray, np.ndarray]], count: int) -> int:
    """Return the dimension of the points of R^count that all given signed permutations fix."""
    parent, sign, zero = list(range(count)), [1] * count, [False] * count

    def find(i: int) -> tuple[int, int]:
        total = 1
        while parent[i] != i:
            total *= sign[i]
            i = parent[i]
        return i, total

    for where, turn in images:
        for i in range(count):
            (a, s), (b, t) = find(i), find(int(where[i]))
            relative = s * t * int(turn[i])
            if a == b:
                zero[a] |= relative < 0
            else:
                parent[a], sign[a] = b, relative
                zero[b] |= zero[a]
    return sum(1 for i in range(count) if parent[i] == i and not zero[i])


def symmetry_label(manifold: BalancedManifold) -> tuple[bool, str]:
    """Tell whether the balanced weights are the fixed set of a group of permutations and signs, and why.

    Returns
    -------
    bool
        Whether they are.
    str
        The group by its factors, or the reason why there is none.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> from invman.manifold.balanced import BalancedSpace
    >>> space = BalancedSpace.of(read_architecture("1-2sigmoid-2sigmoid-1"))
    >>> symmetry_label(space.named("k1:0=1/k2:0=1"))
    (True, 'swap of k1:{0,1} with swap of k2:{0,1}')
    """
    count = manifold.space.program.parameter_count
    elements = list(generators(manifold))
    images = [element.on_parameters(manifold) for _, element in elements]
    if fixed_dimension(images, count) == manifold.dimension:
        return True, " x ".join(dict.fromkeys(text for text, _ in elements)) or "identity"
    reasons = []
    for layer, own in zip(manifold.space.rules, manifold.groups, strict=True):
        if any(not group.live for group in own):
            if layer.singular:
                reasons.append(f"sigma'(0) = 0 freezes the outgoing weights of singular neurons of {layer.activation}")
            elif not layer.odd:
                reasons.append(f"sigma(0) = 0 without parity keeps neurons of {layer.activation} dead")
    if manifold.frozen_dimension:
        reasons.append(f"balanced, frozen dimension {manifold.frozen_dimension}")
    return False, "; ".join(dict.fromkeys(reasons))
