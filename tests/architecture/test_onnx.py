"""ONNX models read as programs; the numbers are those of the reference evaluator of onnx (erf in single precision)."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from invman.architecture.evaluate import jax_map
from invman.architecture.onnx import flat_initializers, from_onnx
from invman.errors import ArchitectureError, UnsupportedError
from invman.symmetry.axes import AxisClasses

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.normal(size=shape)


@pytest.fixture
def onnx():
    return pytest.importorskip("onnx", reason="the optional extra invman[onnx] is not installed")


@pytest.fixture
def build(onnx):
    """Build a model from nodes, initializers and the shapes of its inputs; the output is y."""

    def make(nodes, initializers, inputs, opset=20):
        helper, kinds = onnx.helper, onnx.TensorProto
        made = []
        for number, (kind, given, given_out, *options) in enumerate(nodes):
            attributes = {
                key: onnx.numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value
                for key, value in (options[0] if options else {}).items()
            }
            made.append(helper.make_node(kind, given.split(), given_out.split(), name=f"node{number}", **attributes))
        infos = [
            helper.make_tensor_value_info(name, kinds.INT64 if name == "t" else kinds.DOUBLE, shape)
            for name, shape in inputs.items()
        ]
        output = helper.make_tensor_value_info("y", kinds.DOUBLE, None)
        tensors = [onnx.numpy_helper.from_array(array, name) for name, array in initializers.items()]
        graph = helper.make_graph(made, "graph", infos, [output], tensors)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])

    return make


@pytest.fixture
def same(onnx, build):
    evaluator = pytest.importorskip(f"{onnx.__name__}.reference").ReferenceEvaluator

    def check(nodes, initializers, **inputs):
        model = build(nodes, initializers, {name: value.shape for name, value in inputs.items()})
        program = from_onnx(model)
        flat = [
            np.eye(tensor.shape[-1])[value].reshape(-1) if value.dtype.kind == "i" else value.reshape(-1)
            for tensor, value in zip(program.inputs, inputs.values(), strict=True)
        ]
        (expected,) = evaluator(model).run(None, inputs)
        with jax.enable_x64(True):
            got = jax_map(program)(jnp.asarray(flat_initializers(model)), jnp.asarray(np.concatenate(flat)))
        np.testing.assert_allclose(got, expected.reshape(-1), rtol=1e-6, atol=1e-6 * abs(expected).max())
        return program

    return check


def hidden(program):
    return sorted(c.size for c in AxisClasses(program).classes if c.hidden)


def test_an_mlp(same):
    nodes = [("Gemm", "x w b", "z", {"transB": 1}), ("Tanh", "z", "h"), ("MatMul", "h a", "y")]
    program = same(nodes, {"w": normal(3, 2), "b": normal(3), "a": normal(3, 1)}, x=normal(1, 2))
    assert program.text.splitlines() == [
        "input x[i]",
        "h[k] = tanh(x[i]*w[k,i] + b[k])",
        "f = h[k]*a[k]",
        "size i=2, k=3",
    ]


def test_causal_attention_on_tokens(same):
    heads = np.array([3, 2, 2])
    nodes = [
        ("Gather", "e t", "x"),
        ("LayerNormalization", "x g b", "n", {"axis": -1}),
        ("MatMul", "n qkv", "m"),
        ("Split", "m", "q k v", {"axis": -1, "num_outputs": 3}),
        ("Constant", "", "s", {"value": heads}),
        *[("Reshape", f"{name} s", f"{name}r") for name in "qkv"],
        ("Transpose", "qr", "qt", {"perm": [1, 0, 2]}),
        ("Transpose", "kr", "kt", {"perm": [1, 2, 0]}),
        ("Transpose", "vr", "vt", {"perm": [1, 0, 2]}),
        ("MatMul", "qt kt", "scores"),
        ("Constant", "", "mask", {"value": np.triu(np.full((3, 3), -1e9), 1)}),
        ("Add", "scores mask", "masked"),
        ("Softmax", "masked", "p", {"axis": -1}),
        ("MatMul", "p vt", "o"),
        ("Transpose", "o", "ot", {"perm": [1, 0, 2]}),
        ("Constant", "", "flat", {"value": np.array([0, -1])}),
        ("Reshape", "ot flat", "merged"),
        ("MatMul", "merged w", "y"),
    ]
    weights = {"e": normal(5, 4), "g": normal(4), "b": normal(4), "qkv": normal(4, 12), "w": normal(4, 2)}
    program = same(nodes, weights, t=np.array([1, 4, 2]))
    assert hidden(program) == [2, 2, 4]
    assert "softmax[i1_2<=i1]" in program.text
    assert not program.constants


def test_a_convolutional_net(same):
    nodes = [
        ("Conv", "x w b", "c", {"auto_pad": "SAME_UPPER", "strides": [2, 1]}),
        ("BatchNormalization", "c g be mu va", "n"),
        ("Relu", "n", "r"),
        ("AveragePool", "r", "p", {"kernel_shape": [2, 2], "strides": [1, 2]}),
        ("Flatten", "p", "f"),
        ("Gemm", "f l", "y"),
    ]
    weights = {"w": normal(3, 2, 3, 3), "b": normal(3), "g": normal(3), "be": normal(3), "l": normal(12, 2)}
    program = same(nodes, weights | {"mu": np.zeros(3), "va": np.full(3, 2.0)}, x=normal(1, 2, 5, 4))
    assert hidden(program) == [3]
    other = same(nodes, weights | {"mu": normal(3), "va": normal(3) ** 2}, x=normal(1, 2, 5, 4))
    assert hidden(other) == []  # the statistics are fixed numbers that differ from channel to channel
    assert [tensor.name for tensor in program.parameters] == ["w", "b", "g", "be", "l"]


OPERATORS = {
    "silu": [("Sigmoid", "h", "s"), ("Mul", "h s", "y")],
    "gelu": [("Gelu", "h", "y")],
    "softplus": [("Softplus", "h", "y")],
    "leaky": [("LeakyRelu", "h", "y", {"alpha": 0.25})],
    "clip": [("Constant", "", "l", {"value": np.array(-0.5)}), ("Clip", "h l", "y")],
    "log softmax": [("LogSoftmax", "h", "y")],
    "global mean": [("ReduceMean", "h", "y", {"keepdims": 0})],
    "sum": [("Constant", "", "a", {"value": np.array([1])}), ("ReduceSum", "h a", "y")],
    "normalised": [
        ("Constant", "", "two", {"value": np.array(2.0)}),
        ("Constant", "", "last", {"value": np.array([-1])}),
        ("Pow", "h two", "q"),
        ("ReduceMean", "q last", "m"),
        ("Sqrt", "m", "r"),
        ("Div", "h r", "y"),
    ],
    "slice and join": [
        ("Constant", "", "z", {"value": np.array([0])}),
        ("Constant", "", "e", {"value": np.array([2])}),
        ("Constant", "", "ax", {"value": np.array([1])}),
        ("Slice", "h z e ax", "left"),
        ("Neg", "left", "minus"),
        ("Concat", "minus h", "y", {"axis": -1}),
    ],
    "shape": [
        ("Shape", "h", "n"),
        ("ConstantOfShape", "n", "zeros", {"value": np.array([2.0])}),
        ("Where", "keep zeros h", "y"),
    ],
    "pad": [("Constant", "", "w", {"value": np.array([0, 1, 0, 2])}), ("Pad", "h w", "y")],
    "squeeze": [("Constant", "", "ax", {"value": np.array([0])}), ("Unsqueeze", "h ax", "u"), ("Squeeze", "u ax", "y")],
}


@pytest.mark.parametrize("nodes", OPERATORS.values(), ids=OPERATORS.keys())
def test_operators(same, nodes):
    constants = {"keep": np.array([True, False, True, False])} if nodes[0][0] == "Shape" else {}
    same([("MatMul", "x w", "h"), *nodes], {"w": normal(3, 4), **constants}, x=normal(2, 3))


def test_open_dimensions_need_a_size(build):
    model = build([("MatMul", "x w", "y")], {"w": normal(3, 4)}, {"x": ["batch", 3]})
    with pytest.raises(ArchitectureError, match=r"input x: got a dimension 'batch' .* sizes=\{'batch': 1\}"):
        from_onnx(model)
    assert from_onnx(model, sizes={"batch": 2}).output_count == 8


def test_files(onnx, build, tmp_path):
    model = build([("MatMul", "x w", "y")], {"w": normal(3, 4)}, {"x": [3]})
    path = tmp_path / "model.onnx"
    onnx.save(model, str(path))
    assert from_onnx(path) == from_onnx(model)
    path.write_bytes(b"no model")
    with pytest.raises(ArchitectureError, match=r"ONNX file .*model\.onnx.*expected a readable ONNX model"):
        from_onnx(path)


def test_errors(build, monkeypatch):
    model = build([("MatMul", "x w", "h"), ("Hardmax", "h", "y")], {"w": normal(3, 4)}, {"x": [2, 3]})
    with pytest.raises(UnsupportedError, match="operation 'Hardmax' at node1: got the operation Hardmax"):
        from_onnx(model)
    with pytest.raises(UnsupportedError, match="ONNX opset: got 9, expected 13"):
        from_onnx(build([("MatMul", "x w", "y")], {"w": normal(3, 4)}, {"x": [2, 3]}, opset=9))
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(UnsupportedError, match=r"pip install 'invman\[onnx\]'"):
        from_onnx(model)
