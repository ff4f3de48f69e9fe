"""Bad input: one clear message, the right exit code, no traceback."""

from __future__ import annotations

import pytest

BAD = [
    (["enumerate", "2-3tahn-1"], 2, ["'tahn'", "Did you mean 'tanh'?", "^"]),
    (["enumerate", "2-0tanh-1"], 2, ["'0'", "a width of at least 1"]),
    (["enumerate", "2--3tanh-1"], 2, ["'-'", "negative"]),
    (["enumerate", "2-999999999999tanh-1"], 4, ["2,999,999,999,997", "at most"]),
    (["enumerate", "2-3tanh-"], 2, ["the end of the text", "a layer"]),
    (["enumerate", "2-3-1"], 2, ["3identity"]),
    (["enumerate", "2-3tanh"], 2, ["an output layer", "3tanh"]),
    (["enumerate", "3tanh-1"], 2, ["input width"]),
    (["enumerate", "2"], 2, ["an output layer"]),
    (["enumerate", "2-3custom(u+u^2-1"], 2, ["brackets do not balance"]),
    (["enumerate", "input x[i]; f=w[i]*x[i]; size i=2, i=3"], 2, ["one size an axis"]),
    (["enumerate", "input x[i]; h[k]=w[k,i]*x[i]; f=w[i,k]*h[k]*x[i]; size i=2, k=3"], 2, ["two sizes"]),
    (["enumerate", "2-3relu-1"], 3, ["--one-region"]),
    (["enumerate", "no such file"], 2, ["neither a short form nor index notation nor a file"]),
    (["enumerate", "2-30tanh-1"], 4, ["--classes"]),
    (["enumerate", "2-1001tanh-1", "--count"], 4, ["1,001"]),
    (["enumerate", "2-3tanh-1", "--family", "nothing"], 2, ["condensed"]),
    (["enumerate"], 2, ["--help"]),
    (["lattice", "2-3tanh-1", "-o", "x.pdf"], 2, [".json", "'.pdf'"]),
    (["lattice", "2-3tanh-1", "-o", "/dev/null/x.json"], 2, ["/dev/null"]),
    (["analyze", "2-3tanh-1", "-o", "/dev/null/out"], 2, ["/dev/null"]),
    (["verify", "2-3tanh-1", "--manifold", "0=7"], 2, ["a neuron from 0 to 2", "^"]),
    (["verify", "2-3sigmoid-1", "--manifold", "0=-1"], 2, ["no parity", "--equations"]),
    (["verify", "2-3sigmoid-1", "--manifold", "0=dead"], 2, ["sigma(0) is not 0"]),
    (["verify", "2-3tanh-1", "--equations", "q[0]=0"], 2, ["a parameter (w, a)"]),
    (["verify", "2-3tanh-1", "--equations", "a[0]=0, a[0]=1"], 2, ["contradict"]),
    (["verify", "2-3tanh-1", "--trials", "0"], 2, ["trials"]),
    (["verify", "2-3tanh-1", "--trials", "many"], 2, ["many"]),
    (["verify", "2-8tanh-1"], 4, ["219,920", "--classes"]),
]


@pytest.mark.parametrize(("arguments", "code", "words"), BAD, ids=lambda v: " ".join(v) if isinstance(v, list) else "")
def test_message_and_exit_code(invman, arguments, code, words):
    done = invman(*arguments)
    assert done.code == code, done.err
    assert done.out == ""
    for word in words:
        assert word in done.err
    assert "Traceback" not in done.err


DATA = [
    ("1,2,3,4\n", ["4", "3"]),
    ("1,2,nan\n", ["nan"]),
    ("1,2,3\n1,hello,3\n", ["hello"]),
    ("", ["no rows of numbers"]),
]


@pytest.mark.parametrize(("content", "words"), DATA)
def test_data_files(invman, tmp_path, content, words):
    path = tmp_path / "data.csv"
    path.write_text(content, encoding="utf-8")
    done = invman("verify", "2-2tanh-1", "--data", str(path))
    assert done.code == 2
    for word in words:
        assert word in done.err


def test_missing_data_file(invman, tmp_path):
    done = invman("verify", "2-2tanh-1", "--data", str(tmp_path / "none.csv"))
    assert done.code == 2
    assert "none.csv" in done.err
