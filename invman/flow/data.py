"""Training data of a user: CSV or NPZ, checked value by value before anything is trained."""

from __future__ import annotations

import csv
import io
import math
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from invman.errors import DataError


@dataclass(frozen=True, eq=False)
class DataSet:
    """Inputs and targets.

    Attributes
    ----------
    x : float64 array, shape (n, d)
        One row a sample.
    y : float64 array, shape (n, o)
        Its targets.
    """

    x: np.ndarray
    y: np.ndarray

    @property
    def signed(self) -> np.ndarray | None:
        """The targets as +1 and -1 where they are binary (0 and 1, or -1 and 1), shape (n, o); else None."""
        values = set(np.unique(self.y).tolist())
        if values <= {-1.0, 1.0}:
            return self.y
        return 2 * self.y - 1 if values <= {0.0, 1.0} else None


def load_data(path: str | Path, inputs: int, outputs: int) -> DataSet:
    """Read training data for an architecture.

    Parameters
    ----------
    path : path
        ``.npz`` with arrays ``x`` of shape (n, d) and ``y`` of shape (n, o) (or (n,): the target for o = 1, class
        numbers 0..o-1 otherwise, read as one-hot rows); any other file is read as CSV with d + o columns, inputs first,
        with or without a header line.
    inputs, outputs : int
        d and o of the architecture.

    Returns
    -------
    DataSet

    Raises
    ------
    DataError
        The file cannot be read, has other columns, or holds text, NaN or infinity; the message says where.
    """
    place = Path(path)
    try:
        content = place.read_bytes()
    except OSError as error:
        msg = f"data file {place}: got {error.strerror or error}, expected a readable CSV or NPZ file"
        raise DataError(msg) from None
    if not content.strip():
        msg = (
            f"data file {place}: got an empty file, expected at least one row of {inputs} inputs and {outputs} outputs"
        )
        raise DataError(msg)
    if place.suffix.lower() == ".npz":
        return _from_npz(place, content, inputs, outputs)
    table = _table(place, content, inputs + outputs)
    return DataSet(table[:, :inputs], table[:, inputs:])


def _table(place: Path, content: bytes, width: int) -> np.ndarray:
    try:
        lines = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
    except (UnicodeDecodeError, csv.Error) as error:
        msg = f"data file {place}: got {error}, expected comma-separated UTF-8 text (or a file named .npz)"
        raise DataError(msg) from None
    rows = []
    for number, cells in enumerate(lines, start=1):
        if not cells or (number == 1 and not any(_number(cell) is not None for cell in cells)):
            continue  # an empty line, or a header without a number
        if len(cells) != width:
            msg = (
                f"data file {place}, line {number}: got {len(cells)} columns, expected {width}, the inputs and then "
                "the outputs of the architecture"
            )
            raise DataError(msg)
        row = []
        for column, cell in enumerate(cells, start=1):
            value = _number(cell)
            if value is None or not math.isfinite(value):
                msg = f"data file {place}, line {number}, column {column}: got {cell!r}, expected a finite number"
                raise DataError(msg)
            row.append(value)
        rows.append(row)
    if not rows:
        msg = f"data file {place}: got no row of numbers, expected at least one"
        raise DataError(msg)
    return np.array(rows, dtype=np.float64)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _from_npz(place: Path, content: bytes, inputs: int, outputs: int) -> DataSet:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            missing = {"x", "y"} - set(archive.files)
            if missing:
                msg = f"data file {place}: got arrays {', '.join(archive.files) or 'none'}, expected x and y"
                raise DataError(msg)
            x, y = archive["x"], archive["y"]
    except (ValueError, OSError, zipfile.BadZipFile, EOFError) as error:
        msg = f"data file {place}: got {error}, expected an NPZ file with numeric arrays x and y"
        raise DataError(msg) from None
    if x.ndim == 1 and inputs == 1:
        x = x[:, None]
    if y.ndim == 1 and outputs == 1:
        y = y[:, None]
    elif y.ndim == 1:
        y = _one_hot(place, y, outputs)
    for name, array, width in (("x", x, inputs), ("y", y, outputs)):
        if array.ndim != 2 or array.shape[1] != width or not len(array):
            msg = f"data file {place}: got {name} of shape {array.shape}, expected (n, {width})"
            raise DataError(msg)
        if array.dtype.kind not in "biuf":
            msg = f"data file {place}: got {name} of type {array.dtype}, expected numbers"
            raise DataError(msg)
        if not np.isfinite(array).all():
            row, column = np.argwhere(~np.isfinite(array))[0]
            msg = f"data file {place}: got {array[row, column]} at {name}[{row},{column}], expected finite numbers"
            raise DataError(msg)
    if len(x) != len(y):
        msg = f"data file {place}: got {len(x)} rows of x and {len(y)} of y, expected as many"
        raise DataError(msg)
    return DataSet(x.astype(np.float64), y.astype(np.float64))


def _one_hot(place: Path, y: np.ndarray, outputs: int) -> np.ndarray:
    whole = y.dtype.kind in "biuf" and np.isfinite(y).all() and (y == np.floor(y)).all()
    if not whole or y.min(initial=0) < 0 or y.max(initial=0) >= outputs:
        msg = (
            f"data file {place}: got y of shape {y.shape}, expected (n, {outputs}), or class numbers 0 to {outputs - 1}"
        )
        raise DataError(msg)
    return np.eye(outputs)[y.astype(int)]
