"""From what a builder has collected to a program: tidy statements, axes named by what they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from invman.architecture.importers.axes import Memory, Resplit
from invman.architecture.importers.builder import ArrayBuilder, Source, Symbolic, Value
from invman.architecture.importers.naming import Namer
from invman.architecture.importers.nodes import DESCRIPTION, pending, plain, rebuild, substitute
from invman.architecture.program import (
    Constant,
    Expr,
    Program,
    Ref,
    Softmax,
    Statement,
    Sum,
    Tensor,
    children,
    free_axes,
    walk,
)
from invman.errors import OverBudgetError, UnsupportedError

ATTEMPTS = 10_000


def replay(trace: Callable[[ArrayBuilder], Sequence[Value]]) -> Program:
    """Run an importer until no axis needs splitting any more, and build the program.

    Parameters
    ----------
    trace : callable
        Declares parameters and inputs on a builder, replays the operations, and returns the outputs.

    Raises
    ------
    UnsupportedError
        The outputs depend on no parameter, or on something that has no place in a program.
    """
    memory = Memory()
    for _ in range(ATTEMPTS):
        builder = ArrayBuilder(memory)
        try:
            return finish(builder, trace(builder))
        except Resplit:
            continue
    msg = f"axes were split {ATTEMPTS} times: got no end to it, expected reshapes that fit together"
    raise UnsupportedError(msg)


def finish(b: ArrayBuilder, outputs: Sequence[Value]) -> Program:
    """Build the program whose outputs are these arrays."""
    taken = {source.name for source in [*b.parameters, *b.inputs]} | set(b.constants) | set(b.statements)
    names: list[str] = []
    statements = list(b.statements.values())
    for value in outputs:
        name = next(n for n in _candidates("f", len(outputs) > 1) if n not in taken and n not in names)
        names.append(name)
        statements.append(_output(b, name, value))
    statements = _inlined(_read(statements, names), names)
    for statement in statements:
        if (node := pending(statement.expr)) is not None:
            at = f" at {node.where}" if node.where else ""
            msg = (
                f"{DESCRIPTION[type(node)]}{at}: got it in the outputs, expected only what a program can hold: sums, "
                "products, powers, softmax and the registered activations"
            )
            raise UnsupportedError(msg)
    shapes = {source.name: _shape(b, source) for source in [*b.parameters, *b.inputs]}
    shapes.update({name: array.shape for name, array in b.constants.items()})
    namer = Namer(statements, shapes, b.size, [source.name for source in b.inputs], names, b.constants)
    statements = _renumbered(namer.statements, names, {*shapes})
    read = {node.tensor for s in statements for node in walk(s.expr) if isinstance(node, Ref)}
    own = {source.name for source in b.parameters}
    if not read & own:
        msg = "no parameter: got outputs that depend on none, expected a map of parameters and inputs"
        raise UnsupportedError(msg)
    for name in read & set(b.constants):
        if b.constants[name].size > b.entries:
            advice = "A mask that is not causal is written out; use a smaller one."
            raise OverBudgetError("entries of a constant", b.constants[name].size, b.entries, advice)
    tensors = {name: namer.tensor(name, declared=name not in own) for name in shapes}
    constants = tuple(
        Constant(tensors[name], tuple(Fraction(float(v)) for v in array.reshape(-1)))
        for name, array in b.constants.items()
        if name in read
    )
    inputs = tuple(tensors[source.name] for source in b.inputs)
    parameters = tuple(tensors[source.name] for source in b.parameters)
    used = _axes_used([*inputs, *parameters, *(constant.tensor for constant in constants)], statements)
    sizes = {axis: size for axis, size in namer.sizes.items() if axis in used}
    return Program(sizes, inputs, parameters, constants, tuple(statements), tuple(names))


def _candidates(base: str, numbered: bool) -> list[str]:
    return [*([] if numbered else [base]), *(f"{base}{n}" for n in range(1, 10_000))]


def _shape(b: ArrayBuilder, source: Source) -> tuple[int, ...]:
    """Return the shape after all splits."""
    shape = [part for place in range(len(source.shape)) for part in b.memory.splits[(source.name, place)]]
    if source.integer:
        shape.append(b.memory.values.get(source.name, 1))
    return tuple(shape)


def _output(b: ArrayBuilder, name: str, value: Value) -> Statement:
    if isinstance(value, np.ndarray):
        dims = tuple((b.fresh(size),) for size in value.shape)
        value = Symbolic(dims, b.constant(value, dims))
    return Statement(name, value.atoms, value.expr)


def _refs(expr: Expr) -> list[str]:
    return [node.tensor for node in walk(expr) if isinstance(node, Ref)]


def _read(statements: list[Statement], outputs: list[str]) -> list[Statement]:
    """Drop the statements that no output depends on."""
    wanted = set(outputs)
    kept = []
    for statement in reversed(statements):
        if statement.name in wanted:
            wanted |= set(_refs(statement.expr))
            kept.append(statement)
    return kept[::-1]


def _inlined(statements: list[Statement], outputs: list[str]) -> list[Statement]:
    """Write a statement that is read once, entry by entry, in the place where it is read."""
    counts: dict[str, int] = {}
    for statement in statements:
        for name in _refs(statement.expr):
            counts[name] = counts.get(name, 0) + 1
    single = {s.name: s for s in statements if counts.get(s.name) == 1 and s.name not in outputs}
    gone: set[str] = set()
    done = []
    for statement in statements:
        expr = _with_inlined(statement.expr, set(statement.axes), single, gone)
        new = Statement(statement.name, statement.axes, expr)
        if statement.name in single:
            single[statement.name] = new
        done.append(new)
    return [statement for statement in done if statement.name not in gone]


def _with_inlined(expr: Expr, scope: set[str], single: dict[str, Statement], gone: set[str]) -> Expr:
    if isinstance(expr, Sum):
        return expr
    if isinstance(expr, Ref):
        found = single.get(expr.tensor)
        axes = [index.axis for index in expr.indices]
        if found is None or None in axes or len(set(axes)) < len(axes):
            return expr
        sums = any(isinstance(node, Sum | Softmax) for node in walk(found.expr))
        if sums and set(axes) != scope:
            return expr
        gone.add(found.name)
        return substitute(found.expr, {a: plain(str(new)) for a, new in zip(found.axes, axes, strict=True)})
    return rebuild(expr, tuple(_with_inlined(child, scope, single, gone) for child in children(expr)))


def _renumbered(statements: list[Statement], outputs: list[str], taken: set[str]) -> list[Statement]:
    """Give the statements the numbers h1, h2, ... without gaps; a single one is h."""
    inner = [statement.name for statement in statements if statement.name not in outputs]
    fresh = (name for name in _candidates("h", len(inner) > 1) if name not in taken and name not in outputs)
    names = dict(zip(inner, fresh, strict=False))

    def renamed(expr: Expr) -> Expr:
        if isinstance(expr, Ref):
            return Ref(names.get(expr.tensor, expr.tensor), expr.indices)
        return rebuild(expr, tuple(map(renamed, children(expr))))

    return [Statement(names.get(s.name, s.name), s.axes, renamed(s.expr)) for s in statements]


def _axes_used(tensors: Sequence[Tensor], statements: Sequence[Statement]) -> set[str | None]:
    used: set[str | None] = {axis for tensor in tensors for axis in tensor.axes}
    for statement in statements:
        used |= {*statement.axes, *free_axes(statement.expr)}
        for node in walk(statement.expr):
            if isinstance(node, Sum):
                used |= set(node.axes)
    return used
