from __future__ import annotations

import pytest

from invman.errors import InvmanError
from invman.flow import CheckOptions, OptionsError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trials": 0}, "option trials: got 0, expected a whole number from 1"),
        ({"fields": 1.5}, "option fields: got 1.5"),
        ({"steps": True}, "option steps: got True"),
        ({"seed": -1}, "option seed: got -1, expected a whole number from 0"),
        ({"horizon": float("nan")}, "option horizon: got nan, expected a positive number"),
        ({"spread": "1"}, "option spread: got '1'"),
        ({"learning_rate": 2}, "option learning_rate: got 2, expected a number below 2"),
        ({"losses": ("hinge",)}, r"expected a tuple of at least one name of a loss. Choose among squared, logistic"),
        ({"losses": ()}, "option losses"),
        ({"losses": "squared"}, "option losses"),
        ({"dtype": "float16"}, "expected 'float64' or 'float32'"),
        ({"tolerance": 1e-3}, "got '0.001 and 1e-06', expected tolerance < violation"),
    ],
)
def test_refused(options, message):
    with pytest.raises(OptionsError, match=message) as caught:
        CheckOptions(**options)
    assert isinstance(caught.value, InvmanError)


def test_losses_take_turns():
    assert [CheckOptions().loss(t) for t in (0, 3, 4)] == ["squared", "quartic", "squared"]


def test_float32_is_not_as_strict_and_tolerances_can_be_set():
    wide, narrow = CheckOptions(dtype="float32").tolerances, CheckOptions().tolerances
    assert wide.rounding > narrow.rounding
    assert CheckOptions(tolerance=1e-12, violation=1e-3).tolerances[:2] == (1e-12, 1e-3)
