"""JAX functions read as programs: the same numbers as the function, the axes that the mathematics has."""

from collections import Counter

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from invman.architecture import parse_program, read_architecture
from invman.architecture.evaluate import jax_map
from invman.architecture.jaxpr import flat_parameters, from_jax
from invman.architecture.scalars import sympy_map
from invman.errors import ArchitectureError, OverBudgetError, UnsupportedError
from invman.symmetry.axes import AxisClasses


def normal(*shape, seed=0):
    return jax.random.normal(jax.random.key(seed), shape)


def flat_inputs(program, inputs):
    parts = []
    for tensor, value in zip(program.inputs, jax.tree.leaves(inputs), strict=True):
        array = jnp.asarray(value)
        if jnp.issubdtype(array.dtype, jnp.integer):
            array = jax.nn.one_hot(array, tensor.shape[-1])
        parts.append(array.reshape(-1).astype(jnp.result_type(float)))
    return jnp.concatenate(parts)


def same(fn, params, *inputs, tolerance=1e-5):
    """Import, and compare with the function at random parameters."""
    program = from_jax(fn, params, *inputs)
    arrays, static = eqx.partition(params, eqx.is_inexact_array)

    def both(theta):
        expected = jax.tree.leaves(fn(eqx.combine(theta, static), *inputs))
        got = jax_map(program)(flat_parameters(theta), flat_inputs(program, inputs))
        return jnp.concatenate([jnp.reshape(leaf, -1) for leaf in expected]), got

    compiled = jax.jit(both)
    leaves, structure = jax.tree.flatten(arrays)
    rng = np.random.default_rng(0)
    for _ in range(2):
        drawn = [np.asarray(leaf + rng.normal(size=leaf.shape) / 4, leaf.dtype) for leaf in leaves]
        expected, got = compiled(jax.tree.unflatten(structure, drawn))
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance * float(jnp.abs(expected).max()))
    return program


def hidden(program):
    return Counter(c.size for c in AxisClasses(program).classes if c.hidden)


def statements(program):
    return [line for line in program.text.splitlines() if " = " in line and not line.startswith("constant")]


def call(module, *inputs):
    return module(*inputs)


def test_mlp_has_the_axes_of_the_short_form():
    mlp = eqx.nn.MLP(2, 1, 3, 1, activation=jnp.tanh, key=jax.random.key(0))
    program = same(call, mlp, normal(2))
    short = read_architecture("2-3tanh-1+bias")
    mine, other = AxisClasses(program).classes, AxisClasses(short).classes
    assert sorted((c.size, c.hidden, len(c.carriers)) for c in mine) == sorted(
        (c.size, c.hidden, len(c.carriers)) for c in other
    )
    (axis,) = [c for c in mine if c.hidden]
    assert {(c.tensor, c.position) for c in axis.carriers} == {
        ("layers_0_weight", 0),
        ("layers_0_bias", 0),
        ("layers_1_weight", 0),
    }
    assert [t.name for t in program.parameters] == [
        "layers_0_weight",
        "layers_0_bias",
        "layers_1_weight",
        "layers_1_bias",
    ]
    assert statements(program) == [
        "h[k] = tanh(layers_0_weight[k,i]*x[i] + layers_0_bias[k])",
        "f = layers_1_weight[k]*h[k] + layers_1_bias",
    ]


def test_a_hidden_layer_of_width_one_keeps_its_axis():
    mlp = eqx.nn.MLP(2, 1, 1, 1, activation=jnp.tanh, key=jax.random.key(0))
    assert hidden(same(call, mlp, normal(2))) == {1: 1}


def test_double_precision():
    with jax.enable_x64(True):
        mlp = eqx.nn.MLP(3, 2, 4, 2, activation=jnp.sin, key=jax.random.key(0), dtype=jnp.float64)
        same(call, mlp, normal(3), tolerance=1e-12)
        ends = [eqx.nn.MultiheadAttention(2, 4, key=jax.random.key(1), dtype=jnp.float64)]
        same(lambda p, x: p[0](x, x, x), ends, normal(3, 4), tolerance=1e-12)


