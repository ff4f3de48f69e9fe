"""Examples in the Markdown files are run as tests."""

from __future__ import annotations

from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

from tests.shell import evaluate_shell

pytest_collect_file = Sybil(
    parsers=[
        PythonCodeBlockParser(doctest_optionflags=0),
        CodeBlockParser(language="console", evaluator=evaluate_shell),
        SkipParser(),
    ],
    patterns=["*.md"],
    excludes=["CHANGELOG.md"],
).pytest()

collect_ignore_glob = ["tests/*/data/*.py"]
"""Scripts that make recorded data need packages that the tests do not."""
