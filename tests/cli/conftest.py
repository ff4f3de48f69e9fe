"""Run the command line in this process."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def invman(capsys, monkeypatch):
    """Run ``invman`` with arguments and return its exit code and what it printed."""
    from invman.cli.main import run

    def call(*arguments: str, stdin: str = "") -> Done:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        code = run(list(arguments))
        printed = capsys.readouterr()
        return Done(code, printed.out, printed.err)

    return call