def test_sympy_agrees_with_jax_on_an_import():
    program = from_jax(
        lambda p, x: jnp.tanh(p["w"] @ x).reshape(2, 2) @ p["a"], {"a": normal(2), "w": normal(4, 2)}, normal(2)
    )
    theta, x, outputs = sympy_map(program)
    rng = np.random.default_rng(0)
    at = rng.normal(size=len(theta)), rng.normal(size=len(x))
    values = dict(zip([*theta, *x], np.concatenate(at), strict=True))
    with jax.enable_x64(True):
        got = jax_map(program)(*(jnp.asarray(part) for part in at))
    np.testing.assert_allclose(got, [float(f.subs(list(values.items()))) for f in outputs], rtol=1e-12)


ACTIVATIONS = {
    "relu": (jax.nn.relu, "relu(z)"),
    "silu": (jax.nn.silu, "silu(z)"),
    "silu by hand": (lambda u: u / (1 + jnp.exp(-u)), "silu(z)"),
    "gelu": (lambda u: jax.nn.gelu(u, approximate=False), "gelu(z)"),
    "softplus": (jax.nn.softplus, "softplus(z)"),
    "softplus by hand": (lambda u: jnp.log(1 + jnp.exp(u)), "softplus(z)"),
    "logaddexp": (lambda u: jnp.logaddexp(u, 0.0), "softplus(z)"),
    "sigmoid": (jax.nn.sigmoid, "sigmoid(z)"),
    "sigmoid by hand": (lambda u: 1 / (1 + jnp.exp(-u)), "sigmoid(z)"),
    "gaussian": (lambda u: jnp.exp(-u * u), "gaussian(z)"),
    "abs": (jnp.abs, "abs(z)"),
    "arctan": (jnp.arctan, "arctan(z)"),
    "erf": (jax.lax.erf, "erf(z)"),
    "cosh": (jnp.cosh, "cosh(z)"),
    "square": (jnp.square, "(z)^2"),
    "cube": (lambda u: u**3, "(z)^3"),
    "rsqrt": (lambda u: jax.lax.rsqrt(u * u + 1), "((z)^2 + 1)^(-1/2)"),
    "pow": (lambda u: (u * u + 1) ** 1.5, "((z)^2 + 1)^(3/2)"),
    "mish": (jax.nn.mish, "z*tanh(softplus(z))"),
    "softsign": (jax.nn.soft_sign, "z/(abs(z) + 1)"),
    "relu of a square": (lambda u: jax.nn.relu(u * u), "(z)^2"),
    "clip": (lambda u: jnp.clip(u, 0.0, 1.0), "-relu(-relu(z) + 1) + 1"),
}


@pytest.mark.parametrize(("function", "expected"), ACTIVATIONS.values(), ids=ACTIVATIONS.keys())
def test_activations_are_recognised(function, expected):
    program = same(lambda p, x: function(p @ x), normal(4, 3), normal(3, seed=1))
    lines = statements(program)
    first, final = lines[0], lines[-1]
    if len(lines) > 1:
        final = final.replace(first.split(" = ")[0], "z")
        if len(lines) > 2:
            middle = lines[1].replace(first.split(" = ")[0], "z").split(" = ")
            final = final.replace(middle[0], middle[1])
    assert final.replace("p[o,i]*x[i]", "z") == f"f[o] = {expected}"


def test_the_tanh_approximation_of_gelu_is_what_it_is():
    program = same(lambda p, x: jax.nn.gelu(p @ x), normal(4, 3), normal(3))
    assert "gelu" not in program.text
    assert "tanh(" in program.text
    assert "h[o]^3" in program.text


