"""A PyTorch module as a program: the graph that ``torch.export`` records, replayed on symbolic arrays.

Parameters come in the order of ``module.named_parameters()``, each in C order, so that the theta of the program is
``torch.nn.utils.parameters_to_vector(module.parameters())``. Buffers (running statistics of a batch norm in
evaluation mode) are constants.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from invman.architecture.importers.aten import RULES, supported
from invman.architecture.importers.graph import BUDGET, Graph, Operand, Operation, read_graph
from invman.architecture.program import Program
from invman.errors import DataError, UnsupportedError

FORMAT = "invman/torch-graph/1"
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_LIBRARY = re.compile(r"(?:site|dist)-packages/torch/")


def from_torch(module: Any, *example: Any, budget: int = BUDGET) -> Program:
    """Read the architecture of a PyTorch module.

    Parameters
    ----------
    module : torch.nn.Module
        As it will be evaluated: call ``.eval()`` first where it holds dropout or batch norm.
    *example : torch.Tensor
        Example inputs, of which only shapes and dtypes matter. An integer tensor stands for indices into an
        embedding: in the program it is a one-hot input with one more axis.
    budget : int
        Largest number of operations.

    Returns
    -------
    Program
        With the parameters named as in the module, dots as underscores.

    Raises
    ------
    UnsupportedError
        PyTorch is not installed, cannot export the module, or an operation has no counterpart.
    """
    return read_recorded(record_torch(module, *example), budget)


def record_torch(module: Any, *example: Any) -> dict[str, Any]:
    """Write the exported graph of a module down as JSON data, which :func:`read_recorded` reads without PyTorch.

    Parameters
    ----------
    module, *example
        As for :func:`from_torch`.

    Returns
    -------
    dict
        Keys ``format``, ``parameters``, ``inputs``, ``constants``, ``operations``, ``outputs``.
    """
    try:
        torch: Any = importlib.import_module("torch")  # where it is missing a type checker takes this file for it
    except ImportError:
        msg = "from_torch: got no PyTorch, expected the package torch. Install it with: pip install 'invman[torch]'"
        raise UnsupportedError(msg) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # PyTorch's own use of its deprecated functions
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.filterwarnings("ignore", "The tensor attributes .* were assigned during export")  # GRU, LSTM
            exported = torch.export.export(module, tuple(example)).run_decompositions()
    except Exception as error:
        text = str(error).strip().splitlines()
        got = f"{type(error).__name__} ({text[0] if text else ''})"
        msg = f"torch.export: got {got}, expected a module that it can export"
        raise UnsupportedError(msg) from error
    return _recorded(exported)


def read_recorded(record: Mapping[str, Any], budget: int = BUDGET) -> Program:
    """Read a graph that :func:`record_torch` has written down.

    Raises
    ------
    DataError
        The data are not such a graph.
    UnsupportedError
        An operation has no counterpart in a program.
    """
    if record.get("format") != FORMAT:
        msg = f"recorded graph: got format {record.get('format')!r}, expected {FORMAT!r}. Record the module again."
        raise DataError(msg)
    graph = Graph(
        parameters=tuple((entry["name"], entry["title"], tuple(entry["shape"])) for entry in record["parameters"]),
        inputs=tuple(
            (entry["name"], entry["title"], tuple(entry["shape"]), bool(entry["integer"])) for entry in record["inputs"]
        ),
        constants={
            entry["name"]: np.asarray(_restored(entry["values"]), entry["dtype"]).reshape(entry["shape"])
            for entry in record["constants"]
        },
        operations=tuple(
            Operation(
                (entry["name"],),
                entry["op"],
                tuple(_restored(entry["args"])),
                _restored(entry["options"]),
                entry["where"],
            )
            for entry in record["operations"]
        ),
        outputs=tuple(record["outputs"]),
    )
    hint = f"one of these: {', '.join(supported())}. Dropout and batch norm need module.eval() first"
    return read_graph(graph, RULES, hint, budget)


def _recorded(exported: Any) -> dict[str, Any]:
    signature = exported.graph_signature
    nodes = {node.name: node for node in exported.graph.nodes}
    parameters, inputs, constants = [], [], []
    values = {**dict(exported.state_dict), **dict(exported.constants)}
    for spec in signature.input_specs:
        name, kind = getattr(spec.arg, "name", ""), spec.kind.name
        if kind in ("PARAMETER", "USER_INPUT") and name in nodes and hasattr(nodes[name].meta.get("val"), "shape"):
            value = nodes[name].meta["val"]
            entry = {
                "name": name,
                "title": spec.target or name.replace("input", "x"),
                "shape": [int(size) for size in value.shape],
            }
            if kind == "PARAMETER":
                parameters.append(entry)
            else:
                inputs.append({**entry, "integer": not value.dtype.is_floating_point})
        elif kind in ("BUFFER", "CONSTANT_TENSOR"):
            array = values[spec.target].detach().cpu().numpy()
            kept = [_plain(value) for value in array.reshape(-1).tolist()]
            constants.append({"name": name, "shape": list(array.shape), "dtype": str(array.dtype), "values": kept})
    operations = [
        {
            "name": node.name,
            "op": _operation_name(node.target),
            "args": [_plain(arg) for arg in node.args],
            "options": {key: _plain(arg) for key, arg in node.kwargs.items() if key in _OPTIONS},
            "where": _where(node),
        }
        for node in exported.graph.nodes
        if node.op == "call_function"
    ]
    outputs = [spec.arg.name for spec in signature.output_specs if spec.kind.name == "USER_OUTPUT"]
    return {
        "format": FORMAT,
        "parameters": parameters,
        "inputs": inputs,
        "constants": constants,
        "operations": operations,
        "outputs": outputs,
    }


_OPTIONS = ("alpha", "beta", "approximate", "correction", "keepdim", "dim", "rounding_mode")


def _operation_name(target: Any) -> str:
    """Return ``addmm`` for ``aten.addmm.default``."""
    parts = str(target).split(".")
    return parts[1] if parts[0] == "aten" else getattr(target, "__name__", str(target))


def _plain(item: Any) -> Any:
    """Return an argument as JSON data: nodes as {"ref": name}, infinities as {"number": text}, dtypes as None."""
    if isinstance(item, list | tuple):
        return [_plain(part) for part in item]
    if isinstance(item, float) and not np.isfinite(item):
        return {"number": str(item)}
    if isinstance(item, bool | int | float | str) or item is None:
        return item
    if hasattr(item, "op") and hasattr(item, "name"):
        return {"ref": item.name}
    return None


def _restored(item: Any) -> Any:
    if isinstance(item, list):
        return [_restored(part) for part in item]
    if isinstance(item, dict):
        if set(item) == {"ref"}:
            return Operand(item["ref"])
        if set(item) == {"number"}:
            return float(item["number"])
        return {key: _restored(part) for key, part in item.items()}
    return item


def _where(node: Any) -> str:
    """Return ``file:line`` of the innermost line outside PyTorch that a node comes from, or ""."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if not _LIBRARY.search(frame[0])]
    return ":".join(own[-1]) if own else ""
