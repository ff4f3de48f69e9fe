"""One door for short forms, index notation, files and standard input."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from invman.architecture import parse_program, read_architecture
from invman.architecture.presets import is_short_form
from invman.errors import ArchitectureError, SyntaxProblem, UnsupportedError

TEXT = "input x[i]\nh[k] = tanh(w[k,i]*x[i])\nf = a[k]*h[k]\nsize i=2, k=3"


@pytest.mark.parametrize("text", ["2-3tanh-1", " 2 - 3 tanh - 1 ", TEXT, TEXT.replace("\n", "; "), TEXT + "\r\n# end"])
def test_texts(text):
    assert read_architecture(text) == parse_program(TEXT)


@pytest.mark.parametrize(
    "text", ["2-3tanh-1\n", "# a/net.txt\n\n2-3tanh\n -1 # end\n", TEXT, "\ufeff" + TEXT, TEXT.replace("\n", "\r\n")]
)
def test_files_and_standard_input(tmp_path, monkeypatch, text):
    for name in ("net", "2nets.txt", "net(1).txt"):
        path = tmp_path / name
        path.write_bytes(text.encode())
        assert read_architecture(str(path)) == parse_program(TEXT)
        monkeypatch.chdir(tmp_path)
        assert read_architecture(name) == parse_program(TEXT)
    monkeypatch.setattr("sys.stdin", io.StringIO(text.removeprefix("\ufeff")))
    assert read_architecture("-") == parse_program(TEXT)


def test_a_program_is_handed_through():
    program = parse_program(TEXT)
    assert read_architecture(program) is program


@pytest.mark.parametrize("name", ["no such file", "attention", "dir/2-3tanh-1", "", "x" * 10_000, "nul\x00"])
def test_a_file_that_cannot_be_read(name):
    with pytest.raises(ArchitectureError, match=r"got .*, expected"):
        read_architecture(name)


def test_files_that_are_no_text(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ArchitectureError, match=r"got 'utf-8' codec .* expected a readable UTF-8 text file"):
        read_architecture(str(tmp_path / "binary"))
    with pytest.raises(ArchitectureError, match="expected a readable UTF-8 text file"):
        read_architecture(str(tmp_path))
    (tmp_path / "empty").write_text("")
    with pytest.raises(SyntaxProblem, match="got no statement"):
        read_architecture(str(tmp_path / "empty"))


@pytest.mark.parametrize("text", ["2-3relu-1", "input x; f = a*abs(b*x)", "resmlp(d=2,ff=2,act=relu)"])
def test_consent_to_one_region(text):
    with pytest.raises(UnsupportedError, match="one activation region only; say that this is meant with --one-region"):
        read_architecture(text)
    program = read_architecture(text, one_region=True)
    assert program.one_region
    with pytest.raises(UnsupportedError):
        read_architecture(program)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2-3tanh-1", True),
        ("-2-3tanh-1", True),
        (" 2 - 3", True),
        ("2-3custom(u/2 + 0.5*u^2)-1", True),
        ("2.5-3tanh-1", True),
        ("attention(d=2", True),
        ("attenton(d=2)", True),
        ("rnn (input=2,\n hidden=3)", True),
        (TEXT, False),
        ("h(k) = 3", False),
        ("attention", False),
        ("2nets.txt", False),
        ("runs/2-3tanh-1", False),
        ("net(1).txt", False),
        ("-", False),
        ("", False),
    ],
)
def test_what_is_a_short_form(text, expected):
    assert is_short_form(text) == expected


def test_reading_loads_neither_jax_nor_sympy():
    code = (
        "import sys, invman.architecture as a; a.read_architecture('attention(d=4,heads=2,dk=2)').text;"
        "a.read_architecture('2-3tanh-1'); assert not {'jax', 'sympy', 'numpy'} & set(sys.modules), sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_module_and_function(tmp_path, monkeypatch):
    (tmp_path / "mynets.py").write_text(
        "import invman\nNET = invman.read_architecture('2-3tanh-1')\n"
        "def text():\n    return '2-4silu-1'\ndef wrong():\n    return 7\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    assert repr(read_architecture("mynets:NET")) == "2-3tanh-1"
    assert repr(read_architecture("mynets:text")) == "2-4silu-1"
    with pytest.raises(ArchitectureError, match="got int"):
        read_architecture("mynets:wrong")
    with pytest.raises(ArchitectureError, match="nothing"):
        read_architecture("mynets:nothing")
    with pytest.raises(ArchitectureError, match="nowhere"):
        read_architecture("nowhere:net")