def test_leaky_relu_is_a_sum_of_identity_and_relu():
    program = same(lambda p, x: jax.nn.leaky_relu(p @ x, 0.25), normal(4, 3), normal(3))
    assert statements(program)[-1] == "f[o] = 1/4*h[o] + 3/4*relu(h[o])"
    assert program.one_region


@pytest.mark.parametrize(
    "function",
    [
        jax.nn.softmax,
        lambda s: jnp.exp(s) / jnp.sum(jnp.exp(s)),
        lambda s: (lambda e: e / e.sum())(jnp.exp(s - s.max())),
    ],
)
def test_softmax_however_written(function):
    program = same(lambda p, x: function(p @ x), normal(4, 3), normal(3))
    assert statements(program) == ["f[o] = softmax[o](p[o,i]*x[i])"]


def test_log_softmax_and_logsumexp():
    program = same(lambda p, x: jax.nn.log_softmax(p @ x), normal(4, 3), normal(3))
    assert statements(program) == ["f[o] = log(softmax[o](sum[i](p[o,i]*x[i])))"]
    program = same(lambda p, x: jax.nn.logsumexp(p @ x), normal(4, 3), normal(3))
    assert statements(program)[-1] == "f = log(sum[k](exp(h[k])))"


def test_softmax_over_two_axes_is_written_out():
    program = same(lambda p, x: jax.nn.softmax(p @ x, axis=(0, 1)), normal(4, 3), normal(3, 2))
    assert "softmax" not in program.text


CAUSAL = {
    "where minus infinity": lambda s, keep: jax.nn.softmax(jnp.where(keep, s, -jnp.inf), axis=-1),
    "where -1e9": lambda s, keep: jax.nn.softmax(jnp.where(keep, s, -1e9), axis=-1),
    "added": lambda s, keep: jax.nn.softmax(s + np.where(keep, 0.0, -1e9).astype(np.float32), axis=-1),
    "softmax where": lambda s, keep: jax.nn.softmax(s, axis=-1, where=keep),
}


@pytest.mark.parametrize("masked", CAUSAL.values(), ids=CAUSAL.keys())
def test_causal_masks(masked):
    keep = np.tril(np.ones((4, 4), bool))
    program = same(lambda p, x: masked((x @ p) @ x.T, keep), normal(3, 3), normal(4, 3))
    assert "softmax[i1_2<=i1]" in program.text
    assert not program.constants


def test_a_mask_that_is_not_causal_is_a_constant():
    keep = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) <= 1
    program = same(lambda p, x: jax.nn.softmax(jnp.where(keep, (x @ p) @ x.T, -jnp.inf)), normal(3, 3), normal(4, 3))
    assert "softmax" not in program.text
    (mask,) = program.constants
    assert sum(mask.values) == keep.sum()


def test_multihead_attention_splits_its_parameters_into_heads():
    attention = eqx.nn.MultiheadAttention(2, 6, key=jax.random.key(0), use_query_bias=True)
    mask = np.tril(np.ones((4, 4), bool))
    program = same(lambda m, x: m(x, x, x, mask=mask), attention, normal(4, 6))
    shapes = {tensor.name: tensor.shape for tensor in program.parameters}
    assert shapes["query_proj_weight"] == (2, 3, 6)
    assert shapes["query_proj_bias"] == (2, 3)
    assert shapes["output_proj_weight"] == (6, 2, 3)
    assert hidden(program) == {2: 1, 3: 2}  # heads; the axes of queries with keys, and of values with the output


def test_dot_product_attention_of_jax():
    def attend(p, x):
        q, k, v = (jnp.reshape(x @ p[name], (5, 2, 3)) for name in "qkv")
        return jax.nn.dot_product_attention(q, k, v, is_causal=True)

    program = same(attend, {name: normal(4, 6, seed=n) for n, name in enumerate("qkv")}, normal(5, 4))
    assert "softmax[i1_2<=i1]" in program.text


