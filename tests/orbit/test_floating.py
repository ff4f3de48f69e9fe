"""Formal transport in double precision: hand examples, known ranks, and the same thing in exact arithmetic."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from invman.architecture import read_architecture
from invman.manifold import CondensedSpace
from invman.orbit import floating
from invman.orbit.exact import ExactFamily
from invman.orbit.floating import FloatFamily, FloatRank, float_rank
from invman.orbit.rank import ModularRank
from invman.orbit.residues import ModularRing
from invman.orbit.transport import transport
from invman.symmetry.infinitesimal.tower import RedrawError, draw_tower


def normal(program, seed=1):
    return np.random.default_rng(seed).normal(size=program.parameter_count)


def modular_profile(program, order=4):
    tower = draw_tower(np.random.default_rng(0), 2)
    ring, count = ModularRing(1, tower, seed=0), program.parameter_count
    family = ExactFamily(program, ring, [ring.draw() for _ in range(count)],
                         -(-count // program.output_count) + 2, 4, 10**6)  # fmt: skip
    rank, found = ModularRank(tower.primes[0]), []
    for matrix in transport(family, order):
        found.append(rank.add(matrix))
        if found[-1] == count or found[-2:-1] == found[-1:]:
            break
    return tuple(sorted(set(found)))


# --- coefficients


def test_series_of_a_product():
    """F = a b x: theta' = g(t) (b, a), with g the weights times the inputs of the control."""
    program = read_architecture("1-1identity-1")
    family = FloatFamily(program, np.array([2.0, 3.0]), samples=1, controls=2, seed=0)
    fields, bends = family.prolong(3)
    x, driving = family._inputs[0, 0], family._inputs[1:, 0]
    g = family._weights[:, :, 0] @ driving
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    start = np.array([2.0, 3.0])
    first = g[0] * swap @ start
    second = (g[1] * swap @ start + g[0] * swap @ first) / 2
    for found, point in zip(fields, (start, first, second), strict=True):
        assert np.allclose(found[:, 0], x * swap @ point, rtol=1e-13)
    for found, weight in zip(bends, g[:2], strict=True):
        assert np.allclose(found, weight * swap, rtol=1e-13)


@pytest.mark.parametrize("text", ["2-3tanh-2", "2-2silu-2gelu-1"])
def test_series_solve_the_equation_of_the_curve(text):
    """The sum of the series is close to the fields and the slope on the curve a little later."""
    program = read_architecture(text)
    family = FloatFamily(program, normal(program) / 2, samples=3, controls=2, seed=3)
    fields, bends = family.prolong(3)
    assert len(fields) == 3
    assert len(bends) == 2
    t = 1e-4
    powers = t ** np.arange(3)
    point = sum(p * c for p, c in zip(powers, family._curve, strict=True))
    weights = np.tensordot(powers, family._weights[:3], 1)
    with jax.enable_x64(True):
        gradients = np.asarray(jax.jit(family._fields)(point, family._inputs))
    later = gradients[:3].reshape(-1, program.parameter_count).T
    assert np.allclose(later, sum(p * f for p, f in zip(powers, fields, strict=True)), rtol=0, atol=1e-10)
    velocity = sum(n * p / t * c for n, (p, c) in enumerate(zip(powers, family._curve, strict=True)))
    assert np.allclose(velocity, np.tensordot(weights, gradients[3:], 2), rtol=0, atol=1e-6)


def test_prolonging_changes_nothing(monkeypatch):
    program = read_architecture("2-2tanh-1")
    kept = {}
    for small in (0, 256):  # order by order, and three coefficients at once
        monkeypatch.setattr(floating, "SMALL", small)
        family = FloatFamily(program, normal(program), samples=3, controls=2, seed=0)
        for length in (1, 2, 3):
            fields, bends = family.prolong(length)
            assert (len(fields), len(bends)) == (length, length - 1)
            for n, matrix in enumerate([*fields, *bends]):
                key = (n, "V") if n < length else (n - length, "A")
                assert np.allclose(matrix, kept.setdefault(key, matrix), rtol=1e-12, atol=1e-13)


