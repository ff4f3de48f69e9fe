"""The diagonal torus of an architecture, which splits all further linear systems into small blocks.

Scalings ``theta_i -> t^(w_i) theta_i``, ``x_j -> t^(v_j) x_j`` that multiply every output by a power of t map the
family V to itself, and so act on whatever annihilates it. An affine field ``theta_j d_i`` has weight ``w_j - w_i``
under them, and the space of generators is the direct sum of its parts of one weight each. The scalings are found as a
kernel, too.
"""

from __future__ import annotations

from collections.abc import Hashable

from invman.symmetry.infinitesimal.fields import Sample
from invman.symmetry.infinitesimal.modular import rational
from invman.symmetry.infinitesimal.solve import Pool

Weights = list[tuple[int, ...]]
"""One vector of residues a parameter; the last, an additional one, belongs to the constant 1."""

Unknown = tuple[int, int]
"""The field ``theta_j d_i`` as (i, j); j = D stands for the translation d_i."""


def torus(pool: Pool) -> Weights:
    """Return the weights of the parameters under all diagonal scalings of parameters, inputs, gates and outputs.

    Parameters
    ----------
    pool : Pool
        Samples of the fields.

    Returns
    -------
    list of D + 1 tuples of int
        Modulo the prime; equal weights mean that no scaling tells two parameters apart.

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> from invman.symmetry.infinitesimal.fields import Fields
    >>> [len(set(torus(Pool(Fields(read_architecture(a)))))) for a in ("1-2identity-2", "1-2tanh-1+bias")]
    [7, 3]
    """
    program = pool.fields.program
    prime, count, outputs = pool.fields.prime, program.parameter_count, program.output_count
    width = count + len(pool.fields.peek().free) + outputs

    def row(sample: Sample, output: int) -> list[int]:
        own = [t * g % prime for t, g in zip(sample.theta, sample.gradients[output], strict=True)]
        others = [t * g % prime for t, g in zip(sample.free, sample.free_gradients[output], strict=True)]
        degree = [0] * outputs
        degree[output] = -sample.outputs[output] % prime
        return own + others + degree

    scalings = pool.solve(width, row)
    return [tuple(scaling[i] for scaling in scalings) for i in range(count)] + [(0,) * len(scalings)]


def blocks(weights: Weights, prime: int) -> list[list[Unknown]]:
    """Sort the affine fields by weight.

    Parameters
    ----------
    weights : list of D + 1 tuples
        As :func:`torus` returns them.
    prime : int
        The modulus.

    Returns
    -------
    list of lists of (i, j)
        ``D^2 + D`` fields in all.
    """
    sorted_by: dict[Hashable, list[Unknown]] = {}
    for i, own in enumerate(weights[:-1]):
        for j, other in enumerate(weights):
            key = tuple((a - b) % prime for a, b in zip(other, own, strict=True))
            sorted_by.setdefault(key, []).append((i, j))
    return list(sorted_by.values())


def signs(weights: Weights, prime: int) -> list[tuple[int, ...]]:
    """Return the signs ``(-1)^w`` of the parameters under the integer scalings, as exponents modulo 2.

    Unlike other scalings these are isometries, so that they act on conservation laws.

    Returns
    -------
    list of D tuples of {0, 1}
    """
    columns = []
    for scaling in zip(*weights[:-1], strict=True):
        fractions = [rational(value, prime) for value in scaling]
        scale = max((f.denominator for f in fractions), default=1)
        if all((f * scale).denominator == 1 for f in fractions):
            columns.append([int(f * scale) % 2 for f in fractions])
    return [tuple(column[i] for column in columns) for i in range(len(weights) - 1)]
