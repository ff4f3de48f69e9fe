"""Orders and generators on the graph of scalars; engines and budgets."""

from __future__ import annotations

import importlib.util
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from invman.architecture import parse_program, read_architecture
from invman.architecture.evaluate import jax_map
from invman.errors import InvmanError, OverBudgetError, UnsupportedError
from invman.symmetry import find_symmetry
from invman.symmetry.scalar import prove, scalar_symmetry

ENGINES = ["canonaut", pytest.param("igraph", marks=pytest.mark.skipif(
    importlib.util.find_spec("igraph") is None, reason="igraph is an extra"))]  # fmt: skip
ORDERS = {  # group orders by hand: n! 2^(n g) an axis
    "2-3tanh-1": 48,
    "2-3sigmoid-1": 6,
    "2-3cos-1": 48,
    "2-3cos-2tanh-2+bias": 384,
    "1-2tanh-3tanh-1": 384,
    "1-2tanh-2tanh-1": 64,
    "2-3silu-2+bias": 6,
    "2-3square-1": 48,
    "1-2identity-1": 32,  # a and w may be exchanged as well
    "1-2identity-2identity-1": 128,  # and the whole net transposed
    "3-1tanh-2": 2,
}


@pytest.fixture(autouse=True)
def _x64():
    with jax.enable_x64(True):
        yield


def check_numerically(program, moves):
    F, rng = jax_map(program), np.random.default_rng(3)
    theta, x = rng.normal(size=program.parameter_count), jnp.asarray(rng.normal(size=program.input_count))
    for move in moves:
        np.testing.assert_allclose(F(jnp.asarray(move(theta)), x), F(jnp.asarray(theta), x), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("name", "order"), ORDERS.items())
def test_orders(name: str, order: int, engine: str):
    program = read_architecture(name)
    found = scalar_symmetry(program, engine=engine)
    assert (found.order, found.engine, found.fine) == (order, engine, True)
    assert all(prove(program, g).method == "normal form" for g in found.generators)
    check_numerically(program, found.generators)


@pytest.mark.parametrize("engine", ENGINES)
def test_attention(engine: str):
    program = read_architecture("attention(d=4,heads=2,dk=2,seq=3)")
    found = scalar_symmetry(program, engine=engine, budget=10_000)
    assert found.order == (8 * 8) ** 2 * 2 == 8192
    assert all(prove(program, g) for g in found.generators)
    check_numerically(program, found.generators)


@pytest.mark.parametrize("name", ["3-4tanh-3sigmoid-2+bias", "2-5softplus-1", "4-6gelu-2+bias", "5-16tanh-8tanh-2"])
def test_axes_find_as_much(name: str):
    program = read_architecture(name)
    assert scalar_symmetry(program, engine="canonaut").order == find_symmetry(program).order


@pytest.mark.parametrize("name", ["10-48tanh-16tanh-4+bias", "10-48silu-16sigmoid-4+bias", "20-40cos-12tanh-2"])
def test_a_thousand_parameters_with_igraph(name: str):
    pytest.importorskip("igraph")
    program = read_architecture(name)
    found = scalar_symmetry(program)
    assert program.parameter_count > 1_250
    assert found.order == find_symmetry(program).order
    assert found.engine == "igraph"
    check_numerically(program, found.generators[:5])
    assert all(prove(program, g).method == "normal form" for g in found.generators[:5])


def test_refused_with_the_size_without_igraph(monkeypatch: pytest.MonkeyPatch):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "igraph" else find_spec(name))
    with pytest.raises(OverBudgetError, match=r"got 7,318, expected at most 3,000.*invman\[fast\]") as caught:
        scalar_symmetry(read_architecture("10-48tanh-16tanh-4+bias"))
    assert caught.value.size == 7318
    assert scalar_symmetry(read_architecture("2-3tanh-1")).engine == "canonaut"


def test_budget_and_engine_errors(monkeypatch: pytest.MonkeyPatch):
    program = read_architecture("2-3tanh-1")
    with pytest.raises(OverBudgetError, match="got 57, expected at most 56"):
        scalar_symmetry(program, budget=56)
    assert scalar_symmetry(program, budget=57).vertices == 57
    with pytest.raises(InvmanError, match="got 'nauty', expected one of canonaut, igraph"):
        scalar_symmetry(program, engine="nauty")
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    with pytest.raises(UnsupportedError, match="pip install canonaut"):
        scalar_symmetry(program)


def test_a_product_of_many_factors_is_refused():
    factors = "*".join(f"a{n}" for n in range(24))
    with pytest.raises(OverBudgetError, match=r"got 16,777,2\d\d, expected at most 1,000,000"):
        scalar_symmetry(parse_program(f"input x; f = {factors}*x"))


def test_order_is_that_on_parameters():
    # the square of a product of signs: 2 of 4 sign changes of b, c and the exchange of them; d free
    program = parse_program("input x; f = a*(b*c)^2*x + d*0*x")
    assert scalar_symmetry(program).order == 2 * 4 * 2
    group = scalar_symmetry(read_architecture("2-6tanh-1"))
    assert group.order == math.factorial(6) * 2**6
    assert all(sorted(g.images) == list(range(18)) for g in group.generators)


def test_deterministic():
    program = read_architecture("2-3tanh-2cos-1+bias")
    first, second = (scalar_symmetry(program, engine="canonaut") for _ in range(2))
    assert [g.images.tolist() for g in first.generators] == [g.images.tolist() for g in second.generators]