def test_fused_projections_are_split_evenly():
    def attend(p, x):
        q, k, v = (part.reshape(5, 2, 3) for part in jnp.split(x @ p["qkv"], 3, axis=-1))
        weights = jax.nn.softmax(jnp.einsum("thd,shd->hts", q, k) / np.sqrt(3))
        return jnp.einsum("hts,shd->thd", weights, v).reshape(5, 6) @ p["o"] + x

    program = same(attend, {"qkv": normal(4, 18), "o": normal(6, 4)}, normal(5, 4))
    assert {tensor.name: tensor.shape for tensor in program.parameters} == {"qkv": (4, 3, 2, 3), "o": (2, 3, 4)}
    assert not program.constants


class Block(eqx.Module):
    """A transformer block; every embedding and norm that it uses is an equinox one."""

    embedding: eqx.nn.Embedding
    norms: list
    attention: eqx.nn.MultiheadAttention
    up: eqx.nn.Linear
    down: eqx.nn.Linear

    def __init__(self, key):
        keys = jax.random.split(key, 4)
        self.embedding = eqx.nn.Embedding(5, 4, key=keys[0])
        self.norms = [eqx.nn.LayerNorm(4), eqx.nn.RMSNorm(4)]
        self.attention = eqx.nn.MultiheadAttention(2, 4, key=keys[1])
        self.up = eqx.nn.Linear(4, 6, key=keys[2])
        self.down = eqx.nn.Linear(6, 4, key=keys[3])

    def __call__(self, tokens):
        x = jax.vmap(self.embedding)(tokens)
        y = jax.vmap(self.norms[0])(x)
        x = x + self.attention(y, y, y, mask=jnp.tril(jnp.ones((3, 3), bool)))
        y = jax.vmap(self.norms[1])(x)
        return x + jax.vmap(lambda t: self.down(jax.nn.gelu(self.up(t), approximate=False)))(y)


def test_a_transformer_block_on_tokens():
    program = same(call, Block(jax.random.key(0)), jnp.array([1, 4, 2]))
    assert [tensor.shape for tensor in program.inputs] == [(3, 5)]  # one-hot
    assert hidden(program) == {2: 3, 6: 1}  # heads, two axes within a head, the wide layer; the residual is read out
    assert "mean[" in program.text
    assert "gelu(" in program.text
    assert not program.one_region


EMBEDDINGS = {
    "indexed": lambda p, t: p["w"][t] @ p["o"],
    "vmap": lambda p, t: jax.vmap(lambda n: p["w"][n])(t) @ p["o"],
    "take": lambda p, t: jnp.take(p["w"], t, axis=0) @ p["o"],
    "take columns": lambda p, t: jnp.take(p["w"].T, t, axis=1).T @ p["o"],
    "one_hot": lambda p, t: jax.nn.one_hot(t, 5) @ p["w"] @ p["o"],
    "scan": lambda p, t: jax.lax.scan(lambda h, n: (h + p["w"][n], None), jnp.zeros(3), t)[0] @ p["o"],
}


@pytest.mark.parametrize("function", EMBEDDINGS.values(), ids=EMBEDDINGS.keys())
def test_integer_inputs_become_one_hot(function):
    program = same(function, {"w": normal(5, 3), "o": normal(3, 2)}, jnp.array([1, 4, 2]))
    assert program.inputs[0].shape == (3, 5)
    assert hidden(program) == {3: 1}


