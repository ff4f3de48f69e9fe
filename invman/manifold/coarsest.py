"""``invman.coarsest``: where a point of parameter space stands among the balanced manifolds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from invman.architecture import Program, read_architecture
from invman.errors import DataError
from invman.manifold.balanced import BalancedManifold, BalancedSpace
from invman.manifold.refinement import FACTOR, Refinement

TOLERANCES = {"float64": 1e-9, "float32": 1e-5, "float16": 1e-2}
"""Relative tolerance for parameters of each float type."""


def coarsest(
    theta: Mapping[str, Any] | Sequence[Any] | np.ndarray,
    arch: str | Program | BalancedSpace,
    *,
    tolerance: float | None = None,
) -> BalancedManifold:
    """Return the smallest balanced manifold that holds a point: the coarsest balanced signed partition of its neurons.

    Its affine leaf through the point holds the whole orbit of the point. The time is near-linear in the number of
    weights.

    Parameters
    ----------
    theta : array of shape (D,), sequence of D numbers, or mapping of parameter names to arrays
        Integers and Fractions are treated exactly, floats with a tolerance.
    arch : str, Program or BalancedSpace
        A fully connected architecture.
    tolerance : float, optional
        Sums of weights count as equal when they differ by less than this times the typical norm of the weights of a
        neuron; 1e-9 for float64, 1e-5 for float32.

    Returns
    -------
    BalancedManifold

    Raises
    ------
    DataError
        Theta has another shape than the parameters, or holds something that is no finite number.
    UnsupportedError
        The architecture is not fully connected.

    Examples
    --------
    >>> coarsest([1, -1, 2, 5, -5, 0], "1-3tanh-1")
    0=-1
    """
    if not isinstance(arch, BalancedSpace):
        arch = BalancedSpace.of(read_architecture(arch) if isinstance(arch, str) else arch)
    arrays = arrays_of(theta, arch.program)
    kinds = {array.dtype.name for array in arrays.values() if array.dtype.kind == "f"}
    if not kinds:
        return BalancedManifold(arch, Refinement(arch.net, _integers(arrays), 0.0).run())
    if tolerance is None:
        tolerance = max(TOLERANCES.get(kind, 1e-9) for kind in kinds)
    if not 1e-16 <= tolerance < 1:
        msg = f"tolerance: got {tolerance}, expected a number from 1e-16 to 1; integers and Fractions need none"
        raise DataError(msg)
    return BalancedManifold(arch, Refinement(arch.net, arrays, tolerance).run())


def arrays_of(theta: Mapping[str, Any] | Sequence[Any] | np.ndarray, program: Program) -> dict[str, np.ndarray]:
    """Return the parameters by name: float arrays, or object arrays where all numbers are integers or Fractions."""
    if isinstance(theta, Mapping):
        names = {tensor.name for tensor in program.parameters}
        if set(theta) != names:
            msg = f"theta: got parameters {', '.join(map(str, theta))}, expected {', '.join(sorted(names))}"
            raise DataError(msg)
        parts = {name: np.asarray(value) for name, value in theta.items()}
    else:
        flat = np.asarray(theta)
        if flat.shape != (program.parameter_count,):
            msg = f"theta: got shape {flat.shape}, expected ({program.parameter_count},), all parameters in a row"
            raise DataError(msg)
        parts = {t.name: flat[program.offsets[t.name] :][: t.size].reshape(t.shape) for t in program.parameters}
    exact = all(_rational(part) for part in parts.values())
    arrays = {}
    for tensor in program.parameters:
        part = parts[tensor.name]
        if part.shape != tensor.shape:
            msg = f"theta[{tensor.name}]: got shape {part.shape}, expected {tensor.shape}"
            raise DataError(msg)
        try:
            arrays[tensor.name] = part if exact or part.dtype.kind == "f" else part.astype(np.float64)
        except (TypeError, ValueError):
            msg = f"theta[{tensor.name}]: got entries that are no numbers, expected integers, Fractions or floats"
            raise DataError(msg) from None
        if not exact and not np.isfinite(arrays[tensor.name]).all():
            msg = f"theta[{tensor.name}]: got nan or inf, expected finite numbers"
            raise DataError(msg)
    return arrays


def _rational(part: np.ndarray) -> bool:
    if part.dtype.kind in "iu":
        return True
    return part.dtype == object and all(isinstance(value, int | np.integer | Fraction) for value in part.flat)


def _integers(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Clear denominators, tensor by tensor; int64 where no sum can overflow, else Python integers."""
    found = {}
    for name, array in arrays.items():
        whole = array if array.dtype.kind in "iu" else array.astype(object)
        if whole.dtype == object:
            common = lcm(*(Fraction(value).denominator for value in whole.flat))
            scaled = [int(Fraction(value) * common) for value in whole.flat]
            whole = np.array([*scaled, None], dtype=object)[:-1].reshape(array.shape)
        found[name] = whole
    largest = max((max(abs(int(a.max())), abs(int(a.min()))) for a in found.values() if a.size), default=0)
    small = largest * 2 * FACTOR * sum(array.size for array in found.values()) < 1 << 62
    kind = np.int64 if small else object
    return {name: array.astype(kind) for name, array in found.items()}
