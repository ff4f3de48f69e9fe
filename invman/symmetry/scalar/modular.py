"""The map at random points modulo a prime, every function a random function of its parity."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction

from invman.architecture.activations import Activation, Parity
from invman.symmetry.scalar.parities import apply_by_parity

BITS = 61


def random_prime(seed: int) -> int:
    """Return a prime of 61 bits, drawn by a seed."""
    import flint

    number = 0
    while True:
        draw = int.from_bytes(hashlib.blake2b(f"prime {seed} {number}".encode(), digest_size=8).digest(), "big")
        candidate = (draw >> (64 - BITS)) | (1 << (BITS - 1)) | 1
        if flint.fmpz(candidate).is_prime():
            return candidate
        number += 1


class ModularAlgebra:
    """Scalars modulo a prime.

    Parameters
    ----------
    prime : int
        The modulus.
    key : bytes
        Chooses the random functions; the same key gives the same functions.

    Examples
    --------
    >>> field = ModularAlgebra(101, b"key")
    >>> (field.core("tanh", "odd", 5) + field.core("tanh", "odd", 96)) % 101
    0
    """

    def __init__(self, prime: int, key: bytes) -> None:
        self.prime, self.key = prime, key

    def number(self, value: Fraction) -> int:
        """Embed a rational number (ZeroDivisionError where the prime divides its denominator)."""
        return value.numerator * self._inverse(value.denominator) % self.prime

    def add(self, terms: Sequence[int]) -> int:
        """Add."""
        return sum(terms) % self.prime

    def multiply(self, factors: Sequence[int]) -> int:
        """Multiply."""
        product = 1
        for factor in factors:
            product = product * factor % self.prime
        return product

    def power(self, base: int, exponent: Fraction) -> int:
        """Raise to a power; a q-th root is a random function, of which only integer powers are taken."""
        if exponent.denominator != 1:
            base = self.core(f"root {exponent.denominator}", "none", base)
        whole = exponent.numerator
        return pow(base if whole >= 0 else self._inverse(base), abs(whole), self.prime)

    def apply(self, function: Activation, argument: int) -> int:
        """Apply an activation by its parity."""
        return apply_by_parity(self, function, argument, split=True)

    def core(self, name: str, parity: Parity, argument: int) -> int:
        """Apply the random function of a name."""
        p = self.prime
        argument %= p
        folded = argument if parity == "none" else min(argument, p - argument)
        digest = hashlib.blake2b(f"{name} {folded}".encode(), key=self.key, digest_size=24).digest()
        value = int.from_bytes(digest, "big") % p
        if parity == "odd":
            return 0 if argument == 0 else (value if folded == argument else -value % p)
        return value

    def _inverse(self, value: int) -> int:
        if value % self.prime == 0:
            msg = "division by zero modulo the prime"
            raise ZeroDivisionError(msg)
        return pow(value, -1, self.prime)
