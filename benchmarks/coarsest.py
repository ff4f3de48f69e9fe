"""Time of the coarsest balanced partition of a net of 10 million weights, beside one NumPy pass over the same weights.

Three points: random weights (every neuron by itself), weights with 20 blocks a layer and a frozen part, and all
neurons of a layer in one block. Median of five runs. Run: ``python benchmarks/coarsest.py``.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from invman.architecture import read_architecture
from invman.manifold import BalancedManifold, BalancedSpace, coarsest

WIDTHS = (1000, 2200, 2200, 1350, 10)


def median_of_five(job: Callable[[], object]) -> float:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    for name in ("sigmoid", "tanh"):
        hidden = "-".join(f"{width}{name}" for width in WIDTHS[1:-1])
        program = read_architecture(f"{WIDTHS[0]}-{hidden}-{WIDTHS[-1]}")
        space = BalancedSpace.of(program)
        free = np.random.default_rng(0).normal(size=program.parameter_count)
        sizes = [rule.size for rule in space.rules]
        planted = BalancedManifold(space, tuple(tuple(2 * (k % 20 + 1) for k in range(n)) for n in sizes))
        together = BalancedManifold(space, tuple((2,) * n for n in sizes))
        spread = np.random.default_rng(1).normal(size=program.parameter_count)
        points = {"random": free}
        for label, manifold in (("20 blocks a layer", planted), ("one block a layer", together)):
            on_leaf = np.zeros_like(free)
            leaf = manifold.leaf()
            alive = leaf.classes >= 0
            on_leaf[alive] = leaf.signs[alive] * spread[leaf.classes[alive]]
            points[label] = on_leaf + manifold.frozen_part(free)
        one_pass = median_of_five(lambda x=free: x.sum())
        print(f"{program!r}: {program.parameter_count:,} weights; one pass (sum) {one_pass * 1e3:.1f} ms")
        for label, theta in points.items():
            found = coarsest(theta, program)
            blocks = [len(own) for own in found.blocks]
            seconds = median_of_five(lambda x=theta, p=program: coarsest(x, p))
            print(f"  {label}: {seconds * 1e3:.1f} ms ({seconds / one_pass:.1f} passes), blocks {blocks}")


if __name__ == "__main__":
    main()
