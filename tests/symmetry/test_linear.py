"""Matrix groups on axes: which axes, which kind, how many copies."""

from __future__ import annotations

import pytest

from invman.architecture import read_architecture
from invman.symmetry.continuous import continuous_group

PAIRS = "input x[i]; h[p,k] = w[p,k,i]*x[i]; f[o] = a[o,p,k]*h[p,k]; size i=2,p=2,k=3,o=2"
CENTRED = "input x[i]; h[k] = w[k,i]*x[i]; c[k] = h[k] - mean[l](h[l]); f[o] = a[o,k]*c[k]; size i=3,k=4,l=4,o=2"
NORMED = "input x[i]; h[k] = w[k,i]*x[i]; c[k] = h[k] - mean[l](h[l]); f[o] = a[o,k]*c[k]/(1 + mean[m](c[m]^2))"


def factors(text):
    group = continuous_group(read_architecture(text, one_region=True))
    return [(f.name, f.copies, f.dimension) for f in group.linear]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2-3identity-2", [("GL(3)", 1, 9)]),
        ("2-3identity-4identity-2+bias", [("GL(3)", 1, 9), ("GL(4)", 1, 16)]),
        ("2-3relu-2", []),
        ("2-3tanh-4identity-1", [("GL(4)", 1, 16)]),
        ("attention(d=4,heads=3,dk=2)", [("GL(2)", 3, 12), ("GL(2)", 3, 12)]),
        ("attention(d=4,heads=3,dk=2,output=no)", [("GL(2)", 3, 12)]),
        ("attention(d=4,heads=1,dk=2,rotary=yes)", [("GL(2)", 1, 4)]),
        ("transformer(vocab=2,d=4,heads=2,dk=1,ff=2,layers=1,seq=2,norm=none)", [("GL(4)", 1, 16)]),
        ("transformer(vocab=2,d=4,heads=2,dk=1,ff=2,layers=1,seq=2,norm=rms,gain=no)", [("O(4)", 1, 6)]),
        ("transformer(vocab=2,d=4,heads=2,dk=1,ff=2,layers=1,seq=2,norm=layer,gain=no)", [("O(4) fixing 1", 1, 3)]),
        ("transformer(vocab=2,d=4,heads=2,dk=1,ff=2,layers=1,seq=2,norm=layer)", []),
        ("transformer(vocab=2,d=4,heads=2,dk=1,ff=2,layers=1,seq=2,norm=none,tied=yes)", [("O(4)", 1, 6)]),
        (CENTRED, [("GL(4) fixing 1", 1, 9)]),
        (NORMED + "; size i=3,k=4,l=4,m=4,o=2", [("O(4) fixing 1", 1, 3)]),
        (PAIRS, [("GL(6)", 1, 36)]),
        ("rnn(input=2,hidden=3,steps=3,act=identity)", [("GL(3)", 1, 9)]),
        ("input x[i]; f = w[k,i]*w[k,j]*x[i]*x[j]; size i=2,j=2,k=3", [("O(3)", 1, 3)]),
        ("input x[i]; f = U[k,k]*w[k,i]*x[i]; size i=2,k=3", []),
    ],
)
def test_matrix_groups(text, expected):
    assert factors(text) == expected


def test_a_constant_along_the_axis_is_no_tensor_that_transforms():
    text = "input x[i]; constant C[k]=[1,1]; h[k] = w[k,i]*x[i]; f = C[k]*h[k]; size i=2,k=2"
    assert factors(text) == [("GL(2) fixing 1", 1, 1)]


def test_tensors_transform_by_the_matrix_or_its_inverse():
    (factor,) = continuous_group(read_architecture("2-3identity-2+bias")).linear
    assert sorted(c.tensor for c in factor.covariant) == ["b", "w"]
    assert [c.tensor for c in factor.contravariant] == ["a"]


def test_kernel_of_a_single_vector():
    (found,) = continuous_group(read_architecture("2-3identity-1")).vectors
    assert (found.vector.tensor, found.columns, found.dimension) == ("a", 2, 6)
    assert continuous_group(read_architecture("2-3identity-2")).vectors == ()
    assert continuous_group(read_architecture("2-3tanh-1")).vectors == ()
