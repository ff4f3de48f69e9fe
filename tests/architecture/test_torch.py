"""PyTorch modules read as programs, and a recorded graph that is read where PyTorch is not installed."""

import json
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from invman.architecture import parse_program
from invman.architecture.evaluate import jax_map
from invman.architecture.torch import FORMAT, from_torch, read_recorded, record_torch
from invman.errors import DataError, OverBudgetError, UnsupportedError
from invman.symmetry.axes import AxisClasses

RECORDED = Path(__file__).parent / "data" / "torch_block.json"


@pytest.fixture
def torch():
    module = pytest.importorskip("torch", reason="the optional extra invman[torch] is not installed")
    module.manual_seed(0)
    return module


def evaluated(program, theta, x):
    with jax.enable_x64(True):
        return np.asarray(jax_map(program)(jnp.asarray(theta, jnp.float64), jnp.asarray(x, jnp.float64)))


@pytest.fixture
def same(torch):
    """Import a module through its JSON record, and compare in double precision."""

    def check(module, *inputs):
        module = module.double()
        given = [value.double() if value.is_floating_point() else value for value in inputs]
        program = read_recorded(json.loads(json.dumps(record_torch(module, *given))))
        flat = [
            value.numpy().reshape(-1) if value.is_floating_point() else np.eye(tensor.shape[-1])[value].reshape(-1)
            for tensor, value in zip(program.inputs, given, strict=True)
        ]
        theta = torch.nn.utils.parameters_to_vector(module.parameters()).detach().numpy()
        result = module(*given)
        parts = result if isinstance(result, tuple) else (result,)
        expected = np.concatenate([part.detach().numpy().reshape(-1) for part in parts])
        got = evaluated(program, theta, np.concatenate(flat))
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12 * abs(expected).max())
        return program

    return check


def hidden(program):
    return sorted(c.size for c in AxisClasses(program).classes if c.hidden)


def test_an_mlp(torch, same):
    nn = torch.nn
    program = same(nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)), torch.randn(2))
    assert program.text.splitlines() == [
        "input x[i]",
        "h[k] = tanh(x[i]*p0_weight[k,i] + p0_bias[k])",
        "f = h[k]*p2_weight[k] + p2_bias",
        "size i=2, k=3",
    ]


def block(torch):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(5, 4)
            self.norm = nn.LayerNorm(4)
            self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
            self.up = nn.Linear(4, 6)
            self.down = nn.Linear(6, 2)

        def forward(self, tokens):
            x = self.embedding(tokens)[None]
            y = self.norm(x)
            mask = torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)
            x = x + self.attention(y, y, y, attn_mask=mask, need_weights=False)[0]
            return self.down(nn.functional.gelu(self.up(x)))

    return Block()


def check_block(program):
    assert hidden(program) == [2, 2, 4, 6]  # heads, an axis within a head, the residual stream, the wide layer
    assert {tensor.name: tensor.shape for tensor in program.parameters}["attention_in_proj_weight"] == (3, 2, 2, 4)
    assert "softmax[i1_2<=i1]" in program.text
    assert "gelu(" in program.text
    assert not program.constants


def test_a_transformer_block_on_tokens(torch, same):
    check_block(same(block(torch), torch.tensor([1, 4, 2])))


def test_a_recorded_graph_needs_no_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    record = json.loads(RECORDED.read_text(encoding="utf-8"))
    program = read_recorded(record["graph"])
    check_block(program)
    assert parse_program(program.text).text == program.text
    np.testing.assert_allclose(evaluated(program, record["theta"], record["x"]), record["outputs"], rtol=1e-12)
    with pytest.raises(UnsupportedError, match=r"pip install 'invman\[torch\]'"):
        from_torch(None)


def test_the_recorded_graph_is_what_torch_records_today(torch):
    record = json.loads(RECORDED.read_text(encoding="utf-8"))
    today = from_torch(block(torch).double(), torch.tensor([1, 4, 2]))
    assert today == read_recorded(record["graph"])


def test_a_convolutional_net_in_evaluation_mode(torch, same):
    nn = torch.nn
    norm = nn.BatchNorm2d(3)
    layers = [nn.Conv2d(2, 3, 3, stride=2, padding=1), norm, nn.SiLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(6, 2)]
    net = nn.Sequential(*layers).eval()
    program = same(net, torch.randn(1, 2, 8, 4))
    assert hidden(program) == [3]
    assert "silu(" in program.text
    norm.running_mean += torch.randn(3)  # fixed numbers that differ from channel to channel
    assert hidden(same(net, torch.randn(1, 2, 8, 4))) == []


def test_a_transposed_convolution(torch, same):
    layer = torch.nn.ConvTranspose1d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2)
    same(layer, torch.randn(1, 4, 5))


def test_a_recurrent_net(torch, same):
    program = same(torch.nn.GRU(2, 3, batch_first=True), torch.randn(1, 3, 2))
    assert program.outputs == ("f1", "f2")


ACTIVATIONS = {
    "ReLU": "relu(",
    "SiLU": "silu(",
    "GELU": "gelu(",
    "Softplus": "softplus(",
    "Sigmoid": "sigmoid(",
    "LeakyReLU": "relu(",
    "Mish": "tanh(softplus(",
    "Softsign": "abs(",
    "Tanhshrink": "tanh(",
}


@pytest.mark.parametrize(("name", "expected"), ACTIVATIONS.items())
def test_activations_are_recognised(torch, same, name, expected):
    program = same(torch.nn.Sequential(torch.nn.Linear(3, 4), getattr(torch.nn, name)()), torch.randn(3))
    assert expected in program.text


def test_norms_and_the_rest(torch, same):
    nn = torch.nn
    layers = [nn.GroupNorm(2, 4), nn.RMSNorm(4), nn.GELU("tanh"), nn.PReLU()]
    same(nn.Sequential(nn.Linear(3, 4), *layers), torch.randn(2, 3))
    layers = [nn.Softplus(2.0), nn.Hardtanh(), nn.GLU(), nn.LogSoftmax(-1)]
    same(nn.Sequential(nn.Linear(3, 4), *layers), torch.randn(2, 3))

    class Pieces(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.randn(6, 4))

        def forward(self, x):
            h = x @ self.w.t()
            a, b = h.chunk(2, -1)
            joined = torch.cat([a * b, torch.ones(2, 1), h[:, 1:4:2]], -1)
            return nn.functional.pad(joined, (1, 0)).var(0), torch.stack([a, b]).mean()

    same(Pieces(), torch.randn(2, 4))


def test_errors(torch):
    nn = torch.nn
    with pytest.raises(UnsupportedError, match="operation 'max_pool2d_with_indices'"):
        from_torch(nn.Sequential(nn.Conv2d(1, 2, 3), nn.MaxPool2d(2)), torch.randn(1, 1, 6, 6))

    class Sort(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.randn(3))

        def forward(self, x):
            return torch.sort(self.w * x)[0]

    with pytest.raises(UnsupportedError, match=r"operation 'sort' at .*test_torch\.py:\d+: got"):
        from_torch(Sort(), torch.randn(3))
    with pytest.raises(UnsupportedError, match=r"torch\.export: got"):
        from_torch(nn.Linear(2, 3), torch.randn(5))
    with pytest.raises(OverBudgetError, match="operations of the module"):
        from_torch(nn.Linear(2, 3), torch.randn(2), budget=1)


def test_a_record_of_another_format_is_refused():
    with pytest.raises(DataError, match=f"got format 'other/1', expected '{FORMAT}'"):
        read_recorded({"format": "other/1"})