CONVOLUTIONS = {
    "valid": (lambda k: eqx.nn.Conv2d(2, 3, 3, key=k), (2, 6, 5)),
    "same and stride": (lambda k: eqx.nn.Conv2d(2, 3, 3, stride=2, padding="SAME", key=k), (2, 6, 5)),
    "dilated": (lambda k: eqx.nn.Conv1d(2, 3, 3, dilation=2, key=k), (2, 8)),
    "groups": (lambda k: eqx.nn.Conv1d(4, 6, 3, groups=2, padding=1, key=k), (4, 6)),
    "depthwise": (lambda k: eqx.nn.Conv1d(4, 4, 3, groups=4, key=k), (4, 6)),
    "transposed": (lambda k: eqx.nn.ConvTranspose1d(2, 3, 3, stride=2, key=k), (2, 4)),
    "pointwise": (lambda k: eqx.nn.Conv1d(2, 3, 1, key=k), (2, 4)),
    "whole": (lambda k: eqx.nn.Conv1d(2, 3, 4, key=k), (2, 4)),
    "patches": (lambda k: eqx.nn.Conv1d(2, 3, 2, stride=2, key=k), (2, 6)),
}


@pytest.mark.parametrize(("layer", "shape"), CONVOLUTIONS.values(), ids=CONVOLUTIONS.keys())
def test_convolutions(layer, shape):
    same(call, layer(jax.random.key(0)), normal(*shape))


def test_a_convolutional_net_has_hidden_channels():
    keys = jax.random.split(jax.random.key(0), 3)
    net = eqx.nn.Sequential(
        [
            eqx.nn.Conv2d(2, 3, 3, padding=1, key=keys[0]),
            eqx.nn.Lambda(jnp.tanh),
            eqx.nn.AvgPool2d(2, 2),
            eqx.nn.Conv2d(3, 4, 2, key=keys[1]),
            eqx.nn.Lambda(jax.nn.silu),
            eqx.nn.Lambda(jnp.ravel),
            eqx.nn.Linear(4 * 2 * 1, 2, key=keys[2]),
        ]
    )
    program = same(call, net, normal(2, 6, 4))
    assert hidden(program) == {3: 1, 4: 1}
    assert {tensor.name: tensor.shape for tensor in program.parameters}["layers_6_weight"] == (2, 4, 2)


SHAPES = {
    "merge and split": lambda p, x: (jnp.tanh((p["w"] @ x).reshape(2, 3)).reshape(6) * p["b"]).reshape(3, 2).T,
    "concatenate": lambda p, x: p["b"] @ jnp.concatenate([jnp.tanh(x), jnp.ones(1), jnp.sin(p["w"] @ x)[:3]]),
    "stack": lambda p, x: jnp.stack([p["w"] @ x, p["b"], jnp.arange(6.0)]) ** 2,
    "even halves": lambda p, x: (lambda h: h[:3] * jax.nn.sigmoid(h[3:]))(p["w"] @ x),
    "every second": lambda p, x: (lambda h: h[::2] * h[1::2])(p["w"] @ x),
    "overlapping": lambda p, x: (lambda h: h[1:4] * h[2:5] + h[:3])(p["w"] @ x),
    "reversed": lambda p, x: (p["w"] @ x)[::-1] * p["b"],
    "single entries": lambda p, x: (p["w"] @ x)[4] + p["b"][0] * x[-1],
    "positions": lambda p, x: p["w"][np.array([0, 3, 1])] @ x + p["b"][np.arange(3)],
    "square symmetric": lambda p, x: (lambda h: h + h.T)(jnp.outer(p["b"], p["w"] @ x)),
    "tiled": lambda p, x: jnp.tile(x, 3) * p["b"],
    "repeated": lambda p, x: jnp.repeat(x, 3) * p["b"],
    "cumulative": lambda p, x: jnp.cumsum(p["w"] @ x) * p["b"],
    "padded": lambda p, x: jnp.pad(p["w"] @ x, (1, 2)) * jnp.arange(9.0),
    "mean and variance": lambda p, x: (lambda h: (h - h.mean()) / jnp.sqrt(h.var() + 1e-3))(p["w"] @ x),
    "several outputs": lambda p, x: (p["w"] @ x, {"b": p["b"] * 2, "constant": jnp.ones(2)}),
    "power of a sum": lambda p, x: jnp.linalg.norm(p["w"] @ x) * p["b"],
    "maximum of two": lambda p, x: jnp.maximum(p["w"] @ x, p["b"]) - jnp.minimum(p["w"] @ x, p["b"]),
}


