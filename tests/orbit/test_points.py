"""Points: read exactly from files, drawn on manifolds, refused with a message that says what is wrong."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from invman.architecture import read_architecture
from invman.errors import DataError
from invman.lattice import build_lattice
from invman.manifold import BalancedSpace, coarsest
from invman.orbit import draw_point, exact_point, read_point

NET = "1-2tanh-1"
DEEP = "1-2tanh-2tanh-1+bias"


@pytest.fixture
def read(tmp_path):
    """Write text to a file and read it as a point."""

    def call(text, arch=NET):
        path = tmp_path / "point.json"
        path.write_text(text, encoding="utf-8")
        return read_point(path, read_architecture(arch))

    return call


def test_numbers_in_a_row(read):
    assert read("[1, -2, 0.5, 3]") == (1, -2, Fraction(1, 2), 3)


def test_decimals_are_taken_as_written(read):
    assert read('[0.1, -2.5e-1, 1E2, "1/3"]') == (Fraction(1, 10), Fraction(-1, 4), 100, Fraction(1, 3))
    assert read('["0.1", "-7/2", "2", 0]')[:3] == (Fraction(1, 10), Fraction(-7, 2), 2)


def test_large_whole_numbers_are_exact(read):
    assert read(f"[{2**80 + 1}, 0, 0, 0.3]")[0] == 2**80 + 1


def test_arrays_by_name(read):
    assert read('{"a": [3, "1/3"], "w": [[0.1], [2]]}') == (Fraction(1, 10), 2, 3, Fraction(1, 3))


def test_nested_shapes_and_scalars(read):
    point = read(
        '{"w1": [[1], [2]], "b1": [3, 4], "w2": [[5, 6], [7, 8]], "b2": [9, 10], "w3": [11, 12], "b3": 13}', DEEP
    )
    assert point == tuple(range(1, 14))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1, NaN, 2, 3]", "NaN"),
        ("[1, Infinity, 2, 3]", "Infinity"),
        ("[1, -Infinity, 2, 3]", "Infinity"),
        ('["nan", 0, 0, 0]', "no numbers"),
        ('["inf", 0, 0, 0]', "no numbers"),
        ("[1, 2, 3]", r"shape \(3,\)"),
        ("[]", "shape"),
        ("[[1], [2], [3], [4]]", "shape"),
        ("[[1, 2], [3]]", "different lengths"),
        ("[1, [2, 3], 4]", "different lengths"),
        ("[1, [], 2, 3]", "different lengths"),
        ("[true, 0, 0, 0]", "no numbers"),
        ("[1, false, 0, 0]", "no numbers"),
        ("[null, 0, 0, 0]", "no numbers"),
        ('["x", 0, 0, 0]', "no numbers"),
        ('["", 0, 0, 0]', "no numbers"),
        ('["1/0", 0, 0, 0]', "no numbers"),
        ('[{"a": 1}, 0, 0, 0]', "no numbers"),
        ("5", "int"),
        ('"1"', "str"),
        ("null", "NoneType"),
        ("true", "bool"),
        ("", "no JSON"),
        ("[1, 2", "no JSON"),
        ('{"w": [[1], [2]]}', "expected a, w"),
        ('{"w": [[1], [2]], "a": [1, 2], "b": 1}', "parameters w, a, b"),
        ('{"w": [1, 2], "a": [1, 2]}', r"theta\[w\].*shape \(2,\)"),
        ('{"w": [[1], [2]], "a": [1, null]}', "a: got entries"),
        ('{"w": [[1], [2, 3]], "a": [1, 2]}', "w: got entries"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_refused(read, text, words):
    with pytest.raises(DataError, match=words):
        read(text)


def test_missing_file_directory_and_bytes(tmp_path):
    program = read_architecture(NET)
    with pytest.raises(DataError, match="No such file"):
        read_point(tmp_path / "nothing.json", program)
    with pytest.raises(DataError, match="directory"):
        read_point(tmp_path, program)
    path = tmp_path / "bytes.json"
    path.write_bytes(b"\xff\xfe[1]")
    with pytest.raises(DataError, match="can be read"):
        read_point(path, program)


def test_floats_are_binary_fractions():
    program = read_architecture("1-1tanh-1")
    assert exact_point([0.1, 0.5], program) == (Fraction(0.1), Fraction(1, 2))
    assert exact_point(np.array([0.1, 2], dtype=np.float32), program)[0] == Fraction(float(np.float32(0.1)))
    assert exact_point([Fraction(1, 3), 2], program) == (Fraction(1, 3), 2)


def test_fractions_stay_exact_beside_floats():
    program = read_architecture("1-1tanh-1")
    assert exact_point([Fraction(1, 3), 0.5], program) == (Fraction(1, 3), Fraction(1, 2))
    assert exact_point({"w": [[Fraction(1, 3)]], "a": [0.5]}, program)[0] == Fraction(1, 3)


@pytest.mark.parametrize("wrong", [[float("nan"), 1], [float("inf"), 1], ["x", 1], [1], [[1, 2]], [None, 1]])
def test_points_that_do_not_fit(wrong):
    with pytest.raises(DataError, match="theta"):
        exact_point(wrong, read_architecture("1-1tanh-1"))


def test_drawn_points():
    program = read_architecture("2-3tanh-1")
    point = draw_point(program, 0)
    assert point == draw_point(program, 0) != draw_point(program, 1)
    assert len(point) == 9
    assert all(isinstance(v, Fraction) and v for v in point)
    assert repr(coarsest(list(point), program)) == "free"


@pytest.mark.parametrize("family", ["condensed", "symmetric", "invariant"])
@pytest.mark.parametrize("text", ["2-3tanh-1", "1-2tanh-2sigmoid-1"])
def test_drawn_on_every_manifold(text, family):
    program = read_architecture(text)
    balanced = BalancedSpace.of(program)
    for manifold in build_lattice(program, family=family).manifolds:
        point = list(draw_point(program, 3, manifold))
        assert all(isinstance(v, Fraction) for v in point)
        if family == "invariant":
            assert manifold.contains(point)
            assert coarsest(point, balanced) == manifold
        else:
            flat = manifold.polydiagonal()
            assert all(v == 0 for v, own in zip(point, flat.classes, strict=True) if own < 0)
            values = {own: v * int(s) for v, own, s in zip(point, flat.classes, flat.signs, strict=True) if own >= 0}
            assert all(
                v == values[own] * int(s) for v, own, s in zip(point, flat.classes, flat.signs, strict=True) if own >= 0
            )
