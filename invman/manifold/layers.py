"""Fully connected architectures as hidden layers and the weights between them, read off a program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from invman.architecture.activations import REGISTERED, Activation
from invman.architecture.program import Add, Apply, Expr, Mul, Program, Ref, Statement, Sum, walk
from invman.errors import UnsupportedError
from invman.manifold.partition import Kind, PartitionRules
from invman.symmetry.axes import AxisClasses
from invman.symmetry.group import find_symmetry


@dataclass(frozen=True)
class Layer(PartitionRules):
    """A hidden layer and the partitions that its neurons have in balanced manifolds.

    Beside live blocks, whose neurons compute the same up to sign, there can be one *null* class of neurons whose
    argument is zero for ever: *dead* where sigma(0) = 0 (and the signal that comes back is zero), *singular* where
    sigma'(0) = 0 (whatever comes back).

    Attributes
    ----------
    activation : Activation
        The activation.
    """

    activation: Activation

    @property
    def odd(self) -> bool:
        """Whether the value of an opposite neuron is opposite."""
        return self.activation.parity == "odd"

    @property
    def signed(self) -> bool:
        """Whether neurons of a block may be opposite; |u| counts as having no parity, since it has no slope at 0."""
        return self.odd or (self.activation.parity == "even" and self.activation.analytic)

    @property
    def singular(self) -> bool:
        """Whether null neurons have sigma'(0) = 0."""
        return self.activation.analytic and 1 not in self.activation.support

    @property
    def constant(self) -> bool:
        """Whether null neurons have a value: sigma(0) is not 0."""
        return self.singular and not self.activation.vanishes

    @property
    def has_dead(self) -> bool:
        """Whether there is a null class."""
        return self.singular or self.activation.vanishes

    @property
    def has_zero(self) -> bool:
        """Whether null neurons make up several blocks; never here, since their differences are frozen."""
        return False

    @property
    def words(self) -> Mapping[str, Kind]:
        """What the null class is called in names."""
        return {"singular" if self.singular else "dead": Kind.DEAD}


@dataclass(frozen=True)
class Edge:
    """One parameter tensor as a matrix from what it reads to what it enters.

    Attributes
    ----------
    tensor : str
        Name of the parameter.
    target, source : int or None
        Numbers of the hidden layers; None for outputs, and for inputs and biases.
    target_at, source_at : int or None
        Positions of the tensor that run over these layers.
    """

    tensor: str
    target: int | None
    source: int | None
    target_at: int | None
    source_at: int | None

    def matrix(self, array: np.ndarray) -> np.ndarray:
        """Return the tensor as an array of shape (targets, sources), a view where there is one."""
        if self.target_at is not None and self.source_at is not None:
            return array if self.target_at == 0 else array.T
        if self.target_at is not None:
            return np.moveaxis(array, self.target_at, 0).reshape(array.shape[self.target_at], -1)
        if self.source_at is not None:
            return np.moveaxis(array, self.source_at, -1).reshape(-1, array.shape[self.source_at])
        return array.reshape(-1, 1)


@dataclass(frozen=True)
class DenseNet:
    """The hidden layers of a fully connected architecture, in the order of the signal, and its weights."""

    program: Program
    layers: tuple[Layer, ...]
    edges: tuple[Edge, ...]


def dense_net(program: Program) -> DenseNet:
    """Read a fully connected architecture off its program.

    Parameters
    ----------
    program : Program
        Statements ``h[k] = sigma(w[k,j]*g[j] + ... + b[k])`` and outputs that are such sums; any layer may read any
        earlier one and the inputs.

    Returns
    -------
    DenseNet

    Raises
    ------
    UnsupportedError
        The program is anything else.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> [(e.tensor, e.target, e.source) for e in dense_net(read_architecture("2-3tanh-1")).edges]
    [('w', 0, None), ('a', None, 0)]
    """
    return _Reader(program).net


