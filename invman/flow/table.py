"""A comma-separated table of numbers, read with the place of whatever is wrong."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from jaxtyping import Float

from invman.errors import DataError


def read_table(path: Path, inputs: int, outputs: int) -> Float[np.ndarray, "n columns"]:
    """Read a comma-separated table with ``inputs + outputs`` columns.

    Parameters
    ----------
    path : Path
        UTF-8 text; blank lines are skipped, and a first line in which no cell is a number is a header.
    inputs, outputs : int
        Number of columns of each kind.

    Returns
    -------
    float64 array, shape (n, inputs + outputs)

    Raises
    ------
    DataError
        With the line and, for a cell, the column, both counted from 1.
    """
    rows: list[list[float]] = []
    first = True
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            for cells in reader:
                if not any(cell.strip() for cell in cells):
                    continue
                _count(cells, inputs, outputs, reader.line_num)
                if first and not any(_is_number(cell) for cell in cells):
                    first = False
                    continue
                first = False
                rows.append([_number(cell, reader.line_num, column) for column, cell in enumerate(cells, 1)])
    except (UnicodeDecodeError, csv.Error) as error:
        msg = "got bytes that are no UTF-8 text, expected comma-separated numbers. Save the table as CSV."
        raise DataError(msg) from error
    if not rows:
        msg = "got no rows of numbers, expected at least one example"
        raise DataError(msg)
    return np.array(rows)


def _count(cells: list[str], inputs: int, outputs: int, line: int) -> None:
    if len(cells) != inputs + outputs:
        hint = " Use commas between the numbers." if len(cells) == 1 else ""
        msg = (
            f"line {line}: got {len(cells)} column{'s' if len(cells) != 1 else ''}, expected {inputs + outputs} "
            f"({inputs} inputs, then {outputs} outputs).{hint}"
        )
        raise DataError(msg)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _number(cell: str, line: int, column: int) -> float:
    text = cell.strip()
    value = float(text) if _is_number(text) else None
    if value is None or not np.isfinite(value):
        shown = repr(text[:40]) if value is None else text
        msg = f"line {line}, column {column}: got {shown}, expected a finite number. Fill the cell or remove the line."
        raise DataError(msg)
    return value
