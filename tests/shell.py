"""Run the ``console`` blocks of the documentation: lines after ``$ `` are commands, what follows is what they print."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from sybil import Example


def evaluate_shell(example: Example) -> str | None:
    """Run the commands of a block and compare what they print; ``...`` on a line of its own stands for any lines."""
    expected: list[list[str]] = []
    commands: list[str] = []
    for line in str(example.parsed).splitlines():
        if line.startswith("$ "):
            commands.append(line[2:])
            expected.append([])
        elif expected:
            expected[-1].append(line)
    place = example.namespace.setdefault("directory", str(Path(example.path).parent))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for command, wanted in zip(commands, expected, strict=True):
        done = subprocess.run(  # noqa: S602 - the commands are those of our own documentation
            command,
            shell=True,
            capture_output=True,
            text=True,
            cwd=place,
            env={**os.environ, "PATH": path},
            check=False,
        )
        got = (done.stdout + done.stderr).splitlines()
        if not matches(got, wanted):
            return f"$ {command}\nprinted\n" + "\n".join(got) + "\nexpected\n" + "\n".join(wanted)
    return None


def matches(got: list[str], wanted: list[str]) -> bool:
    """Compare lines, white space at their ends aside; ``...`` matches any number of lines."""
    if not wanted:
        return not got
    if wanted[0] == "...":
        return any(matches(got[skip:], wanted[1:]) for skip in range(len(got) + 1))
    return bool(got) and got[0].rstrip() == wanted[0].rstrip() and matches(got[1:], wanted[1:])
