"""The same laws and generators in floating point, through the JAX map of the program."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from invman.architecture import read_architecture
from invman.architecture.evaluate import jax_map
from invman.symmetry.infinitesimal import affine_generators, quadratic_laws

TEXTS = [
    "2-3identity-2",
    "2-3cube-2",
    "2-3relu-2+bias",
    "2-2relu-3relu-2",
    "attention(d=3,heads=2,dk=2,seq=3)",
    "attention(d=2,heads=1,dk=2,seq=3,bias=yes,causal=yes)",
    "input x[i]; h[k] = exp(w[k,i]*x[i] + b[k]); f[o] = softmax[o](a[o,k]*h[k]); size i=2, k=2, o=2",
    "input x; f = a*cos(w*x+b) + c*sin(w*x+b)",
]


@pytest.fixture(params=TEXTS)
def case(request):
    program = read_architecture(request.param, one_region=True)
    return program, affine_generators(program)


def test_generators_and_laws_annihilate_the_gradients(case):
    program, generators = case
    rng = np.random.default_rng(4)
    laws = quadratic_laws(generators)
    with jax.enable_x64(True):
        jacobian = jax.jit(jax.jacrev(jax_map(program)))
        for _ in range(5):
            theta, x = rng.normal(size=program.parameter_count), rng.normal(size=program.input_count)
            fields = np.asarray(jacobian(jnp.asarray(theta), jnp.asarray(x)))
            for generator in generators.basis:
                velocity = np.zeros(program.parameter_count)
                for (i, j), value in generator.linear.items():
                    velocity[i] += float(value) * theta[j]
                for i, value in generator.shift.items():
                    velocity[i] += float(value)
                assert np.abs(fields @ velocity).max() < 1e-11 * (1 + np.abs(fields).max())
            for law in laws:
                assert np.abs(fields @ np.array(law.gradient(theta.tolist()))).max() < 1e-11 * (
                    1 + np.abs(fields).max()
                )


def test_laws_are_conserved_along_a_flow():
    program = read_architecture("2-3identity-2")
    laws = quadratic_laws(affine_generators(program))
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(5, 2)), rng.normal(size=(5, 2))
    with jax.enable_x64(True):
        forward = jax.vmap(jax_map(program), (None, 0))
        field = jax.jit(jax.grad(lambda theta: -((forward(theta, jnp.asarray(x)) - y) ** 2).mean()))
        theta = start = jnp.asarray(rng.normal(size=program.parameter_count))
        for _ in range(200):
            k1 = field(theta)
            k2 = field(theta + 0.005 * k1)
            k3 = field(theta + 0.005 * k2)
            k4 = field(theta + 0.01 * k3)
            theta = theta + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        before, after = np.asarray(start).tolist(), np.asarray(theta).tolist()
    assert np.abs(np.subtract(after, before)).max() > 0.1
    for law in laws:
        assert law.value(after) == pytest.approx(law.value(before), abs=1e-9)
