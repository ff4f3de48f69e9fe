"""Branches that can be exchanged: terms of a sum, or factors of a product, that differ in their own parameters only.

In ``a[k]*tanh(w[k,i]*x[i]) + c[l]*tanh(v[l,i]*x[i])`` any neuron of the first layer can change places with any of the
second, so that S_(k+l) acts and not only S_k and S_l. Two branches are matched by an isomorphism: a bijection of the
parameters that nothing else reads, of their positions and of the axes summed inside, under which the branches are the
same. An axis that is summed last, and on which nothing but all these parameters depends, counts the values of the
branch; an axis that all of them carry otherwise is one along which the permutation can be chosen anew.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from invman.architecture.program import Index, Program
from invman.symmetry.axes import AxisClass, AxisClasses, Carrier
from invman.symmetry.terms import (
    Applied,
    Forest,
    Leaf,
    Powered,
    Product,
    Softmaxed,
    Summed,
    Total,
    Tree,
    product,
    summed,
    total,
)

BUDGET = 400
"""Nodes of a branch beyond which it is not compared."""

DEPTH = 80
"""Nodes below each other beyond which it is not compared either."""

STEPS = 4000
"""Steps of one comparison of two branches."""


@dataclass(frozen=True)
class Slot:
    """A parameter of a branch, and what its positions run over.

    Attributes
    ----------
    tensor : str
        The parameter.
    values, cells, rest : tuple of int
        Positions of the values that are permuted, of the cells, and of what moves along.
    sign : {1, -1}
        Sign with which it corresponds to the other branches.
    """

    tensor: str
    values: tuple[int, ...]
    cells: tuple[int, ...]
    rest: tuple[int, ...]
    sign: int = 1


@dataclass(frozen=True)
class Branch:
    """One of the branches: so many values, each a block of every slot.

    Attributes
    ----------
    shape : tuple of int
        Sizes of the axes of its values; empty for a branch that is a single value.
    axes : tuple of AxisClass
        These axes.
    slots : tuple of Slot
        Its parameters, in an order common to all branches.
    """

    shape: tuple[int, ...]
    axes: tuple[AxisClass, ...]
    slots: tuple[Slot, ...]

    @property
    def size(self) -> int:
        """Number of values."""
        return math.prod(self.shape)

    @property
    def name(self) -> str:
        """Its axes, or its parameters where it has none."""
        names = ",".join(axis.name for axis in self.axes)
        tensors = ",".join(slot.tensor for slot in self.slots)
        return f"{names} of {tensors}" if names else tensors


@dataclass(frozen=True)
class Pool:
    """The symmetric group on the values of several branches together.

    Attributes
    ----------
    branches : tuple of Branch
        In the order of the program.
    local_to : tuple of AxisClass
        Axes for each cell of which the permutation can be chosen anew.
    """

    branches: tuple[Branch, ...]
    local_to: tuple[AxisClass, ...]

    @property
    def size(self) -> int:
        """Number N of values of all branches."""
        return sum(branch.size for branch in self.branches)

    @property
    def copies(self) -> int:
        """Number of independent copies of S_N."""
        return math.prod(axis.size for axis in self.local_to)

    @property
    def order(self) -> int:
        """``(N!)^copies``."""
        return math.factorial(self.size) ** self.copies

    @property
    def name(self) -> str:
        """Names of the branches."""
        return " and ".join(branch.name for branch in self.branches)

    @property
    def covered(self) -> frozenset[Carrier]:
        """The positions of parameters that run over the permuted values."""
        slots = (slot for branch in self.branches for slot in branch.slots)
        return frozenset(Carrier(slot.tensor, position) for slot in slots for position in slot.values)

    def move(self, program: Program, order: np.ndarray, cell: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Return images and signs of theta when value n is replaced by value ``order[n]`` at one cell."""
        images, signs = np.arange(program.parameter_count), np.ones(program.parameter_count, dtype=np.int8)
        for number in range(len(self.branches[0].slots)):
            blocks = [self._blocks(program, branch, branch.slots[number], cell) for branch in self.branches]
            own = [branch.slots[number].sign for branch in self.branches for _ in range(branch.size)]
            places, sign = np.concatenate(blocks), np.array(own, dtype=np.int8)
            images[places] = places[order]
            signs[places] = (sign * sign[order])[:, None]
        return images, signs

    @staticmethod
    def _blocks(program: Program, branch: Branch, slot: Slot, cell: tuple[int, ...]) -> np.ndarray:
        tensor = program.parameter(slot.tensor)
        start = program.offsets[slot.tensor]
        places = np.arange(start, start + tensor.size).reshape(tensor.shape)
        left = [p for p in range(len(tensor.shape)) if p not in {*slot.cells, *slot.values, *slot.rest}]
        return places.transpose([*slot.cells, *slot.values, *slot.rest, *left])[cell].reshape(branch.size, -1)


