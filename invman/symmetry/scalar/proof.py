"""Proof that a transformation of theta leaves the map unchanged: the same normal form, or the same values mod p."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from invman.architecture.program import Program
from invman.architecture.scalars import expand
from invman.errors import InvmanError
from invman.symmetry.scalar.cover import form_for, normal_outputs
from invman.symmetry.scalar.degrees import survival
from invman.symmetry.scalar.modular import ModularAlgebra, random_prime
from invman.symmetry.scalar.normal import NormalForm, Polynomial
from invman.symmetry.signed import SignedPermutation


@dataclass(frozen=True)
class AffineMap:
    """``(g theta)[i] = signs[i] theta[images[i]] + shift[i] + pi turns[i]``, an isometry of parameter space.

    Attributes
    ----------
    linear : SignedPermutation
        Its linear part.
    shift, turns : tuple of Fraction, length D
        Its translation, exactly: a rational part and a multiple of pi.
    """

    linear: SignedPermutation
    shift: tuple[Fraction, ...]
    turns: tuple[Fraction, ...]

    def __call__(self, theta: np.ndarray) -> np.ndarray:
        """Apply it to a parameter vector, shape (D,)."""
        shift = np.array([float(value) for value in self.shift])
        return self.linear(theta) + shift + np.pi * np.array([float(value) for value in self.turns])


@dataclass(frozen=True)
class Proof:
    """The outcome of :func:`prove`.

    Attributes
    ----------
    holds : bool
        Whether F(g theta) = F(theta).
    method : {"normal form", "modular"}
        "normal form": both sides are the same expression, a symbolic proof. "modular": evaluation at random points
        modulo random primes, every function that is no polynomial replaced by a random function of its parity; when it
        holds, it holds for every function of that parity. When it does not, only that is refuted: an identity that
        rests on what else is known of a function may still hold.
    bound : float
        Probability that the answer "holds" is wrong (over the choice of primes, points and random functions, keyed
        BLAKE2 taken for a random function): 0 for a symbolic proof.
    detail : str
        One sentence.
    """

    holds: bool
    method: Literal["normal form", "modular"]
    bound: float
    detail: str

    def __bool__(self) -> bool:
        """Tell whether it holds."""
        return self.holds


def prove(program: Program, move: SignedPermutation | AffineMap, *, trials: int = 3, seed: int = 0) -> Proof:
    """Prove that a signed permutation or an affine isometry of theta leaves the map of a program unchanged.

    Parameters
    ----------
    program : Program
        The architecture.
    move : SignedPermutation or AffineMap
        The transformation g.
    trials : int
        Independent primes and points for the modular check; the bound is a power of it.
    seed : int
        Of primes, points and functions.

    Returns
    -------
    Proof

    Raises
    ------
    InvmanError
        When the transformation has another number of parameters.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> flip = SignedPermutation(np.array([0, 1]), np.array([-1, -1]))
    >>> prove(read_architecture("1-1tanh-1"), flip).method
    'normal form'
    """
    affine = move if isinstance(move, AffineMap) else _as_affine(move)
    if sorted(affine.linear.images.tolist()) != list(range(program.parameter_count)):
        msg = (
            f"transformation of {len(affine.linear.images)} parameters: expected a permutation of the "
            f"{program.parameter_count} parameters of the program"
        )
        raise InvmanError(msg)
    form = form_for(program)
    if normal_outputs(program, form) == normal_outputs(program, form, transformed(form, affine)):
        return Proof(True, "normal form", 0.0, "Both sides have the same normal form.")
    if any(affine.turns):
        return Proof(False, "normal form", 0.0, "The normal forms differ; a shift by pi has no modular check.")
    if trials < 1:
        msg = f"trials: got {trials}, expected at least 1"
        raise InvmanError(msg)
    for trial in range(trials):
        if not _agree(program, affine, f"{seed} {trial}", random_prime(seed * 1_000_003 + trial)):
            return Proof(
                False, "modular", 0.0, "The values differ at a random point, for random functions of the same parities."
            )
    bound = min(1.0, survival(program, affine.shift)) ** trials
    return Proof(True, "modular", bound, f"Equal at {trials} random points modulo random primes of 61 bits.")


def transformed(form: NormalForm, move: AffineMap) -> list[Polynomial]:
    """Return g theta as polynomials in theta."""
    result = []
    for image, sign, shift, turns in zip(move.linear.images, move.linear.signs, move.shift, move.turns, strict=True):
        terms = [form.multiply([form.number(Fraction(int(sign))), form.leaf("parameter", int(image))])]
        if shift:
            terms.append(form.number(shift))
        if turns:
            terms.append(form.multiply([form.number(turns), form.leaf("pi", 0)]))
        result.append(form.add(terms))
    return result


def _as_affine(move: SignedPermutation) -> AffineMap:
    zero = (Fraction(0),) * len(move.images)
    return AffineMap(move, zero, zero)


def _agree(program: Program, move: AffineMap, label: str, prime: int, attempts: int = 20) -> bool:
    for attempt in range(attempts):
        field = ModularAlgebra(prime, f"{label} {attempt}".encode())
        theta = _draw(f"theta {label} {attempt}", program.parameter_count, prime)
        x = _draw(f"x {label} {attempt}", program.input_count, prime)
        moved = [
            (int(sign) * theta[image] + field.number(shift)) % prime
            for image, sign, shift in zip(move.linear.images, move.linear.signs, move.shift, strict=True)
        ]
        try:
            return expand(program, field, theta, x) == expand(program, field, moved, x)
        except ZeroDivisionError:
            continue
    msg = (
        f"evaluation modulo a prime: got a division by zero at {attempts} random points, expected a map that is defined"
    )
    raise InvmanError(msg)


def _draw(label: str, count: int, prime: int) -> Sequence[int]:
    digests = (hashlib.blake2b(f"{label} {number}".encode(), digest_size=24).digest() for number in range(count))
    return [int.from_bytes(digest, "big") % prime for digest in digests]
