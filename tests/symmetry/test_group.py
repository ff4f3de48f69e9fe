"""The group of the hidden axes: orders, generators that leave F unchanged, and all of them (brute force)."""

from __future__ import annotations

import itertools
import math

import jax
import numpy as np
import pytest
import sympy

from invman.architecture import read_architecture
from invman.architecture.evaluate import jax_map
from invman.architecture.scalars import sympy_map
from invman.symmetry import find_symmetry


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("2-3tanh-1", 48),
        ("2-3sigmoid-1", 6),
        ("1-2tanh-3tanh-1", 384),
        ("4-16tanh-16tanh-1", (math.factorial(16) * 2**16) ** 2),
        ("2-3cos-1+bias", 48),
        ("1-1tanh-1", 2),
        ("1-1sigmoid-1", 1),
        ("2-1", 1),
        ("1-2tanh-2sigmoid-1", 16),
    ],
)
def test_orders(text, order):
    assert find_symmetry(read_architecture(text)).order == order


def test_order_of_a_wide_net():
    assert find_symmetry(read_architecture("784-4096tanh-10")).order == math.factorial(4096) << 4096


def test_sign_changes_that_do_nothing_together_count_once():
    """Each row of w has its own B_2, and the rows are swapped: 8^2 * 2; all rows and columns flipped give w back."""
    text = "input x; h[k]=cos(sum[l](cos(w[k,l]*x))); f=sum[k](h[k]); size k=2,l=2"
    symmetry = find_symmetry(read_architecture(text))
    assert symmetry.order == 128
    assert len(closure(symmetry)) == 128


ARCHITECTURES = [
    "2-3tanh-1", "2-3sigmoid-2", "2-4cos-1+bias", "1-3silu-1", "2-3square-2", "1-2cube-2abs-1", "2-2custom(u+u^3)-1",
    "1-2tanh-3cos-2silu-1+bias", "2-3tanh-2tanh",
    "rnn(input=2,hidden=3,steps=3)", "rnn(input=1,hidden=3,steps=2,act=sigmoid,bias=yes)",
    "attention(d=2,heads=2,dk=2,seq=2)", "attention(d=2,heads=3,dk=2,seq=2,causal=yes)",
    "input x[i]; h[k]=tanh(w[k,i]*x[i]); g[k]=tanh(u[k,l]*h[l]+w[k,i]*x[i]); f=a[k]*g[k]; size i=2,k=3,l=3",
    "input x[i]; h[k]=w[k,i]*x[i]; g[k]=h[k]+u[k,m]*tanh(v[m,l]*h[l]); f=a[k]*g[k]; size i=2,k=3,l=3,m=3",
    "input x[i]; h[k]=(u[k,i]*x[i])*sigmoid(v[k,i]*x[i]); f=a[k]*h[k]; size i=2,k=3",
    "input x[i]; h[k]=a[k]*b[k]*c[k]; f=h[k]*tanh(w[k,i]*x[i]); size i=2,k=3",
    "input x[i]; g[e]=softmax[e](v[e,i]*x[i]); f=g[e]*u[e,k]*tanh(w[e,k,i]*x[i]); size i=2,e=3,k=2",
    "input x[i]; h[k]=w[k,i]*x[i]; n[k]=h[k]/sqrt(1+mean[l](h[l]^2)); f=a[k]*tanh(n[k]); size i=2,k=3,l=3",
    "input x[s,i]; q[s,k]=Q[k,i]*x[s,i]; r[s,k]=K[k,i]*x[s,i]; A[s,t]=softmax[t](q[s,k]*r[t,k]);"
    " f[s]=A[s,t]*V[i]*x[t,i]; size s=3,t=3,i=2,k=3",
    "input x[j]; h[t,k]=tanh(w[k,s]*x[t+s]); f=mean[t,k](a[k]*h[t,k]); size j=4,t=3,s=2,k=3",
    "input x[i]; constant m[k]=[1,1,2]; h[k]=tanh(m[k]*w[k,i]*x[i]); f=a[k]*h[k]; size i=2,k=3",
    "input x[i]; h[k]=tanh(w[k,i]*x[i]); g=a[k]*h[k]; p[k]=cos(v[k,i]*x[i]); f=g+c[k]*p[k]; size i=2,k=3",
    "input x; h[k]=cos(sum[l](cos(w[k,l]*x))); f=sum[k](h[k]); size k=2,l=3",
]  # fmt: skip