def pools(program: Program, classes: AxisClasses) -> tuple[Pool, ...]:
    """Return the pools of exchangeable branches; a single branch with several values is a pool as well.

    Parameters
    ----------
    program : Program
        The architecture.
    classes : AxisClasses
        Its axis classes.

    Returns
    -------
    tuple of Pool
        The parameters of two pools are disjoint, or those of one belong to one branch of the other.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> text = "input x; f=a[k]*tanh(w[k]*x)+c[l]*tanh(v[l]*x); size k=2,l=3"
    >>> program = read_architecture(text)
    >>> [(pool.name, pool.size) for pool in pools(program, AxisClasses(program))]
    [('k of a,w and l of c,v', 5)]
    """
    return _Search(Forest(program), classes).run()


class _TooLargeError(Exception):
    pass


@dataclass
class _Item:
    """A term of a sum or a factor of a product: a number times factors, summed over axes.

    ``own`` factors hold its private parameters, the others are shared. An axis summed last counts ``values`` or is one
    of the ``cells``, or neither. Several terms put together are ``counted`` as they stand in the program, without what
    they share with terms ``outside``. ``trees`` are all factors, with the private statements written out.
    """

    coefficient: Fraction
    axes: frozenset[str]
    own: list[Tree]
    shared: list[Tree]
    counted: list[Tree] = field(default_factory=list)
    outside: set[str] = field(default_factory=set)
    trees: list[Tree] = field(default_factory=list)
    private: dict[str, list[tuple[Index, ...]]] = field(default_factory=dict)
    values: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)
    keys: dict[int, object] = field(default_factory=dict)

    def position(self, parameter: str, axis: str) -> int | None:
        """Return the one position at which all reads of a private parameter have an axis."""
        found = {tuple(n for n, index in enumerate(read) if index.axis == axis) for read in self.private[parameter]}
        (places, *others) = found
        return places[0] if not others and len(places) == 1 else None

    @property
    def outer(self) -> frozenset[str]:
        """Axes that are summed last, without those that count values."""
        return self.axes - set(self.values)


