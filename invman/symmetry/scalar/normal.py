"""A normal form of scalar expressions: polynomials over hash-consed atoms, equal exactly when written the same.

An atom is a parameter, an input, a core function of a polynomial, or a polynomial in brackets (a denominator, or a
factor too long to be multiplied out). Odd functions pass the sign of their argument on, even ones swallow it. What is
equal up to the order and the sign of terms and factors becomes the same object, and a transformation of theta under
which the outputs stay the same objects is proved to be a symmetry.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from invman.architecture.activations import Activation, Parity
from invman.errors import UnsupportedError
from invman.symmetry.scalar.parities import apply_by_parity

Monomial = tuple[tuple[int, int], ...]
"""Pairs (atom, exponent), sorted by atom."""
Polynomial = Mapping[Monomial, Fraction]
Shade = tuple[object, ...]
"""What every automorphism leaves alone; atoms of different shade are never exchanged."""
TERMS = 64
"""Length up to which products of sums are multiplied out."""
_VALUE_AT_ZERO = {"exp": 1, "cos": 1, "cosh": 1, "gaussian": 1}


@dataclass(frozen=True)
class Atom:
    """A factor of monomials.

    Attributes
    ----------
    kind : {"parameter", "phase", "input", "pi", "core", "bracket", "root"}
        What it is.
    shade : tuple
        Kind, name, input position, level: invariant under every symmetry.
    level : int
        0 for leaves, else one more than the atoms of the argument.
    rigid : bool
        Whether no symmetry can change its sign.
    parity : {"odd", "even", "none"}
        Of the function, for a core function; brackets are odd, roots have none.
    argument : tuple of (Monomial, Fraction)
        The polynomial under it, in its canonical sign.
    sign : {1, -1}
        Sign with which the argument is taken (parity "none").
    order : int
        q for a q-th root.
    """

    kind: str
    shade: Shade
    level: int
    rigid: bool
    parity: Parity = "none"
    argument: tuple[tuple[Monomial, Fraction], ...] = ()
    sign: int = 1
    order: int = 1


class NormalForm:
    """The atoms met so far, and the arithmetic of polynomials over them (an ``Algebra`` of ``scalars.expand``).

    Parameters
    ----------
    terms : int
        Length up to which products of sums are multiplied out.
    split : bool
        Whether activations without parity are split into an odd and an even part.
    """

    def __init__(self, terms: int = TERMS, *, split: bool = True) -> None:
        self.terms, self.split = terms, split
        self.atoms: list[Atom] = []
        self._number: dict[object, int] = {}
        self.phases: dict[int, tuple[int, Fraction]] = {}

    # -- leaves -------------------------------------------------------------------------------------------------

    def leaf(self, kind: str, position: int) -> Polynomial:
        """Return a parameter, phase or input by its position, or the number pi."""
        shade = (kind, position) if kind == "input" else (kind,)
        number = self._intern((kind, position), Atom(kind, shade, 0, kind in ("input", "pi")))
        return {((number, 1),): Fraction(1)}

    def number(self, value: Fraction) -> Polynomial:
        """Embed a rational number."""
        return {(): value} if value else {}

    def _intern(self, key: object, atom: Atom) -> int:
        if key not in self._number:
            self._number[key] = len(self.atoms)
            self.atoms.append(atom)
        return self._number[key]

    # -- ring ---------------------------------------------------------------------------------------------------

    def add(self, terms: Sequence[Polynomial]) -> Polynomial:
        """Add."""
        if len(terms) == 1:
            return terms[0]
        total: dict[Monomial, Fraction] = {}
        for term in terms:
            for monomial, coefficient in term.items():
                total[monomial] = total.get(monomial, Fraction(0)) + coefficient
        return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}

    def multiply(self, factors: Sequence[Polynomial]) -> Polynomial:
        """Multiply; sums are multiplied out as long as the result is short, else put in brackets."""
        if not all(factors):
            return {}
        long = sum(len(factor) > 1 for factor in factors)
        constant = all(len(factor) > 1 or () in factor for factor in factors)
        if math.prod(map(len, factors)) > self.terms and not (constant and long == 1):
            factors = [self.bracket(factor) if len(factor) > 1 else factor for factor in factors]
        product: Polynomial = {(): Fraction(1)}
        for factor in factors:
            product = self.add(
                [self._times(m, n, c * d) for m, c in product.items() for n, d in factor.items()] or [{}]
            )
        return product

    def _times(self, left: Monomial, right: Monomial, coefficient: Fraction) -> Polynomial:
        if not left or not right:
            return {left or right: coefficient}
        exponents = dict(left)
        for atom, exponent in right:
            exponents[atom] = exponents.get(atom, 0) + exponent
        return self._reduced(exponents, coefficient)

    def _reduced(self, exponents: dict[int, int], coefficient: Fraction) -> Polynomial:
        """Return a product of powers: phases are signs, and the q-th power of a q-th root is its base."""
        rest: list[Polynomial] = []
        for number, exponent in exponents.items():
            atom = self.atoms[number]
            if atom.kind == "phase":
                exponents[number] = exponent % 2
            elif atom.kind == "root" and abs(exponent) >= atom.order:
                whole = int(Fraction(exponent, atom.order))
                exponents[number] = exponent - whole * atom.order
                rest.append(self.power({m: atom.sign * c for m, c in atom.argument}, Fraction(whole)))
        monomial = tuple(sorted((atom, exponent) for atom, exponent in exponents.items() if exponent))
        return self.multiply([{monomial: coefficient}, *rest]) if rest else {monomial: coefficient}

    def power(self, base: Polynomial, exponent: Fraction) -> Polynomial:
        """Raise to a rational power; the base of a root is taken to be positive."""
        if not exponent:
            return self.number(Fraction(1))
        if not base:
            if exponent < 0:
                msg = "got a negative power of 0, expected a base that is not zero: the map is not defined"
                raise UnsupportedError(msg)
            return {}
        if exponent.denominator != 1:
            return self._root(base, exponent)
        whole = int(exponent)
        if len(base) == 1:
            ((monomial, coefficient),) = base.items()
            return self._reduced({atom: e * whole for atom, e in monomial}, coefficient**whole)
        if whole > 0 and math.comb(len(base) + whole - 1, whole) <= self.terms:
            product = base
            for _ in range(whole - 1):
                product = self.multiply([product, base])
            return product
        return self.power(self.bracket(base), exponent)

    # -- atoms over polynomials ---------------------------------------------------------------------------------

    def apply(self, function: Activation, argument: Polynomial) -> Polynomial:
        """Apply an activation."""
        return apply_by_parity(self, function, argument, split=self.split)

    def core(self, name: str, parity: Parity, argument: Polynomial) -> Polynomial:
        """Apply a function of which only the parity is used (and, for sin and cos, the half period pi)."""
        if not argument and (parity == "odd" or name in _VALUE_AT_ZERO):
            return self.number(Fraction(_VALUE_AT_ZERO.get(name, 0)))
        outer = Fraction(1)
        if name in ("sin", "cos"):
            argument, outer = self._without_half_turns(argument)
            if not argument:
                return self.number(outer * (name == "cos"))
        canonical, sign = self.signed(argument)
        atom = self._over(canonical, "core", name, parity, sign)
        result: Polynomial = {((atom, 1),): outer * (sign if parity == "odd" else 1)}
        if name in ("sin", "cos"):
            for factor in self._phases_of(argument):
                result = self.multiply([factor, result])
        return result

    def bracket(self, inner: Polynomial) -> Polynomial:
        """Return a polynomial as one atom, times its content."""
        canonical, sign = self.signed(inner)
        content = Fraction(
            math.gcd(*(c.numerator for c in inner.values())), math.lcm(*(c.denominator for c in inner.values()))
        )
        primitive = {monomial: coefficient / content for monomial, coefficient in canonical.items()}
        return {((self._over(primitive, "bracket", "", "odd", 1), 1),): sign * content}

    def _root(self, base: Polynomial, exponent: Fraction) -> Polynomial:
        if set(base) == {()}:
            value, q = base[()], exponent.denominator
            roots = [_exact_root(part, q) for part in (value.numerator, value.denominator)]
            if value > 0 and None not in roots:
                return self.number(Fraction(roots[0] or 1, roots[1] or 1) ** exponent.numerator)
        canonical, sign = self.signed(base)
        atom = self._over(canonical, "root", str(exponent.denominator), "none", sign, exponent.denominator)
        return self._reduced({atom: exponent.numerator}, Fraction(1))

    def _over(self, canonical: Polynomial, kind: str, name: str, parity: Parity, sign: int, order: int = 1) -> int:
        argument = tuple(sorted(canonical.items()))
        fixed = self.is_rigid(canonical)
        sign = sign if parity == "none" else 1
        level = 1 + max((self.atoms[atom].level for monomial in canonical for atom, _ in monomial), default=0)
        shade = (kind, name, parity, level, sign if fixed else 0)
        rigid = parity != "odd" or fixed
        return self._intern(
            (kind, name, parity, sign, argument), Atom(kind, shade, level, rigid, parity, argument, sign, order)
        )

    # -- signs --------------------------------------------------------------------------------------------------

    def rigid(self, monomial: Monomial) -> bool:
        """Tell whether no symmetry can change the sign of a monomial."""
        return all(exponent % 2 == 0 or self.atoms[atom].rigid for atom, exponent in monomial)

    def balance(self, polynomial: Polynomial) -> list[tuple[str, int]]:
        """Count, for each shade of rigid monomial and size of coefficient, how many more are positive than negative."""
        count: Counter[str] = Counter()
        for monomial, coefficient in polynomial.items():
            if self.rigid(monomial):
                shade = sorted((repr(self.atoms[atom].shade), exponent) for atom, exponent in monomial)
                count[repr((shade, abs(coefficient)))] += 1 if coefficient > 0 else -1
        return sorted((shade, excess) for shade, excess in count.items() if excess)

    def is_rigid(self, polynomial: Polynomial) -> bool:
        """Tell whether no symmetry can change the sign of a polynomial."""
        return bool(self.balance(polynomial))

    def signed(self, polynomial: Polynomial) -> tuple[Polynomial, int]:
        """Return the canonical one of p and -p, and the sign that leads back.

        For a rigid polynomial the choice is the same for all its images under symmetries.
        """
        if not polynomial:
            return polynomial, 1
        balance = self.balance(polynomial)
        lead = balance[0][1] if balance else polynomial[min(polynomial)]
        sign = 1 if lead > 0 else -1
        return {monomial: sign * coefficient for monomial, coefficient in polynomial.items()}, sign

    # -- half periods of sin and cos ----------------------------------------------------------------------------

    def _without_half_turns(self, argument: Polynomial) -> tuple[Polynomial, Fraction]:
        """Take whole multiples of pi out of an argument: f(u + k pi) = (-1)^k f(u)."""
        pi = self._number.get(("pi", 0))
        turns = argument.get(((pi, 1),)) if pi is not None else None
        if turns is None or turns.denominator != 1:
            return argument, Fraction(1)
        rest = {monomial: value for monomial, value in argument.items() if monomial != ((pi, 1),)}
        return rest, Fraction(-1 if turns % 2 else 1)

    def _phases_of(self, argument: Polynomial) -> list[Polynomial]:
        """Return the sign that each shiftable bias in an argument would bring (see :mod:`.affine`)."""
        found = []
        for parameter, (phase, unit) in self.phases.items():
            coefficient = argument.get(((parameter, 1),))
            if coefficient is not None and (coefficient / unit) % 2:
                found.append(self.leaf("phase", phase))
        return found


def _exact_root(value: int, order: int) -> int | None:
    """Return the integer whose power is the value, or None."""
    if value <= 0:
        return None
    low, high = 1, 1 << (value.bit_length() // order + 1)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if middle**order < value else (low, middle)
    return low if low**order == value else None
