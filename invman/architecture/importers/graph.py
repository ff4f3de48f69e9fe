"""A graph of framework operations as plain data, and its replay on symbolic arrays.

PyTorch and ONNX both give a list of operations on named arrays. Written down like this (and, for PyTorch, kept as a
JSON file) the graph can be read without the framework.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from invman.architecture.importers.builder import ArrayBuilder, Source, Symbolic, Value
from invman.architecture.importers.finish import replay
from invman.architecture.importers.names import Names
from invman.architecture.program import Program
from invman.errors import OverBudgetError

BUDGET = 100_000
"""Operations that are replayed before refusing."""


@dataclass(frozen=True)
class Operand:
    """A reference to an array of the graph."""

    name: str


@dataclass(frozen=True)
class Operation:
    """One operation: its results, its name, and arguments that hold operands, numbers and lists of them."""

    results: tuple[str, ...]
    name: str
    args: tuple[Any, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""


@dataclass(frozen=True)
class Graph:
    """Operations from parameters and inputs to outputs.

    Attributes
    ----------
    parameters, inputs : tuple of (name, title, shape, integer)
        The name within the graph, and the one that the program shall show.
    constants : mapping of str to array
        Arrays of fixed numbers.
    operations : tuple of Operation
        In order.
    outputs : tuple of str
        Names of arrays.
    """

    parameters: tuple[tuple[str, str, tuple[int, ...]], ...]
    inputs: tuple[tuple[str, str, tuple[int, ...], bool], ...]
    constants: Mapping[str, np.ndarray]
    operations: tuple[Operation, ...]
    outputs: tuple[str, ...]


def read_graph(graph: Graph, rules: Mapping[str, Callable[..., Any]], hint: str, budget: int = BUDGET) -> Program:
    """Replay a graph.

    Parameters
    ----------
    graph : Graph
        What to replay.
    rules : mapping
        ``rule(builder, *args, **options)`` by the name of the operation; returns an array or a sequence of them.
    hint : str
        What is said when an operation has no rule.
    budget : int
        Largest number of operations.

    Raises
    ------
    UnsupportedError
        Naming the operation and the line that it comes from.
    OverBudgetError
        More operations than the budget.
    """
    if len(graph.operations) > budget:
        advice = "Import a smaller module, or raise budget=."
        raise OverBudgetError("operations of the module", len(graph.operations), budget, advice)
    live = _live(graph)
    counts = _counts(live, graph.outputs)
    names = Names()
    titles = {entry[0]: names.unique(entry[1]) for entry in [*graph.inputs, *graph.parameters]}

    def trace(b: ArrayBuilder) -> list[Value]:
        b.begin((0,), "input", "")
        values: dict[str, Any] = dict(graph.constants)

        def bind(name: str, value: Any) -> None:
            values[name] = b.named(value) if counts.get(name, 0) > 1 and isinstance(value, Symbolic) else value

        for name, _, shape in graph.parameters:
            bind(name, b.source(Source(titles[name], shape), b.parameters))
        for name, _, shape, integer in graph.inputs:
            bind(name, b.source(Source(titles[name], shape, integer), b.inputs))
        for step, operation in enumerate(live, start=1):
            b.begin((step,), operation.name, operation.where)
            if operation.name not in rules:
                raise b.fail(f"the operation {operation.name}", hint)
            args, options = _filled((operation.args, dict(operation.options)), values)
            result = rules[operation.name](b, *args, **options)
            several = result if len(operation.results) > 1 else (result,)
            for name, value in zip(operation.results, several, strict=False):
                bind(name, value)
        return [values[name] for name in graph.outputs]

    return replay(trace)


def _operands(item: Any) -> list[str]:
    if isinstance(item, Operand):
        return [item.name]
    if isinstance(item, Mapping):
        return [name for part in item.values() for name in _operands(part)]
    if isinstance(item, Sequence) and not isinstance(item, str):
        return [name for part in item for name in _operands(part)]
    return []


def _filled(item: Any, values: Mapping[str, Any]) -> Any:
    """Put arrays in the place of operands."""
    if isinstance(item, Operand):
        return values[item.name]
    if isinstance(item, dict):
        return {key: _filled(part, values) for key, part in item.items()}
    if isinstance(item, list | tuple):
        return type(item)(_filled(part, values) for part in item)
    return item


def _live(graph: Graph) -> list[Operation]:
    wanted = set(graph.outputs)
    kept = []
    for operation in reversed(graph.operations):
        if wanted & set(operation.results):
            wanted |= set(_operands((operation.args, operation.options)))
            kept.append(operation)
    return kept[::-1]


def _counts(operations: Sequence[Operation], outputs: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in [*outputs, *(name for op in operations for name in _operands((op.args, op.options)))]:
        counts[name] = counts.get(name, 0) + 1
    return counts
