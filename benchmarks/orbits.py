"""Time of the dimension of an orbit: in balls, modulo a prime, in floats, and beside plain bracket closure.

Medians of three runs; compilation is listed apart. The floor of a float rank is D gradients and one singular value
decomposition of a D x D matrix. The peer takes all pairs of brackets of the current spanning set, until the rank
stands still. Run: ``python benchmarks/orbits.py [-o growth.png]``.
"""

from __future__ import annotations

import argparse
import importlib
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
from invman.orbit.balls import BallRing
from invman.orbit.exact import ExactFamily
from invman.orbit.floating import float_rank
from invman.orbit.minor import proved_rank
from invman.orbit.rank import BallRank, ModularRank
from invman.orbit.residues import ModularRing
from invman.orbit.transport import transport
from invman.symmetry.infinitesimal.tower import draw_tower

BITS, ATTENTION = 128, "attention(d=4,heads=2,dk=2,seq=3)"


def median(job: Callable[[], Any]) -> tuple[int, float, float]:
    """Return the rank, and the median times of compilation and of all else."""
    found = []
    for _ in range(3):
        start, result = time.perf_counter(), job()
        found.append(result if isinstance(result, tuple) else (result, 0.0, time.perf_counter() - start))
    return found[0][0], statistics.median(f[1] for f in found), statistics.median(f[2] for f in found)


