"""The signed double cover of a normal form: a coloured undirected graph whose automorphisms are the symmetries.

An atom whose sign can change has two vertices, +v and -v, joined by an edge; all other nodes have one. A product of n
factors that can change sign has one vertex for each of the 2^n choices of their signs, so that an even number of sign
changes leaves the product alone and an odd number reverses it, symmetrically in all factors. Colours carry the kind of
node, the level and the coefficient, so that edges need no direction.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from invman.architecture.program import Program
from invman.architecture.scalars import expand
from invman.errors import OverBudgetError
from invman.symmetry.scalar.normal import Monomial, NormalForm, Polynomial

Sided = tuple[tuple[int, ...], tuple[int, ...]]
"""Vertices that stand for +v, and for -v; the same ones for a node whose sign cannot change."""
LARGEST = 1_000_000
"""Vertices beyond which the graph is not even built."""
FINE = 64
"""Parameters up to which products are multiplied out and activations split into parts of one parity."""
ADVICE = "Use smaller sizes, or the axis level (find_symmetry), which has no such limit."


@dataclass
class Cover:
    """A coloured undirected graph over a normal form.

    Attributes
    ----------
    form : NormalForm
        The atoms.
    colours : list of int
        One a vertex.
    edges : list of (int, int)
        Each once.
    parameters : list of (int, int)
        Vertices of +theta_i and -theta_i.
    phases : list of (int, int)
        The same for the phases.
    """

    form: NormalForm
    colours: list[int] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    parameters: list[tuple[int, int]] = field(default_factory=list)
    phases: list[tuple[int, int]] = field(default_factory=list)
    _palette: dict[object, int] = field(default_factory=dict)
    _sides: dict[object, Sided] = field(default_factory=dict)

    def vertex(self, colour: object, below: Iterable[int] = ()) -> int:
        """Add a vertex of a colour, joined to the vertices below it."""
        number = len(self.colours)
        self._check(number + 1)
        self.colours.append(self._palette.setdefault(colour, len(self._palette)))
        self.edges += [(number, other) for other in below]
        return number

    def _check(self, size: int) -> None:
        if size > LARGEST:
            raise OverBudgetError("vertices of the scalar symmetry graph, at least", size, LARGEST, ADVICE)

    def leaf(self, kind: str, position: int) -> tuple[int, int]:
        """Return the vertices of +v and -v of a parameter or phase."""
        (((number, _),),) = self.form.leaf(kind, position)
        (plus,), (minus,) = self.atom(number)
        return plus, minus

    def pair(self, colour: object, plus: Iterable[int] = (), minus: Iterable[int] = ()) -> Sided:
        """Add +v and -v, joined."""
        first, second = self.vertex(colour, plus), self.vertex(colour, minus)
        self.edges.append((first, second))
        return (first,), (second,)

    def atom(self, number: int) -> Sided:
        """Return the vertices of an atom."""
        key = ("atom", number)
        if key not in self._sides:
            atom = self.form.atoms[number]
            if atom.level == 0:
                only = () if not atom.rigid else (self.vertex(atom.shade),)
                self._sides[key] = (only, only) if atom.rigid else self.pair(atom.shade)
            else:
                plus, minus = self.polynomial(dict(atom.argument))
                if not atom.rigid:
                    self._sides[key] = self.pair(atom.shade, plus, minus)
                else:
                    taken = plus if atom.sign == 1 else minus
                    below = dict.fromkeys([*plus, *minus] if atom.parity == "even" else taken)
                    only = (self.vertex(atom.shade, below),)
                    self._sides[key] = only, only
        return self._sides[key]

    def factor(self, number: int, exponent: int) -> Sided:
        """Return the vertices of a power of an atom."""
        if exponent == 1:
            return self.atom(number)
        key = ("power", number, exponent)
        if key not in self._sides:
            plus, minus = self.atom(number)
            colour = ("power", exponent, self.form.atoms[number].shade)
            if exponent % 2 and not self.form.atoms[number].rigid:
                self._sides[key] = self.pair(colour, plus, minus)
            else:
                only = (self.vertex(colour, dict.fromkeys([*plus, *minus])),)
                self._sides[key] = only, only
        return self._sides[key]

    def monomial(self, monomial: Monomial) -> Sided:
        """Return the vertices of a product of powers."""
        key = ("monomial", monomial)
        if key not in self._sides:
            self._sides[key] = self._product([self.factor(*pair) for pair in monomial], self._level(monomial))
        return self._sides[key]

    def _product(self, factors: Sequence[Sided], level: int) -> Sided:
        if len(factors) == 1:
            return factors[0]
        signed = [factor for factor in factors if factor[0] != factor[1]]
        still = [vertex for plus, minus in factors if plus == minus for vertex in plus]
        colour = ("product", level, len(signed), len(still))
        self._check(len(self.colours) + 2 ** len(signed))
        sides: tuple[list[int], list[int]] = ([], [])
        for choice in itertools.product((0, 1), repeat=len(signed)):
            below = [vertex for factor, side in zip(signed, choice, strict=True) for vertex in factor[side]]
            sides[sum(choice) % 2].append(self.vertex(colour, [*still, *below]))
        return tuple(sides[0]), tuple(sides[1] if signed else sides[0])

    def _level(self, monomial: Monomial) -> int:
        return max((self.form.atoms[atom].level for atom, _ in monomial), default=0)

    def term(self, monomial: Monomial, coefficient: Fraction) -> Sided:
        """Return the vertices of a monomial with a coefficient; the caller sees to its sign unless it is rigid."""
        key = ("term", monomial, coefficient)
        if coefficient == 1:
            return self.monomial(monomial)
        if key not in self._sides:
            plus, minus = self.monomial(monomial)
            colour = ("coefficient", coefficient, self._level(monomial))
            if plus == minus:
                only = (self.vertex(colour, plus),)
                self._sides[key] = only, only
            else:
                self._sides[key] = (self.vertex(colour, plus),), (self.vertex(colour, minus),)
        return self._sides[key]

    def polynomial(self, polynomial: Polynomial) -> Sided:
        """Return the vertices of a polynomial."""
        key = ("polynomial", tuple(sorted(polynomial.items())))
        if key not in self._sides:
            plus, minus = self.terms(polynomial, 1), self.terms(polynomial, -1)
            colour = ("polynomial", max(map(self._level, polynomial), default=0))
            if self.form.is_rigid(polynomial):
                only = (self.vertex(colour, plus),)
                self._sides[key] = only, only
            else:
                self._sides[key] = self.pair(colour, plus, minus)
        return self._sides[key]

    def terms(self, polynomial: Polynomial, sign: int) -> list[int]:
        """Return the vertices below a polynomial taken with a sign."""
        below: list[int] = []
        for monomial, coefficient in polynomial.items():
            value = sign * coefficient
            if self.form.rigid(monomial):
                below += self.term(monomial, value)[0]
            else:
                below += self.term(monomial, abs(value))[0 if value > 0 else 1]
        return below


def normal_outputs(program: Program, form: NormalForm, theta: Sequence[Polynomial] | None = None) -> list[Polynomial]:
    """Return the outputs of a program in normal form, at given parameters (polynomials) or at theta itself."""
    own = [form.leaf("parameter", index) for index in range(program.parameter_count)]
    x = [form.leaf("input", index) for index in range(program.input_count)]
    return list(expand(program, form, own if theta is None else theta, x))


def is_fine(program: Program) -> bool:
    """Tell whether a program is small enough for the long normal form, which misses least."""
    return program.parameter_count <= FINE


def form_for(program: Program) -> NormalForm:
    """Return an empty normal form: products multiplied out and parities split for small programs only."""
    return NormalForm() if is_fine(program) else NormalForm(terms=1, split=False)


def build_cover(form: NormalForm, outputs: Sequence[Polynomial], parameters: int) -> Cover:
    """Build the graph of outputs in normal form.

    Parameters
    ----------
    form : NormalForm
        Their atoms.
    outputs : sequence of Polynomial
        The map, one polynomial an output; each is fixed by every automorphism.
    parameters : int
        D.

    Returns
    -------
    Cover

    Raises
    ------
    OverBudgetError
        When there are more than a million vertices, so that it is not even built.
    """
    cover = Cover(form)
    for index in range(parameters):
        cover.parameters.append(cover.leaf("parameter", index))
    for bias, (phase, _) in sorted(form.phases.items()):
        sides = cover.leaf("phase", phase)
        cover.phases.append(sides)
        cover.edges += [(side, vertex) for side in sides for group in cover.atom(bias) for vertex in group]
    for position, output in enumerate(outputs):
        cover.vertex(("output", position), cover.terms(output, 1))
    return cover
