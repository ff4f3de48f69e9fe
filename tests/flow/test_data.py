from __future__ import annotations

import re

import numpy as np
import pytest

from invman.errors import DataError
from invman.flow import DataSet, load_data


@pytest.mark.parametrize("text", ["1,2,3\n4,5,6\n", "x0,x1,y\n1,2,3\n\n4,5,6", "\ufeff1, 2,3\r\n4,5, 6\r\n"])
def test_csv(tmp_path, text):
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8", newline="")
    data = load_data(path, 2, 1)
    assert data.x.tolist() == [[1, 2], [4, 5]]
    assert data.y.tolist() == [[3], [6]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "got no rows of numbers"),
        ("x0,x1,y\n", "got no rows of numbers"),
        ("1,2\n", "line 1: got 2 columns, expected 3 (2 inputs, then 1 outputs)"),
        ("1;2;3\n", "line 1: got 1 column, expected 3 (2 inputs, then 1 outputs). Use commas"),
        ("1,2,3\n1,2,3,4\n", "line 2: got 4 columns, expected 3"),
        ("a,b,c\n1,2,3\n1,cat,3\n", "line 3, column 2: got 'cat', expected a finite number"),
        ("1,cat,3\n", "line 1, column 2: got 'cat'"),
        ("a,b,c\nd,e,f\n", "line 2, column 1: got 'd'"),
        ("1,2,nan\n", "line 1, column 3: got nan, expected a finite number"),
        ("1,-inf,2\n", "line 1, column 2: got -inf"),
        ("1,,2\n", "line 1, column 2: got ''"),
    ],
)
def test_csv_errors(tmp_path, text, message):
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        load_data(path, 2, 1)
    assert str(path) in str(caught.value)


def test_no_text(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"\xff\xfe1,2,3\n")
    with pytest.raises(DataError, match="no UTF-8 text"):
        load_data(path, 2, 1)


def test_paths(tmp_path):
    with pytest.raises(DataError, match="got no such file, expected"):
        load_data(tmp_path / "none.csv", 1, 1)
    with pytest.raises(DataError, match="got a folder"):
        load_data(tmp_path, 1, 1)
    other = tmp_path / "data.xlsx"
    other.touch()
    with pytest.raises(DataError, match=r"got the ending '.xlsx', expected .csv, .txt or .npz"):
        load_data(other, 1, 1)


@pytest.mark.parametrize(
    ("y", "outputs", "expected"),
    [
        (np.array([1.5, 2.5]), 1, [[1.5], [2.5]]),
        (np.array([[1], [0]]), 1, [[1], [0]]),
        (np.array([2, 0]), 3, [[0, 0, 1], [1, 0, 0]]),
        (np.array([[1.0, 2], [3, 4]]), 2, [[1, 2], [3, 4]]),
    ],
)
def test_npz(tmp_path, y, outputs, expected):
    np.savez(tmp_path / "data.npz", x=np.ones((2, 2, 3), dtype=np.float32), y=y)
    data = load_data(tmp_path / "data.npz", 6, outputs)
    assert data.x.shape == (2, 6)
    assert data.x.dtype == data.y.dtype == np.float64
    assert data.y.tolist() == expected


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": np.ones((2, 2))}, "got an archive of x, expected arrays x and y"),
        ({"x": np.ones((2, 3)), "y": np.array([0, 1])}, "array x: got 3 columns, expected 2, the inputs"),
        ({"x": np.ones((2, 2)), "y": np.ones((2, 2))}, "array y: got 2 columns, expected 3, the outputs"),
        ({"x": np.ones((2, 2)), "y": np.array([0, 3])}, "got the label 3, expected 0 to 2"),
        ({"x": np.ones((2, 2)), "y": np.array([-1, 1])}, "got the label -1, expected 0 to 2"),
        ({"x": np.ones((2, 2)), "y": np.array([0.5, 1])}, "expected shape (2, 3), or whole numbers as labels"),
        ({"x": np.ones((2, 2)), "y": np.array([0, 1, 2])}, "got 2 rows of x and 3 of y"),
        ({"x": np.array([[1, np.nan]]), "y": np.array([0])}, "x[0,1]: got nan, expected a finite number"),
        ({"x": np.array([["a", "b"]]), "y": np.array([0])}, "array x: got dtype <U1, expected real numbers"),
        ({"x": np.array([[object(), 1]]), "y": np.array([0])}, "array x: got pickled objects"),
        ({"x": np.ones((0, 2)), "y": np.ones((0, 3))}, "expected (examples, columns) with at least one example"),
    ],
)
def test_npz_errors(tmp_path, arrays, message):
    path = tmp_path / "data.npz"
    np.savez(path, allow_pickle=True, **arrays)
    with pytest.raises(DataError, match=re.escape(message)):
        load_data(path, 2, 3)


@pytest.mark.parametrize("content", [b"", b"nothing", b"PK\x03\x04broken"])
def test_damaged_npz(tmp_path, content):
    path = tmp_path / "data.npz"
    path.write_bytes(content)
    with pytest.raises(DataError, match="no NPZ archive"):
        load_data(path, 2, 3)


def test_npy_with_the_wrong_name(tmp_path):
    with (tmp_path / "data.npz").open("wb") as file:
        np.save(file, np.ones(3))
    with pytest.raises(DataError, match="got a single array"):
        load_data(tmp_path / "data.npz", 2, 3)


def test_signs():
    data = DataSet(np.zeros((2, 1)), np.array([[0.0, -1, 3, 5, 2], [1.0, 1, 3, 9, -2]]))
    assert data.signs.tolist() == [[-1, -1, 1, -1, 1], [1, 1, 1, 1, -1]]