def test_order_zero_takes_no_hessian(monkeypatch):
    program = read_architecture("2-2tanh-1")
    family = FloatFamily(program, normal(program), samples=3, controls=2, seed=0)
    monkeypatch.setattr(jax, "hessian", lambda *_: pytest.fail("a Hessian"))
    fields, bends = family.prolong(1)
    assert [matrix.shape for matrix in fields] == [(6, 3)]
    assert bends == []
    assert fields[0].dtype == np.float64


def test_inputs_where_the_map_is_undefined_are_drawn_anew():
    program = read_architecture("input x[i]; f = a*sqrt(sum[i](w[i]*x[i])); size i=2")
    family = FloatFamily(program, np.array([1.0, 1.0, 2.0]), samples=20, controls=3, seed=0)
    assert np.isfinite(family.prolong(2)[0][1]).all()


def test_undefined_everywhere():
    program = read_architecture("input x; f = x*sqrt(0 - 1 - a*a)")
    with pytest.raises(RedrawError):
        FloatFamily(program, np.array([1.0]), samples=2, controls=1, seed=0).prolong(1)


def test_precision_is_left_alone():
    float_rank(read_architecture("1-1tanh-1"), np.array([1.0, 2.0]))
    assert not jax.config.read("jax_enable_x64")


# --- the rank of columns


def test_columns_by_hand():
    rank = FloatRank()
    assert rank.add(np.zeros((3, 2))) == 0
    assert rank.add(np.array([[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]])) == 1
    assert rank.add(np.array([[1.0], [1e-13], [0.0]])) == 1  # a direction within rounding
    assert rank.gap > 1e9
    assert rank.add(np.array([[0.0], [1e-9], [0.0]])) == 2  # short, but not within rounding of nothing
    assert rank.add(np.array([[0.0], [0.0], [1e-14]])) == 2
    assert rank.add(np.array([[0.0], [0.0], [5.0]])) == 3
    assert rank.gap == float("inf")


def test_gap_by_hand():
    rank = FloatRank()
    assert rank.add(np.array([[1.0, 1.0], [0.0, 1e-13]])) == 1
    assert rank.gap == pytest.approx(2e13, rel=0.1)


# --- ranks


@pytest.mark.parametrize(
    ("text", "profile"),
    [
        ("1-2identity-1", (1,)),  # (b, a) times the input
        ("2-3tanh-1", (9,)),
        ("4-4identity-4", (16, 22)),
        ("8-8identity-8", (64, 92)),
        ("attention(d=3,heads=1,dk=2,seq=3)", (16, 18)),
        ("attention(d=3,heads=2,dk=1,seq=3)", (20,)),
        ("attention(d=4,heads=2,dk=2,seq=3)", (48, 52)),
    ],
)
def test_known_ranks(text, profile):
    program = read_architecture(text)
    found = float_rank(program, normal(program))
    assert found.profile == profile
    assert found.rank == profile[-1]
    assert found.gap > 1e8
    assert found.settled
    assert found.compile_seconds > 0
    assert found.run_seconds > 0


@pytest.mark.parametrize("text", ["2-2identity-3", "2-2identity-2identity-1", "2-3square-1"])
def test_agrees_with_the_rank_modulo_a_prime(text):
    program = read_architecture(text)
    assert float_rank(program, normal(program)).profile == modular_profile(program)


def test_large_net_and_one_of_its_condensed_points():
    program = read_architecture("20-40tanh-1")
    assert float_rank(program, normal(program)).profile == (840,)
    basis = CondensedSpace.of(program).named("0=1").polydiagonal().basis()
    found = float_rank(program, np.random.default_rng(0).normal(size=len(basis)) @ basis)
    assert found.rank == len(basis) == 819
    assert found.gap > 1e8


def test_too_few_orders_are_not_settled():
    program = read_architecture("4-4identity-4")
    found = float_rank(program, normal(program), order=1)
    assert (found.profile, found.settled) == ((16, 22), False)
    assert float_rank(program, normal(program), order=0).profile == (16,)


def test_seed_and_samples():
    program = read_architecture("3-3identity-1")
    one, other = (float_rank(program, normal(program), seed=seed, samples=9) for seed in (1, 2))
    assert one.profile == other.profile
    assert float_rank(program, normal(program), samples=1, order=0).rank == 1
