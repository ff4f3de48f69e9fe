"""An ONNX model as a program: its graph, replayed on symbolic arrays.

Initializers of floating dtype and rank 1 or more are the parameters, in the order of the file and each in C order,
except the running statistics of a batch norm; what else is fixed is a constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from invman.architecture.importers.graph import BUDGET, Graph, Operand, Operation, read_graph
from invman.architecture.importers.operators import RULES, supported
from invman.architecture.program import Program
from invman.errors import ArchitectureError, UnsupportedError

OLDEST = 13
"""The first opset in which softmax and the axes of reductions mean what they mean today."""


def from_onnx(model: str | Path | Any, *, sizes: Mapping[str, int] | None = None, budget: int = BUDGET) -> Program:
    """Read the architecture of an ONNX model.

    Parameters
    ----------
    model : path or onnx.ModelProto
        The model, opset 13 or later.
    sizes : mapping of str to int, optional
        Sizes of the dimensions that the model leaves open, such as ``{"batch": 1}``.
    budget : int
        Largest number of operations.

    Returns
    -------
    Program
        With the parameters named like the initializers.

    Raises
    ------
    UnsupportedError
        The package onnx is not installed, the opset is too old, or an operator has no counterpart.
    ArchitectureError
        The file cannot be read, or a size is missing.
    """
    return read_graph(_graph(_loaded(model), sizes or {}), RULES, f"one of these: {', '.join(supported())}", budget)


def flat_initializers(model: str | Path | Any) -> np.ndarray:
    """Return theta, the parameters of a model in the order of the imported program.

    Returns
    -------
    array of shape (D,)
    """
    from onnx import numpy_helper

    proto = _loaded(model)
    given = {entry.name: numpy_helper.to_array(entry) for entry in proto.graph.initializer}
    return np.concatenate([given[name].reshape(-1) for name in _parameters(proto, given)])


def _loaded(model: Any) -> Any:
    try:
        import onnx
    except ImportError:
        msg = "from_onnx: got no package onnx, expected it. Install it with: pip install 'invman[onnx]'"
        raise UnsupportedError(msg) from None
    if isinstance(model, onnx.ModelProto):
        return model
    try:
        return onnx.load(str(model))
    except Exception as error:
        msg = f"ONNX file {str(model)!r}: got {type(error).__name__} ({error}), expected a readable ONNX model"
        raise ArchitectureError(msg) from error


def _parameters(model: Any, given: Mapping[str, np.ndarray]) -> list[str]:
    statistics = {name for node in model.graph.node if node.op_type == "BatchNormalization" for name in node.input[3:5]}
    return [
        name for name, array in given.items() if array.dtype.kind == "f" and array.ndim > 0 and name not in statistics
    ]


def _graph(model: Any, sizes: Mapping[str, int]) -> Graph:
    from onnx import TensorProto, helper, numpy_helper

    version = next((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), 0)
    if version < OLDEST:
        msg = f"ONNX opset: got {version}, expected {OLDEST} or later. Convert it with onnx.version_converter."
        raise UnsupportedError(msg)
    given = {entry.name: numpy_helper.to_array(entry) for entry in model.graph.initializer}
    parameters = _parameters(model, given)
    real = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16)
    inputs = []
    for entry in model.graph.input:
        if entry.name not in given:
            kind = entry.type.tensor_type
            shape = tuple(_size(entry.name, dim, sizes) for dim in kind.shape.dim)
            inputs.append((entry.name, entry.name, shape, kind.elem_type not in real))
    operations = []
    for node in model.graph.node:
        options = {entry.name: _attribute(helper.get_attribute_value(entry), numpy_helper) for entry in node.attribute}
        args = tuple(Operand(name) if name else None for name in node.input)
        operations.append(Operation(tuple(node.output), node.op_type, args, options, node.name))
    return Graph(
        parameters=tuple((name, name, given[name].shape) for name in parameters),
        inputs=tuple(inputs),
        constants={name: array for name, array in given.items() if name not in parameters},
        operations=tuple(operations),
        outputs=tuple(entry.name for entry in model.graph.output),
    )


def _size(name: str, dim: Any, sizes: Mapping[str, int]) -> int:
    if dim.HasField("dim_value"):
        return int(dim.dim_value)
    label = dim.dim_param or "?"
    if label not in sizes:
        advice = f"Give it as sizes={{{label!r}: 1}}."
        msg = f"input {name}: got a dimension {label!r} without a size, expected one. {advice}"
        raise ArchitectureError(msg)
    return sizes[label]


def _attribute(value: Any, helper: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    if hasattr(value, "dims") and hasattr(value, "data_type"):
        return helper.to_array(value)
    if isinstance(value, int | float | str):
        return value
    return list(value)
