"""Orbits of all manifolds of a family, and what they say of the theory."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from invman.architecture import read_architecture
from invman.errors import ManifoldError
from invman.lattice import build_lattice
from invman.manifold.condensed import Origin
from invman.orbit import Finding, certify_lattice, nodes
from invman.orbit.certificate import Bound


def certified(arch, family="invariant", **more):
    return certify_lattice(build_lattice(read_architecture(arch), family=family), **more)


@pytest.mark.parametrize("activation", ["tanh", "sigmoid", "silu", "gelu", "cos", "sin", "softplus"])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_generic_orbits_of_two_layer_nets_are_leaves(activation, width):
    report = certified(f"2-{width}{activation}-1")
    assert report.passed
    assert {trial.finding for trials in report.orbits for trial in trials} == {Finding.LEAF}
    assert report.document()["exact"] == len(report.lattice)


def test_fixed_sets_account_for_tanh_but_not_for_silu_and_cos():
    tanh, silu, cos = (certified(f"2-3{name}-1") for name in ("tanh", "silu", "cos"))
    assert all(manifold.origin is Origin.SYMMETRY for manifold in tanh.lattice.manifolds)
    assert tanh.document()["foliated"] == 0
    assert silu.document()["symmetry_induced"] == 5  # Bell(3) of Bell(4) have no dead neuron
    # differences of the outgoing weights of singular neurons are frozen: two or three of them
    assert [(t[0].manifold.name, t[0].certificate.dimension) for t in cos.orbits if t[0].foliated] == [
        ("0=1=singular", 4),
        ("0=1=2=singular", 1),
    ]


def test_homogeneous_activations_have_laws_everywhere():
    report = certified("2-2square-1")
    assert report.passed
    by_name = {t[0].manifold.name: (t[0].certificate.dimension, t[0].finding) for t in report.orbits}
    assert by_name["free"] == (4, Finding.LAWS)
    assert by_name["0=1=singular"] == (0, Finding.LEAF)


def test_null_layers_are_told_from_violations():
    report = certified("1-2tanh-2tanh-1+bias", trials=2)
    found = {t[0].manifold.name: (t[0].leaf.leaf_dimension, t[0].certificate.dimension) for t in report.orbits
             if t[0].finding is Finding.NULL and t[0].leaf is not None}  # fmt: skip
    assert found == {"k1:0=1=dead": (5, 1), "k1:0=1=dead/k2:0=dead": (3, 1), "k1:0=1=dead/k2:0=1": (3, 1)}
    assert report.passed


def test_constant_neurons_share_their_gradient_with_a_bias():
    report = certified("1-2cos-2cos-1+bias")
    found = {t[0].manifold.name: (t[0].leaf.leaf_dimension, t[0].certificate.dimension, t[0].finding.value)
             for t in report.orbits if t[0].leaf is not None}  # fmt: skip
    assert report.passed
    assert found["k1:0=singular"] == (11, 9, "constant neuron")
    assert found["k2:0=singular"] == (10, 9, "constant neuron")
    assert found["free"] == (13, 13, "leaf")


@pytest.mark.parametrize("arch", ["1-2cos-1+bias", "2-2gaussian-2+bias", "1-2cos-2tanh-2+bias", "1-2tanh-2cosh-1+bias"])
def test_nothing_but_constant_neurons_and_null_layers(arch):
    report = certified(arch)
    assert report.document()["exact"] == len(report.lattice)
    assert {t.finding for trials in report.orbits for t in trials} <= {Finding.LEAF, Finding.CONSTANT, Finding.NULL}


def test_a_dead_neuron_of_an_odd_function_has_value_zero():
    # erf(0) = 0 in exact arithmetic too: the two softplus neurons move along (1, 1)
    report = certified("1-2erf-2softplus-1")
    assert report.document()["exact"] == len(report.lattice)


def test_a_violation_is_reported_with_its_point(monkeypatch):
    def smaller(program, manifold, *, options):
        found = original(program, manifold, options=options)
        return replace(found, lower=Bound(2, "planted"), upper=Bound(2, "planted"))

    original = nodes.find_orbit
    monkeypatch.setattr(nodes, "find_orbit", smaller)
    monkeypatch.setattr(nodes, "_degenerate", lambda *_: False)
    report = certified("2-2sigmoid-1")
    assert not report.passed
    worst = [orbit for entry in report.document()["classes"] for orbit in entry["orbits"]]
    assert {orbit["finding"] for orbit in worst} == {"violation"}
    assert all(len(orbit["point"]) == 6 for orbit in worst)


def test_every_node_gets_the_certificate_of_its_class():
    report = certified("2-3tanh-1", family="condensed")
    documents = report.by_node()
    assert sorted(documents) == list(range(24))
    for place, manifold in enumerate(report.lattice.manifolds):
        assert documents[place]["lower"]["value"] == manifold.dimension
    json.dumps(documents)


def test_architectures_without_layers_have_no_leaf_to_compare_with():
    program = read_architecture("input x[i]\nh[k] = tanh(w[k,i]*x[i])\nf = a[k]*h[k]*h[k]\nsize i=2, k=2")
    report = certify_lattice(build_lattice(program))
    assert {trial.finding for trials in report.orbits for trial in trials} == {Finding.UNKNOWN}
    assert all(trial.certificate.exact for trials in report.orbits for trial in trials)


def test_at_least_one_trial():
    with pytest.raises(ManifoldError, match="got 0, expected at least one"):
        certified("2-2tanh-1", trials=0)