@pytest.mark.parametrize("text", ARCHITECTURES)
def test_generators_leave_the_map_unchanged(text):
    program = read_architecture(text, one_region=True)
    random = np.random.default_rng(0)
    with jax.enable_x64(True):
        forward = jax.jit(jax_map(program))
        theta, x = random.normal(size=program.parameter_count), random.normal(size=program.input_count)
        value = np.asarray(forward(theta, x))
        for generator in find_symmetry(program).generators():
            g = generator.on_parameters(program)
            assert sorted(g.images) == list(range(program.parameter_count))
            np.testing.assert_allclose(forward(g(theta), x), value, rtol=0, atol=1e-12)
            assert generator.describe()


@pytest.mark.parametrize("text", ["2-2tanh-1", "1-2cos-1+bias", "1-2tanh-2cube-1", "1-3square-1", ARCHITECTURES[13]])
def test_generators_symbolically(text):
    program = read_architecture(text)
    theta, _, outputs = sympy_map(program)
    for generator in find_symmetry(program).generators():
        g = generator.on_parameters(program)
        moved = {theta[i]: int(g.signs[i]) * theta[int(g.images[i])] for i in range(len(theta))}
        for output in outputs:
            assert sympy.expand(output.xreplace(moved) - output) == 0


def closure(symmetry):
    """Generate all elements, as (images, signs) tuples."""
    generators = [g.on_parameters(symmetry.program) for g in symmetry.generators()]
    count = symmetry.program.parameter_count
    start = (tuple(range(count)), (1,) * count)
    found, fresh = {start}, [start]
    while fresh:
        following = []
        for images, signs in fresh:
            for g in generators:
                new = (
                    tuple(images[g.images[i]] for i in range(count)),
                    tuple(int(g.signs[i]) * signs[g.images[i]] for i in range(count)),
                )
                if new not in found:
                    found.add(new)
                    following.append(new)
        fresh = following
    return found


@pytest.mark.parametrize(
    "text",
    ["1-2tanh-1", "1-3tanh-1", "2-2tanh-1", "1-2cos-1", "1-3gaussian-1", "1-2silu-2", "1-2square-1", "1-3cube-1",
     "1-2sigmoid-1+bias", "1-1tanh-2tanh-1", "1-2tanh-1cos-1", "1-2sigmoid-1tanh-1", "2-1tanh-2",
     "1-1tanh-1cos-1tanh-1"],
)  # fmt: skip
def test_every_signed_permutation_is_found(text):
    """Brute force: of all D! 2^D signed permutations, those that leave F unchanged are the generated group."""
    program = read_architecture(text)
    count = program.parameter_count
    random = np.random.default_rng(1)
    theta = random.normal(size=count)
    images = np.array(list(itertools.permutations(range(count))))
    signs = np.array(list(itertools.product((1, -1), repeat=count)))
    points = random.normal(size=(3, program.input_count))
    found = set()
    with jax.enable_x64(True):
        forward = jax.jit(jax.vmap(jax.vmap(jax_map(program), (None, 0)), (0, None)))
        value = np.asarray(forward(theta[None], points))[0]
        for sign in signs:
            moved = np.asarray(forward(sign * theta[images], points))
            kept = np.abs(moved - value).reshape(len(images), -1).max(axis=1) < 1e-10
            found |= {(tuple(map(int, row)), tuple(map(int, sign))) for row in images[kept]}
    symmetry = find_symmetry(program)
    assert found == closure(symmetry)
    assert len(found) == symmetry.order


@pytest.mark.parametrize("text", [a for a in ARCHITECTURES if "attention" not in a][:16:3])
def test_order_is_the_size_of_the_generated_group(text):
    symmetry = find_symmetry(read_architecture(text, one_region=True))
    if symmetry.order <= 5000:
        assert len(closure(symmetry)) == symmetry.order


def test_descriptions():
    words = [g.describe() for g in find_symmetry(read_architecture("2-3tanh-1")).generators()]
    assert words == ["permute k by (0 1)", "permute k by (0 1 ... 2)", "change the sign of a, w at k=0"]
    assert list(find_symmetry(read_architecture("1-1sigmoid-1")).generators()) == []


def test_hidden_axes_in_the_order_of_the_parameters():
    symmetry = find_symmetry(read_architecture("1-2tanh-3cos-4silu-1"))
    assert [a.axis.name for a in symmetry.axes] == ["k1", "k2", "k3"]
    assert [a.axis.size for a in symmetry.axes] == [2, 3, 4]


def test_work_does_not_grow_with_the_width():
    symmetry = find_symmetry(read_architecture("transformer(vocab=50257,d=768,heads=12,dk=64,ff=3072,layers=2,seq=16)"))
    assert symmetry.order.bit_length() > 10_000
