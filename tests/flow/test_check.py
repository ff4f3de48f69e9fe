"""Hand examples of which the answer is known by a short calculation."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from invman.errors import ArchitectureError, DataError, ManifoldError
from invman.flow import CheckOptions, DataSet, Verdict, check
from invman.manifold.subspace import LinearEquations

QUICK = CheckOptions(steps=50, horizon=5.0, batch=4)
PASS, FAIL, OPEN = Verdict.INVARIANT_IN_TEST, Verdict.NOT_INVARIANT, Verdict.INCONCLUSIVE


def equations(parameters, *rows):
    """Rows as ({index: coefficient}, constant)."""
    return LinearEquations(
        parameters,
        tuple((tuple((i, Fraction(c)) for i, c in sorted(form.items())), Fraction(b)) for form, b in rows),
    )


def test_tanh(run, poly):
    cases = [
        (poly([0, 1, 0, 1, 2, 2]), PASS),  # equal neurons
        (poly([0, 1, 0, 1, 2, 2], [1, 1, -1, -1, 1, -1]), PASS),  # opposite neurons
        (poly([0, 1, 0, 1, 2, 3]), FAIL),  # w0 = w1 alone
        (poly([0, 1, 2, 3, 4, 4]), FAIL),  # a0 = a1 alone
        (poly([0, 1, -1, -1, 2, -1]), PASS),  # a dead neuron
        (poly([0, 1, 2, 3, 4, 5]), PASS),  # the whole space
        (poly([-1] * 6), PASS),  # the origin
    ]
    report = run("tanh", [manifold for manifold, _ in cases])
    assert [result.verdict for result in report.results] == [verdict for _, verdict in cases]
    assert not report.passed
    origin = report.results[-1]
    assert origin.normal == 0
    assert origin.distance == {"gradient-flow": 0, "gradient-descent": 0}
    assert "vanishes at every sampled point" in origin.reason
    assert min(report.results[0].distance.values()) > 0.01, "the trajectories must move for drift to mean anything"


def test_witness_can_be_recomputed(run, poly):
    def forward(theta, x):
        first = theta[4] * jnp.tanh(theta[0] * x[0] + theta[1] * x[1])
        return first + theta[5] * jnp.tanh(theta[2] * x[0] + theta[3] * x[1])

    witness = run("tanh", [poly([0, 1, 2, 3, 4, 4])]).results[0].witness
    assert witness.kind == "field of the gradient family"
    assert witness.coordinate in ("a[0]", "a[1]")
    assert witness.point[4] == witness.point[5]
    with jax.enable_x64(True):
        x = jnp.array(witness.input)
        field = witness.direction[0] * np.asarray(jax.grad(forward)(jnp.array(witness.point), x))
    assert np.linalg.norm(field) == pytest.approx(witness.field_norm, rel=1e-12)
    # the normal space of a0 = a1 is spanned by (0, 0, 0, 0, 1, -1) / sqrt 2
    assert abs(field[4] - field[5]) / 2**0.5 == pytest.approx(witness.normal_norm, rel=1e-12)
    assert witness.normal == pytest.approx(witness.normal_norm / witness.field_norm, rel=1e-12)


@pytest.mark.parametrize(("net", "verdict"), [("sigmoid", FAIL), ("silu", PASS)])
def test_dead_block(run, poly, net, verdict):
    assert run(net, [poly([0, 1, -1, -1, 2, -1])]).results[0].verdict is verdict


def test_even_activation(run, poly):
    # for cos, w1 = 0 is invariant, and so is w0 = -w1 with a0 = a1; a1 = 0 is not
    report = run("cos", [poly([0, 1, -1, -1, 2, 3]), poly([0, 1, 0, 1, 2, 2], [1, 1, -1, -1, 1, 1]),
                         poly([0, 1, 2, 3, 4, -1])])  # fmt: skip
    assert [result.verdict for result in report.results] == [PASS, PASS, FAIL]


def test_affine_equations(run):
    same = ({0: 1, 2: -1}, 0), ({1: 1, 3: -1}, 0)
    assert run("tanh", equations(6, *same, ({4: 1, 5: -1}, 0))).results[0].verdict is PASS
    # a0 - a1 = 1/3 would be kept, but different a's pull the w's apart
    assert run("tanh", equations(6, *same, ({4: 1, 5: -1}, Fraction(1, 3)))).results[0].verdict is FAIL


def test_frozen_leaf():
    # F = (t0 + t1) x: the difference t0 - t1 never moves, whatever its value
    def forward(theta, x):
        return (theta[0] + theta[1]) * x

    report = check(forward, equations(2, ({0: 1, 1: -1}, Fraction(2, 3))), inputs=1, outputs=1, parameters=2,
                   options=QUICK)  # fmt: skip
    assert report.results[0].verdict is PASS


def saddle(theta, x):
    """x0 (v.theta) + x1 (u.theta)^2, v orthogonal to u: u.theta = 0 is invariant and repels where x1 y > 0."""
    return (x[0] * (3 * theta[0] - theta[2]) + x[1] * (theta[0] + 2 * theta[1] + 3 * theta[2]) ** 2)[None]


def test_repelling_manifold():
    data = DataSet(np.array([[0.3, 1.0], [1.0, 0.7]]), np.array([[1.0], [1.0]]))
    plane = equations(3, ({0: 1, 1: 2, 2: 3}, 0))

    def go(horizon, steps):
        options = CheckOptions(losses=("squared",), horizon=horizon, steps=steps, trials=2)
        return check(saddle, plane, inputs=2, outputs=1, parameters=3, options=options, data=data).results[0]

    short = go(2.0, 20)
    assert short.verdict is PASS
    assert "instability" not in short.reason
    middle = go(80.0, 800)
    assert max(drift or 0 for drift in middle.drift.values()) > 1e-9, (
        "rounding must have grown for this test to mean anything"
    )
    assert middle.verdict is PASS
    assert "transverse instability amplifies rounding" in middle.reason
    assert "put back" in middle.reason
    long = go(1000.0, 10000)
    assert long.verdict is OPEN
    assert "transverse instability amplifies rounding" in long.reason
    assert long.witness is None


def test_blow_up_is_inconclusive(poly):
    # exp of a cube overflows at random points; nothing may crash or pass
    def forward(theta, x):
        return jnp.exp(jnp.exp(40 * theta[:1] ** 2)) * x

    result = check(forward, [poly([0])], inputs=1, outputs=1, parameters=1,
                   options=replace(QUICK, spread=8.0, trials=2)).results[0]  # fmt: skip
    assert result.verdict is OPEN
    assert "not finite" in result.reason
    json.dumps(result.to_dict(), allow_nan=False)


def test_same_seed_same_report(run, poly):
    manifolds = [poly([0, 1, 0, 1, 2, 2]), poly([0, 1, 2, 3, 4, 4])]
    first, second = (json.dumps(run("tanh", manifolds).to_dict()) for _ in range(2))
    assert first == second
    assert first != json.dumps(run("tanh", manifolds, replace(QUICK, seed=1)).to_dict())


def test_result_does_not_depend_on_the_others(run, poly):
    target = poly([0, 1, 2, 3, 4, 4])
    alone = run("tanh", [target]).results[0].witness
    among = run("tanh", [poly([0, 1, 0, 1, 2, 2]), target]).results[1].witness
    assert alone.point == among.point
    assert alone.normal == pytest.approx(among.normal, rel=1e-9)


def test_batches(run, poly):
    manifolds = [poly([0, 1, 0, 1, 2, 2]), poly([0, 1, 2, 3, 4, 4]), poly([0, 1, -1, -1, 2, -1])]
    calls = []
    small = run("tanh", manifolds, replace(QUICK, batch=8), progress=lambda done, total: calls.append((done, total)))
    assert calls == [(8, 12), (12, 12)]
    whole = run("tanh", manifolds)
    assert [r.verdict for r in small.results] == [r.verdict for r in whole.results] == [PASS, FAIL, PASS]
    assert small.results[1].normal == pytest.approx(whole.results[1].normal, rel=1e-9)


def test_user_data(run, poly):
    data = DataSet(np.array([[1.0, 0.5], [-0.3, 1.0], [0.2, -1.0]]), np.array([[1.0], [0.0], [1.0]]))
    report = run("tanh", [poly([0, 1, 0, 1, 2, 2]), poly([0, 1, 2, 3, 4, 4])], data=data)
    assert [result.verdict for result in report.results] == [PASS, FAIL]
    assert report.to_dict()["check"]["data"] == "given, 3 examples"
    # without inputs the loss has no gradient, so trajectories rest: the data are really used
    still = run("tanh", [poly([0, 1, 2, 3, 4, 4])], data=DataSet(np.zeros((3, 2)), data.y)).results[0]
    assert still.distance == {"gradient-flow": 0, "gradient-descent": 0}
    assert still.verdict is FAIL


def test_float32(run, poly):
    report = run("tanh", [poly([0, 1, 0, 1, 2, 2]), poly([0, 1, 2, 3, 4, 4])], replace(QUICK, dtype="float32"))
    assert report.dtype == "float32"
    assert report.tolerance == 1e-3
    assert [result.verdict for result in report.results] == [PASS, FAIL]


def test_nothing_to_check(run):
    assert run("tanh", []).results == ()


def test_x64_is_not_left_on(run, poly):
    run("tanh", [poly([0, 1, 2, 3, 4, 5])])
    assert not jax.config.read("jax_enable_x64")


def test_errors(run, poly):
    with pytest.raises(ManifoldError, match="got one of a space of 2 parameters, expected 6"):
        run("tanh", [poly([0, 1])])
    with pytest.raises(DataError, match="got 3 inputs and 1 outputs, expected 2 and 1"):
        run("tanh", [poly([0] * 6)], data=DataSet(np.ones((2, 3)), np.ones((2, 1))))
    with pytest.raises(ArchitectureError, match=r"got an output of shape \(\)"):
        check(lambda t, x: t[0] * x[0], [poly([0])], inputs=1, outputs=1, parameters=1)
