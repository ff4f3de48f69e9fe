"""Which axes are local to which, by hand and against a search over permutations."""

from __future__ import annotations

import pytest

from invman.architecture import read_architecture
from invman.symmetry.axes import AxisClasses
from invman.symmetry.locality import local_to


def around(text):
    program = read_architecture(text)
    return {
        axis.name: {other.name for other in found} for axis, found in local_to(program, AxisClasses(program)).items()
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2-3tanh-4tanh-1", {"k1": set(), "k2": set()}),
        ("attention(d=4,heads=2,dk=2)", {"h": set(), "k": {"h"}, "v": {"h"}}),
        ("moe(d=2,experts=2,ff=3)", {"e": set(), "m": {"e"}}),
        ("rnn(input=2,hidden=3,steps=2)", {}),
        ("input x[t,i]; h[t,k] = tanh(w[t,k,i]*x[t,i]); f[t] = a[t,k]*h[t,k]; size t=3,i=2,k=2", {"k": {"t"}}),
        ("input x[t,i]; h[t,k] = tanh(w[k,i]*x[t,i]); f[t] = a[t,k]*h[t,k]; size t=3,i=2,k=2", {"k": set()}),
        ("input x[t,i]; h[t,k] = tanh(w[t,k,i]*x[t,i]); f = a[t,k]*h[t,k]; size t=3,i=2,k=2", {"k": {"t"}}),
        ("input x[i]; f = a[p,k]*tanh(w[p,k,i]*x[i]); size i=2,p=2,k=2", {"p": {"k"}, "k": {"p"}}),
        ("input x[i]; f = a[p,k]*tanh(w[p,k,i]*x[i] + b[k]); size i=2,p=2,k=2", {"p": {"k"}, "k": set()}),
        # the axis is still there when the other one is summed away
        (
            "input x[i]; g[k] = sum[p](w[p,k,i]*x[i]*c[p,k]); f = a[k]*tanh(g[k]); size i=2,p=2,k=2",
            {"p": {"k"}, "k": set()},
        ),
    ],
)
def test_by_hand(text, expected):
    assert around(text) == expected
