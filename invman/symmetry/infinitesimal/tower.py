"""Primes on which an exponential exists: each divides its predecessor minus one.

Modulo one prime no map takes sums to products. Modulo a chain ``p0 > p1 > ...`` with ``p1`` dividing ``p0 - 1`` there
is one: ``u -> g^(u mod p1) mod p0`` with g of order ``p1``. A number is carried as its residues modulo all primes of
the chain, and every exponential uses one of them up. All primes are 1 modulo 24, so that -1, 2 and 3 have square roots.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from flint import fmpz, nmod

TOP_BITS = 61
BITS_A_LEVEL = 11
MODULUS = 24


class RedrawError(Exception):
    """The random point is unusable: a zero was divided by, or a square root does not exist; draw another one."""


@dataclass(frozen=True)
class Tower:
    """A chain of primes with an exponential and an imaginary unit.

    Attributes
    ----------
    primes : tuple of int
        ``p0 > p1 > ...``, each dividing its predecessor minus one, all 1 modulo 24.
    bases : tuple of int
        ``bases[i]`` has order ``primes[i + 1]`` modulo ``primes[i]``.
    units : tuple of int
        A square root of -1 modulo each prime.
    """

    primes: tuple[int, ...]
    bases: tuple[int, ...]
    units: tuple[int, ...]

    def exp(self, residues: tuple[int, ...]) -> tuple[int, ...]:
        """Return the exponential of a number, with one residue less.

        Examples
        --------
        >>> tower = draw_tower(np.random.default_rng(0), 1)
        >>> tower.exp((5, 5))[0] == tower.exp((2, 2))[0] * tower.exp((3, 3))[0] % tower.primes[0]
        True
        """
        return tuple(
            pow(base, exponent, prime)
            for base, exponent, prime in zip(self.bases, residues[1:], self.primes, strict=False)
        )

    def sqrt(self, residues: tuple[int, ...], lenient: bool) -> tuple[int, ...]:
        """Return a square root, the same one for the same number.

        Raises
        ------
        RedrawError
            Where one of the residues has no square root; when lenient, where the first has none, and the residues
            from the first without a root on are lost.
        """
        roots: list[int] = []
        for value, prime in zip(residues, self.primes, strict=False):
            try:
                roots.append(square_root(value, prime))
            except RedrawError:
                if not lenient or not roots:
                    raise
                break
        return tuple(roots)


def draw_tower(rng: np.random.Generator, depth: int) -> Tower:
    """Draw a random chain of ``depth + 1`` primes, the first of about 61 bits.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness.
    depth : int
        Number of nested exponentials that it serves; each costs 11 bits.

    Returns
    -------
    Tower
    """
    while True:
        primes = _chain(rng, depth)
        if primes is not None:
            break
    bases = tuple(_element_of_order(small, big) for big, small in itertools.pairwise(primes))
    return Tower(primes, bases, tuple(square_root(prime - 1, prime) for prime in primes))


def _chain(rng: np.random.Generator, depth: int) -> tuple[int, ...] | None:
    bits = TOP_BITS - BITS_A_LEVEL * depth
    prime = 0
    while not fmpz(prime).is_prime():
        prime = MODULUS * int(rng.integers(2 ** (bits - 1) // MODULUS, 2**bits // MODULUS)) + 1
    primes = [prime]
    room = 2**BITS_A_LEVEL // MODULUS
    for _ in range(depth):
        candidates = (MODULUS * int(m) * primes[0] + 1 for m in rng.permutation(np.arange(room // 2, room)))
        found = next((candidate for candidate in candidates if fmpz(candidate).is_prime()), None)
        if found is None:
            return None
        primes.insert(0, found)
    return tuple(primes)


def _element_of_order(order: int, prime: int) -> int:
    """Return an element of a prime order in the units modulo a prime."""
    return next(g for g in (pow(k, (prime - 1) // order, prime) for k in range(2, 100)) if g != 1)


def square_root(value: int, prime: int) -> int:
    """Return the smaller square root of a residue.

    Raises
    ------
    RedrawError
        Where there is none.
    """
    if pow(value, (prime - 1) // 2, prime) == prime - 1:
        raise RedrawError
    root = int(nmod(value, prime).sqrt())
    return min(root, prime - root) if root else 0
