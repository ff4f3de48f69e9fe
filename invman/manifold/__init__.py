"""One manifold: partitions of neurons, the subspace they define, the reduced architecture, equations of a user."""

from invman.manifold.balanced import BalancedManifold, BalancedSpace
from invman.manifold.coarsest import coarsest
from invman.manifold.condensed import CondensedManifold, CondensedSpace, Origin
from invman.manifold.equations import parse_equations
from invman.manifold.reduction import Reduction
from invman.manifold.subspace import LinearEquations, Polydiagonal
from invman.manifold.symmetric import SymmetricManifold, SymmetricSpace

__all__ = [
    "BalancedManifold",
    "BalancedSpace",
    "CondensedManifold",
    "CondensedSpace",
    "LinearEquations",
    "Origin",
    "Polydiagonal",
    "Reduction",
    "SymmetricManifold",
    "SymmetricSpace",
    "coarsest",
    "parse_equations",
]
