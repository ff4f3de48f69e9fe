"""The tape with the primitives of activations: exponentials, random functions, gates."""

from __future__ import annotations

import hashlib

import numpy as np

from invman.architecture.activations import Activation
from invman.symmetry.infinitesimal.functions import Symmetry, apply
from invman.symmetry.infinitesimal.tape import Scalar, Tape
from invman.symmetry.infinitesimal.tower import RedrawError, Tower


class FieldAlgebra(Tape):
    """Scalars modulo the primes of a tower, with derivatives and every activation.

    Parameters
    ----------
    tower : Tower
        The primes.
    salt : bytes
        Selects the random functions; the same salt gives the same functions.
    rng : numpy.random.Generator
        Source of the gates.
    lenient : bool
        Accept square roots that exist modulo the first prime only; exponentials of them are random.
    """

    def __init__(self, tower: Tower, salt: bytes, rng: np.random.Generator, lenient: bool = False) -> None:
        super().__init__(tower, lenient)
        self.salt, self.rng = salt, rng
        self.gates: list[Scalar] = []
        self._gated: dict[tuple[str, tuple[int, ...]], Scalar] = {}

    def apply(self, function: Activation, argument: Scalar) -> Scalar:
        """Apply an activation."""
        return apply(self, function, argument)

    def exp(self, argument: Scalar) -> Scalar:
        """Return the exponential; beyond the height of the tower a random one with ``exp(-u) = 1/exp(u)``."""
        values = self.tower.exp(argument.residues)
        if not values:
            values = self._random_exp(argument.residues[0])
        return self.record(values, [(argument, values[0])])

    def imaginary(self) -> Scalar:
        """Return a square root of -1."""
        return Scalar(self.tower.units, -1)

    def random(self, name: str, symmetry: Symmetry, argument: Scalar, slope: Scalar) -> Scalar:
        """Return a random function of the argument that has the given symmetry and derivative."""
        primes, u = self.tower.primes, argument.residues
        if symmetry == "inverse":
            if not all(u):
                raise RedrawError
            mirrored = tuple(pow(v, -1, prime) for v, prime in zip(u, primes, strict=False))
        else:
            mirrored = tuple(-v % prime for v, prime in zip(u, primes, strict=False))
        values = self._hashed(name, min(u[0], mirrored[0]), len(u))
        if u[0] == mirrored[0] and symmetry != "reflected":
            values = (0,) * len(u)  # as at 0 where the function is odd
        if u[0] > mirrored[0]:
            added = u if symmetry == "reflected" else (0,) * len(u)
            sign = 1 if symmetry == "reflected" else -1
            values = tuple((sign * v + a) % prime for v, a, prime in zip(values, added, primes, strict=False))
        return self.record(values, [(argument, slope.residues[0])])

    def transcendental(self, name: str) -> Scalar:
        """Return a random constant."""
        return Scalar(self._hashed(name, 0, len(self.tower.primes)), -1)

    def gate(self, name: str, argument: Scalar) -> Scalar:
        """Return the argument times a free variable: one for every function and every value of its argument."""
        key = name, argument.residues
        if key not in self._gated:
            self._gated[key] = self.variable(draw(self.rng, self.tower))
            self.gates.append(self._gated[key])
        return self.multiply([self._gated[key], argument])

    def _random_exp(self, value: int) -> tuple[int]:
        if not value:
            return (1,)
        mirrored = -value % self.prime
        drawn = self._hashed("exp", min(value, mirrored), 1)[0] or 1
        return (drawn if value <= mirrored else pow(drawn, -1, self.prime),)

    def _hashed(self, name: str, value: int, length: int) -> tuple[int, ...]:
        digests = (hashlib.blake2b(f"{name}|{value}|{level}".encode(), key=self.salt) for level in range(length))
        return tuple(
            int.from_bytes(digest.digest()[:16], "big") % prime
            for digest, prime in zip(digests, self.tower.primes, strict=False)
        )


def draw(rng: np.random.Generator, tower: Tower) -> tuple[int, ...]:
    """Draw a number that is non-zero modulo each prime of a tower."""
    return tuple(int(rng.integers(1, prime)) for prime in tower.primes)
