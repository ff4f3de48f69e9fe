"""Training data of a user: examples in memory, and read from CSV and NPZ files."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from jaxtyping import Float

from invman.errors import DataError
from invman.flow.table import read_table


@dataclass(frozen=True, eq=False)
class DataSet:
    """Examples to train on.

    Attributes
    ----------
    x : float64 array, shape (n, d)
        Inputs, one example a row.
    y : float64 array, shape (n, o)
        Targets.

    Raises
    ------
    DataError
        The arrays have no two axes, different lengths, no rows, or hold NaN or an infinity.
    """

    x: Float[np.ndarray, "n d"]
    y: Float[np.ndarray, "n o"]

    def __post_init__(self) -> None:
        for name, array in (("x", self.x), ("y", self.y)):
            if array.ndim != 2 or not len(array):
                _refuse(f"data {name}: got shape {array.shape}, expected (examples, columns) with at least one example")
            bad = np.argwhere(~np.isfinite(array))
            if len(bad):
                row, column = map(int, bad[0])
                value = array[row, column]
                _refuse(f"data {name}[{row},{column}]: got {value}, expected a finite number. Remove or fill that row.")
        if len(self.x) != len(self.y):
            _refuse(f"data: got {len(self.x)} rows of x and {len(self.y)} of y, expected as many")

    @property
    def signs(self) -> Float[np.ndarray, "n o"]:
        """The targets as +1 and -1, for the logistic and the exponential loss.

        In each column, +1 stands above the middle of its smallest and largest value and -1 elsewhere, so that one-hot
        targets 0/1 and targets -1/+1 both become what is meant; a column with one value keeps the sign of it.

        Examples
        --------
        >>> DataSet(np.zeros((2, 1)), np.array([[0.0], [1.0]])).signs.tolist()
        [[-1.0], [1.0]]
        """
        low, high = self.y.min(axis=0), self.y.max(axis=0)
        middle = np.where(low == high, 0.0, low / 2 + high / 2)
        return np.where(self.y > middle, 1.0, -1.0)

    def expect(self, inputs: int, outputs: int) -> None:
        """Raise DataError unless there are ``inputs`` columns of x and ``outputs`` columns of y."""
        got = self.x.shape[1], self.y.shape[1]
        if got != (inputs, outputs):
            _refuse(
                f"data: got {got[0]} inputs and {got[1]} outputs, expected {inputs} and {outputs}. "
                f"Use data of this architecture."
            )


def load_data(path: str | Path, inputs: int, outputs: int) -> DataSet:
    """Read examples from a file.

    Parameters
    ----------
    path : str or Path
        ``.csv`` (also ``.txt``): comma separated, first ``inputs`` and then ``outputs`` columns; a first line without
        numbers is a header. ``.npz``: arrays ``x`` and ``y``, one example a row, further axes are flattened;
        ``y`` may have shape (n,) if there is one output, or hold the class labels 0, ..., o-1 as integers of shape
        (n,) if there are several, which become rows of zeros with a one at the label.
    inputs, outputs : int
        d and o of the architecture.

    Returns
    -------
    DataSet
        With x of shape (n, d) and y of shape (n, o).

    Raises
    ------
    DataError
        The file is missing, cannot be read, has the wrong columns, or holds something that is no finite number.
        Pickled objects are never loaded.
    """
    path = Path(path)
    if not path.is_file():
        _refuse(
            f"data file {path}: got {'a folder' if path.is_dir() else 'no such file'}, expected a .csv or .npz file"
        )
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".txt", ".npz"):
        _refuse(
            f"data file {path}: got the ending {suffix!r}, expected .csv, .txt or .npz. Rename or convert the file."
        )
    try:
        if suffix == ".npz":
            return _load_npz(path, inputs, outputs)
        rows = read_table(path, inputs, outputs)
        return DataSet(rows[:, :inputs], rows[:, inputs:])
    except DataError as error:
        msg = f"{path}: {error}"
        raise DataError(msg) from error
    except OSError as error:
        msg = f"data file {path}: got {error.strerror or error}, expected a file that can be read"
        raise DataError(msg) from error


def _load_npz(path: Path, inputs: int, outputs: int) -> DataSet:
    try:
        # from memory: numpy leaves the file open where an archive is damaged
        archive = np.load(io.BytesIO(path.read_bytes()), allow_pickle=False)
    except (zipfile.BadZipFile, ValueError, EOFError) as error:
        msg = "got a file that is no NPZ archive, expected one written by numpy.savez(path, x=x, y=y)"
        raise DataError(msg) from error
    if not isinstance(archive, np.lib.npyio.NpzFile):
        _refuse("got a single array, expected an archive with x and y. Write it by numpy.savez(path, x=x, y=y).")
    with archive:
        missing = [name for name in ("x", "y") if name not in archive.files]
        if missing:
            held = ", ".join(archive.files) or "nothing"
            _refuse(f"got an archive of {held}, expected arrays x and y. Write it by numpy.savez(path, x=x, y=y).")
        x, y = _numbers(archive, "x"), _numbers(archive, "y")
    if y.ndim == 1 and outputs > 1:
        y = _one_hot(y, outputs)
    return DataSet(_rows("x", x, inputs), _rows("y", y, outputs))


def _numbers(archive: np.lib.npyio.NpzFile, name: str) -> np.ndarray:
    try:
        array = archive[name]
    except (ValueError, zipfile.BadZipFile, EOFError) as error:
        msg = f"array {name}: got pickled objects or damaged bytes, expected plain numbers. Save it as a float array."
        raise DataError(msg) from error
    if array.dtype.kind not in "biuf":
        _refuse(f"array {name}: got dtype {array.dtype}, expected real numbers. Save it as a float array.")
    return array


def _one_hot(labels: np.ndarray, outputs: int) -> np.ndarray:
    if labels.dtype.kind not in "iu":
        got = f"shape {labels.shape} of {labels.dtype}"
        _refuse(f"array y: got {got}, expected shape ({len(labels)}, {outputs}), or whole numbers as labels")
    bad = labels[(labels < 0) | (labels >= outputs)]
    if len(bad):
        _refuse(f"array y: got the label {bad[0]}, expected 0 to {outputs - 1}, since there are {outputs} outputs")
    return np.eye(outputs)[labels]


def _rows(name: str, array: np.ndarray, columns: int) -> np.ndarray:
    flat = array.reshape(len(array), -1) if array.ndim and array.size else np.empty((0, columns))
    if flat.shape[1] != columns:
        kind = "inputs" if name == "x" else "outputs"
        _refuse(f"array {name}: got {flat.shape[1]} columns, expected {columns}, the {kind} of the architecture")
    return flat.astype(np.float64)


def _refuse(message: str) -> NoReturn:
    raise DataError(message)
