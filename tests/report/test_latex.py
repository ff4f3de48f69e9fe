"""The table of classes in LaTeX."""

import re
import shutil
import subprocess

import pytest

from invman.report import latex

PDFLATEX = shutil.which("pdflatex")


def rows(text):
    """The cells of every row, the title first."""
    lines = [line for line in text.splitlines() if line.endswith("\\tabularnewline")]
    return [re.split(r"(?<!\\) & ", line.removesuffix(" \\tabularnewline")) for line in lines]


def test_one_row_a_class(document):
    title, *body = rows(latex(document))
    assert title[:3] == ["representative", "dim", "size"]
    assert len(body) == 7
    assert all(len(row) == len(title) == 8 for row in body)
    assert body[0][:3] == [r"\texttt{free}", "9", "1"]
    assert sum(int(row[2]) for row in body) == 24


def test_no_verdict_column_when_nothing_was_checked(make):
    assert "verdict" not in latex(make(2, verdicts=False))
    assert "not a proof" in latex(make(2))


def test_no_package_and_no_longtable(document):
    text = latex(document)
    assert "usepackage" not in text
    assert "longtable" not in text
    assert set(re.findall(r"\\begin\{(\w+)\}", text)) == {"tabular"}


def test_many_classes_are_parted(document):
    nodes = document["manifolds"] = [
        {**document["manifolds"][0], "id": f"n{i}", "class": f"c{i}", "name": f"n{i}"} for i in range(70)
    ]
    text = latex({**document, "covers": []})
    assert text.count("\\begin{tabular}") == text.count("\\end{tabular}") == 3
    assert len(rows(text)) == len(nodes) + 3


def test_specials_are_escaped(document):
    document["manifolds"][1]["name"] = document["architecture"] = r"\_{}$&#%^~<>|\"`'--–中"
    text = latex(document)
    assert text.isascii()
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    stripped = re.sub(r"\\[\\_{}$&#%]", "", body)
    assert not set('$#%_^~<>|"') & set(
        stripped.replace("\\ensuremath{<}", "").replace("\\ensuremath{>}", "").replace("\\ensuremath{|}", "")
    )
    assert stripped.count("{") == stripped.count("}")
    assert "--" not in body
    assert "U+4E2D" in body


def test_the_same_text_every_time(make):
    assert latex(make(3)) == latex(make(3))


@pytest.mark.slow
@pytest.mark.skipif(PDFLATEX is None, reason="no pdflatex here")
@pytest.mark.parametrize("kind", ["document", "hostile"])
def test_it_compiles_in_a_bare_article(kind, request, tmp_path):
    (tmp_path / "table.tex").write_text(latex(request.getfixturevalue(kind)))
    (tmp_path / "main.tex").write_text("\\documentclass{article}\\begin{document}\\input{table}\\end{document}")
    done = subprocess.run(
        [PDFLATEX or "", "-interaction=nonstopmode", "-halt-on-error", "main.tex"],
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    if kind == "document":
        assert b"Overfull" not in done.stdout
