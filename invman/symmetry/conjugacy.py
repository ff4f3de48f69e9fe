"""Elements of prime-power order up to conjugacy, without listing the group.

Every fixed set of a group is an intersection of fixed sets of elements of prime-power order, since each element is a
product of its powers of such orders. The group is ``E x| P``, sign changes E by permutations P. An element of odd
order is conjugate to its permutation (Schur-Zassenhaus); otherwise it is ``e s`` with s one of a class of P, and e
matters only modulo ``(1 - s) E``. Symmetric groups have their classes listed by integer partitions; only where
axes lie inside axes (neurons inside heads) is that part of P listed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from invman.errors import OverBudgetError
from invman.symmetry.discrete import Generator, PermutationFactor
from invman.symmetry.points import PointGroup, SignSpace, element_order, inverse, is_prime_power, moved_bits

LISTED = 20_000
"""Largest order of the group of axes that lie inside each other."""

CANDIDATES = 20_000
"""Elements that are looked at, at most."""


def prime_power_elements(points: PointGroup) -> Iterator[np.ndarray]:
    """Yield elements of prime-power order of the group, at least one of each class of conjugate ones.

    Parameters
    ----------
    points : PointGroup
        The group.

    Yields
    ------
    int array, shape (2D,)
        Permutations of the signed points; a class may come more than once.

    Raises
    ------
    OverBudgetError
        There are too many classes.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> from invman.symmetry.discrete import axis_group
    >>> len(list(prime_power_elements(PointGroup(axis_group(read_architecture("1-3sigmoid-1"))))))
    2
    """
    parts = [_component(points, component) for component in _components(points)]
    primes = sorted({prime for part in parts for prime, _ in part if prime} | ({2} if points.sign_basis else set()))
    identity = np.arange(points.degree, dtype=np.int32)
    seen = 0
    for prime in primes:
        choices = [[identity, *(element for p, element in part if p == prime)] for part in parts]
        for chosen in itertools.product(*choices):
            permutation = identity
            for element in chosen:
                permutation = element[permutation]
            for element in _with_signs(points, permutation) if prime == 2 else [permutation]:
                seen += 1
                if seen > CANDIDATES:
                    advice = "Use fewer or narrower layers."
                    raise OverBudgetError("classes of elements of the symmetry group", seen, CANDIDATES, advice)
                if not np.array_equal(element, identity):
                    yield element


def _with_signs(points: PointGroup, permutation: np.ndarray) -> Iterator[np.ndarray]:
    """Yield e s for e in E modulo (1 - s) E."""
    space = SignSpace()
    for vector in points.sign_basis:
        space.include(vector ^ moved_bits(vector, permutation))
    rest = [vector for vector in points.sign_basis if space.include(vector)]
    if len(rest) > 40 or 2 ** len(rest) > CANDIDATES:
        advice = "Use fewer or narrower layers."
        raise OverBudgetError("classes of elements of the symmetry group", 2 ** len(rest), CANDIDATES, advice)
    size = points.parameters
    for number in range(2 ** len(rest)):
        signs = 0
        for place, vector in enumerate(rest):
            signs ^= vector if number >> place & 1 else 0
        flipped = np.array([signs >> place & 1 for place in range(size)] * 2, dtype=bool)
        yield np.where(flipped, (permutation + size) % (2 * size), permutation).astype(np.int32)


def _components(points: PointGroup) -> list[list[Generator]]:
    """Split the generators of P into those of factors that commute."""
    by_factor: dict[tuple[PermutationFactor, tuple[int, ...]], list[Generator]] = {}
    linked: list[set[str]] = []
    for generator in points.group.generators():
        factor = generator.factor
        if not isinstance(factor, PermutationFactor):
            continue
        hidden = {axis.name for axis in factor.local_to if axis.hidden}
        by_factor.setdefault((factor, generator.cell), []).append(generator)
        if hidden:
            linked.append({axis.name for axis in factor.axes} | hidden)
    groups: list[list[Generator]] = []
    while linked:  # axes that lie inside each other go together
        names = linked.pop()
        while touching := [other for other in linked if other & names]:
            names = names.union(*touching)
            linked = [other for other in linked if not other & names]
        taken = [key for key in by_factor if names & {axis.name for axis in key[0].axes}]
        groups.append([generator for key in taken for generator in by_factor.pop(key)])
    return groups + list(by_factor.values())


def _component(points: PointGroup, generators: Sequence[Generator]) -> list[tuple[int, np.ndarray]]:
    """Return elements of prime-power order of one component, one a class, with their primes."""
    factors = {g.factor for g in generators}
    inside = any(a.hidden for f in factors if isinstance(f, PermutationFactor) for a in f.local_to)
    written = {g.kind: points.written(g) for g in generators}
    if len(factors) == 1 and not inside:
        factor = generators[0].factor
        assert isinstance(factor, PermutationFactor)  # noqa: S101 - _components takes no others
        return _symmetric(factor.size, written)
    elements = _listed([points.written(g) for g in generators])
    return [(prime, e) for e in elements if (prime := is_prime_power(element_order(e)))]


def _symmetric(size: int, written: dict[str, np.ndarray]) -> list[tuple[int, np.ndarray]]:
    """Return products of disjoint cycles whose lengths are powers of one prime."""
    swap = written["swap"]
    cycle = written.get("cycle", swap)
    back, swaps = inverse(cycle), [swap]
    for _ in range(size - 2):
        swaps.append(cycle[swaps[-1][back]])
    found = []
    for prime in (p for p in range(2, size + 1) if is_prime_power(p) == p):
        powers = [prime**k for k in range(1, size.bit_length()) if prime**k <= size]
        for lengths in _choices(size, powers):
            element, place = np.arange(len(swap), dtype=np.int32), 0
            for length in lengths:
                for step in range(place, place + length - 1):
                    element = element[swaps[step]]
                place += length
            found.append((prime, element))
    return found


def _choices(size: int, powers: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the non-empty multisets of powers that fit into the size."""
    for place, power in enumerate(powers):
        if power <= size:
            yield (power,)
            for rest in _choices(size - power, powers[place:]):
                yield (power, *rest)


def _listed(generators: Sequence[np.ndarray]) -> list[np.ndarray]:
    """List a group and return one element a class."""
    identity = np.arange(len(generators[0]), dtype=np.int32)
    found, queue = {identity.tobytes(): identity}, [identity]
    for element in queue:
        for generator in generators:
            product = generator[element]
            if product.tobytes() not in found:
                found[product.tobytes()] = product
                queue.append(product)
                if len(queue) > LISTED:
                    advice = "Use fewer heads or experts, or narrower ones."
                    raise OverBudgetError("order of the group of axes inside axes", len(queue), LISTED, advice)
    backs, seen, chosen = [inverse(g) for g in generators], set(), []
    for name, element in found.items():
        if name in seen:
            continue
        chosen.append(element)
        seen.add(name)
        stack = [element]
        while stack:
            one = stack.pop()
            for generator, back in zip(generators, backs, strict=True):
                other = generator[one[back]]
                if other.tobytes() not in seen:
                    seen.add(other.tobytes())
                    stack.append(other)
    return chosen