@pytest.mark.parametrize("function", SHAPES.values(), ids=SHAPES.keys())
def test_shapes(function):
    program = same(function, {"w": normal(6, 2), "b": normal(6, seed=1)}, normal(2, seed=2))
    assert parse_program(program.text).text == program.text


def test_axes_that_are_added_and_contracted_are_one():
    def two_paths(p, x):
        return p["a"] @ (jnp.tanh(p["w"] @ x) + jnp.sin(p["v"] @ x) * p["b"])

    program = same(two_paths, {"a": normal(2, 4), "b": normal(4), "v": normal(4, 3), "w": normal(4, 3)}, normal(3))
    (axis,) = [c for c in AxisClasses(program).classes if c.hidden]
    assert [(c.tensor, c.position) for c in axis.carriers] == [("a", 1), ("b", 0), ("v", 0), ("w", 0)]


def test_a_split_reaches_everything_that_shares_the_axis():
    def residual(p, x):
        h = p["w"] @ x + p["b"]
        return p["a"] @ (h + jnp.tanh(h.reshape(2, 3)).reshape(6))

    program = same(residual, {"a": normal(2, 6), "b": normal(6), "w": normal(6, 3)}, normal(3))
    assert [tensor.shape for tensor in program.parameters] == [(2, 2, 3), (2, 3), (2, 3, 3)]


def test_a_recurrent_net_is_unrolled_and_shares_one_axis():
    def step(p, h, u):
        h = jnp.tanh(p["w"] @ h + p["u"] @ u)
        return h, h

    def forward(p, x):
        last, every = jax.lax.scan(lambda h, u: step(p, h, u), jnp.zeros(3), x)
        return p["o"] @ last, every @ p["o"]

    program = same(forward, {"w": normal(3, 3), "u": normal(3, 2), "o": normal(3)}, normal(4, 2))
    assert hidden(program) == {3: 1}
    reverse = same(lambda p, x: jax.lax.scan(lambda h, u: step(p, h, u), jnp.zeros(3), x, reverse=True),
                   {"w": normal(3, 3), "u": normal(3, 2)}, normal(4, 2))  # fmt: skip
    assert reverse.output_count == 3 + 12


def test_layers_in_a_scan_over_stacked_parameters():
    program = same(lambda p, x: jax.lax.scan(lambda h, w: (jnp.tanh(w @ h), None), x, p)[0], normal(3, 2, 2), normal(2))
    assert statements(program)[0] == "h1[i] = tanh(p[0,i,i_2]*x[i_2])"


def test_calls_are_inlined():
    @jax.custom_jvp
    def double(u):
        return 2 * u

    double.defjvp(lambda primals, tangents: (2 * primals[0], 2 * tangents[0]))

    @jax.custom_vjp
    def triple(u):
        return 3 * u

    triple.defvjp(lambda u: (3 * u, None), lambda _, g: (3 * g,))
    program = same(
        lambda p, x: jax.checkpoint(jax.jit(lambda u: double(triple(jnp.sin(u)))))(p @ x), normal(2, 2), normal(2)
    )
    assert statements(program) == ["f[o] = 6*sin(p[o,i]*x[i])"]


def test_parameters_come_in_the_order_of_the_pytree_and_unused_ones_stay():
    params = {"z": normal(2), "a": [normal(3, 2), None, 7, jnp.arange(2)], "exp": normal(1)}
    program = from_jax(lambda p, x: p["z"] @ x * p["a"][2] + p["a"][3] @ x, params, normal(2))
    assert [(t.name, t.size) for t in program.parameters] == [("a_0", 6), ("exp_", 1), ("z", 2)]
    assert flat_parameters(params).shape == (9,) == (program.parameter_count,)


