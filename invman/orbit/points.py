"""Points of parameter space, exactly: read from a file, drawn anywhere, drawn on a manifold."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from invman.architecture.program import Program
from invman.errors import DataError
from invman.manifold.balanced import BalancedManifold
from invman.manifold.coarsest import arrays_of
from invman.manifold.subspace import Polydiagonal

GRID = 64
"""Random parameters are whole multiples of 1/GRID."""
REACH = 96
"""Largest random parameter, in units of 1/GRID."""

LONGEST = 4000
"""Digits, and largest power of ten, of a number that is read from text."""
_EXPONENT = re.compile(r"[eE]([+-]?\d+)")

Theta = tuple[Fraction, ...]


class FlatManifold(Protocol):
    """A manifold that is a signed polydiagonal."""

    def polydiagonal(self) -> Polydiagonal:
        """Return the subspace."""
        ...


def exact_point(theta: Mapping[str, Any] | Sequence[Any] | np.ndarray, program: Program) -> Theta:
    """Return a point as D Fractions; floats are taken as the binary fractions that they are.

    Raises
    ------
    DataError
        Another shape than the parameters have, or something that is no finite number.
    """
    if isinstance(theta, Mapping):
        arrays = arrays_of({str(name): _exact(value, str(name)) for name, value in theta.items()}, program)
    else:
        arrays = arrays_of(_exact(theta, "theta"), program)
    flat = [value for tensor in program.parameters for value in arrays[tensor.name].reshape(-1).tolist()]
    return tuple(Fraction(value) for value in flat)


def _exact(value: Any, place: str) -> np.ndarray:
    """Return an array of Fractions; every number is taken as it is."""
    array = np.asarray(value, dtype=object)
    try:
        entries = [_fraction(entry) for entry in array.reshape(-1).tolist()]
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        msg = f"{place}: got entries that are no numbers, or rows of different lengths, expected finite numbers"
        raise DataError(msg) from None
    return np.array([*entries, None], dtype=object)[:-1].reshape(array.shape)


def _fraction(entry: Any) -> Fraction:
    if isinstance(entry, bool | np.bool_) or not isinstance(entry, int | float | Fraction | str | np.number):
        raise TypeError
    if isinstance(entry, str):
        exponents = _EXPONENT.findall(entry[: LONGEST + 1])
        if len(entry) > LONGEST or any(abs(int(exponent)) > LONGEST for exponent in exponents):
            raise ValueError
    return Fraction(entry.item() if isinstance(entry, np.number) else entry)


def draw_point(program: Program, seed: int, manifold: FlatManifold | BalancedManifold | None = None) -> Theta:
    """Draw a generic rational point, of the whole space or of a manifold.

    Parameters
    ----------
    program : Program
        The architecture.
    seed : int
        Of the random numbers.
    manifold : a manifold of any family, optional
        Where the point lies; on balanced weights the frozen part is random too.

    Returns
    -------
    tuple of D Fractions

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> from invman.manifold import CondensedSpace
    >>> space = CondensedSpace.of(read_architecture("1-2tanh-1"))
    >>> point = draw_point(space.program, 0, space.named("0=-1"))
    >>> point[0] == -point[1], point[2] == -point[3]
    (True, True)
    """
    rng = np.random.default_rng([seed, 3])
    size = program.parameter_count
    free = [
        int(v) * (1 - 2 * int(s)) for v, s in zip(rng.integers(1, REACH, size), rng.integers(0, 2, size), strict=True)
    ]
    if manifold is None:
        return tuple(Fraction(v, GRID) for v in free)
    if isinstance(manifold, BalancedManifold):
        whole = [int(v) for v in manifold.point(np.array(free, dtype=np.int64))]
        scale = max(max(map(abs, whole), default=0) * GRID // REACH, 1)
        return tuple(Fraction(v, scale) for v in whole)
    flat = manifold.polydiagonal()
    pairs = zip(flat.classes.tolist(), flat.signs.tolist(), strict=True)
    return tuple(Fraction(free[own] * sign, GRID) if own >= 0 else Fraction(0) for own, sign in pairs)


def read_point(path: Path, program: Program) -> Theta:
    """Read a point from a JSON file: D numbers in a row, or an object of arrays by the names of the parameters.

    Decimal numbers are taken as written (0.1 is one tenth), and strings such as "1/3" are fractions.

    Raises
    ------
    DataError
        The file cannot be read, is no JSON, or does not fit the parameters.
    """
    try:
        # numbers stay text until they are read exactly
        found = json.loads(path.read_text(encoding="utf-8"), parse_float=str, parse_constant=_refuse)
    except (OSError, UnicodeDecodeError) as error:
        msg = f"point {path}: got {error}, expected a JSON file that can be read"
        raise DataError(msg) from None
    except (ValueError, RecursionError) as error:
        msg = f"point {path}: got no JSON ({error}), expected numbers in a row or arrays by name"
        raise DataError(msg) from None
    if not isinstance(found, dict | list):
        msg = f"point {path}: got {type(found).__name__}, expected numbers in a row or arrays by name"
        raise DataError(msg)
    return exact_point(found, program)


def _refuse(word: str) -> Any:
    msg = f"got {word}"
    raise ValueError(msg)
