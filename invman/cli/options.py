"""What the commands have in common: their options, how they print, and progress on stderr."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from invman.errors import OutputError

Architecture = Annotated[
    str,
    Parameter(
        help="Short form, index notation, file, - for standard input, or module:function.", allow_leading_hyphen=True
    ),
]
OneRegion = Annotated[
    bool, Parameter(help="Accept relu and abs; results then hold on one activation region.", negative="")
]
Classes = Annotated[
    bool, Parameter(help="One manifold a class of conjugate ones, without listing the others.", negative="")
]
Budget = Annotated[int, Parameter(help="Largest number of manifolds that are listed.")]
Family = Annotated[
    Literal["condensed", "invariant", "symmetric"],
    Parameter(
        help="condensed: signed partitions of the neurons, with dead ones. invariant: all balanced manifolds of a "
        "fully connected net, with their leaves. symmetric: all fixed sets of permutations and signs, those of several "
        "layers at once too."
    ),
]


def write_json(document: dict[str, Any]) -> str:
    """Return a document as JSON text: keys in their own order, one line break at the end, no NaN."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def emit(text: str, output: Path | None) -> None:
    """Print a result on stdout, or write it to a file, whole or not at all."""
    if output is None:
        sys.stdout.write(text)
        return
    from invman.report import write_files

    write_files({output: text})


def check_writable(path: Path) -> None:
    """Raise before any work is done where the result could not be written in the end."""
    place = path
    while not place.exists() and place != place.parent:
        place = place.parent
    if place != path and not place.is_dir():
        msg = f"output {path}: got {place}, which is no directory, expected a path that can be written"
        raise OutputError(msg)
    import os

    if not os.access(place, os.W_OK):
        msg = f"output {path}: got no permission to write to {place}, expected a path that can be written"
        raise OutputError(msg)


class Progress:
    """A progress line on stderr, shown only on a terminal."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.shown = sys.stderr.isatty()
        self.last = -1

    def __call__(self, done: int, total: int) -> None:
        """Show how much is done."""
        percent = 100 * done // max(1, total)
        if self.shown and percent != self.last:
            self.last = percent
            sys.stderr.write(f"\r{self.what}: {percent:3d} %")
            sys.stderr.flush()

    def close(self) -> None:
        """Remove the line."""
        if self.shown and self.last >= 0:
            sys.stderr.write("\r" + " " * (len(self.what) + 8) + "\r")
