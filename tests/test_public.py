"""The public names, word by word: adding or losing one is a decision, not an accident."""

from __future__ import annotations

import pytest

import invman

PUBLIC = [
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


def test_public_names():
    assert sorted(invman.__all__) == sorted(PUBLIC)


def test_every_public_name_loads_and_is_described():
    for name in invman.__all__:
        value = getattr(invman, name)
        assert name == "__version__" or value.__doc__, name


def test_unknown_name():
    with pytest.raises(AttributeError, match="nothing"):
        invman.nothing  # noqa: B018
