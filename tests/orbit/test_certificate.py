"""Certificates: plain data, exact or an interval, and never bounds that cross."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest

from invman.architecture import read_architecture
from invman.errors import ContradictionError, InvmanError
from invman.orbit import Bound, Certificate, NumericalRank, OrbitOptions, find_orbit


def certificate(lower, upper, numerical=None):
    program = read_architecture("1-1tanh-1")
    point = (Fraction(1, 3), Fraction(-2))
    profile = (1, lower)
    return Certificate(program, point, None, Bound(lower, "below"), Bound(upper, "above"), profile, 7, numerical)


def test_exact():
    found = certificate(2, 2)
    assert found.exact
    assert found.dimension == 2
    assert found.interval == "2"
    assert repr(found) == "Certificate(1-1tanh-1, dimension=2, of 2)"


def test_interval():
    found = certificate(1, 2)
    assert not found.exact
    assert found.dimension is None
    assert found.interval == "1 to 2"
    assert "1 to 2" in repr(found)


def test_bounds_that_cross():
    with pytest.raises(
        ContradictionError, match=r"lower bound 2 \(below\) above the upper bound 1 \(above\)"
    ) as caught:
        certificate(2, 1)
    assert "seed 7" in str(caught.value)
    assert "1-1tanh-1" in str(caught.value)
    assert isinstance(caught.value, InvmanError)


def test_document_by_hand():
    bound = {"value": 2, "method": "below", "arithmetic": "integers", "manifold": None, "error": 0.0}
    assert certificate(2, 2).document() == {
        "lower": bound,
        "upper": {**bound, "method": "above"},
        "exact": True,
        "profile": [1, 2],
        "seed": 7,
        "place": None,
        "point": ["1/3", "-2"],
        "numerical": None,
    }


@pytest.mark.parametrize("arithmetic", ["auto", "ball", "float"])
@pytest.mark.parametrize("text", ["2-2tanh-1", "2-2square-1", "1-2gelu-1+bias"])
def test_document_is_json_of_every_kind(text, arithmetic):
    found = find_orbit(text, options=OrbitOptions(arithmetic))
    document = json.loads(json.dumps(found.document(), allow_nan=False))
    assert document["exact"] == found.exact
    assert [Fraction(v) for v in document["point"]] == list(found.theta)
    assert tuple(document["profile"]) == found.profile
    assert (document["numerical"] is None) == (arithmetic != "float")
    assert document["lower"]["value"] <= document["upper"]["value"]


def test_a_point_gives_back_the_same_certificate():
    first = find_orbit("2-2tanh-1")
    assert find_orbit("2-2tanh-1", list(first.theta)).document() == first.document()


def test_an_infinite_gap_is_written():
    text = json.dumps(certificate(0, 2, NumericalRank(2, (1, 2), float("inf"))).document(), allow_nan=False)
    assert json.loads(text)["numerical"]["rank"] == 2


def test_the_place_is_a_name():
    program = read_architecture("2-3tanh-1")
    from invman.manifold import CondensedSpace

    found = find_orbit(program, CondensedSpace.of(program).named("0=-1"))
    assert found.place == "0=-1"
    assert found.upper.manifold == "0=-1"
    assert found.upper.error == 0


def test_a_random_upper_bound_says_so():
    found = find_orbit("2-2square-1")
    assert "prime" in found.upper.arithmetic
    assert 0 < found.upper.error < 1e-12
    assert found.lower.error == 0


def test_citation():
    lines = certificate(1, 1).citation().splitlines()
    assert len(lines) == 2
    assert "arXiv:2510.09564" in lines[0]
    assert "Sontag" in lines[1]


def test_frozen():
    with pytest.raises(FrozenInstanceError):
        certificate(1, 1).seed = 3  # type: ignore[misc]
