"""Exact orders from generators."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.combinatorics import Permutation, PermutationGroup

from invman.symmetry.scalar.schreier import exact_order, order_by_prefixes


@given(st.lists(st.permutations(range(7)), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_against_sympy(generators: list[list[int]]):
    order = int(PermutationGroup([Permutation(g) for g in generators]).order())
    arrays = [np.array(g) for g in generators]
    assert order % order_by_prefixes(arrays) == 0
    assert exact_order(arrays, math.log10(order)) == order


def test_a_large_symmetric_group():
    swap, cycle = np.arange(30), np.roll(np.arange(30), 1)
    swap[:2] = [1, 0]
    assert exact_order([swap, cycle], math.log10(math.factorial(30))) == math.factorial(30)


def test_a_wrong_approximate_order_is_not_believed():
    cycle = np.array([1, 2, 0])
    assert exact_order([cycle], math.log10(6)) == 3
    assert exact_order([cycle, np.array([1, 0, 2])], math.log10(3)) == 6
    assert exact_order([np.array([1, 2, 3, 0]), np.array([2, 1, 0, 3])], math.log10(6)) == 8
    assert exact_order([], 0.0) == 1