def test_names_of_inputs():
    program = from_jax(lambda p, left, right: p * left + right["deep"], jnp.ones(2), jnp.ones(2), {"deep": jnp.ones(2)})
    assert [tensor.name for tensor in program.inputs] == ["left", "right_deep"]
    program = from_jax(lambda *a: a[0] * a[1], jnp.ones(2), jnp.ones(2))
    assert [tensor.name for tensor in program.inputs] == ["x"]


def test_shapes_are_enough():
    spec = jax.ShapeDtypeStruct((300, 200), jnp.float32)
    program = from_jax(lambda p, x: jnp.tanh(p @ x), spec, jax.ShapeDtypeStruct((200,), jnp.float32))
    assert program.parameter_count == 60_000


def test_one_operation_name_per_error():
    w, x = normal(2, 2), normal(2)
    with pytest.raises(UnsupportedError, match=r"operation 'sort' at .*test_jaxpr\.py:\d+: got the JAX primitive sort"):
        from_jax(lambda p, x: jnp.sort(p @ x), w, x)
    with pytest.raises(UnsupportedError, match=r"a maximum over an axis .* at .*test_jaxpr\.py:\d+"):
        from_jax(lambda p, x: jnp.max(p @ x), w, x)
    with pytest.raises(UnsupportedError, match=r"'reduce_window_max' at"):
        from_jax(lambda p, x: jax.lax.reduce_window(p @ x, -jnp.inf, jax.lax.max, (2,), (1,), "VALID"), w, x)
    with pytest.raises(UnsupportedError, match=r"'while' at .* a loop of fixed length"):
        from_jax(lambda p, x: jax.lax.while_loop(lambda h: h[0] < 3, lambda h: h + 1, p @ x), w, x)
    with pytest.raises(UnsupportedError, match=r"'cond' at .* no branch that depends on data"):
        from_jax(lambda p, x: jax.lax.cond(x[0] > 0, lambda: p @ x, lambda: x), w, x)
    with pytest.raises(UnsupportedError, match=r"'stop_gradient' at .* the gradient of F in full"):
        from_jax(lambda p, x: jax.lax.stop_gradient(p @ x), w, x)
    with pytest.raises(UnsupportedError, match=r"'stop_gradient' at .* the gradient of F in full"):
        from_jax(lambda p, x: (lambda s: jax.nn.softmax(jax.lax.stop_gradient(s - s.max())))(p @ x), w, x)
    with pytest.raises(UnsupportedError, match=r"'select_n' at .* relu, leaky_relu"):
        from_jax(lambda p, x: jnp.where(p @ x > 1, p @ x, 0.0), w, x)
    with pytest.raises(UnsupportedError, match="minus infinity outside a softmax"):
        from_jax(lambda p, x: jnp.where(jnp.array([True, False]), p @ x, -jnp.inf), w, x)
    with pytest.raises(UnsupportedError, match="depend on none"):
        from_jax(lambda _, x: x * 2, w, x)
    with pytest.raises(UnsupportedError, match="one number of values"):
        from_jax(lambda p, t: p[t] @ jax.nn.one_hot(t, 3), normal(2, 3), jnp.array(1))
    with pytest.raises(ArchitectureError, match="inputs: got none"):
        from_jax(lambda p: p, w)


def test_the_line_in_an_error_is_the_line_of_the_operation():
    def forward(p, x):
        h = p @ x
        return jnp.sort(h)

    line = forward.__code__.co_firstlineno + 2
    with pytest.raises(UnsupportedError, match=rf"test_jaxpr\.py:{line}:"):
        from_jax(forward, normal(2, 2), normal(2))


