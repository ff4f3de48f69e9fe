"""Laws: their number against values computed independently, their text, and laws that are none."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invman.architecture import read_architecture
from invman.errors import OverBudgetError
from invman.symmetry.infinitesimal import (
    AffineGenerator,
    Law,
    affine_generators,
    independent,
    polynomial_laws,
    prove_law,
    prove_laws,
    quadratic_laws,
)

# D minus the dimension of the Lie algebra of the gradients at a generic point, computed by brackets modulo a prime
# (attention: in floating point with a gap of 1e13), by other programs than this one
NUMBERS = {
    "1-2identity-1": 3,
    "2-2identity-2": 3,
    "2-3identity-2": 6,
    "3-3identity-3": 6,
    "2-4identity-2": 10,
    "4-4identity-4": 10,
    "6-6identity-6": 21,
    "2-2identity-2identity-2": 6,
    "3-3identity-3identity-3": 12,
    "2-3relu-2": 3,
    "2-4relu-2+bias": 4,
    "4-6relu-4": 6,
    "2-2relu-2relu-2": 4,
    "3-3relu-3relu-3": 6,
    "attention(d=3,heads=1,dk=2,seq=3)": 6,
    "attention(d=3,heads=2,dk=1,seq=3)": 4,
    "attention(d=4,heads=1,dk=2,seq=3)": 6,
    "attention(d=4,heads=2,dk=2,seq=3)": 12,
    "2-3square-2": 3,
    "2-3cube-2": 3,
    "2-1cube-1": 1,
    "2-2cube-1": 2,
    "1-1square-1": 1,
    "2-3gelu-2": 0,
    "2-3silu-2": 0,
    "2-3softplus-2": 0,
    "2-3tanh-1": 0,
    "input x; f = a*exp(w*x + b)": 1,
}


@pytest.mark.parametrize(("text", "number"), NUMBERS.items())
def test_number_of_independent_laws(text, number):
    program = read_architecture(text, one_region=True)
    laws = quadratic_laws(affine_generators(program))
    assert independent(laws, program, seed=5) == number
    assert all(proof.holds for proof in prove_laws(program, laws, seed=77))


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(1, 3), min_size=3, max_size=4),
    st.sampled_from(["relu", "abs", "square", "cube", "tanh", "softplus"]),
    st.booleans(),
    st.integers(0, 1000),
)
def test_homogeneous_nets_have_one_law_a_neuron(widths, activation, bias, seed):
    # two inputs at least: with one, all monomial neurons follow one field, with more laws, none of them a polynomial
    inputs, *hidden, outputs = (widths[0] + 1, *widths[1:])
    text = f"{inputs}-" + "-".join(f"{width}{activation}" for width in hidden) + f"-{outputs}" + "+bias" * bias
    program = read_architecture(text, one_region=True)
    laws = quadratic_laws(affine_generators(program, seed=seed))
    if activation in ("relu", "abs") or (activation in ("square", "cube") and not bias):
        assert len(laws) == independent(laws, program) >= sum(hidden)
    elif activation in ("tanh", "softplus"):
        assert not laws
    assert all(proof.holds for proof in prove_laws(program, laws, seed=seed + 5))


@pytest.mark.slow
def test_number_of_independent_laws_of_a_wide_linear_net():
    program = read_architecture("8-8identity-8")
    assert independent(quadratic_laws(affine_generators(program)), program) == 36


def test_laws_may_depend_on_each_other():
    program = read_architecture("1-2identity-1")
    laws = quadratic_laws(affine_generators(program))
    assert (len(laws), independent(laws, program)) == (4, 3)


def written(text):
    program = read_architecture(text, one_region=True)
    return [law.python(program) for law in quadratic_laws(affine_generators(program))]


def test_closed_forms():
    assert written("1-2relu-1") == ["w[0,0]**2 - a[0]**2", "w[1,0]**2 - a[1]**2"]
    assert written("1-1square-1") == ["w[0,0]**2 - 2*a[0]**2"]
    assert written("1-1relu-1+bias") == ["w[0,0]**2 + b[0]**2 - a[0]**2"]
    assert written("2-2identity-1")[0] == "w[0,0]*w[1,0] + w[0,1]*w[1,1] - a[0]*a[1]"


def test_generators_may_come_from_anywhere():
    scaling = AffineGenerator({(0, 0): Fraction(1), (1, 1): Fraction(-2)}, {2: Fraction(1)})
    (law,) = quadratic_laws([scaling])
    assert law == Law.of({((0, 2),): Fraction(1, 2), ((1, 2),): Fraction(-1), ((2, 1),): Fraction(1)})
    rotation = AffineGenerator({(0, 1): Fraction(1), (1, 0): Fraction(-1)}, {})
    assert quadratic_laws([rotation]) == ()


def test_row_sums_of_a_softmax_read_out():
    text = "input x[i]; f[v] = softmax[v](w[v,i]*x[i]); size i=2, v=3"
    assert written(text) == ["w[0,0] + w[1,0] + w[2,0]", "w[0,1] + w[1,1] + w[2,1]"]


def test_exponential_with_bias():
    assert written("input x; f = a*exp(w*x + b)") == ["b - a**2/2"]
    text = "input x[i]; h[k] = exp(w[k,i]*x[i] + b[k]); f[o] = a[o,k]*h[k]; size i=2, k=2, o=2"
    assert written(text) == ["b[0] - a[0,0]**2/2 - a[1,0]**2/2", "b[1] - a[0,1]**2/2 - a[1,1]**2/2"]
    assert written("input x; f = a*exp(w*x + b) + c*exp(v*x + 2*b)") == ["b - a**2/2 - c**2"]
    assert written("input x; f = a*exp(w*x + b) + b*x") == []


def test_a_chain_with_one_token_per_state():
    # W0^T W0 - W1 W1^T - W_Q W_Q^T - W_K W_K^T (3), row sums of W1 (2), W_Q^T W_Q - W_K^T W_K (3)
    program = read_architecture(
        "input x[s,d]; e[s,m] = W0[d,m]*x[s,d]; Q[s,k] = WQ[m,k]*e[s,m]; K[s,k] = WK[m,k]*e[s,m];"
        "A[s,t] = softmax[t<=s](Q[s,k]*K[t,k]); z[s,m] = A[s,t]*e[t,m]; f[s,c] = softmax[c](W1[m,c]*z[s,m]);"
        "size s=2, t=2, d=3, m=2, k=2, c=3"
    )
    laws = quadratic_laws(affine_generators(program))
    assert independent(laws, program) == len(laws) == 8
    assert [law.degree for law in laws] == [1] * 2 + [2] * 6
    at = program.offsets
    mixed = {}
    for name, sign, columns in (("W0", 1, True), ("W1", -1, False), ("WQ", -1, False), ("WK", -1, False)):
        places = at[name] + np.arange(program.parameter(name).size).reshape(program.parameter(name).shape)
        for i, j in (places if columns else places.T).tolist():
            mixed[(i, 1), (j, 1)] = Fraction(sign)
    assert prove_law(program, Law.of(mixed), seed=3).holds


def test_latex():
    program = read_architecture("input x; f = a*exp(w2*x + b)")
    (law,) = quadratic_laws(affine_generators(program))
    assert law.latex(program) == r"b - \frac{{a}^{2}}{2}"
    program = read_architecture("1-2identity-1")
    laws = [law.latex(program) for law in quadratic_laws(affine_generators(program))]
    assert r"w_{0,0}\,w_{1,0} - a_{0}\,a_{1}" in laws
    assert Law(()).latex(program) == Law(()).python(program) == "0"
    scaled = Law(((((0, 2),), Fraction(-3, 2)), (((1, 1), (2, 1)), Fraction(-1))))
    assert scaled.latex(program) == r"-\frac{3\,{w_{0,0}}^{2}}{2} - w_{1,0}\,a_{0}"
    assert scaled.python(program) == "-3*w[0,0]**2/2 - w[1,0]*a[0]"


@pytest.mark.parametrize("text", ["2-2identity-2", "1-2square-1", "attention(d=2,heads=2,dk=1,seq=2)"])
def test_python_text_can_be_run(text):
    program = read_architecture(text)
    theta = np.random.default_rng(0).normal(size=program.parameter_count)
    arrays = {
        tensor.name: theta[program.offsets[tensor.name] :][: tensor.size].reshape(tensor.shape)
        for tensor in program.parameters
    }
    for law in quadratic_laws(affine_generators(program)):
        assert eval(law.python(program), {}, arrays) == pytest.approx(law.value(theta.tolist()), abs=1e-12)  # noqa: S307


def test_value_and_gradient_are_exact():
    law = Law.of({((0, 2), (1, 1)): Fraction(1), ((2, 3),): Fraction(1, 3)})
    theta = [Fraction(1, 2), Fraction(3), Fraction(-1)]
    assert law.degree == 3
    assert law.value(theta) == 3 * (Fraction(3, 4) - Fraction(1, 3))
    assert law.gradient(theta) == [3 * 3, Fraction(3, 4), 3]
    assert law.residues([1, 2, 3], 101) == [12, 3, 27]
    assert law.gradient([1.0, 2.0, 3.0]) == [12.0, 3.0, 27.0]
    assert (Law.of({((0, 1),): Fraction(1)}) * law).degree == 4


@pytest.mark.parametrize(
    ("text", "degree", "count", "number"),
    [
        ("1-1square-1", 4, 2, 1),  # the law and its square
        ("2-2square-1", 2, 2, 2),
        ("input x; f = a*exp(w*x + b)", 2, 1, 1),
        ("input x; f = a*exp(w*x + b)", 4, 2, 1),
        ("input x; f = a*b*c*x", 2, 2, 2),
        ("input x; f = (a^3 + b^3)*x", 4, 0, 0),  # d_a = a^2: conserves 1/a - 1/b, no polynomial
        ("input x; f = a^2*x*b", 2, 1, 1),
        ("input x; f = (a*b + b^2)*x", 4, 0, 0),  # a quadratic form S has a law only if its trace is 0
        ("input x; f = (a*b + b^2 - a^2)*x", 2, 1, 1),
        ("2-2tanh-1", 3, 0, 0),
        ("1-2identity-1", 2, 4, 3),
    ],
)
def test_polynomial_laws(text, degree, count, number):
    program = read_architecture(text)
    laws = polynomial_laws(program, degree)
    assert len(laws) == count
    assert independent(laws, program) == number
    assert all(proof.holds for proof in prove_laws(program, laws, seed=9))


def test_polynomial_law_of_degree_three():
    # grad(x^2 y / 2 - y^3 / 6) = (x y, (x^2 - y^2)/2) is orthogonal to grad(x y^2 / 2 - x^3 / 6) = ((y^2 - x^2)/2, x y)
    program = read_architecture("input x; f = x*(a^2*b/2 - b^3/6)")
    (law,) = polynomial_laws(program, 3)
    assert law.python(program) == "3*a*b**2 - a**3"
    assert quadratic_laws(affine_generators(program)) == ()
    assert prove_law(program, law, seed=1).holds


def test_polynomial_laws_contain_the_quadratic_ones():
    program = read_architecture("2-2identity-2")
    found = {law.python(program) for law in polynomial_laws(program, 2)}
    assert found == {law.python(program) for law in quadratic_laws(affine_generators(program))}


def test_refusals_name_the_size():
    with pytest.raises(OverBudgetError, match="monomials of a polynomial law: got 91,389, expected at most 50,000"):
        polynomial_laws(read_architecture("4-4identity-4identity-1"), 4)
    with pytest.raises(OverBudgetError, match=r"monomials of one linear system: .* There are 83 monomials in all\."):
        polynomial_laws(read_architecture("2-2gelu-1"), 3, budget=10)


@pytest.mark.parametrize("text", ["2-3identity-2", "2-3relu-2", "2-2tanh-1", "attention(d=3,heads=1,dk=2,seq=2)"])
def test_a_planted_wrong_law_is_rejected(text):
    program = read_architecture(text, one_region=True)
    wrong = Law.of({((0, 2),): Fraction(1), ((program.parameter_count - 1, 2),): Fraction(-1)})
    proof = prove_law(program, wrong)
    assert not proof.holds
    assert proof.counterexample
    assert "at random point 1" in proof.counterexample


def test_a_slightly_wrong_law_is_rejected():
    program = read_architecture("4-4identity-4")
    law = quadratic_laws(affine_generators(program))[3]
    assert prove_law(program, law, seed=2).error < 1e-50
    monomial, value = law.terms[-1]
    assert not prove_law(program, Law((*law.terms[:-1], (monomial, value * Fraction(1000001, 1000000))))).holds
