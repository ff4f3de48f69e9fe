"""The certificate of an orbit as text: what is exact, what is an interval, what is no proof."""

from __future__ import annotations

import re

import pytest

from invman.lattice.document import program_document
from invman.orbit import OrbitOptions, find_orbit
from invman.report.orbit import orbit_text


def document(text, *, one_region=False, **changes):
    from invman.architecture import read_architecture

    program = read_architecture(text, one_region=one_region)
    return {**program_document(program), "orbit": {**find_orbit(program).document(), **changes}}


def bound(value, **changes):
    return {"value": value, "method": "by hand", "arithmetic": "integers", "manifold": None, "error": 0.0, **changes}


def test_exact():
    text = orbit_text(document("2-2tanh-1"))
    assert "6, exact, of 6" in text
    assert "not decided" not in text
    assert "chance" not in text
    assert text.endswith("\n")


def test_aligned():
    for line in orbit_text(document("2-2square-1")).splitlines():
        name, text = line[:12], line[14:]
        assert line[12:14] == "  "
        assert name.strip()
        assert text == text.lstrip()


def test_interval():
    text = orbit_text(document("2-2tanh-1", lower=bound(2), upper=bound(5), exact=False, profile=[1, 2]))
    assert "from 2 to 5, not decided, of 6" in text
    assert re.search(r"^at least 2 +by hand; integers$", text, re.MULTILINE)
    assert re.search(r"^at most 5 +by hand; integers$", text, re.MULTILINE)
    assert re.search(r"^by order +1 2$", text, re.MULTILINE)


def test_manifold_and_place():
    text = orbit_text(document("2-2tanh-1", upper=bound(6, manifold="0=-1"), place="0=-1", seed=12))
    assert "by hand (0=-1); integers" in text
    assert "a generic point of 0=-1, seed 12" in text


@pytest.mark.parametrize("error", [1.4e-16, 1.0e-16, 1.65e-16, 9.99e-17, 3e-20])
def test_the_chance_of_an_error_is_never_understated(error):
    text = orbit_text(document("2-2tanh-1", upper=bound(6, error=error)))
    found = re.search(r"below (\S+)$", text, re.MULTILINE)
    assert found is not None
    assert error <= float(found[1]) <= 11 * error


def test_floats():
    program = "2-2tanh-1"
    orbit = find_orbit(program, options=OrbitOptions("float")).document()
    text = orbit_text({**document(program), "orbit": orbit})
    assert "no proof" in text
    assert re.search(r"^by order +-$", text, re.MULTILINE)


def test_a_gap_is_printed():
    numerical = {"rank": 5, "profile": [2, 5], "gap": 1234567.0}
    text = orbit_text(document("2-2tanh-1", numerical=numerical))
    assert "rank 5 by order 2 5" in text
    assert "1.2e+06" in text


def test_one_region():
    text = orbit_text(document("2-2relu-1", one_region=True))
    assert "activation region" in text
    assert "activation region" not in orbit_text(document("2-2tanh-1"))


def test_a_program_of_several_lines_takes_one():
    text = orbit_text(document("input x[i]\nh[k] = tanh(w[k,i]*x[i])\nf = a[k]*h[k]*x[0]\nsize i=1, k=1"))
    assert all(re.match(r"[a-z]", line) for line in text.splitlines())