def test_budgets():
    with pytest.raises(OverBudgetError, match=r"steps of a scan: got 100, expected at most 50"):
        from_jax(lambda p, x: jax.lax.fori_loop(0, 100, lambda _, h: p @ h, x), normal(2, 2), normal(2), budget=50)
    with pytest.raises(OverBudgetError, match="operations of the function"):
        from_jax(lambda p, x: jax.lax.fori_loop(0, 40, lambda _, h: p @ h, x), normal(2, 2), normal(2), budget=50)
    big = np.random.default_rng(0).normal(size=(1001, 1001)).astype(np.float32)
    with pytest.raises(OverBudgetError, match="entries of a constant in 'dot_general'"):
        from_jax(lambda p, x: p * (big @ x), normal(1001), normal(1001))


def test_branches_that_do_not_depend_on_data_are_chosen():
    program = same(lambda p, x: jax.lax.cond(len(x) > 1, lambda: p @ x, lambda: x), normal(2, 2), normal(2))
    assert statements(program) == ["f[o] = p[o,i]*x[i]"]


def test_a_language_model_at_full_width():
    def spec(*shape):
        return jax.ShapeDtypeStruct(shape, jnp.float32)

    width, heads, length = 768, 12, 1024
    shapes = {"qkv": (width, 3 * width), "o": (width, width), "up": (width, 4 * width), "down": (4 * width, width)}
    params = {
        "embedding": spec(50257, width),
        "position": spec(length, width),
        "blocks": [{name: spec(*shape) for name, shape in shapes.items()} for _ in range(3)],
    }

    def forward(p, tokens):
        x = p["embedding"][tokens] + p["position"]
        keep = jnp.tril(jnp.ones((length, length), bool))
        for block in p["blocks"]:
            parts = jnp.split(x / jnp.sqrt(jnp.mean(x**2, axis=-1, keepdims=True)) @ block["qkv"], 3, axis=-1)
            q, k, v = (part.reshape(length, heads, -1) for part in parts)
            scores = jnp.where(keep, jnp.einsum("thd,shd->hts", q, k) / 8, -jnp.inf)
            x = x + jnp.einsum("hts,shd->thd", jax.nn.softmax(scores), v).reshape(length, width) @ block["o"]
            x = x + jax.nn.gelu(x @ block["up"], approximate=False) @ block["down"]
        return x @ p["embedding"].T

    program = from_jax(forward, params, jax.ShapeDtypeStruct((length,), jnp.int32))
    assert program.parameter_count == 60_617_472
    assert program.text.count("softmax[i1_2<=i1]") == 3
    assert hidden(program) == {12: 3, 64: 3, 3072: 3, 768: 1}  # the fused projection ties q, k and v


def test_flax_linen():
    linen = pytest.importorskip("flax.linen", reason="flax is not installed")

    class Net(linen.Module):
        @linen.compact
        def __call__(self, x):
            x = linen.Dense(3, name="first")(x)
            x = linen.LayerNorm()(linen.MultiHeadDotProductAttention(num_heads=2, qkv_features=4)(x) + x)
            return linen.Dense(1, name="last")(jnp.tanh(x))

    net = Net()
    params = net.init(jax.random.key(0), normal(4, 2))
    program = same(net.apply, params, normal(4, 2))
    assert hidden(program) == {2: 3, 3: 1}  # heads and two axes within one; the width of the first layer
    assert not program.one_region  # its variance, E x^2 - (E x)^2, is seen not to be negative


def test_flax_nnx():
    nnx = pytest.importorskip("flax.nnx", reason="flax is not installed")

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.first = nnx.Linear(2, 3, rngs=rngs)
            self.last = nnx.Linear(3, 1, rngs=rngs)

        def __call__(self, x):
            return self.last(nnx.silu(self.first(x)))

    graph, state = nnx.split(Net(nnx.Rngs(0)))
    program = same(lambda p, x: nnx.merge(graph, p)(x), state, normal(2))
    assert [t.name for t in program.parameters] == ["first_bias", "first_kernel", "last_bias", "last_kernel"]
    assert statements(program)[0] == "h[k] = silu(x[i]*first_kernel[i,k] + first_bias[k])"
