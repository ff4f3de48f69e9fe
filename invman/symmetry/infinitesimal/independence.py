"""How many of some laws are functionally independent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from invman.architecture.program import Program
from invman.symmetry.infinitesimal.law import Law
from invman.symmetry.infinitesimal.modular import rank
from invman.symmetry.infinitesimal.tower import draw_tower


def independent(laws: Sequence[Law], program: Program, seed: int = 0) -> int:
    """Count functionally independent laws: the rank of their gradients at a generic point.

    The rank is taken modulo a random prime at a random point, so that it is never too large.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> from invman.symmetry.infinitesimal.nullspace import affine_generators
    >>> program = read_architecture("1-2identity-1")
    >>> from invman.symmetry.infinitesimal.quadratic import quadratic_laws
    >>> laws = quadratic_laws(affine_generators(program))
    >>> len(laws), independent(laws, program)
    (4, 3)
    """
    rng = np.random.default_rng(seed)
    prime = draw_tower(rng, 0).primes[0]
    theta = [int(value) for value in rng.integers(1, prime, program.parameter_count)]
    return rank([law.residues(theta, prime) for law in laws], prime)