def samples(program: Program) -> int:
    return -(-program.parameter_count // program.output_count) + 2


def until_still(family: ExactFamily, rank: Any) -> int:
    found = [-1]
    for matrix in transport(family, 8):
        found.append(rank.add(matrix))
        if found[-1] in (found[-2], family.parameters):
            break
    return rank.rank


def balls(text: str, bits: int) -> tuple[ExactFamily, int]:
    """Return the family in balls at a rational point, and D."""
    program, ring = read_architecture(text), BallRing(1, bits, seed=0)
    numbers = np.random.default_rng(1).integers(-100, 101, program.parameter_count)
    with ring.active():
        theta = [ring.embed(Fraction(int(v), 64)) for v in numbers]
    return ExactFamily(program, ring, theta, samples(program), 4, 10**7), program.parameter_count


def rigorous(text: str) -> int:
    """Transport in balls, elimination with proved pivots."""
    own, count = balls(text, 256)
    return until_still(own, BallRank(256, count))


def minor(text: str) -> int:
    """Gradients in balls, one minor proved regular."""
    own, count = balls(text, BITS)
    return proved_rank(own.prolong(1)[0][0], count, BITS)


def modular(text: str) -> int:
    """Transport at a random point modulo a prime."""
    program, tower = read_architecture(text, one_region=True), draw_tower(np.random.default_rng(0), 2)
    ring = ModularRing(1, tower, seed=0)
    theta = [ring.draw() for _ in range(program.parameter_count)]
    family = ExactFamily(program, ring, theta, samples(program), 4, 10**7)
    return until_still(family, ModularRank(tower.primes[0]))


def floats(text: str, manifold: str | None = None) -> tuple[int, float, float]:
    """Transport in floats, at a random point or on a condensed manifold."""
    program = read_architecture(text)
    space = CondensedSpace.of(program).named(manifold).polydiagonal().basis() if manifold else None
    theta = np.random.default_rng(1).normal(size=program.parameter_count if space is None else len(space))
    found = float_rank(program, theta if space is None else theta @ space)
    return found.rank, found.compile_seconds, found.run_seconds


def floor(text: str) -> tuple[int, float, float]:
    """Take D gradients and the singular values of one D x D matrix."""
    program, rng = read_architecture(text), np.random.default_rng(1)
    count = program.parameter_count
    with jax.enable_x64(True):
        theta = jnp.asarray(rng.normal(size=count))
        inputs = jnp.asarray(rng.normal(size=(samples(program) - 2, program.input_count)))
        start, gradients = time.perf_counter(), jax.jit(jax.vmap(jax.jacrev(jax_map(program)), (None, 0)))
        compiled = gradients.lower(theta, inputs).compile()
        middle = time.perf_counter()
        matrix = np.asarray(compiled(theta, inputs)).reshape(-1, count)[:count]
    values = np.linalg.svd(matrix, compute_uv=False)
    return int(np.sum(values > count * 1e-13 * values[0])), middle - start, time.perf_counter() - middle


def closure(text: str) -> tuple[int, float, float]:
    """Take brackets of all pairs of the spanning set, all of one form at once, until the rank stands still."""
    program, rng, compiling = read_architecture(text), np.random.default_rng(1), 0.0
    start, count, compiled = time.perf_counter(), program.parameter_count, {}
    theta, inputs = rng.normal(size=count), rng.normal(size=(count, program.input_count))
    ends, spanning = itertools.product(inputs, np.eye(program.output_count)), []
    fields = [(None, np.concatenate(end)[None]) for end in ends]
    with jax.enable_x64(True):
        while True:
            before, rows, candidates = len(spanning), [], []
            pool = sorted([*spanning, *fields], key=lambda f: (len(str(f[0])), str(f[0])))
            for form, group in itertools.groupby(pool, lambda f: f[0]):
                members, begin = list(group), time.perf_counter()
                key, leaves = (form, len(members)), jnp.asarray(np.stack([own for _, own in members]))
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


def bracket(form: Any, program: Program) -> Callable[[Any, Any], Any]:
    """Return the field that a tree of brackets stands for, as a function of theta and the inputs at its leaves."""
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
    basis, kept, longest = np.zeros((0, rows.shape[1])), [], np.linalg.norm(rows, axis=1).max()
    for i, row in enumerate(rows):
        rest = row - basis.T @ (basis @ row)
        rest -= basis.T @ (basis @ rest)
        if np.linalg.norm(rest) > 1e-9 * np.linalg.norm(row) > 1e-21 * longest:
            basis, kept = np.vstack([basis, rest / np.linalg.norm(rest)]), [*kept, i]
    return kept


def show(label: str, text: str, job: Callable[[], Any]) -> tuple[str, int, int, float, float]:
    row = (label, read_architecture(text, one_region=True).parameter_count, *median(job))
    print(f"{row[0]:<44}{row[1]:>6}{row[2]:>6}{row[3]:>10.2f}{row[4]:>10.3f}", flush=True)
    return row


def main() -> None:
    (parser := argparse.ArgumentParser()).add_argument("-o", help="PNG of the growth in D")
    output = parser.parse_args().o
    linear, wide, thousand = "4-4identity-4", "20-40tanh-1", "24-40tanh-1"
    print(f"{'':<44}{'D':>6}{'rank':>6}{'compile s':>10}{'run s':>10}")
    own = show(f"balls, {linear}", linear, lambda: rigorous(linear))
    quick = show(f"floats, {linear}", linear, lambda: floats(linear))
    peer = show(f"all pairs of brackets, {linear}", linear, lambda: closure(linear))
    show("modulo a prime, 8-8identity-8", "8-8identity-8", lambda: modular("8-8identity-8"))
    show("modulo a prime, 3-3relu-3relu-3", "3-3relu-3relu-3", lambda: modular("3-3relu-3relu-3"))
    show("floats, attention (4,2,2)", ATTENTION, lambda: floats(ATTENTION))
    show(f"floats, {wide}", wide, lambda: floats(wide))
    show(f"floats, {wide}, on 0=1", wide, lambda: floats(wide, "0=1"))
    show(f"balls, one minor, {wide}", wide, lambda: minor(wide))
    least = show(f"floor, {thousand}", thousand, lambda: floor(thousand))
    full = show(f"floats, {thousand}", thousand, lambda: floats(thousand))
    print(f"{thousand}: {full[4] / least[4]:.2f} times the floor")
    for label, row in (("balls", own), ("floats", quick)):
        print(f"{linear}: bracket closure takes {sum(peer[3:]) / sum(row[3:]):.1f} times as long as {label}")
    growth = [show("growth", t, lambda t=t: floats(t)) for t in (f"{n}-40tanh-1" for n in (3, 6, 12, 24, 36, 49))]
    if output:
        figure = importlib.import_module("matplotlib.figure").Figure()  # an optional extra
        axes = figure.add_subplot(xlabel="parameters D", ylabel="seconds without compilation")
        axes.loglog([row[1] for row in growth], [row[4] for row in growth], "o-")
        figure.savefig(output, dpi=150)


if __name__ == "__main__":
    main()
