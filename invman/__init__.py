"""Structural invariant manifolds of neural networks: find, order, prove and watch what training can never leave.

Everything public is here and is loaded when it is first used, so that ``import invman`` is quick and loads neither
JAX nor SymPy::

    import invman
    architecture = invman.read_architecture("2-3tanh-1")
    lattice = invman.build_lattice(architecture)
    report = invman.verify(lattice)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from invman.architecture import Activation, Program, read_architecture
    from invman.architecture.evaluate import jax_map
    from invman.architecture.jaxpr import from_jax
    from invman.architecture.onnx import from_onnx
    from invman.architecture.scalars import sympy_map
    from invman.architecture.sympy_import import from_sympy
    from invman.architecture.torch import from_torch
    from invman.errors import (
        ArchitectureError,
        ContradictionError,
        DataError,
        InvmanError,
        ManifoldError,
        OutputError,
        OverBudgetError,
        SyntaxProblem,
        UnsupportedError,
    )
    from invman.flow import CheckOptions, CheckReport, Verdict, Verification, load_data, verify, verify_equations
    from invman.lattice import Lattice, build_lattice, count_condensed, count_symmetric, enumerate_condensed
    from invman.manifold import (
        BalancedManifold,
        BalancedSpace,
        CondensedManifold,
        CondensedSpace,
        LinearEquations,
        Polydiagonal,
        SymmetricManifold,
        SymmetricSpace,
        coarsest,
        parse_equations,
    )
    from invman.orbit import Certificate, CertifyReport, OrbitOptions, certify_lattice, find_orbit
    from invman.symmetry import DiscreteSymmetry, find_symmetry
    from invman.symmetry.findings import Findings, find_all_symmetry
    from invman.symmetry.laws import Laws, find_laws

_HOME = {
    "Activation": "architecture",
    "ArchitectureError": "errors",
    "BalancedManifold": "manifold",
    "BalancedSpace": "manifold",
    "Certificate": "orbit",
    "CertifyReport": "orbit",
    "CheckOptions": "flow",
    "CheckReport": "flow",
    "CondensedManifold": "manifold",
    "CondensedSpace": "manifold",
    "ContradictionError": "errors",
    "DataError": "errors",
    "DiscreteSymmetry": "symmetry",
    "InvmanError": "errors",
    "Lattice": "lattice",
    "LinearEquations": "manifold",
    "ManifoldError": "errors",
    "OrbitOptions": "orbit",
    "OutputError": "errors",
    "OverBudgetError": "errors",
    "Polydiagonal": "manifold",
    "Program": "architecture",
    "SymmetricManifold": "manifold",
    "SymmetricSpace": "manifold",
    "SyntaxProblem": "errors",
    "UnsupportedError": "errors",
    "Verdict": "flow",
    "Verification": "flow",
    "build_lattice": "lattice",
    "certify_lattice": "orbit",
    "coarsest": "manifold",
    "count_condensed": "lattice",
    "count_symmetric": "lattice",
    "enumerate_condensed": "lattice",
    "Findings": "symmetry.findings",
    "Laws": "symmetry.laws",
    "find_all_symmetry": "symmetry.findings",
    "find_laws": "symmetry.laws",
    "find_orbit": "orbit",
    "find_symmetry": "symmetry",
    "from_jax": "architecture.jaxpr",
    "from_onnx": "architecture.onnx",
    "from_sympy": "architecture.sympy_import",
    "from_torch": "architecture.torch",
    "jax_map": "architecture.evaluate",
    "load_data": "flow",
    "parse_equations": "manifold",
    "read_architecture": "architecture",
    "sympy_map": "architecture.scalars",
    "verify": "flow",
    "verify_equations": "flow",
}

__all__ = [
    "Activation",
    "ArchitectureError",
    "BalancedManifold",
    "BalancedSpace",
    "Certificate",
    "CertifyReport",
    "CheckOptions",
    "CheckReport",
    "CondensedManifold",
    "CondensedSpace",
    "ContradictionError",
    "DataError",
    "DiscreteSymmetry",
    "Findings",
    "InvmanError",
    "Lattice",
    "Laws",
    "LinearEquations",
    "ManifoldError",
    "OrbitOptions",
    "OutputError",
    "OverBudgetError",
    "Polydiagonal",
    "Program",
    "SymmetricManifold",
    "SymmetricSpace",
    "SyntaxProblem",
    "UnsupportedError",
    "Verdict",
    "Verification",
    "__version__",
    "build_lattice",
    "certify_lattice",
    "coarsest",
    "count_condensed",
    "count_symmetric",
    "enumerate_condensed",
    "find_all_symmetry",
    "find_laws",
    "find_orbit",
    "find_symmetry",
    "from_jax",
    "from_onnx",
    "from_sympy",
    "from_torch",
    "jax_map",
    "load_data",
    "parse_equations",
    "read_architecture",
    "sympy_map",
    "verify",
    "verify_equations",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its room when it is first used."""
    if name not in _HOME:
        msg = f"module 'invman' has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(importlib.import_module(f"invman.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
