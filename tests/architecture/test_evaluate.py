"""The map in JAX against numpy code written by hand, and against SymPy."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from invman.architecture import REGISTERED, parse_program, read_architecture
from invman.architecture.evaluate import jax_map

erf = np.vectorize(math.erf)
NUMPY = {
    "tanh": np.tanh, "sin": np.sin, "erf": erf, "arctan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "cos": np.cos,
    "sigmoid": lambda u: 1 / (1 + np.exp(-u)), "softplus": lambda u: np.log1p(np.exp(u)),
    "silu": lambda u: u / (1 + np.exp(-u)), "gelu": lambda u: u * (1 + erf(u / 2**0.5)) / 2, "exp": np.exp,
    "gaussian": lambda u: np.exp(-(u**2)), "square": np.square, "cube": lambda u: u**3, "identity": lambda u: u,
    "relu": lambda u: np.maximum(u, 0), "abs": np.abs,
}  # fmt: skip


@pytest.mark.parametrize("name", REGISTERED)
def test_every_activation(agree, name):
    shallow = read_architecture(f"2-3{name}-1", one_region=True)
    agree(shallow, lambda w, a, x: a @ NUMPY[name](w @ x))
    with_bias = read_architecture(f"2-3{name}-2+bias", one_region=True)
    agree(with_bias, lambda w, b, a, c, x: a @ NUMPY[name](w @ x + b) + c)
    deep = read_architecture(f"2-2{name}-3tanh-2{name}", one_region=True)
    agree(deep, lambda w1, w2, w3, x: NUMPY[name](w3 @ np.tanh(w2 @ NUMPY[name](w1 @ x))))


def softmax(z, axis=-1):
    return np.exp(z) / np.exp(z).sum(axis=axis, keepdims=True)


def _windows(x):
    return np.stack([x[0:3], x[2:5], x[4:7]])


CASES = {
    "f[j] = c[j]": lambda c: c,
    "f[i,j] = c[j] + d[i]": lambda c, d: c[None, :] + d[:, None],
    "f[j,i] = c[i]": lambda c: np.broadcast_to(c, (3, 2)),
    "f = sum[j](c)": lambda c: 3 * c,
    "f = mean[j](c)": lambda c: c,
    "f = sum[i,j](c[i]*2)": lambda c: 3 * 2 * c.sum(),
    "f = mean[i,j](c[i]*d[j])": lambda c, d: np.mean(np.outer(c, d)),
    "f = c[i]*d[j]*w[i,j]": lambda c, d, w: c @ w @ d,
    "f = w[j,j]": lambda w: np.trace(w),
    "f[j] = w[j,j]*c": lambda w, c: np.diag(w) * c,
    "f = w[i,j]*w[i,j]": lambda w: (w**2).sum(),
    "f = c/(1 + d^2)": lambda c, d: c / (1 + d**2),
    "f = (1 + d^2)^(-3/2)": lambda d: (1 + d**2) ** -1.5,
    "f = sqrt(1 + d^2)": lambda d: np.sqrt(1 + d**2),
    "f = (1/3)^2 - c^-2": lambda c: 1 / 9 - c**-2,
    "f[j] = softmax[j](c[j])": lambda c: softmax(c),
    "f[i,j] = softmax[i](w[i,j])": lambda w: softmax(w, 0),
    "f[j] = softmax[j](c)": lambda: np.full(3, 1 / 3),
    "f = softmax[j](c[j])*d[j]": lambda c, d: softmax(c) @ d,
    "f[j] = softmax[j](-c[j]*d)^2": lambda c, d: softmax(-c * d) ** 2,
    "f[o] = w[u]*y[2*o+u]": lambda w, y: _windows(y) @ w,
    "f[u] = c*y[6-u]": lambda c, y: c * y[[6, 5, 4]],
    "f[u,o] = c*y[u+o]*y[0]": lambda c, y: c * np.array([[y[a + b] * y[0] for b in range(3)] for a in range(3)]),
    "f[u] = w[3,2*u]*y[1]": lambda w, y: w[3, ::2] * y[1],
    "f = c*y[3] - m[i]*x[i]": lambda c, x, y: c * y[3] - (x[0] / 2 - x[1]),
    "f = tanh(mean[o](y[2*o+1]*c))": lambda c, y: np.tanh(np.mean(y[1:6:2] * c)),
    "f = custom(tanh(u)/(2 + u^2) + sqrt(1 + u^2))(c)": lambda c: np.tanh(c) / (2 + c**2) + np.sqrt(1 + c**2),
    "f = custom(custom(u^2 - 1)(u) + log(2 + cos(u)))(c)": lambda c: c**2 - 1 + np.log(2 + np.cos(c)),
    "f = custom(atan(u) + asinh(u)*(1/4))(c)": lambda c: np.arctan(c) + np.arcsinh(c) / 4,
}


@pytest.mark.parametrize("text", CASES)
def test_every_kind_of_node(agree, text):
    head = "input x[i], y[t]; constant m[i] = [1/2,-1]; "
    tail = "; size i=2, j=3, t=7, u=3, o=3"
    agree(parse_program(head + text + tail), CASES[text])


def test_several_outputs_are_concatenated(agree):
    program = parse_program("input x[i]; g[i] = w[i]*x[i]; h = a*g[i]; output h, g; size i=2")
    agree(program, lambda w, a, x: np.concatenate([[a * (w @ x)], w * x]))


def test_the_dtype_follows_the_parameters():
    program = parse_program("input x[i]; constant m[i] = [1/3,2]; f = mean[i](sum[j](a[i]*x[i])*m[i])/7; size i=2, j=3")
    with jax.numpy_dtype_promotion("strict"):
        assert jax_map(program)(jnp.ones(2), jnp.ones(2)).dtype == jnp.float32
        with jax.enable_x64(True):
            assert jax_map(program)(jnp.ones(2), jnp.ones(2)).dtype == jnp.float64


def test_jit_vmap_and_gradient():
    program = read_architecture("2-3tanh-1")
    rng = np.random.default_rng(0)
    with jax.enable_x64(True):
        theta, batch = rng.normal(size=9), rng.normal(size=(5, 2))
        w, a = theta[:6].reshape(3, 2), theta[6:]
        values = jax.jit(jax.vmap(jax_map(program), in_axes=(None, 0)))(theta, batch)
        assert np.allclose(values[:, 0], np.tanh(batch @ w.T) @ a, atol=1e-14)
        gradient = jax.grad(lambda p: jax_map(program)(p, batch[0])[0])(theta)
        hidden = np.tanh(w @ batch[0])
        assert np.allclose(gradient[6:], hidden, atol=1e-14)
        assert np.allclose(gradient[:6].reshape(3, 2), np.outer(a * (1 - hidden**2), batch[0]), atol=1e-14)


def test_the_gradient_of_a_causal_softmax_is_finite():
    program = parse_program("input x[s]; f[t] = softmax[s<=t](a[t]*x[s])*x[s]; size s=3, t=3")
    with jax.enable_x64(True):
        jacobian = jax.jacobian(jax_map(program))(np.ones(3), np.array([1e3, -1e3, 1e3]))
    assert np.isfinite(jacobian).all()
