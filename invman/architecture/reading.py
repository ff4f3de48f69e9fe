"""One door for every way of writing an architecture down: short form, index notation, file or standard input."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

from invman.architecture.presets import is_short_form, parse_short_form
from invman.architecture.program import Program
from invman.architecture.text import parse_program
from invman.errors import ArchitectureError, UnsupportedError

_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def read_architecture(source: str | Program, *, one_region: bool = False) -> Program:
    """Read an architecture from a short form, index notation, a file that holds either, standard input ("-"), or code.

    Parameters
    ----------
    source : str or Program
        ``2-3tanh-1``, ``input x[i]; ...``, a path, "-", or ``module:function``, whose result is a Program or a text; a
        Program is checked and handed through.
    one_region : bool
        Consent to activations that are not analytic (relu, abs): all results then hold on one activation region.

    Returns
    -------
    Program

    Raises
    ------
    SyntaxProblem
        The text does not fit; the message has a caret under the column.
    ArchitectureError
        The file cannot be read.
    UnsupportedError
        An activation is not analytic and ``one_region`` is false.

    Examples
    --------
    >>> read_architecture("2 - 3 tanh - 1")
    2-3tanh-1
    """
    program = source if isinstance(source, Program) else _parse(source)
    if not program.parameter_count:
        msg = (
            f"architecture {program!r}: got no parameter, expected at least one tensor that is read but is neither "
            "defined nor an input nor a constant"
        )
        raise ArchitectureError(msg)
    if program.one_region and not one_region:
        msg = (
            f"architecture {program!r}: got an activation that is not analytic (relu or abs), expected analytic ones. "
            "Its results hold on one activation region only; say that this is meant with --one-region "
            "(one_region=True in Python)"
        )
        raise UnsupportedError(msg)
    return program


def _parse(source: str) -> Program:
    text = source
    if source.strip() == "-":
        text = sys.stdin.read()
    elif is_short_form(source):
        return parse_short_form(source)
    elif "=" not in source and "\n" not in source:
        if _FUNCTION.fullmatch(source.strip()):
            return _call(*source.strip().split(":"))
        text = _read_file(source)
    return parse_short_form(text) if is_short_form(text) else parse_program(text)


def _call(module: str, name: str) -> Program:
    """Return what a function of the user's own module makes, or the Program of this name in it."""
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        msg = f"architecture {module}:{name}: got {error}, expected a module that imports from here and a name in it"
        raise ArchitectureError(msg) from None
    finally:
        sys.path.pop(0)
    made = found() if callable(found) else found
    if isinstance(made, str):
        return _parse(made)
    if isinstance(made, Program):
        return made
    msg = (
        f"architecture {module}:{name}: got {type(made).__name__}, expected a Program (as invman.from_jax returns), a "
        "text, or a function without arguments that returns one"
    )
    raise ArchitectureError(msg)


def _read_file(name: str) -> str:
    path = Path(name)
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        msg = (
            f"architecture {name!r}: got neither a short form nor index notation nor a file, expected one of them, "
            "as in 2-3tanh-1, 'input x[i]; f = w[i]*x[i]; size i=2' or a path"
        )
    except (OSError, UnicodeDecodeError, ValueError) as error:
        msg = f"architecture file {name!r}: got {error}, expected a readable UTF-8 text file"
    raise ArchitectureError(msg)
