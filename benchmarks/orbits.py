"""Time of the dimension of an orbit: in balls, modulo a prime, in floats, and beside plain bracket closure.

Medians of three runs; compilation is listed apart. The floor of a float rank is D gradients and one singular value
decomposition of a D x D matrix. The peer takes all pairs of brackets of the current spanning set, until the rank
stands still. Run: ``python benchmarks/orbits.py [-o growth.png]``.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from invman.architecture import Program, read_architecture
from invman.architecture.evaluate import jax_map
from invman.manifold import CondensedSpace
from invman.orbit.exact import ExactFamily
from invman.orbit.floating import float_rank
from invman.orbit.minor import proved_rank
from invman.orbit.rank import BallRank, ModularRank
from invman.orbit.series import BallRing, ModularRing
from invman.orbit.transport import transport
from invman.symmetry.infinitesimal.tower import draw_tower

RUNS = 3
BITS = 128
INPUTS = (3, 6, 12, 24, 36, 49)
"""Inputs of the nets n-40tanh-1 by which growth in D is shown."""
Row = tuple[str, int, int, float, float]
"""What was measured, D, rank, seconds of compilation, seconds of all else."""


def median(job: Callable[[], tuple[int, float, float]]) -> tuple[int, float, float]:
    """Return the rank, and the median times of compilation and of all else."""
    found = [job() for _ in range(RUNS)]
    return found[0][0], statistics.median(f[1] for f in found), statistics.median(f[2] for f in found)


def timed(job: Callable[[], int]) -> Callable[[], tuple[int, float, float]]:
    def run() -> tuple[int, float, float]:
        start = time.perf_counter()
        rank = job()
        return rank, 0.0, time.perf_counter() - start

    return run


def family(program: Program, ring: Any, theta: list[Any]) -> ExactFamily:
    samples = -(-program.parameter_count // program.output_count) + 2
    return ExactFamily(program, ring, theta, samples, 4, 10**7)


def until_still(family: ExactFamily, rank: Any) -> int:
    before = -1
    for matrix in transport(family, 8):
        found = rank.add(matrix)
        if found in (before, family.parameters):
            break
        before = found
    return rank.rank


def start_of(program: Program, ring: BallRing) -> list[Any]:
    numbers = np.random.default_rng(1).integers(-100, 101, program.parameter_count)
    with ring.active():
        return [ring.embed(Fraction(int(v), 64)) for v in numbers]


def rigorous(text: str) -> int:
    """Transport in balls, elimination with proved pivots."""
    program, ring = read_architecture(text), BallRing(1, 256, seed=0)
    rank = BallRank(256, program.parameter_count)
    return until_still(family(program, ring, start_of(program, ring)), rank)


def modular(text: str, *, one_region: bool = False) -> int:
    """Transport at a random point modulo a prime."""
    program, tower = read_architecture(text, one_region=one_region), draw_tower(np.random.default_rng(0), 2)
    ring = ModularRing(1, tower, seed=0)
    theta = [ring.draw() for _ in range(program.parameter_count)]
    return until_still(family(program, ring, theta), ModularRank(tower.primes[0], program.parameter_count))


def minor(text: str) -> int:
    """Gradients in balls, one minor proved regular."""
    program, ring = read_architecture(text), BallRing(1, BITS, seed=0)
    matrix = family(program, ring, start_of(program, ring)).prolong(1)[0][0]
    return proved_rank(matrix, program.parameter_count, BITS)


def floats(text: str, manifold: str | None = None) -> tuple[int, float, float]:
    """Transport in floats, at a random point or on a condensed manifold."""
    program, rng = read_architecture(text), np.random.default_rng(1)
    if manifold is None:
        theta = rng.normal(size=program.parameter_count)
    else:
        basis = CondensedSpace.of(program).named(manifold).polydiagonal().basis()
        theta = rng.normal(size=len(basis)) @ basis
    found = float_rank(program, theta)
    return found.rank, found.compile_seconds, found.run_seconds


def floor(text: str) -> tuple[int, float, float]:
    """Take D gradients and the singular values of one D x D matrix."""
    program, rng = read_architecture(text), np.random.default_rng(1)
    count = program.parameter_count
    with jax.enable_x64(True):
        theta = jnp.asarray(rng.normal(size=count))
        inputs = jnp.asarray(rng.normal(size=(-(-count // program.output_count), program.input_count)))
        start = time.perf_counter()
        gradients = jax.jit(jax.vmap(jax.jacrev(jax_map(program)), (None, 0))).lower(theta, inputs).compile()
        middle = time.perf_counter()
        matrix = np.asarray(gradients(theta, inputs)).reshape(-1, count)[:count]
    values = np.linalg.svd(matrix, compute_uv=False)
    rank = int(np.sum(values > count * 1e-13 * values[0]))
    return rank, middle - start, time.perf_counter() - middle


def closure(text: str) -> tuple[int, float, float]:
    """Take brackets of all pairs of the spanning set, all of one form at once, until the rank stands still."""
    program, rng, compiling = read_architecture(text), np.random.default_rng(1), 0.0
    start, count, compiled = time.perf_counter(), program.parameter_count, {}
    theta, inputs = rng.normal(size=count), rng.normal(size=(count, program.input_count))
    units = np.eye(program.output_count)
    spanning: list[tuple[Any, np.ndarray]] = []
    fields = [(None, np.concatenate([x, c])[None]) for x, c in itertools.product(inputs, units)]
    with jax.enable_x64(True):
        while True:
            before, rows, candidates = len(spanning), [], []
            for form, group in itertools.groupby(sorted([*spanning, *fields], key=order), lambda f: f[0]):
                members = list(group)
                leaves = jnp.asarray(np.stack([own for _, own in members]))
                key, begin = (form, len(members)), time.perf_counter()
                if key not in compiled:
                    function = jax.vmap(bracket(form, program), (None, 0))
                    compiled[key] = jax.jit(function).lower(theta, leaves).compile()
                    compiling += time.perf_counter() - begin
                rows.append(np.asarray(compiled[key](theta, leaves)))
                candidates += members
            spanning = [candidates[i] for i in independent(np.concatenate(rows))]
            if len(spanning) in (before, count):
                return len(spanning), compiling, time.perf_counter() - start - compiling
            pairs = itertools.combinations(spanning, 2)
            fields = [((a, b), np.concatenate([left, right])) for (a, left), (b, right) in pairs]


def order(field: tuple[Any, Any]) -> tuple[int, str]:
    return str(field[0]).count("None"), str(field[0])


def bracket(form: Any, program: Program) -> Callable[[Any, Any], Any]:
    """Return the field that a tree of brackets stands for, as a function of theta and the fields at its leaves."""
    if form is None:
        forward, d = jax_map(program), program.input_count
        return lambda p, u: jax.grad(lambda q: forward(q, u[0, :d]) @ u[0, d:])(p)
    left, right, middle = (*(bracket(part, program) for part in form), str(form[0]).count("None"))

    def value(p: Any, u: Any) -> Any:
        X, Y = (lambda q: left(q, u[:middle])), (lambda q: right(q, u[middle:]))
        return jax.jvp(Y, (p,), (X(p),))[1] - jax.jvp(X, (p,), (Y(p),))[1]

    return value


def independent(rows: np.ndarray) -> list[int]:
    """Return rows that are independent of those before them, by Gram and Schmidt, twice."""
    basis, kept = np.zeros((0, rows.shape[1])), []
    for i, row in enumerate(rows):
        rest = row - basis.T @ (basis @ row)
        rest -= basis.T @ (basis @ rest)
        if np.linalg.norm(rest) > 1e-9 * np.linalg.norm(row):
            basis, kept = np.vstack([basis, rest / np.linalg.norm(rest)]), [*kept, i]
    return kept


def show(label: str, text: str, job: Callable[[], tuple[int, float, float]]) -> Row:
    row = (label, read_architecture(text).parameter_count, *median(job))
    print(f"{row[0]:<44}{row[1]:>6}{row[2]:>6}{row[3]:>10.2f}{row[4]:>10.3f}", flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the dimension of an orbit.")
    parser.add_argument("-o", "--output", help="PNG of the growth in D")
    output = parser.parse_args().output
    attention, wide, thousand = "attention(d=4,heads=2,dk=2,seq=3)", "20-40tanh-1", "24-40tanh-1"
    print(f"{'':<44}{'D':>6}{'rank':>6}{'compile s':>10}{'run s':>10}")
    own = show("balls, 4-4identity-4", "4-4identity-4", timed(lambda: rigorous("4-4identity-4")))
    quick = show("floats, 4-4identity-4", "4-4identity-4", lambda: floats("4-4identity-4"))
    peer = show("all pairs of brackets, 4-4identity-4", "4-4identity-4", lambda: closure("4-4identity-4"))
    show("modulo a prime, 8-8identity-8", "8-8identity-8", timed(lambda: modular("8-8identity-8")))
    relu = "3-3relu-3relu-3"
    show(f"modulo a prime, {relu}", relu, timed(lambda: modular(relu, one_region=True)))
    show("floats, attention (4,2,2)", attention, lambda: floats(attention))
    show(f"floats, {wide}", wide, lambda: floats(wide))
    show(f"floats, {wide}, on 0=1", wide, lambda: floats(wide, "0=1"))
    show(f"balls, one minor, {wide}", wide, timed(lambda: minor(wide)))
    least = show(f"floor, {thousand}", thousand, lambda: floor(thousand))
    full = show(f"floats, {thousand}", thousand, lambda: floats(thousand))
    print(f"{thousand}: {full[4] / least[4]:.2f} times the floor")
    for label, row in (("balls", own), ("floats", quick)):
        print(f"4-4identity-4: bracket closure takes {sum(peer[3:]) / sum(row[3:]):.1f} times as long as {label}")
    growth = []
    for n in INPUTS:
        text = f"{n}-40tanh-1"
        growth.append(show(f"growth, {text}", text, lambda text=text: floats(text)))
    if output:
        draw(growth, output)


def draw(rows: list[Row], path: str) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    axes.loglog([row[1] for row in rows], [row[4] for row in rows], "o-")
    axes.set_xlabel("parameters D")
    axes.set_ylabel("seconds without compilation")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
