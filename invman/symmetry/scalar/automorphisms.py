"""Automorphisms of a coloured graph by a library: igraph where it is installed, else canonaut."""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from invman.errors import InvmanError, OverBudgetError, UnsupportedError
from invman.symmetry.scalar.schreier import exact_order

BUDGETS = {"igraph": 200_000, "canonaut": 3_000}
"""Vertices up to which each library answers within seconds."""


@dataclass(frozen=True)
class Automorphisms:
    """The automorphism group of a graph.

    Attributes
    ----------
    order : int
        Exact.
    generators : list of int arrays, shape (vertices,)
        Images of the vertices.
    engine : str
        The library that found them.
    """

    order: int
    generators: list[np.ndarray]
    engine: str


def choose_engine(engine: str | None = None) -> str:
    """Return the library that is used: the one asked for, else igraph where installed, else canonaut.

    Raises
    ------
    InvmanError
        When there is no such engine.
    UnsupportedError
        When it is not installed.
    """
    if engine is not None and engine not in BUDGETS:
        msg = f"engine: got {engine!r}, expected one of {', '.join(sorted(BUDGETS))}"
        raise InvmanError(msg)
    for name in (engine,) if engine else BUDGETS:
        if importlib.util.find_spec(name) is not None:
            return name
    msg = (
        f"automorphisms of a graph: got no installed {engine or 'igraph or canonaut'}, expected one; "
        "pip install canonaut, or pip install 'invman[fast]' for igraph"
    )
    raise UnsupportedError(msg)


def find_automorphisms(
    colours: Sequence[int],
    edges: Sequence[tuple[int, int]],
    *,
    engine: str | None = None,
    budget: int | None = None,
) -> Automorphisms:
    """Find generators and the exact order of the automorphism group of a coloured undirected graph.

    Parameters
    ----------
    colours : sequence of int, length n
        Only vertices of one colour are exchanged.
    edges : sequence of (int, int)
        Each once.
    engine : {"igraph", "canonaut"}, optional
        The library; igraph where it is installed.
    budget : int, optional
        Largest number of vertices; by default what the library does within seconds.

    Returns
    -------
    Automorphisms

    Raises
    ------
    OverBudgetError
        With the exact number of vertices.

    Examples
    --------
    >>> find_automorphisms([0, 0, 1], [(0, 2), (1, 2)], engine="canonaut").order
    2
    """
    name = choose_engine(engine)
    limit = BUDGETS[name] if budget is None else budget
    if len(colours) > limit:
        advice = f"Raise the budget (engine {name}), use smaller sizes or the axis level (find_symmetry)"
        if name != "igraph":
            advice += ", or pip install 'invman[fast]': igraph does up to 200,000 vertices"
        raise OverBudgetError("vertices of the scalar symmetry graph", len(colours), limit, advice + ".")
    find = _igraph if name == "igraph" else _canonaut
    return find(list(colours), list(edges))


def _igraph(colours: list[int], edges: list[tuple[int, int]]) -> Automorphisms:
    library: Any = importlib.import_module("igraph")
    graph = library.Graph(len(colours), edges)
    order = int(graph.count_automorphisms(color=colours))
    generators = [np.array(images) for images in graph.automorphism_group(color=colours)]
    return Automorphisms(order, generators, "igraph")


def _canonaut(colours: list[int], edges: list[tuple[int, int]]) -> Automorphisms:
    library: Any = importlib.import_module("canonaut")
    result = library.raw.canonize(len(colours), edges, generators=True, colors=colours)
    generators = [np.array(images) for images in result.generators]
    log10 = math.log10(result.group_size1) + result.group_size2
    return Automorphisms(exact_order(generators, log10), generators, "canonaut")
