"""A program as a few trees in which sums and products are flat: where branches can be compared.

A statement that is read once is written into its reader. Sums over axes are distributed over sums of terms, factors
that do not depend on a summed axis are taken out of the sum, sums over unrelated axes become a product, axes of size 1
are dropped, and a minus sign goes into a parameter that is read once, if there is one to take it. Nothing is ever
written twice, so the trees are as long as the program.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from invman.architecture.activations import Activation
from invman.architecture.program import (
    Add,
    Apply,
    Expr,
    Index,
    Mul,
    Number,
    Power,
    Program,
    Ref,
    Softmax,
    Statement,
    Sum,
    walk,
)


@dataclass(frozen=True)
class Tree:
    """A node; what it contains is computed once."""

    @property
    def children(self) -> tuple[Tree, ...]:
        """The direct sub-trees."""
        return ()

    @cached_property
    def reads(self) -> Counter[str]:
        """How often each tensor is read."""
        total: Counter[str] = Counter()
        for child in self.children:
            total.update(child.reads)
        return total

    @cached_property
    def free(self) -> frozenset[str]:
        """Axes over which it varies."""
        return frozenset().union(*(child.free for child in self.children))

    @cached_property
    def length(self) -> int:
        """Number of nodes."""
        return 1 + sum(child.length for child in self.children)

    def leaves(self) -> Iterator[Leaf]:
        """Yield the tensors that are read."""
        for child in self.children:
            yield from child.leaves()


@dataclass(frozen=True)
class Leaf(Tree):
    """A tensor read at indices; an index of an axis of size 1 is the number 0."""

    tensor: str
    places: tuple[Index, ...]

    @cached_property
    def reads(self) -> Counter[str]:
        """Itself."""
        return Counter([self.tensor])

    @cached_property
    def free(self) -> frozenset[str]:
        """Axes in its indices."""
        return frozenset(axis for place in self.places for axis, _ in place.terms)

    def leaves(self) -> Iterator[Leaf]:
        """Yield itself."""
        yield self


@dataclass(frozen=True)
class Total(Tree):
    """A sum of terms, none of which is a sum of terms."""

    terms: tuple[Tree, ...]

    @property
    def children(self) -> tuple[Tree, ...]:
        """The terms."""
        return self.terms


@dataclass(frozen=True)
class Product(Tree):
    """A number times factors, none of which is a product; a number alone has no factors."""

    coefficient: Fraction
    factors: tuple[Tree, ...]

    @property
    def children(self) -> tuple[Tree, ...]:
        """The factors."""
        return self.factors


@dataclass(frozen=True)
class Powered(Tree):
    """A power."""

    base: Tree
    exponent: Fraction

    @property
    def children(self) -> tuple[Tree, ...]:
        """The base."""
        return (self.base,)


@dataclass(frozen=True)
class Summed(Tree):
    """A sum over axes; the body depends on each, and is neither a sum nor a product that falls apart."""

    axes: frozenset[str]
    body: Tree

    @property
    def children(self) -> tuple[Tree, ...]:
        """The body."""
        return (self.body,)

    @cached_property
    def free(self) -> frozenset[str]:
        """Axes of the body that are not summed."""
        return self.body.free - self.axes


@dataclass(frozen=True)
class Applied(Tree):
    """An activation."""

    function: Activation
    argument: Tree

    @property
    def children(self) -> tuple[Tree, ...]:
        """The argument."""
        return (self.argument,)


@dataclass(frozen=True)
class Softmaxed(Tree):
    """A softmax over an axis."""

    axis: str
    argument: Tree
    until: str | None

    @property
    def children(self) -> tuple[Tree, ...]:
        """The argument."""
        return (self.argument,)

    @cached_property
    def free(self) -> frozenset[str]:
        """Axes of the argument, and those of the softmax."""
        return self.argument.free | {self.axis} | ({self.until} if self.until else set())


ONE = Product(Fraction(1), ())

DEPTH = 12
"""Statements that are written into each other."""


def total(terms: Iterable[Tree]) -> Tree:
    """Add."""
    count: dict[Tree, Fraction] = {}
    for term in terms:
        for part in term.terms if isinstance(term, Total) else (term,):
            alone = part if isinstance(part, Product) else Product(Fraction(1), (part,))
            key = product(Fraction(1), alone.factors)
            count[key] = count.get(key, Fraction(0)) + alone.coefficient
    flat = [product(number, [term]) for term, number in count.items() if number]
    if len(flat) < 2:
        return flat[0] if flat else Product(Fraction(0), ())
    parts = [set(term.factors) if isinstance(term, Product) else {term} for term in flat]
    common = [factor for factor in _factors(flat[0]) if all(factor in part for part in parts)]
    if not common:
        return Total(tuple(flat))
    rest = [
        product(
            term.coefficient if isinstance(term, Product) else Fraction(1),
            [f for f in _factors(term) if f not in common],
        )
        for term in flat
    ]
    return product(Fraction(1), [*common, total(rest)])


def _factors(term: Tree) -> tuple[Tree, ...]:
    return term.factors if isinstance(term, Product) else (term,)


def product(coefficient: Fraction, factors: Iterable[Tree]) -> Tree:
    """Multiply."""
    powers: dict[Tree, Fraction] = {}
    for factor in factors:
        parts = factor.factors if isinstance(factor, Product) else (factor,)
        coefficient *= factor.coefficient if isinstance(factor, Product) else 1
        for part in parts:
            whole = isinstance(part, Powered) and part.exponent.denominator == 1
            base, exponent = (part.base, part.exponent) if isinstance(part, Powered) and whole else (part, Fraction(1))
            powers[base] = powers.get(base, Fraction(0)) + exponent
    if not coefficient:
        return Product(coefficient, ())
    flat = [base if e == 1 else Powered(base, e) for base, e in powers.items() if e]
    return flat[0] if len(flat) == 1 and coefficient == 1 else Product(coefficient, tuple(flat))


def power(base: Tree, exponent: Fraction) -> Tree:
    """Raise to a power; whole powers go into products."""
    if exponent == 1:
        return base
    if exponent.denominator == 1 and (not isinstance(base, Product) or base.coefficient):
        if isinstance(base, Product):
            return product(base.coefficient ** int(exponent), [power(factor, exponent) for factor in base.factors])
        if isinstance(base, Powered) and base.exponent.denominator == 1:
            return product(Fraction(1), [Powered(base.base, base.exponent * exponent)])
    return Powered(base, exponent)


def summed(axes: frozenset[str], body: Tree, sizes: Mapping[str, int]) -> Tree:
    """Sum over axes."""
    if isinstance(body, Total):
        return total([summed(axes, term, sizes) for term in body.terms])
    number = Fraction(math.prod(sizes[axis] for axis in axes - body.free))
    axes &= body.free
    if not axes and number == 1:
        return body
    if not axes:
        return product(number, [body])
    if isinstance(body, Summed):
        return product(number, [Summed(axes | body.axes, body.body)])
    if not isinstance(body, Product):
        return product(number, [Summed(axes, body)])
    apart: list[tuple[frozenset[str], list[Tree]]] = []
    outside = []
    for factor in body.factors:
        own, together = factor.free & axes, [factor]
        if not own:
            outside.append(factor)
            continue
        for other in [group for group in apart if group[0] & own]:
            apart.remove(other)
            own, together = own | other[0], [*other[1], *together]
        apart.append((own, together))
    inner: list[Tree] = []
    for own, together in apart:
        if len(together) == 1:
            inner.append(summed(own, together[0], sizes))
            continue
        # an axis of one factor alone is summed there
        lone = [f.free & own - frozenset().union(*(g.free for g in together if g is not f)) for f in together]
        left = own - frozenset().union(*lone)
        within = [summed(axes, factor, sizes) for axes, factor in zip(lone, together, strict=True)]
        inner.append(
            summed(left, product(Fraction(1), within), sizes)
            if any(lone)
            else Summed(left, product(Fraction(1), within))
        )
    return product(number * body.coefficient, [*outside, *inner])


def renamed(tree: Tree, names: Mapping[str, str]) -> Tree:
    """Rename axes, free or bound."""
    match tree:
        case Leaf(tensor, places):
            moved = (Index(tuple((names.get(axis, axis), c) for axis, c in p.terms), p.offset) for p in places)
            return Leaf(tensor, tuple(moved))
        case Total(terms):
            return Total(tuple(renamed(term, names) for term in terms))
        case Product(coefficient, factors):
            return Product(coefficient, tuple(renamed(factor, names) for factor in factors))
        case Powered(base, exponent):
            return Powered(renamed(base, names), exponent)
        case Summed(axes, body):
            return Summed(frozenset(names.get(axis, axis) for axis in axes), renamed(body, names))
        case Applied(function, argument):
            return Applied(function, renamed(argument, names))
        case Softmaxed(axis, argument, until):
            last = None if until is None else names.get(until, until)
            return Softmaxed(names.get(axis, axis), renamed(argument, names), last)
        case _:
            return tree


class Forest:
    """The trees of a program: one for each output and each statement that is not written into its reader.

    Attributes
    ----------
    roots : dict of str to Tree
        In the order of the program.
    axes : dict of str to tuple of (str or None)
        The axes of each root; None for one of size 1.
    sizes : dict of str to int
        Of the axes, which have a name of their own wherever they are bound.
    reads : Counter
        How often each tensor is read; an output once more.
    flipped : set of str
        Parameters that stand for their negative.
    affine : set of str
        Tensors read at an index that is not an axis.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.roots: dict[str, Tree] = {}
        self.axes: dict[str, tuple[str | None, ...]] = {}
        self.sizes: dict[str, int] = {}
        self.flipped: set[str] = set()
        self.affine: set[str] = set()
        self._statements = {statement.name: statement for statement in program.statements}
        self._numbers = {c.tensor.name: c.values[0] for c in program.constants if len(set(c.values)) == 1}
        first: dict[object, str] = {}
        for c in program.constants:
            first.setdefault((c.tensor.shape, c.values), c.tensor.name)
        self._same = {c.tensor.name: first[c.tensor.shape, c.values] for c in program.constants}
        refs = [node for s in program.statements for node in walk(s.expr) if isinstance(node, Ref)]
        for ref in refs:
            if any(index.axis is None for index in self._wide(ref)):
                self.affine.add(ref.tensor)
        count = Counter(ref.tensor for ref in refs) + Counter(program.outputs)
        self._inlined: set[str] = set()
        depth: dict[str, int] = {}
        for statement in program.statements:
            read = [node.tensor for node in walk(statement.expr) if isinstance(node, Ref)]
            depth[statement.name] = 1 + max((depth[name] for name in read if name in self._inlined), default=0)
            once = count[statement.name] == 1 and statement.name not in {*self.affine, *program.outputs}
            if once and depth[statement.name] < DEPTH:
                self._inlined.add(statement.name)
        for statement in program.statements:
            if statement.name not in self._inlined and count[statement.name]:
                scope = {axis: self.fresh(axis, program.sizes[axis]) for axis in statement.axes}
                self.axes[statement.name] = tuple(scope[axis] for axis in statement.axes)
                self.roots[statement.name] = self._convert(statement.expr, scope)
        self.reads = self._count()
        self.parameters = {tensor.name for tensor in program.parameters}
        for name, root in self.roots.items():
            self.roots[name] = self._without_signs(root)
        self.reads = self._count()

    def fresh(self, axis: str, size: int) -> str | None:
        """Return a name that stands nowhere else; None for an axis of size 1."""
        if size == 1:
            return None
        name = f"{axis.split('#')[0]}#{len(self.sizes)}"
        self.sizes[name] = size
        return name

    def instance(self, leaf: Leaf) -> Tree:
        """Write out the root that a leaf reads at its indices, with bound axes of its own."""
        root, names = self.roots[leaf.tensor], {}
        for axis, place in zip(self.axes[leaf.tensor], leaf.places, strict=True):
            if axis is not None:
                names[axis] = place.terms[0][0]
        for axis in sorted(_bound(root)):
            names[axis] = self.fresh(axis, self.sizes[axis])
        return renamed(root, names)

    def _wide(self, ref: Ref) -> list[Index]:
        """Return the indices at positions longer than 1."""
        if ref.tensor in self._statements:
            shape = [self.program.sizes[axis] for axis in self._statements[ref.tensor].axes]
        else:
            tensors = [*self.program.inputs, *self.program.parameters, *(c.tensor for c in self.program.constants)]
            shape = next(tensor.shape for tensor in tensors if tensor.name == ref.tensor)
        return [index for index, size in zip(ref.indices, shape, strict=True) if size > 1]

    def _count(self) -> Counter[str]:
        reads = Counter(self.program.outputs)
        for root in self.roots.values():
            reads.update(root.reads)
        return reads

    def _convert(self, expr: Expr, scope: Mapping[str, str | None]) -> Tree:
        match expr:
            case Number(value):
                return Product(value, ())
            case Ref(tensor, indices):
                places = tuple(_place(index, scope) for index in indices)
                if tensor in self._inlined:
                    return self._inline(self._statements[tensor], places)
                if tensor in self._numbers:
                    return Product(self._numbers[tensor], ())
                tensor = self._same.get(tensor, tensor)
                return Leaf(tensor, places)
            case Add(terms):
                return total([self._convert(term, scope) for term in terms])
            case Mul(factors):
                return product(Fraction(1), [self._convert(factor, scope) for factor in factors])
            case Power(base, exponent):
                return power(self._convert(base, scope), exponent)
            case Sum(axes, body, mean):
                own = {axis: self.fresh(axis, self.program.sizes[axis]) for axis in axes}
                found = summed(
                    frozenset(axis for axis in own.values() if axis), self._convert(body, {**scope, **own}), self.sizes
                )
                number = math.prod(self.program.sizes[axis] for axis in axes) if mean else 1
                return product(Fraction(1, number), [found])
            case Apply(function, argument):
                inner = self._convert(argument, scope)
                exponent = {"identity": 1, "square": 2, "cube": 3}.get(function.name)
                return power(inner, Fraction(exponent)) if exponent else Applied(function, inner)
            case Softmax(axis, argument, until):
                own = scope[axis]
                last = None if until is None else scope[until]
                # one value that a mask may hide, or a mask at its first place, is left as it is
                if own is None:
                    return ONE
                inner = self._convert(argument, scope)
                return Softmaxed(own, inner, last if until is None or last else "first")

    def _inline(self, statement: Statement, places: tuple[Index, ...]) -> Tree:
        scope = {}
        for axis, place in zip(statement.axes, places, strict=True):
            scope[axis] = place.terms[0][0] if place.terms else None
        return self._convert(statement.expr, scope)

    def _without_signs(self, tree: Tree, *, within: bool = False) -> Tree:
        """Let parameters take up the signs of negative products; within a sum, constants may be left over."""
        match tree:
            case Product(coefficient, factors):
                tree = product(coefficient, [self._without_signs(factor) for factor in factors])
                if not isinstance(tree, Product):
                    return tree
                coefficient, factors = tree.coefficient, tree.factors
                taken, offset = self._flip(Product(Fraction(1), factors)) if coefficient < 0 else (None, 0)
                if taken is None or (offset and not within):
                    return tree
                self.flipped ^= taken
                return total([product(-coefficient, factors), Product(-coefficient * offset, ())])
            case Total(terms):
                return total([self._without_signs(term, within=True) for term in terms])
            case Powered(base, exponent):
                sign, inner = 1, self._without_signs(base)
                if exponent.denominator == 1:
                    sign, inner = self._positive(inner)
                outer = Powered(inner, exponent)
                return product(Fraction(-1), [outer]) if sign < 0 and exponent % 2 else outer
            case Summed(axes, body):
                return summed(axes, self._without_signs(body), self.sizes)
            case Applied(function, argument):
                sign, inner = 1, self._without_signs(argument)
                if function.parity != "none":
                    sign, inner = self._positive(inner)
                outer = Applied(function, inner)
                return product(Fraction(-1), [outer]) if sign < 0 and function.parity == "odd" else outer
            case Softmaxed(_, argument, _):
                return replace(tree, argument=self._without_signs(argument))
            case _:
                return tree

    def _positive(self, tree: Tree) -> tuple[int, Tree]:
        """Return a sign and a tree of which the terms that no parameter can turn are not all negative."""
        terms = tree.terms if isinstance(tree, Total) else (tree,)
        flips = [self._flip(term) for term in terms]
        if any(offset for _, offset in flips):
            return 1, tree
        rigid = [term for term, (taken, _) in zip(terms, flips, strict=True) if taken is None]
        if not rigid or not all(isinstance(term, Product) and term.coefficient < 0 for term in rigid):
            return 1, tree
        turned = []
        for term, (taken, _) in zip(terms, flips, strict=True):
            self.flipped ^= taken or set()
            turned.append(term if taken else product(Fraction(-1), [term]))
        return -1, total(turned)

    def _flip(self, tree: Tree) -> tuple[set[str] | None, Fraction]:
        """Return parameters, each read once, the signs of which turn a tree u into c - u, and the number -c.

        The parameters are None when there are none.
        """
        nothing = None, Fraction(0)
        match tree:
            case Leaf(tensor, _):
                return ({tensor}, Fraction(0)) if tensor in self.parameters and self.reads[tensor] == 1 else nothing
            case Product(_, (factor,)):
                taken, offset = self._flip(factor)
                return taken, offset * tree.coefficient
            case Product(_, factors):
                found = (self._flip(factor) for factor in factors)
                return next((pair for pair in found if pair[0] and not pair[1]), nothing)
            case Total(terms):
                parts = [self._flip(term) for term in terms]
                if not all(taken for taken, _ in parts):
                    return nothing
                return set().union(*(taken for taken, _ in parts if taken)), sum((c for _, c in parts), Fraction(0))
            case Powered(base, exponent) if exponent.denominator == 1 and exponent % 2:
                taken, offset = self._flip(base)
                return nothing if offset else (taken, offset)
            case Summed(axes, body):
                taken, offset = self._flip(body)
                return taken, offset * math.prod(self.sizes[axis] for axis in axes)
            case Applied(function, argument) if function.parity == "odd" or function.name == "sigmoid":
                taken, offset = self._flip(argument)
                return nothing if offset else (taken, Fraction(-1 if function.name == "sigmoid" else 0))
            case _:
                return nothing


def _place(index: Index, scope: Mapping[str, str | None]) -> Index:
    """Return an index in terms of axes with a name of their own; one of size 1 is always 0."""
    return Index(tuple((name, c) for axis, c in index.terms if (name := scope[axis]) is not None), index.offset)


def _bound(tree: Tree) -> set[str]:
    own = set(tree.axes) if isinstance(tree, Summed) else set()
    return own.union(*(_bound(child) for child in tree.children))