class _Search:
    def __init__(self, forest: Forest, classes: AxisClasses) -> None:
        self.forest, self.classes = forest, classes
        self.regular = self._regular()
        self.found: list[Pool] = []

    def run(self) -> tuple[Pool, ...]:
        for root in self.forest.roots.values():
            self._search(root)
        return tuple(self.found)

    def _regular(self) -> set[str]:
        """Return the parameters of which every entry is read wherever the parameter is read."""
        good = self.forest.parameters - self.forest.affine
        for root in self.forest.roots.values():
            for leaf in root.leaves():
                names = [place.axis for place in leaf.places if place.terms]
                if len(set(names)) < len(names):
                    good.discard(leaf.tensor)
        return good

    # -- what belongs to a branch -------------------------------------------------------------------------------

    def _private(self, trees: Sequence[Tree]) -> tuple[set[str], set[str]]:
        """Return the parameters and the statements that are read nowhere but in these trees."""
        forest, counts, statements = self.forest, Counter[str](), set()
        for tree in trees:
            counts.update(tree.reads)
        for name in reversed(forest.roots):
            if counts[name] and counts[name] == forest.reads[name] and name not in forest.affine:
                statements.add(name)
                counts.update(forest.roots[name].reads)
        return {name for name in self.regular if counts[name] and counts[name] == forest.reads[name]}, statements

    def _split(self, tree: Tree, axes: frozenset[str], shared: list[Tree], number: Fraction) -> Iterator[_Item]:
        """Write a tree as a sum of items; what stands before a sum is distributed over it unless it is private."""
        match tree:
            case Total(terms):
                for term in terms:
                    yield from self._split(term, axes, shared, number)
            case Summed(own, body):
                yield from self._split(body, axes | own, shared, number)
            case Product(coefficient, factors):
                parameters, statements = self._private(factors)
                names = parameters | statements
                owners = [factor for factor in factors if not names.isdisjoint(factor.reads)]
                others = [*shared, *(factor for factor in factors if factor not in owners)]
                if len(owners) == 1 and isinstance(owners[0], Total | Summed):
                    yield from self._split(owners[0], axes, others, number * coefficient)
                elif owners:
                    yield _Item(number * coefficient, axes, owners, others)
            case _:
                yield _Item(number, axes, [tree], shared)

    def _search(self, tree: Tree) -> None:
        items = list(self._split(tree, frozenset(), [], Fraction(1)))
        self._pool(items)
        self._pool(self._clusters(items))
        for item in items:
            self._nested(item)
            if len(item.own) > 1:
                self._pool([_Item(Fraction(1), frozenset(), [factor], []) for factor in item.own])
        for factor in [factor for item in items for factor in item.own]:
            match factor:
                case Total() | Summed():
                    self._search(factor)
                case _:
                    for child in factor.children:
                        self._search(child)

    def _clusters(self, items: list[_Item]) -> list[_Item]:
        """Put together the terms that share parameters with each other, but not with the rest of the program."""
        parameters, statements = self._private([tree for item in items for tree in item.own])
        outside = {name for item in items for tree in item.shared for name in tree.reads}
        names = (parameters | statements) - outside
        groups: list[tuple[set[str], list[_Item]]] = []
        for item in items:
            own, together = {name for tree in item.own for name in tree.reads if name in names}, [item]
            for other in [group for group in groups if not group[0].isdisjoint(own)]:
                groups.remove(other)
                own, together = own | other[0], [*other[1], *together]
            groups.append((own, together))
        found = []
        for _, together in groups:
            if len(together) > 1:
                axes = frozenset.intersection(*(item.axes for item in together))
                terms = []
                for item in together:
                    body = product(item.coefficient, [*item.own, *item.shared])
                    terms.append(summed(item.axes - axes, body, self.forest.sizes))
                counted = [tree for item in together for tree in item.own]
                found.append(_Item(Fraction(1), axes, [total(terms)], [], counted, outside))
        return found

    def _prepare(self, item: _Item) -> bool:
        """Find the parameters and axes of an item; False when it has no parameters of its own."""
        parameters, statements = self._private(item.counted or item.own)
        parameters, statements = parameters - item.outside, statements - item.outside
        if not parameters:
            return False
        left = [BUDGET]
        try:
            written = [self._written_out(tree, statements, left) for tree in item.own]
        except _TooLargeError:
            return False
        item.trees = [*written, *item.shared]
        return self._look(item, parameters)

    def _look(self, item: _Item, parameters: set[str]) -> bool:
        """Find the values and cells of an item of which some parameters are exchanged."""
        used: set[str] = set()
        for tree in item.trees:
            used |= _softmaxed(tree)
            item.bound |= _bound(tree)
            for leaf in tree.leaves():
                if leaf.tensor in parameters:
                    item.private.setdefault(leaf.tensor, []).append(leaf.places)
                else:
                    used |= {"shared " + axis for axis in leaf.free}
        if item.private.keys() != parameters:
            return False
        item.bound |= item.axes
        free = frozenset().union(*(tree.free for tree in item.trees)) - item.axes
        for axis in sorted(item.axes | free):
            if axis in used or any(item.position(name, axis) is None for name in item.private):
                continue
            if axis in item.axes and "shared " + axis not in used:
                item.values.append(axis)
            else:
                item.cells.append(axis)
        return True

    def _written_out(self, tree: Tree, statements: set[str], left: list[int], depth: int = 0) -> Tree:
        """Write the private statements into a tree."""
        left[0] -= 1
        if left[0] < 0 or depth > DEPTH:
            raise _TooLargeError
        match tree:
            case Leaf(tensor, _) if tensor in statements:
                return self._written_out(self.forest.instance(tree), statements, left, depth + 1)
            case Leaf():
                return tree
            case Total(terms):
                return Total(tuple(self._written_out(term, statements, left, depth + 1) for term in terms))
            case Product(coefficient, factors):
                return product(
                    coefficient, [self._written_out(factor, statements, left, depth + 1) for factor in factors]
                )
            case Powered(base, exponent):
                return Powered(self._written_out(base, statements, left, depth + 1), exponent)
            case Summed(axes, body):
                return Summed(axes, self._written_out(body, statements, left, depth + 1))
            case Applied(function, argument):
                return Applied(function, self._written_out(argument, statements, left, depth + 1))
            case Softmaxed(axis, argument, until):
                return Softmaxed(axis, self._written_out(argument, statements, left, depth + 1), until)
            case _:
                return tree

    # -- pools --------------------------------------------------------------------------------------------------

    def _pool(self, items: list[_Item]) -> None:
        groups: list[tuple[object, _Item, list[tuple[_Item, _Match]]]] = []
        for item in items:
            if not self._prepare(item):
                continue
            matcher = _Matcher(self.forest, item, item)
            key = matcher.item_key(item)
            for other, first, members in groups:
                found = _Matcher(self.forest, first, item).match() if other == key else None
                if found is not None:
                    members.append((item, found))
                    break
            else:
                groups.append((key, item, []))
        for _, first, members in groups:
            branches = [self._branch(first, first, None)]
            branches += [self._branch(first, item, match) for item, match in members]
            self._add(branches, first)

    def _nested(self, item: _Item) -> None:
        """Add the values of summed axes that only some of the parameters of an item carry."""
        done = {frozenset(item.private)}
        for axis in sorted(item.outer):
            carry = {name for name in item.private if item.position(name, axis) is not None}
            if not carry or frozenset(carry) in done:
                continue
            done.add(frozenset(carry))
            inner = _Item(item.coefficient, item.axes, item.own, item.shared, trees=item.trees)
            if self._look(inner, carry) and inner.values:
                self._add([self._branch(inner, inner, None)], inner)

    def _add(self, branches: list[Branch], first: _Item) -> None:
        anywhere = next(iter(sorted(first.private)))
        pool = Pool(tuple(branches), tuple(self._axis(first, anywhere, axis) for axis in first.cells))
        if pool.size > 1:
            self.found.append(pool)

    def _branch(self, first: _Item, item: _Item, match: _Match | None) -> Branch:
        slots = []
        for name in sorted(first.private):
            own = name if match is None else match.parameters[name]
            cells = [first.position(name, axis) for axis in first.cells]
            values = [first.position(name, axis) for axis in first.values]
            rest = [n for n, place in enumerate(first.private[name][0]) if place.terms and n not in {*cells, *values}]
            if match is not None:
                places = match.positions[name]
                cells, rest = [places[n] for n in cells if n is not None], [places[n] for n in rest]
                values = [item.position(own, axis) for axis in item.values]
            sign = -1 if own in self.forest.flipped else 1
            slots.append(Slot(own, _all(values), _all(cells), tuple(rest), sign))
        axes = [self._axis(item, next(iter(sorted(item.private))), axis) for axis in item.values]
        return Branch(tuple(self.forest.sizes[axis] for axis in item.values), tuple(axes), tuple(slots))

    def _axis(self, item: _Item, parameter: str, axis: str) -> AxisClass:
        (position,) = _all([item.position(parameter, axis)])
        return self.classes.of(parameter, position)


