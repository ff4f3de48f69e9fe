"""Laws are conserved along a numerical gradient flow, and what is no law is not."""

from __future__ import annotations

from fractions import Fraction

import invman
from invman.flow.conservation import law_drift
from invman.symmetry.infinitesimal import Law


def test_laws_of_a_linear_net_stay_and_others_move():
    program = invman.read_architecture("2-2identity-2")
    laws = invman.find_laws(program).laws
    assert laws
    assert max(law_drift(program, laws)) < 1e-8
    square = Law.of({((0, 2),): Fraction(1)})
    assert law_drift(program, [square])[0] > 1e-3


def test_no_laws():
    assert law_drift(invman.read_architecture("1-1tanh-1"), []) == []
