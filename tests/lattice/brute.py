"""The isotropy lattice by brute force: every element of the group, every intersection, every pair compared.

Only signed permutations of parameters are used, as 2D signed points written independently of the package.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from invman.architecture import read_architecture
from invman.symmetry import find_symmetry

Points = tuple[int, ...]


@dataclass(frozen=True)
class Brute:
    """All fixed sets as partitions of signed points, their covers and classes."""

    order: int
    nodes: frozenset[Points]
    covers: frozenset[tuple[Points, Points]]
    classes: tuple[frozenset[Points], ...]
    stabilisers: dict[Points, int]

    def dimensions(self) -> Counter[int]:
        return Counter(dimension(node) for node in self.nodes)


def dimension(node: Points) -> int:
    half = len(node) // 2
    return len({node[i] for i in range(2 * half) if node[i] != node[(i + half) % (2 * half)]}) // 2


def leaders(pairs: list[tuple[int, int]], size: int) -> Points:
    """Union-find; all points equal to their opposite are one block."""
    parent = list(range(size))

    def root(p: int) -> int:
        while parent[p] != p:
            p = parent[p]
        return p

    for left, right in pairs:
        a, b = root(left), root(right)
        parent[max(a, b)] = min(a, b)
    zero = [p for p in range(size) if root(p) == root((p + size // 2) % size)]
    for p in zero:
        a, b = root(p), root(zero[0])
        parent[max(a, b)] = min(a, b)
    return tuple(root(p) for p in range(size))


def brute(text: str) -> Brute:
    program = read_architecture(text)
    half = program.parameter_count
    generators = []
    for generator in find_symmetry(program).generators():
        g = generator.on_parameters(program)
        up = [int(i) + (0 if s > 0 else half) for i, s in zip(g.images, g.signs, strict=True)]
        generators.append(tuple(up + [(p + half) % (2 * half) for p in up]))
    identity = tuple(range(2 * half))
    group, queue = {identity}, [identity]
    for element in queue:
        for g in generators:
            product = tuple(g[p] for p in element)
            if product not in group:
                group.add(product)
                queue.append(product)
    atoms = {leaders(list(enumerate(element)), 2 * half) for element in group}
    nodes, todo = set(atoms), list(atoms)
    while todo:
        node = todo.pop()
        for atom in atoms:
            meet = leaders([*enumerate(node), *enumerate(atom)], 2 * half)
            if meet not in nodes:
                nodes.add(meet)
                todo.append(meet)
    return Brute(
        len(group),
        frozenset(nodes),
        frozenset(covers(nodes)),
        classes(nodes, generators),
        {node: sum(all(node[g[p]] == node[p] for p in identity) for g in group) for node in nodes},
    )


def covers(nodes: set[Points]) -> set[tuple[Points, Points]]:
    found = set()
    for upper in nodes:
        below = [n for n in nodes if n != upper and all(n[upper[p]] == n[p] for p in range(len(n)))]
        found |= {
            (upper, lower)
            for lower in below
            if not any(m != lower and all(lower[m[p]] == lower[p] for p in range(len(m))) for m in below)
        }
    return found


def classes(nodes: set[Points], generators: list[Points]) -> tuple[frozenset[Points], ...]:
    left, found = set(nodes), []
    while left:
        start = min(left)
        orbit, queue = {start}, [start]
        for node in queue:
            for g in generators:
                image = leaders([(g[p], g[node[p]]) for p in range(len(node))], len(node))
                if image not in orbit:
                    orbit.add(image)
                    queue.append(image)
        left -= orbit
        found.append(frozenset(orbit))
    return tuple(found)