def _all(positions: Sequence[int | None]) -> tuple[int, ...]:
    return tuple(position for position in positions if position is not None)


def _softmaxed(tree: Tree) -> set[str]:
    own = {axis for axis in (tree.axis, tree.until) if axis} if isinstance(tree, Softmaxed) else set()
    return own.union(*(_softmaxed(child) for child in tree.children))


def _bound(tree: Tree) -> set[str]:
    own = set(tree.axes) if isinstance(tree, Summed) else set()
    return own.union(*(_bound(child) for child in tree.children))


@dataclass(frozen=True)
class _Match:
    """A partial isomorphism: axes, parameters, and the positions of each parameter."""

    axes: dict[str, str]
    parameters: dict[str, str]
    positions: dict[str, dict[int, int]]


class _Matcher:
    """A search for an isomorphism between two items; trees are told apart by a key before they are compared."""

    def __init__(self, forest: Forest, left: _Item, right: _Item) -> None:
        self.forest, self.left, self.right, self.steps = forest, left, right, STEPS

    def match(self) -> _Match | None:
        """Return an isomorphism, if there is one and it is found soon enough."""
        left, right = self.left, self.right
        try:
            for found in self._together(left.trees, right.trees, _Match({}, {}, {})):
                if {found.axes.get(axis) for axis in left.outer} == right.outer and self._complete(found):
                    return found
        except _TooLargeError:
            pass
        return None

    def _complete(self, match: _Match) -> bool:
        cells = [match.axes.get(axis) for axis in self.left.cells]
        return set(cells) == set(self.right.cells) and match.parameters.keys() == self.left.private.keys()

    # -- keys ---------------------------------------------------------------------------------------------------

    def item_key(self, item: _Item) -> object:
        """Return what isomorphic items have in common."""
        factors = sorted(hash(self._key(item, tree)) for tree in item.trees)
        outer = sorted(hash(self._axis_key(item, axis)) for axis in item.outer)
        return item.coefficient, tuple(factors), tuple(outer), len(item.private), len(item.cells)

    def _axis_key(self, item: _Item, axis: str) -> object:
        return (axis in item.cells, self.forest.sizes[axis]) if axis in item.bound else axis

    def _key(self, item: _Item, tree: Tree) -> object:
        if id(tree) not in item.keys:
            item.keys[id(tree)] = hash(self._new_key(item, tree))
        return item.keys[id(tree)]

    def _new_key(self, item: _Item, tree: Tree) -> object:
        below = tuple(sorted(hash(self._key(item, child)) for child in tree.children))
        match tree:
            case Leaf(tensor, places) if tensor in item.private:
                axes = [p.axis for p in places if p.axis and p.axis not in item.values]
                return "private", tuple(sorted(hash(self._axis_key(item, axis)) for axis in axes))
            case Leaf(tensor, places):
                return tensor, tuple(
                    (place.offset, tuple(sorted((c, hash(self._axis_key(item, axis))) for axis, c in place.terms)))
                    for place in places
                )
            case Product(coefficient, _):
                return "product", coefficient, below
            case Powered(_, exponent):
                return "power", exponent, below
            case Summed(axes, _):
                return "sum", tuple(sorted(hash(self._axis_key(item, axis)) for axis in axes)), below
            case Applied(function, _):
                return "apply", function.name, below
            case Softmaxed(axis, _, until):
                last = until if until in (None, "first") else self._axis_key(item, until)
                return "softmax", self._axis_key(item, axis), last, below
            case _:
                return type(tree).__name__, below

    # -- isomorphisms -------------------------------------------------------------------------------------------

    def _together(self, left: Sequence[Tree], right: Sequence[Tree], match: _Match) -> Iterator[_Match]:
        """Match two collections in any order."""
        if not left or not right:
            if len(left) == len(right):
                yield match
            return
        key = self._key(self.left, left[0])
        for number, other in enumerate(right):
            if self._key(self.right, other) == key:
                for found in self._match(left[0], other, match):
                    yield from self._together(left[1:], [*right[:number], *right[number + 1 :]], found)

    def _match(self, left: Tree, right: Tree, match: _Match) -> Iterator[_Match]:
        self.steps -= 1
        if self.steps < 0:
            raise _TooLargeError
        match left, right:
            case Leaf(), Leaf():
                yield from self._leaves(left, right, match)
            case Softmaxed(axis, argument, until), Softmaxed(other, inner, last):
                pairs = [(axis, other)]
                if until is not None and last is not None and "first" not in (until, last):
                    pairs.append((until, last))
                elif until != last:
                    return
                found = self._paired(pairs, match)
                if found is not None:
                    yield from self._match(argument, inner, found)
            case Summed(axes, body), Summed(others, inner):
                for found in self._match(body, inner, match):
                    if {found.axes.get(axis) for axis in axes} == others:
                        yield found
            case _ if self._same_head(left, right):
                yield from self._together(left.children, right.children, match)

    @staticmethod
    def _same_head(left: Tree, right: Tree) -> bool:
        match left, right:
            case Product(one, _), Product(two, _):
                return one == two
            case Powered(_, one), Powered(_, two):
                return one == two
            case Applied(one, _), Applied(two, _):
                return one == two
            case Total(), Total():
                return True
            case _:
                return False

    def _paired(self, pairs: Sequence[tuple[str, str]], match: _Match) -> _Match | None:
        """Extend a match by pairs of axes; None when they contradict it."""
        axes = dict(match.axes)
        for one, two in pairs:
            known = axes.get(one)
            if known == two:
                continue
            if known is not None or two in axes.values():
                return None
            if one in self.left.bound and two in self.right.bound:
                kinds = one in self.left.cells, two in self.right.cells
                if kinds[0] != kinds[1] or self.forest.sizes[one] != self.forest.sizes[two]:
                    return None
                if one in self.left.values or two in self.right.values:
                    return None
            elif one in self.left.bound or two in self.right.bound or one != two:
                return None
            axes[one] = two
        return _Match(axes, match.parameters, match.positions)

    def _leaves(self, left: Leaf, right: Leaf, match: _Match) -> Iterator[_Match]:
        private = left.tensor in self.left.private, right.tensor in self.right.private
        if private == (False, False):
            if left.tensor == right.tensor:
                found = match
                for one, two in zip(left.places, right.places, strict=True):
                    found = None if found is None else self._indices(one, two, found)
                if found is not None:
                    yield found
            return
        if private != (True, True):
            return
        ours = [(n, p.axis) for n, p in enumerate(left.places) if p.axis and p.axis not in self.left.values]
        theirs = [(n, p.axis) for n, p in enumerate(right.places) if p.axis and p.axis not in self.right.values]
        known = match.parameters.get(left.tensor)
        if len(ours) != len(theirs) or known not in (None, right.tensor):
            return
        if known is None and right.tensor in match.parameters.values():
            return
        for order in itertools.permutations(theirs):
            places = {one: two for (one, _), (two, _) in zip(ours, order, strict=True)}
            if known is not None and match.positions[left.tensor] != places:
                continue
            found = self._paired([(one, two) for (_, one), (_, two) in zip(ours, order, strict=True)], match)
            if found is not None:
                yield _Match(
                    found.axes,
                    {**found.parameters, left.tensor: right.tensor},
                    {**found.positions, left.tensor: places},
                )

    def _indices(self, one: Index, two: Index, match: _Match) -> _Match | None:
        if one.offset != two.offset or [c for _, c in one.terms] != [c for _, c in two.terms]:
            return None
        return self._paired([(a, b) for (a, _), (b, _) in zip(one.terms, two.terms, strict=True)], match)
