"""The whole symmetry, and what the axes leave unexplained."""

from __future__ import annotations

import pytest

from invman.architecture import read_architecture
from invman.symmetry.findings import find_all_symmetry


@pytest.mark.parametrize(
    "text",
    ["2-3tanh-1", "2-3identity-1+bias", "1-2exp-1+bias", "attention(d=2,heads=1,dk=2,bias=yes)", "resmlp(d=3,ff=2)"],
)
def test_axes_explain_everything(text):
    found = find_all_symmetry(read_architecture(text))
    assert found.unexplained == ()
    assert found.complete.startswith("checked on size ")


def test_order_is_that_of_these_sizes():
    found = find_all_symmetry(read_architecture("20-30tanh-10"))
    assert found.complete == "checked on size i=3, k=3, o=3"
    assert found.order == found.discrete.order


def test_what_the_axes_leave_is_said():
    text = "input x[i]; h[k] = w[k,i]*x[i]; f = sum[k](h[k]); size i=2,k=3"
    (said,) = [line for line in find_all_symmetry(read_architecture(text)).unexplained if "affine" in line]
    assert said == "on size i=2, k=3 the affine generators have dimension 28, of which the axes explain 4"


def test_without_the_check():
    found = find_all_symmetry(read_architecture("2-3identity-1"), check=False)
    assert (found.complete, found.unexplained) == ("not checked (not asked for)", ())


def test_too_large_even_when_shrunk():
    found = find_all_symmetry(read_architecture("conv1d(length=60,kernel=50,channels=2)"))
    assert found.complete.startswith("not checked (")
    assert found.unexplained == ()


def test_non_analytic_nets_are_checked_as_path_models():
    found = find_all_symmetry(read_architecture("2-3relu-1", one_region=True))
    assert found.continuous.dimension == 3
    assert not [line for line in found.unexplained if "affine" in line]


def test_what_the_scalar_level_misses_does_not_lower_the_order():
    """The exchange of the two branches is proved on axes; the normal form is too coarse to see it here."""
    text = "input z,x[i]; f=(w1*custom(u + u^2)(w2*z + w3[i]*x[i] + w4))*(w5*custom(u + u^2)(w6*z + w7)); size i=2"
    found = find_all_symmetry(read_architecture(text))
    assert found.order == found.discrete.order == 4
    assert not any("signed permutations" in finding for finding in found.unexplained)
