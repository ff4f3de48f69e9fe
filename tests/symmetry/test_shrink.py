"""The same architecture at small sizes."""

from __future__ import annotations

import pytest

from invman.architecture import read_architecture
from invman.symmetry.shrink import shrink


@pytest.mark.parametrize(
    ("text", "size", "expected"),
    [
        ("10-20tanh-5", 2, {"i": 2, "k": 2, "o": 2}),
        ("10-20tanh-5", 3, {"i": 3, "k": 3, "o": 3}),
        ("1-20tanh-1", 2, {"i": 1, "k": 2}),
        ("conv1d(length=8,kernel=3,channels=4)", 2, {"c0": 1, "t0": 8, "u": 3, "c1": 2, "t1": 6}),
        ("rnn(input=5,hidden=6,steps=3)", 2, {"t": 3, "i": 2, "k": 2, "l": 2}),
        ("input x[i]; constant C[k]=[1,2,3]; f = a[k]*tanh(w[i]*x[i] + C[k]); size i=9,k=3", 2, {"i": 2, "k": 3}),
    ],
)
def test_sizes(text, size, expected):
    program = read_architecture(text)
    small = shrink(program, size)
    assert small.sizes == expected
    assert [s.name for s in small.statements] == [s.name for s in program.statements]


@pytest.mark.parametrize("options", ["", ",bias=yes,pos=yes,tied=yes", ",norm=rms,gated=yes", ",rotary=yes,norm=none"])
def test_transformers_fit(options):
    program = read_architecture(f"transformer(vocab=11,d=8,heads=4,dk=4,ff=16,layers=2,seq=5{options})")
    small = shrink(program)
    assert small.parameter_count < program.parameter_count
    assert small.sizes["d"] == small.sizes["c"] == 2
    assert shrink(small) == small


def test_constants_keep_rotary_sizes():
    small = shrink(read_architecture("attention(d=8,heads=2,dk=4,seq=3,rotary=yes)"))
    assert (small.sizes["k"], small.sizes["s"], small.sizes["p"]) == (4, 3, 2)