class _Reader:
    """One walk over the statements; whatever does not fit is refused with its place."""

    def __init__(self, program: Program) -> None:
        self.program = program
        classes = AxisClasses(program)
        symmetry = find_symmetry(program)
        self.hidden = {s.name: n for n, s in enumerate(s for s in program.statements if s.name not in program.outputs)}
        by_class = {axis.axis: axis for axis in symmetry.axes}
        layers, edges = [], []
        for statement in program.statements:
            activation, argument = REGISTERED["identity"], statement.expr
            if isinstance(argument, Apply):
                activation, argument = argument.function, argument.argument
            if statement.name in self.hidden:
                if len(statement.axes) != 1:
                    self._refuse(statement, f"{len(statement.axes)} indices on the left", "one index, of its neurons")
                axis = by_class.pop(classes.of(statement.name, 0), None)
                if axis is None:
                    self._refuse(statement, f"the axis {statement.axes[0]}", "a hidden axis of its own")
                layers.append(Layer(axis, activation))
            edges += [self._edge(statement, term) for term in _terms(argument)]
        order = {tensor.name: number for number, tensor in enumerate(program.parameters)}
        edges.sort(key=lambda edge: order[edge.tensor])
        if [edge.tensor for edge in edges] != list(order):
            self._refuse(program.statements[-1], "a parameter that is read twice", "each parameter once")
        self.net = DenseNet(program, tuple(layers), tuple(edges))

    def _edge(self, statement: Statement, term: Expr) -> Edge:
        summed, body = (term.axes, term.body) if isinstance(term, Sum) and not term.mean else ((), term)
        refs = [f for f in (body.factors if isinstance(body, Mul) else (body,)) if isinstance(f, Ref)]
        names = [axis for ref in refs for axis in _plain(ref)]
        parameters = {tensor.name for tensor in self.program.parameters}
        weights = [ref for ref in refs if ref.tensor in parameters]
        data = [ref for ref in refs if ref.tensor not in parameters]
        own = sum(1 for node in walk(body) if not isinstance(node, Mul))
        if len(weights) != 1 or len(data) > 1 or own != len(refs) or None in names or isinstance(body, Sum):
            self._refuse(statement, "a term of another form", "sums of one weight times one value, and biases")
        weight, axes = weights[0], list(_plain(weights[0]))
        target = self.hidden.get(statement.name)
        source = self.hidden.get(data[0].tensor) if data else None
        at = axes.index(statement.axes[0]) if target is not None and statement.axes[0] in axes else None
        if sorted(map(str, set(axes) - set(summed))) != sorted(statement.axes) or len(set(axes)) != len(axes):
            self._refuse(statement, f"a weight {weight.tensor}[{','.join(map(str, axes))}]", "one for each value")
        source_at = None
        if source is not None:
            over = next(iter(_plain(data[0])))
            if tuple(summed) != (over,) or over not in axes:
                self._refuse(statement, "a term that is not summed over the neurons it reads", "w[k,j]*h[j]")
            source_at = axes.index(over)
        return Edge(weight.tensor, target, source, at, source_at)

    def _refuse(self, statement: Statement, got: str, expected: str) -> NoReturn:
        msg = (
            f"statement {statement.name}: got {got}, expected {expected}: balanced manifolds are known for fully "
            "connected nets. Use the family condensed for this architecture."
        )
        raise UnsupportedError(msg)


def _terms(expr: Expr) -> tuple[Expr, ...]:
    return expr.terms if isinstance(expr, Add) else (expr,)


def _plain(ref: Ref) -> Iterator[str | None]:
    return (index.axis for index in ref.indices)


def incoming(edges: Iterable[Edge], layer: int) -> list[Edge]:
    """Return the weights that enter a hidden layer."""
    return [edge for edge in edges if edge.target == layer]


def outgoing(edges: Iterable[Edge], layer: int) -> list[Edge]:
    """Return the weights that leave a hidden layer."""
    return [edge for edge in edges if edge.source == layer]
