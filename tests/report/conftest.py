"""Sample documents: the odd (Dowling) lattice of m neurons, made by brute force, independent of invman."""

from __future__ import annotations

from itertools import product

import pytest

HOSTILE = "<b>&\"'|`</script>\\_{$}%#~^ -->]]>\x00中"


def signed_partitions(m):
    """All partitions of 0..m-1 into signed blocks and a dead block, as a tuple of (block, sign) a neuron."""
    found = set()
    for blocks in product(range(-1, m), repeat=m):
        for signs in product((1, -1), repeat=m):
            names, leaders, code = {}, {}, []
            for neuron, block in enumerate(blocks):
                if block < 0:
                    code.append((-1, 0))
                    continue
                names.setdefault(block, neuron)
                leaders.setdefault(block, signs[neuron])
                code.append((names[block], signs[neuron] * leaders[block]))
            found.add(tuple(code))
    return sorted(found, key=lambda code: (-len({b for b, _ in code if b >= 0}), code))


def contains(big, small):
    """Whether the subspace of `big` contains the subspace of `small`."""
    for neuron, (block, sign) in enumerate(big):
        if block == -1:
            if small[neuron][0] != -1:
                return False
        elif small[block][0] != small[neuron][0] or small[neuron][1] != sign * small[block][1]:
            return False
    return True


def code_name(code):
    blocks = {}
    for neuron, (block, sign) in enumerate(code):
        blocks.setdefault(block, []).append(("-" if sign < 0 else "") + str(neuron))
    parts = ["=".join(blocks[b]) for b in sorted(blocks) if b >= 0 and len(blocks[b]) > 1]
    if -1 in blocks:
        parts.append("=".join(blocks[-1]) + "=dead")
    return ",".join(parts) or "free"


def code_class(code):
    sizes = {}
    for block, _ in code:
        sizes[block] = sizes.get(block, 0) + 1
    dead = sizes.pop(-1, 0)
    return (tuple(sorted(sizes.values(), reverse=True)), dead)


def dowling(m, inputs=2, verdicts=True):
    """The lattice document of {inputs}-{m}tanh-1."""
    codes = signed_partitions(m)
    rank = [len({b for b, _ in code if b >= 0}) for code in codes]
    classes = {}
    for code in codes:
        classes.setdefault(code_class(code), []).append(code)
    ids = {key: f"c{index}" for index, key in enumerate(classes)}
    manifolds = []
    for index, code in enumerate(codes):
        equations = []
        for neuron, (block, sign) in enumerate(code):
            minus = "-" if sign < 0 else ""
            if block == -1:
                equations += [f"w[{neuron},:] = 0", f"a[{neuron}] = 0"]
            elif block != neuron:
                equations += [f"w[{neuron},:] = {minus}w[{block},:]", f"a[{neuron}] = {minus}a[{block}]"]
        key = code_class(code)
        manifold = {
            "id": f"m{index}",
            "name": code_name(code),
            "class": ids[key],
            "dimension": (inputs + 1) * rank[index],
            "orbit_size": len(classes[key]),
            "origin": "dead-neuron" if key[1] else "symmetry-induced",
            "equations": equations,
            "reduced": f"{inputs}-{rank[index]}tanh-1" if rank[index] else "f = 0*x[0]\nsize i=2",
            "learning_rates": {f"a[{n}]": key[0][0] for n in range(1)} if key[0] else {},
        }
        if verdicts:
            manifold["verdict"] = {"verdict": "invariant-in-test", "normal": 1.2e-16 * (index % 7), "drift": 3e-15}
        manifolds.append(manifold)
    below = [[j for j, s in enumerate(codes) if rank[j] == rank[i] - 1 and contains(b, s)] for i, b in enumerate(codes)]
    order = 2**m
    for n in range(2, m + 1):
        order *= n
    document = {
        "schema_version": "1",
        "architecture": f"{inputs}-{m}tanh-1",
        "program": f"input x[i]\nh[k] = tanh(w[k,i]*x[i])\nf = a[k]*h[k]\nsize i={inputs}, k={m}",
        "parameters": (inputs + 1) * m,
        "family": "condensed",
        "symmetry": {"order": str(order), "factors": [{"axis": "k", "size": m, "signs": 1, "order": str(order)}]},
        "count": len(codes),
        "classes": len(classes),
        "manifolds": manifolds,
        "covers": [[f"m{i}", f"m{j}"] for i, row in enumerate(below) for j in row],
    }
    if verdicts:
        document["check"] = {
            "dtype": "float64",
            "seed": 0,
            "trials": 4,
            "steps": 200,
            "losses": ["square"],
            "optimizers": ["gradient flow", "adam"],
        }
    return document


def spoil(document):
    """Make a document hostile: names that no format likes, every verdict, numbers that are none."""
    nodes = document["manifolds"]
    nodes[1].update(name=HOSTILE, origin=HOSTILE, equations=[HOSTILE], reduced=HOSTILE)
    nodes[2]["verdict"] = {"verdict": "not-invariant", "normal": 0.25, "drift": float("inf"), "reason": HOSTILE}
    nodes[3]["verdict"] = {"verdict": "inconclusive", "normal": 1e-7, "drift": float("nan"), "reason": "try float64"}
    nodes[4].pop("verdict", None)
    nodes[5]["name"] = "k1:0=1=-2=3=-4=5,6=-7=8=9,10=11=dead/k2:0=-1=2,3=4=5=6=dead"
    document["architecture"] = HOSTILE
    return document


@pytest.fixture(scope="session")
def make():
    """The generator itself."""
    return dowling


@pytest.fixture
def document():
    """2-3tanh-1: 24 manifolds, 58 covers, 7 classes."""
    return dowling(3)


@pytest.fixture
def hostile():
    """The same with hostile names and every verdict."""
    return spoil(dowling(3))
