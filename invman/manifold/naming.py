"""Names of condensed manifolds: a small grammar that is printed by repr, read by every command, and safe in a shell.

A name lists, for each hidden axis, the blocks that are not single and free, values joined by ``=``::

    free             nothing is condensed
    0=-1             neuron 1 is minus neuron 0
    0=2,1=3=dead     neurons 0 and 2 equal, 1 and 3 dead
    1=2=zero         incoming weights of 1 and 2 zero, outgoing ones equal
    k1:0=1/k2:0=-1   one part a hidden axis where there are several
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from invman.architecture.tokens import Scanner
from invman.errors import ManifoldError
from invman.manifold.partition import WORDS, Kind, Labels, PartitionRules, blocks, canonical


def print_partition(labels: Labels, words: Mapping[str, Kind] = WORDS) -> str:
    """Print one partition; "free" for the finest."""
    names = {kind: word for word, kind in words.items()}
    items = []
    for block in blocks(labels):
        chain = [f"{'-' if sign < 0 else ''}{value}" for value, sign in zip(block.values, block.signs, strict=True)]
        if block.kind is not Kind.LIVE:
            chain.append(names[block.kind])
        if len(chain) > 1:
            items.append("=".join(chain))
    return ",".join(items) or "free"


def print_name(rules: Sequence[PartitionRules], partitions: Sequence[Labels]) -> str:
    """Print the name of the manifold with one partition a hidden axis."""
    if len(rules) == 1:
        return print_partition(partitions[0], rules[0].words)
    parts = [
        f"{rule.symmetry.axis.name}:{print_partition(labels, rule.words)}"
        for rule, labels in zip(rules, partitions, strict=True)
        if labels != rule.free
    ]
    return "/".join(parts) or "free"


def parse_name(rules: Sequence[PartitionRules], text: str) -> tuple[Labels, ...]:
    """Read the name of a manifold.

    Raises
    ------
    SyntaxProblem
        The text is no name; the message has a caret under the column.
    ManifoldError
        The name is well formed, but this architecture has no such manifold.
    """
    scanner = Scanner(text)
    by_name = {rule.symmetry.axis.name: rule for rule in rules}
    partitions: dict[str, Labels] = {}
    whole = scanner.next.text == "free" and scanner.peek().kind == "end"
    while not whole:
        axis = _axis(scanner, list(by_name), partitions)
        partitions[axis] = _partition(scanner, by_name[axis])
        if not scanner.accept("/"):
            break
    if not whole and scanner.next.kind != "end":
        scanner.fail("'=', ',' or the end of the name")
    return tuple(partitions.get(name, rule.free) for name, rule in by_name.items())


def _axis(scanner: Scanner, names: Sequence[str], read: Collection[str]) -> str:
    """Read ``k1:``, which may be left out where there is one hidden axis only."""
    token, axis = scanner.next, names[0] if len(names) == 1 else ""
    if token.kind == "name" and scanner.peek().text == ":":
        axis = token.text
        if axis not in names:
            scanner.fail(f"one of the axes {', '.join(names)}" if names else "'free': there is no hidden axis")
    elif not axis:
        expected = f"an axis and a colon ({', '.join(names)})" if names else "'free': there is no hidden axis"
        scanner.fail(expected, "As in k1:0=1/k2:0=-1.")
    if axis in read:
        scanner.fail(f"axis {axis} once")
    if token.kind == "name" and scanner.peek().text == ":":
        scanner.take()
        scanner.take()
    return axis


def _partition(scanner: Scanner, rules: PartitionRules) -> Labels:
    if scanner.next.text == "free":
        scanner.take()
        return rules.free
    labels = list(rules.free)
    seen: set[int] = set()
    while True:
        chain: list[tuple[int, int]] = []
        kind = Kind.LIVE
        while True:
            if scanner.next.kind == "name" and chain:
                word = scanner.take()
                if word.text not in rules.words:
                    scanner.fail(f"a neuron, {' or '.join(map(repr, rules.words))}", token=word)
                kind = rules.words[word.text]
                break
            sign = -1 if scanner.accept("-") else 1
            place = scanner.next
            value = scanner.integer("the number of a neuron, as in 0=-1 or 2=dead, or 'free'")
            if value >= rules.size:
                scanner.fail(f"a neuron from 0 to {rules.size - 1}", token=place)
            if value in seen:
                scanner.fail("each neuron once", token=place)
            seen.add(value)
            chain.append((value, sign))
            if not scanner.accept("="):
                break
        _require(rules, kind, [sign for _, sign in chain])
        name = 2 * (chain[0][0] + 1)
        for value, sign in chain:
            labels[value] = 0 if kind is Kind.DEAD else name + 1 if kind is Kind.ZERO else name * sign * chain[0][1]
        if not scanner.accept(","):
            break
    return canonical(labels)


def _require(rules: PartitionRules, kind: Kind, signs: list[int]) -> None:
    """Raise where the axis has no block of this kind or no signs."""
    axis = rules.symmetry.axis.name
    test = "To test such a set anyway, write it with --equations."
    if kind is Kind.DEAD and not rules.has_dead:
        msg = (
            f"axis {axis}: got a dead neuron, expected none: sigma(0) is not 0, so a neuron without weights does not "
            f"stay so. {test}"
        )
        raise ManifoldError(msg)
    if kind is Kind.ZERO and not rules.has_zero:
        msg = f"axis {axis}: got a zero block, expected none: the activation is not even. {test}"
        raise ManifoldError(msg)
    if len(set(signs)) > 1 and not rules.signed:
        msg = f"axis {axis}: got opposite neurons, expected equal ones only: the activation has no parity. {test}"
        raise ManifoldError(msg)
