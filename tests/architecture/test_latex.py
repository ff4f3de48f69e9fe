"""The map in LaTeX: its structure, and that LaTeX accepts it where LaTeX is installed."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from invman.architecture import parse_program, read_architecture
from invman.architecture.latex import latex_map
from invman.architecture.presets import PRESETS

FORMS = [
    "2-3tanh-4gelu-2sigmoid+bias",
    "2-3custom(u + u^2/2)-1",
    "attention(d=4,heads=2,dk=2,causal=yes,rotary=yes)",
    "transformer(vocab=5,d=8,heads=2,dk=4,ff=16,layers=1,seq=4,bias=yes,gated=yes)",
    "resmlp(d=4,ff=8,layers=2,norm=rms)",
    "conv1d(length=8,kernel=3,channels=4,stride=2,bias=yes)",
    "conv2d(height=5,width=5,kernel=3,channels=2,pool=none)",
    "rnn(input=2,hidden=3,steps=3)",
    "moe(d=2,experts=3,ff=4)",
    "input x[i]; θ_1[i] = -2/3*weight[i]*x[i]*3/(c*(1 + d^2)) - abs(x[0]); f = mean[i](θ_1[i])^(-1/2); size i=2",
]


def line(statement):
    """The right-hand side of one statement, with inputs x[i], y."""
    program = parse_program(f"input x[i], y; f = {statement}; size i=2, k=3, k1=3, l=3")
    return latex_map(program).split("\n")[1].removeprefix("f & = & ")


@pytest.mark.parametrize(
    ("statement", "latex"),
    [
        ("a[k]*b[k]", r"\sum_{k} a_{k}\,b_{k}"),
        ("a[k,l]*b[k]*c[l] - d", r"\sum_{k,l} a_{k,l}\,b_{k}\,c_{l} - d"),
        ("c*(a[k]*b[k])", r"c\,\left(\sum_{k} a_{k}\,b_{k}\right)"),
        ("a + (b - c)*2", r"a + \left(b - c\right) \cdot 2"),
        ("-a^2", r"-{a}^{2}"),
        ("(a + b)^3", r"{\left(a + b\right)}^{3}"),
        ("a/b", r"\frac{a}{b}"),
        ("a*b/(c*d)/2", r"\frac{a\,b}{c\,d \cdot 2}"),
        ("1/a", r"\frac{1}{a}"),
        ("-1/2*a", r"-\frac{1}{2}\,a"),
        ("a*(-1/2)", r"a\,\left(-\frac{1}{2}\right)"),
        ("sqrt(1 + a^2)", r"\sqrt{1 + {a}^{2}}"),
        ("a^(-1/2)", r"{a}^{-1/2}"),
        ("mean[k](tanh(a[k]))", r"\frac{1}{|k|}\sum_{k} \tanh\left(a_{k}\right)"),
        ("tanh(a)*erf(b)", r"\tanh\left(a\right)\,\mathrm{erf}\left(b\right)"),
        ("abs(a)", r"\left|a\right|"),
        ("identity(a)*b", r"\left(a\right)\,b"),
        ("tanh(a)^2", r"{\left(\tanh\left(a\right)\right)}^{2}"),
        ("custom(u - u^3)(a)", r"\left[u \mapsto u - {u}^{3}\right]\left(a\right)"),
        ("sum[k](softmax[k](a[k])*b[k])", r"\sum_{k} \mathrm{softmax}_{k}\left(a_{k}\right)\,b_{k}"),
        ("a[k,l]*softmax[k<=l](b[k])", r"\sum_{k,l} a_{k,l}\,\mathrm{softmax}_{k \le l}\left(b_{k}\right)"),
        ("sum[k](a[2*k+1]*b[2-k]*c[0])", r"\sum_{k} a_{2\,k+1}\,b_{-k+2}\,c_{0}"),
        ("w1[k1]*b2[k1]", r"\sum_{k_{1}} w^{(1)}_{k_{1}}\,b^{(2)}_{k_{1}}"),
        ("WQ*α*my_name2", r"\mathit{WQ}\,\alpha \,\mathit{my\_name}^{(2)}"),
    ],
)
def test_structure(statement, latex):
    assert line(statement) == latex


@pytest.mark.parametrize("form", FORMS)
def test_one_balanced_row_a_statement(form):
    program = read_architecture(form, one_region=True)
    text = latex_map(program)
    rows = text.removeprefix("\\begin{array}{rcl}\n").removesuffix("\n\\end{array}").split(" \\\\\n")
    assert len(rows) == len(program.statements)
    assert all(row.count("&") == 2 for row in rows)
    assert all(row.count("{") == row.count("}") and row.count(r"\left") == row.count(r"\right") for row in rows)
    commands = set(re.findall(r"\\([A-Za-z]+)", text)) - {"begin", "end", "left", "right"}
    assert commands <= {"sum", "frac", "sqrt", "mathrm", "mathit", "tanh", "mapsto", "le", "cdot", "theta"}
    assert text.isascii()


def test_every_preset_is_here():
    assert all(any(form.startswith(name) for form in FORMS) for name in PRESETS)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_accepts_it(tmp_path):
    body = "\n".join(rf"\[{latex_map(read_architecture(form, one_region=True))}\]" for form in FORMS)
    (tmp_path / "map.tex").write_text(rf"\documentclass{{article}}\begin{{document}}{body}\end{{document}}")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "map.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
