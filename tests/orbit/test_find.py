"""The dimension of an orbit: known values, singular points, theorems that must not be contradicted, planted faults."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest

import invman
from invman.architecture import read_architecture
from invman.architecture.evaluate import jax_map
from invman.errors import ContradictionError, DataError, OverBudgetError, UnsupportedError
from invman.lattice import build_lattice, enumerate_invariant
from invman.lattice.enumeration import partitions
from invman.manifold import BalancedManifold, BalancedSpace
from invman.orbit import Bound, OrbitOptions, draw_point, find, find_orbit
from invman.orbit.rank import BallRank, ModularRank

QUARTIC, ODD, CUBIC = "custom(1+u+u^2+u^3+u^4)", "custom(u+u^3+u^5)", "custom(u+u^2+u^3)"
FROZEN = [[1, 2, -3], [0, -5, 5], [-1, 3, -2]]
DEEP = ("tanh", "sigmoid", "silu", "sin", "softplus", "gelu")
INDEX = (
    "input x[i]\nh[k] = tanh(w[k,i]*x[i] + b[k])\nf = a[k]*h[k]\nsize i={0}, k={1}",
    "input x[i]\nh[k] = w[k,i]*x[i]\nf[o] = a[o,k]*h[k]*h[k]\nsize i={0}, k={1}, o={2}",
    "input x[i]\nh[k] = silu(w[k,i]*x[i])\nf[i] = a[i,k]*h[k] + x[i]\nsize i={0}, k={1}",
    "input x[i]\nf = a[k]*exp(w[k,i]*x[i])\nsize i={0}, k={1}",
    "input x[i]\nh[k] = u[k,i]*x[i]\ng[k] = v[k,i]*x[i]\nf = a[k]*h[k]*g[k]\nsize i={0}, k={1}",
)


def random_point(program, seed, zero=()):
    """Return random rationals that are no binary fractions; zero in the parameters that are named."""
    rng = np.random.default_rng(seed)
    draws = [Fraction(int(rng.integers(1, 90)) * int(rng.choice([-1, 1])), 49) for _ in range(program.parameter_count)]
    names = [program.coordinate(i).partition("[")[0] for i in range(program.parameter_count)]
    return [Fraction(0) if name in zero else value for name, value in zip(names, draws, strict=True)]


def constant_blocks(activation, extra=0):
    """Return a point with equal neurons in both layers but for the frozen part of w2."""
    w2 = [[Fraction(7, 10) + Fraction(v, 5) for v in row] for row in FROZEN]
    w2[0][0] += extra
    point = {"w1": [[Fraction(4, 5)]] * 3, "w2": w2, "w3": [Fraction(-6, 7)] * 3}
    return find_orbit(f"1-3{activation}-3{activation}-1", point)


@pytest.mark.parametrize(
    ("widths", "dimension"),
    [
        ("1-2-1", 1),
        ("2-2-2", 5),
        ("2-3-2", 6),
        ("3-3-3", 12),
        ("2-4-2", 6),
        ("4-4-4", 22),
        ("6-6-6", 51),
        pytest.param("8-8-8", 92, marks=pytest.mark.slow),
        ("2-2-2-2", 6),
        ("3-3-3-3", 15),
    ],
)
def test_linear_nets(widths, dimension):
    first, *hidden, last = widths.split("-")
    found = find_orbit("-".join([first, *(f"{width}identity" for width in hidden), last]))
    assert found.dimension == dimension
    assert found.profile[0] == int(first) * int(last)


@pytest.mark.parametrize(("text", "dimension"), [("2-3relu-2", 9), ("4-6relu-4", 42)])
def test_relu_in_one_region(text, dimension):
    assert find_orbit(read_architecture(text, one_region=True)).dimension == dimension


@pytest.mark.parametrize(("text", "upper"), [("2-2relu-2relu-2", 8), ("3-3relu-3relu-3", 21)])
def test_deep_relu_in_one_region(text, upper):
    found = find_orbit(read_architecture(text, one_region=True))
    assert found.upper.value == upper
    assert found.lower.value <= upper


@pytest.mark.parametrize(
    ("sizes", "dimension"),
    [
        ((3, 2, 1), 18),
        ((3, 1, 2), 20),
        ((4, 2, 1), 26),
        pytest.param((4, 2, 2), 52, marks=pytest.mark.slow),
    ],
)
def test_attention(sizes, dimension):
    width, key, heads = sizes
    assert find_orbit(f"attention(d={width},dk={key},heads={heads},seq=3)").dimension == dimension


@pytest.mark.parametrize(
    ("text", "dimension"),
    [
        ("2-3gelu-2", 12),
        ("2-3silu-2", 12),
        ("2-3softplus-2", 12),
        ("2-3square-2", 9),
        ("2-3cube-2", 9),
        ("2-3tanh-1", 9),
        ("1-1square-1", 1),
        ("1-3square-1", 1),
        ("1-3cube-1", 1),
        ("2-1square-1", 2),
        ("2-2square-1", 4),
    ],
)
def test_shallow_nets(text, dimension):
    assert find_orbit(text).dimension == dimension


@pytest.mark.parametrize(
    "text",
    [
        "input x\nf = exp(w*x+b)*a",
        "input x[i]\nf = a*exp(w[i]*x[i]+b)\nsize i=1",
        "input x[i]\nf = a[k]*exp(w[k,i]*x[i]+b[k])\nsize i=1, k=1",
    ],
)
def test_one_exponential_with_bias(text):
    """Shifting b scales the neuron as a does, so that a^2/2 - b is conserved: rank 2 of 3."""
    program = read_architecture(text)
    assert program.parameter_count == 3
    assert find_orbit(program).dimension == 2


def test_equal_neurons():
    point = {"w": [[3, 1], [3, 1], [-2, 5]], "a": [2, 2, 7]}
    assert find_orbit("2-3tanh-1", point).dimension == 6


def test_the_order_of_coordinates():
    program = read_architecture("1-2tanh-1")
    assert [program.coordinate(i) for i in range(4)] == ["w[0,0]", "w[1,0]", "a[0]", "a[1]"]


@pytest.mark.parametrize("scale", [1, Fraction(1, 3)])
@pytest.mark.parametrize(
    ("activation", "point", "dimension"),
    [
        (QUARTIC, (2, 2, 3, 5), 4),
        (QUARTIC, (2, 2, 3, -3), 4),
        (QUARTIC, (2, 3, 0, 0), 4),
        (QUARTIC, (2, 2, 0, 0), 2),
        (QUARTIC, (2, 0, 3, 0), 4),
        (QUARTIC, (2, 2, 3, 3), 2),
        (ODD, (2, -2, 3, -3), 2),
        (CUBIC, (2, 0, 3, 0), 2),
        ("tanh", (0, 0, 2, 3), 4),
        ("tanh", (2, 2, 3, -3), 4),
    ],
)
def test_singular_points(activation, point, dimension, scale):
    """At a special point the rank may rise late: brackets of length two and three are needed."""
    assert find_orbit(f"1-2{activation}-1", [scale * v for v in point]).dimension == dimension


def test_the_rank_stands_still_and_rises_again():
    assert find_orbit(f"1-2{QUARTIC}-1", [2, 2, 3, -3]).profile == (2, 3, 3, 4)
    assert find_orbit("1-2tanh-1", [0, 0, 2, 3]).profile == (1, 1, 2, 3, 3, 4)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("text", "zero", "dimension"),
    [
        ("2-2tanh-2sigmoid-1", ("w1", "w2"), 1),
        ("1-2tanh-2tanh-1+bias", ("w1", "b1", "w2"), 1),
        ("1-2tanh-2sigmoid-2", ("w1", "w2"), 2),
        ("1-2tanh-2tanh-2+bias", ("w1", "b1", "w2"), 6),
        ("1-2cos-2sigmoid-1", ("w1",), 1),
        ("1-2cos-2sigmoid-2", ("w1",), 4),
    ],
)
def test_null_layers(text, zero, dimension, seed):
    program = read_architecture(text)
    assert find_orbit(program, random_point(program, seed, zero)).dimension == dimension


@pytest.mark.parametrize("activation", ["sigmoid", "tanh"])
def test_balanced_weights(activation):
    assert constant_blocks(activation).dimension == 3
    assert constant_blocks(activation, extra=1).lower.value >= 9


@pytest.mark.parametrize("width", [1, 2, 3, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("activation", ["tanh", "sigmoid", "silu", "gelu", "cos", "sin", "softplus", "square"])
def test_every_node_is_exact(activation, width):
    program = read_architecture(f"2-{width}{activation}-1")
    for manifold in build_lattice(program, family="invariant").manifolds:
        dimension = find_orbit(program, manifold).dimension
        assert dimension is not None, manifold
        assert dimension <= manifold.leaf_dimension, manifold
        assert dimension == manifold.leaf_dimension or activation == "square", manifold


@pytest.mark.parametrize("text", ["1-2tanh-2tanh-1", "1-2sigmoid-3sigmoid-1"])
def test_every_node_of_deep_nets(text):
    program = read_architecture(text)
    for manifold in build_lattice(program, family="invariant").manifolds:
        assert find_orbit(program, manifold).dimension == manifold.leaf_dimension, manifold


def deep_case(seed):
    """Return a random deep net and random balanced weights."""
    rng = np.random.default_rng(seed)
    layers = [f"{rng.integers(2, 4)}{rng.choice(DEEP)}" for _ in range(rng.integers(2, 4))]
    bias = "+bias" if rng.integers(2) else ""
    program = read_architecture(f"{rng.integers(1, 3)}-{'-'.join(layers)}-{rng.integers(1, 3)}{bias}")
    space = BalancedSpace.of(program)
    choices = [list(partitions(layer)) for layer in space.rules]
    chosen = tuple(found[int(rng.integers(len(found)))] for found in choices)
    return program, BalancedManifold(space, space.closure(chosen))


@pytest.mark.parametrize("seed", [*range(30), *(pytest.param(n, marks=pytest.mark.slow) for n in range(30, 200))])
def test_deep_orbits_are_leaves(seed):
    """No orbit is smaller than the leaf of its coarsest partition unless a whole hidden layer is null."""
    program, manifold = deep_case(seed)
    found = find_orbit(program, manifold)
    leaf = invman.coarsest(list(found.theta), program)
    assert found.exact, (program, manifold, found)
    assert found.dimension == leaf.leaf_dimension or not all(any(labels) for labels in leaf.partitions)


def along_the_leaf(program, manifold, theta, seed):
    """Go one Euler step of gradient descent, in floats, and project it exactly to the directions of the leaf."""
    import jax

    rng = np.random.default_rng(seed)
    x, target = rng.normal(size=program.input_count), rng.normal(size=program.output_count)
    with jax.enable_x64(True):
        at = jax.numpy.asarray([float(v) for v in theta])
        function = jax_map(program)
        slope = jax.grad(lambda p: ((function(p, x) - target) ** 2).sum())(at)
    step = [Fraction(float(v)) for v in slope]
    moved = list(theta)
    for row in manifold.leaf().basis().tolist():
        part = sum(int(c) * s for c, s in zip(row, step, strict=True)) / sum(int(c) ** 2 for c in row)
        moved = [v - part * int(c) / 8 for v, c in zip(moved, row, strict=True)]
    return moved


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("2-3tanh-1", "0=-1"),
        ("2-3silu-2", "0=1,2=dead"),
        ("1-2cos-1", "0=-1"),
        ("1-3sigmoid-3sigmoid-1", "k1:0=1=2/k2:0=1=2"),
        ("1-2tanh-2tanh-1+bias", "k2:0=-1"),
    ],
)
def test_constant_along_the_orbit(text, name):
    program = read_architecture(text)
    manifold = BalancedSpace.of(program).named(name)
    theta = list(draw_point(program, 1, manifold))
    dimension = find_orbit(program, theta).dimension
    assert dimension == manifold.leaf_dimension
    for step in range(3):
        moved = along_the_leaf(program, manifold, theta, step)
        assert moved != theta
        theta = moved
        assert find_orbit(program, theta).dimension == dimension


@pytest.mark.parametrize("seed", range(4))
def test_equal_at_conjugate_points(seed):
    rng = np.random.default_rng(seed)
    w, a = rng.integers(-1, 2, (3, 2)), rng.integers(-1, 2, 3)
    found = set()
    for order in itertools.permutations(range(3)):
        signs = rng.choice([-1, 1], 3)
        moved = {"w": w[list(order)] * signs[:, None], "a": a[list(order)] * signs}
        found.add(find_orbit("2-3tanh-1", moved).dimension)
    assert len(found) == 1
    assert None not in found


def test_monotone_under_inclusion():
    program = read_architecture("2-3tanh-1")
    lattice = build_lattice(program)
    sizes = [find_orbit(program, manifold).dimension for manifold in lattice.manifolds]
    assert all(sizes[lower] < sizes[upper] for upper, lower in lattice.covers)  # type: ignore[operator]


def random_program(rng):
    width, outputs, inputs = rng.integers(1, 4), rng.integers(1, 3), rng.integers(1, 3)
    if rng.integers(4) == 0:
        return read_architecture(str(rng.choice(INDEX)).format(inputs, width, outputs))
    names = ("tanh", "sigmoid", "gelu", "square", "cube", "cos", "softplus", "identity", QUARTIC, ODD, CUBIC)
    layers = [f"{rng.integers(1, 4)}{rng.choice(names)}" for _ in range(rng.integers(1, 3))]
    return read_architecture(f"{inputs}-{'-'.join(layers)}-{outputs}{rng.choice(['', '+bias'])}")


@pytest.mark.parametrize(
    "start", [*range(0, 100, 20), *(pytest.param(n, marks=pytest.mark.slow) for n in range(100, 500, 20))]
)
def test_bounds_never_cross(start):
    """ContradictionError would tell; ties and zeros in the points make them singular."""
    for seed in range(start, start + 20):
        rng = np.random.default_rng(seed)
        program = random_program(rng)
        theta = [Fraction(int(rng.integers(-2, 3)), int(rng.choice([1, 1, 3]))) for _ in range(program.parameter_count)]
        found = find_orbit(program, theta, options=OrbitOptions(order=6))
        assert 0 <= found.lower.value <= found.upper.value <= program.parameter_count
        assert found.theta == tuple(theta)
        assert list(found.profile) == sorted(found.profile)
        assert found.profile[-1] == found.lower.value


@pytest.mark.parametrize("seed", range(8))
def test_balls_and_residues_agree(seed):
    texts = ("2-2square-1", "2-2cube-2", "2-2identity-2", f"1-2{QUARTIC}-1", "1-2square-2identity-1+bias")
    program = read_architecture(texts[seed % len(texts)])
    theta = random_point(program, seed)
    balls, residues = (find_orbit(program, theta, options=OrbitOptions(kind)) for kind in ("ball", "modular"))
    assert balls.dimension == residues.dimension is not None
    assert "balls" in balls.lower.arithmetic
    assert "prime" in residues.lower.arithmetic


@pytest.mark.parametrize(
    "text", ["2-2tanh-1+bias", "2-2square-2", "3-2identity-2", "attention(d=2,dk=1,heads=1,seq=2)"]
)
def test_two_seeds_agree(text):
    first, second = (find_orbit(text, options=OrbitOptions(seed=seed)) for seed in (0, 1))
    assert first.theta != second.theta
    assert first.dimension == second.dimension is not None


@pytest.mark.parametrize("text", ["2-2tanh-1", "2-2square-2", "1-2gelu-2gelu-1"])
def test_the_same_call_gives_the_same_document(text):
    documents = [json.dumps(find_orbit(text).document()) for _ in range(2)]
    assert documents[0] == documents[1]


def test_all_balanced_manifolds_of_a_small_net_at_two_seeds():
    program = read_architecture("1-2tanh-2sigmoid-1")
    for manifold in enumerate_invariant(BalancedSpace.of(program)):
        first, second = (find_orbit(program, manifold, options=OrbitOptions(seed=seed)).dimension for seed in (0, 5))
        assert first == second is not None
        assert first == manifold.leaf_dimension or not all(any(labels) for labels in manifold.partitions)


def test_progress_names_the_orders():
    calls = []
    find_orbit(f"1-2{QUARTIC}-1", [2, 2, 3, -3], progress=lambda done, last: calls.append((done, last)))
    assert calls == [(n, 14) for n in range(4)]


def test_float_arithmetic_proves_nothing():
    found = find_orbit("2-2tanh-1", options=OrbitOptions("float"))
    assert found.lower.value == 0
    assert not found.exact
    assert found.numerical is not None
    assert found.numerical.rank == 6


def test_refusals():
    with pytest.raises(UnsupportedError, match="not rational"):
        find_orbit("2-2tanh-1", options=OrbitOptions("modular"))
    with pytest.raises(OverBudgetError, match="676"):
        find_orbit("2-2tanh-1", options=OrbitOptions(budget=10))
    with pytest.raises(DataError, match="shape"):
        find_orbit("2-2tanh-1", [1, 2, 3])


@pytest.mark.parametrize("wrong", [{"order": -1}, {"seed": True}, {"budget": 0}, {"arithmetic": "exact"}])
def test_wrong_options(wrong):
    with pytest.raises(DataError, match="option"):
        OrbitOptions(**wrong)


def test_a_pole_is_refused():
    with pytest.raises(UnsupportedError, match="not defined"):
        find_orbit("input x[i]\nf = b/a*x[i]\nsize i=1", [0, 0])


@pytest.mark.parametrize("text", ["2-2identity-2", "2-2square-2"])
def test_a_planted_rank_of_residues_is_found(monkeypatch, text):
    class Wrong(ModularRank):
        def add(self, matrix):
            return super().add(matrix) + 1

    monkeypatch.setattr(find, "ModularRank", Wrong)
    with pytest.raises(ContradictionError, match="Please report"):
        find_orbit(text)


def test_a_planted_rank_of_balls_is_found(monkeypatch):
    class Wrong(BallRank):
        def add(self, matrix):
            return super().add(matrix) + 1

    monkeypatch.setattr(find, "BallRank", Wrong)
    with pytest.raises(ContradictionError, match="Please report"):
        find_orbit("2-3tanh-1")


@pytest.mark.parametrize(
    "text", ["2-3tanh-1", "1-2sigmoid-2tanh-1+bias", f"1-2{QUARTIC}-1", "2-1identity-2", "12-10tanh-1"]
)
def test_a_planted_upper_bound_is_found(monkeypatch, text):
    """The rank must not stop where the upper bound is, or it could never contradict it."""
    whole = find_orbit(text).dimension
    assert whole is not None
    monkeypatch.setattr(find._Search, "_leaf", lambda _: Bound(whole - 1, "planted"))
    with pytest.raises(ContradictionError, match="planted"):
        find_orbit(text)


@pytest.mark.parametrize(("arch", "point"), [("1-1tanh-1", [10**6, 1]), ("1-2silu-1", [10**4, 3, 1, 1])])
def test_saturated_neurons_are_measured_at_small_inputs(arch, point):
    assert find_orbit(arch, point).dimension == len(point)


def test_relu_with_hidden_biases_loses_one_dimension_a_neuron():
    text = "input x[i]\nh[k] = relu(w[k,i]*x[i] + b[k])\nf[o] = a[o,k]*h[k]\nsize i=2, k=4, o=2"
    found = find_orbit(read_architecture(text, one_region=True))
    assert (found.dimension, found.program.parameter_count) == (16, 20)
