"""A JAX function as a program: the operations that JAX records, replayed on symbolic arrays.

Parameters are the leaves of a pytree with real floating dtype, in the order of the pytree, so that the theta of the
program is their concatenation in C order (:func:`flat_parameters`). A parameter whose axis is reshaped has more axes in
the program than in the source, in C order; positions of size 1 that are not hidden are left out.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core
from jaxtyping import Array, Float

from invman.architecture.importers.builder import ArrayBuilder, Source, Symbolic, Value
from invman.architecture.importers.finish import replay
from invman.architecture.importers.names import Names
from invman.architecture.importers.primitives import RULES, supported
from invman.architecture.program import Program
from invman.errors import ArchitectureError, OverBudgetError

BUDGET = 100_000
"""Operations that are replayed, unrolled loops included, before refusing."""
_NUMPY = tuple(np.dtype(name) for name in ("bool", "int32", "int64", "float32", "float64"))
INLINED = {
    "pjit", "jit", "closed_call", "core_call", "remat", "remat2", "checkpoint", "custom_jvp_call", "custom_vjp_call",
    "custom_vjp_call_jaxpr", "custom_lin",
}  # fmt: skip
LOGADDEXP = ["max", "sub", "ne", "add", "abs", "neg", "exp", "log1p", "add", "select_n"]
LIBRARIES = re.compile(
    r"(?:site-packages|dist-packages)/(?:jax|jaxlib|equinox|flax|haiku|jaxtyping|beartype)/|/invman/architecture/|^<"
)


def from_jax(fn: Callable[..., Any], params: Any, *inputs: Any, budget: int = BUDGET) -> Program:
    """Read the architecture of a JAX function ``fn(params, *inputs)``.

    Parameters
    ----------
    fn : callable
        Any function that JAX can trace; its outputs, flattened, are F.
    params : pytree
        Leaves with a floating dtype (arrays or ``jax.ShapeDtypeStruct``) are the parameters; all others (functions,
        integers, None, integer arrays) are handed to ``fn`` as they are. An equinox module is such a pytree.
    *inputs : pytrees of arrays or jax.ShapeDtypeStruct
        Only shapes and dtypes matter. An integer array stands for indices into an embedding: in the program it
        is a one-hot input with one more axis, which runs over the rows that it indexes.
    budget : int
        Largest number of operations, with loops (``scan``) unrolled.

    Returns
    -------
    Program
        With the parameters named after their path in the pytree.

    Raises
    ------
    UnsupportedError
        Naming the operation and the line of the function that uses it.
    OverBudgetError
        More operations than the budget.

    Examples
    --------
    >>> w = {"a": jnp.ones(3), "w": jnp.ones((3, 2))}
    >>> print(from_jax(lambda p, x: p["a"] @ jnp.tanh(p["w"] @ x), w, jnp.ones(2)).text)
    input x[i]
    h[k] = tanh(w[k,i]*x[i])
    f = a[k]*h[k]
    size i=2, k=3
    """
    leaves, structure = jax.tree_util.tree_flatten_with_path(params)
    real = [place for place, (_, leaf) in enumerate(leaves) if _is_real(leaf)]
    given, inner = jax.tree_util.tree_flatten_with_path(inputs)
    arrays = [place for place, (_, leaf) in enumerate(given) if _is_array(leaf)]

    def flat(theta: Sequence[Any], x: Sequence[Any]) -> Any:
        own, other = [leaf for _, leaf in leaves], [leaf for _, leaf in given]
        for place, leaf in zip(real, theta, strict=True):
            own[place] = leaf
        for place, leaf in zip(arrays, x, strict=True):
            other[place] = leaf
        tree = jax.tree_util.tree_unflatten(structure, own)
        return jax.tree_util.tree_leaves(fn(tree, *jax.tree_util.tree_unflatten(inner, other)))

    specs = [_abstract(leaves[place][1]) for place in real], [_abstract(given[place][1]) for place in arrays]
    closed = jax.make_jaxpr(flat)(*specs)
    names = Names()
    first = _arguments(fn, len(inputs))
    inputs_named = [names.unique(_path_name(given[place][0], first)) for place in arrays]
    parameters = [names.unique(_path_name(leaves[place][0])) for place in real]
    sources = [Source(name, tuple(spec.shape)) for name, spec in zip(parameters, specs[0], strict=True)]
    reads = [
        Source(name, tuple(spec.shape), not jnp.issubdtype(spec.dtype, jnp.floating))
        for name, spec in zip(inputs_named, specs[1], strict=True)
    ]
    if not reads:
        msg = "inputs: got none, expected at least one array; a function of parameters alone is no network"
        raise ArchitectureError(msg)
    return replay(_Replay(closed, sources, reads, budget))


def flat_parameters(params: Any) -> Float[Array, " D"]:
    """Return theta, the parameters of a pytree in the order of the imported program.

    Parameters
    ----------
    params : pytree
        As given to :func:`from_jax`, with arrays.

    Returns
    -------
    array of shape (D,)

    Examples
    --------
    >>> flat_parameters({"b": jnp.ones(1), "w": jnp.zeros((1, 2)), "steps": 7}).tolist()
    [1.0, 0.0, 0.0]
    """
    leaves = [leaf for leaf in jax.tree_util.tree_leaves(params) if _is_real(leaf)]
    return jnp.concatenate([jnp.reshape(leaf, -1) for leaf in leaves])


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array | np.ndarray | np.generic | jax.ShapeDtypeStruct | float)


def _is_real(leaf: Any) -> bool:
    return _is_array(leaf) and not isinstance(leaf, float) and jnp.issubdtype(leaf.dtype, jnp.floating)


def _abstract(leaf: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(jnp.shape(leaf), jnp.result_type(leaf))


def _arguments(fn: Callable[..., Any], count: int) -> list[str]:
    """Return the names of the arguments after the first, or x, x1, ..."""
    plain = ["x"] if count == 1 else [f"x{number + 1}" for number in range(count)]
    try:
        given = list(inspect.signature(fn).parameters.values())[1 : count + 1]
    except (TypeError, ValueError):
        return plain
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    named = len(given) == count and all(parameter.kind in kinds for parameter in given)
    return [parameter.name for parameter in given] if named else plain


def _path_name(path: Sequence[Any], first: list[str] | None = None) -> str:
    parts: list[str] = [str(getattr(key, "name", getattr(key, "key", getattr(key, "idx", "")))) for key in path]
    if first is not None:
        parts[0] = first[path[0].idx]
    elif len(parts) > 1 and parts[-1] == "value":
        parts.pop()
    return "_".join(parts)


class _Replay:
    """Replays a closed jaxpr on a builder; operations on constants are evaluated once and kept."""

    def __init__(self, closed: Any, parameters: list[Source], inputs: list[Source], budget: int) -> None:
        self.closed, self.parameters, self.inputs, self.budget = closed, parameters, inputs, budget
        self.known: dict[int, list[Any]] = {}

    def __call__(self, builder: ArrayBuilder) -> list[Value]:
        self.builder, self.step, self.outer = builder, 0, ""
        builder.begin((0,), "input", "")
        values: list[Any] = [builder.source(source, builder.parameters) for source in self.parameters]
        values += [builder.source(source, builder.inputs) for source in self.inputs]
        results = self.run(self.closed.jaxpr, self.closed.consts, values)
        return [value if isinstance(value, Symbolic) else np.asarray(value) for value in results]

    def run(
        self, jaxpr: Any, consts: Sequence[Any], values: Sequence[Any], wanted: Sequence[bool] | None = None
    ) -> list[Any]:
        """Replay the equations of a jaxpr that its wanted outputs depend on; None stands for the others."""
        wanted = [True] * len(jaxpr.outvars) if wanted is None else wanted
        counts: dict[Any, int] = {}
        outputs = [atom for atom, want in zip(jaxpr.outvars, wanted, strict=True) if want]
        live = []
        _count(counts, outputs)
        for eqn in reversed(jaxpr.eqns):
            if any(variable in counts for variable in eqn.outvars):
                live.append(eqn)
                _count(counts, eqn.invars)
        env: dict[Any, Any] = {}

        def bind(variables: Sequence[Any], given: Sequence[Any]) -> None:
            for variable, value in zip(variables, given, strict=True):
                shared = counts.get(variable, 0) > 1 and isinstance(value, Symbolic)
                env[variable] = self.builder.named(value) if shared else value

        def read(atom: Any) -> Any:
            return (
                np.asarray(atom.val, getattr(atom.aval, "dtype", None)) if isinstance(atom, core.Literal) else env[atom]
            )

        bind(jaxpr.constvars, consts)
        bind(jaxpr.invars, values)
        for eqn in reversed(live):
            needed = [variable in counts for variable in eqn.outvars]
            bind(eqn.outvars, self.equation(eqn, [read(atom) for atom in eqn.invars], needed))
        return [read(atom) if want else None for atom, want in zip(jaxpr.outvars, wanted, strict=True)]

    def equation(self, eqn: Any, values: list[Any], wanted: Sequence[bool]) -> list[Any]:
        """Replay one equation."""
        name = eqn.primitive.name
        self.step += 1
        step = self.step
        if step > self.budget:
            advice = "Loops are unrolled; use a shorter one, or raise budget=."
            raise OverBudgetError("operations of the function", step, self.budget, advice)
        self.builder.begin((step,), name, self.outer or _place(eqn))
        if name == "scan":
            return self.scan(eqn, values)
        if name == "cond" and not isinstance(values[0], Symbolic):
            branch = eqn.params["branches"][int(np.clip(values[0], 0, len(eqn.params["branches"]) - 1))]
            return self.run(branch.jaxpr, branch.consts, values[1:], wanted)
        if name in INLINED:
            return self.call(eqn, values, wanted)
        if not any(_symbolic(value) for value in values):
            return self.evaluated(eqn, values, step)
        if name not in RULES:
            expected = f"one of these: {', '.join(supported())}"
            if name in ("while", "cond"):
                expected = "a loop of fixed length (scan, fori_loop) and no branch that depends on data"
            raise self.builder.fail(f"the JAX primitive {name}", expected)
        ready = [value if _symbolic(value) else np.asarray(value) for value in values]
        result = RULES[name](self.builder, eqn.params, *ready)
        return list(result) if eqn.primitive.multiple_results else [result]

    def call(self, eqn: Any, values: list[Any], wanted: Sequence[bool]) -> list[Any]:
        """Replay the body of a call in its place."""
        body = next(eqn.params[key] for key in ("jaxpr", "call_jaxpr", "fun_jaxpr") if key in eqn.params)
        jaxpr, consts = (body.jaxpr, body.consts) if hasattr(body, "consts") else (body, [])
        inner = [inner_eqn.primitive.name for inner_eqn in jaxpr.eqns]
        if inner == LOGADDEXP and any(_symbolic(value) for value in values):
            return [RULES["logaddexp"](self.builder, {}, *(v if _symbolic(v) else np.asarray(v) for v in values))]
        before = self.outer
        if not before and LIBRARIES.search(str(getattr(jaxpr.debug_info, "func_src_info", ""))):
            self.outer = self.builder.where  # a library function may have been traced for another line before
        results = self.run(jaxpr, consts, values, wanted)
        self.outer = before
        return results

    def evaluated(self, eqn: Any, values: list[Any], step: int) -> list[Any]:
        """Evaluate an operation on constants."""
        if eqn.primitive.name == "broadcast_in_dim" and getattr(values[0], "dtype", None) in _NUMPY:
            return [RULES["broadcast_in_dim"](self.builder, eqn.params, np.asarray(values[0]))]  # a view, no copy
        if step not in self.known:
            ready = eqn.primitive.get_bind_params(eqn.params)
            functions, params = ready if isinstance(ready, tuple) else ((), ready)  # a pair before jax 0.10
            with jax.ensure_compile_time_eval():
                result = eqn.primitive.bind(*functions, *(_device(value) for value in values), **params)
            self.known[step] = list(result) if eqn.primitive.multiple_results else [result]
        return self.known[step]

    def scan(self, eqn: Any, values: list[Any]) -> list[Any]:
        """Unroll a loop of fixed length."""
        params, b = eqn.params, self.builder
        place, where = b.place, b.where
        first, carried = params["num_consts"], params["num_carry"]
        consts, carry, xs = values[:first], values[first : first + carried], values[first + carried :]
        length, body = params["length"], params["jaxpr"]
        if length > self.budget:
            advice = "Loops are unrolled; use a shorter one, or raise budget=."
            raise OverBudgetError("steps of a scan", length, self.budget, advice)
        rows: list[list[Any]] = [[] for _ in eqn.outvars[carried:]]
        start = self.step
        order = range(length)[::-1] if params["reverse"] else range(length)
        for number in order:
            b.begin((start, number), place, where)
            here = [RULES["row"](b, {"row": number}, x if _symbolic(x) else np.asarray(x)) for x in xs]
            results = self.run(body.jaxpr, body.consts, [*consts, *carry, *here])
            carry = results[:carried]
            for column, value in zip(rows, results[carried:], strict=True):
                column.append(value)
        b.begin((start, "stack"), place, where)
        stacked = []
        for column in rows:
            column = column[::-1] if params["reverse"] else column
            ready = [value if _symbolic(value) else np.asarray(value) for value in column]
            stacked.append(RULES["stack"](b, {}, *ready))
        return [*carry, *stacked]


def _count(counts: dict[Any, int], atoms: Sequence[Any]) -> None:
    for atom in atoms:
        if not isinstance(atom, core.Literal):
            counts[atom] = counts.get(atom, 0) + 1


def _symbolic(value: Any) -> bool:
    return isinstance(value, Symbolic) or type(value).__name__ == "Columns"


def _device(value: Any) -> Any:
    return value if isinstance(value, jax.Array) else jnp.asarray(value)


def _place(eqn: Any) -> str:
    """Return ``file:line`` of the user's code that an equation comes from, or ""."""
    frames = getattr(getattr(eqn.source_info, "traceback", None), "frames", None) or []
    for frame in frames:
        if not LIBRARIES.search(frame.file_name):
            return f"{frame.file_name}:{frame.line_num}"
    return ""
