"""The program ``invman``: commands, exit codes and errors without a traceback.

Exit codes: 0 ok, 1 a check failed, 2 usage, 3 unsupported architecture, 4 over budget, 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from cyclopts import App, CycloptsError

import invman
from invman.architecture.activations import nearest
from invman.cli.analyze import analyze
from invman.cli.certify import certify
from invman.cli.enumerate import enumerate_
from invman.cli.lattice import lattice
from invman.cli.laws import laws
from invman.cli.orbit import orbit
from invman.cli.show import show
from invman.cli.symmetry import symmetry
from invman.cli.verify import verify
from invman.errors import InvmanError

GOODBYE = "invman: interrupted; no file was left half-written\n"
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

CITATION = """\
@software{invman,
  title   = {invman: structural invariant manifolds of neural networks},
  author  = {{The invman developers}},
  version = {VERSION},
  year    = {2026},
  license = {Apache-2.0}
}
The theory of structural invariant manifolds is that of
@article{zhao2026sim,
  author = {Zhao and Luo and Zhang},
  title  = {Structural invariant manifolds of neural networks: a geometric-control theory},
  note   = {arXiv:2510.09564},
  year   = {2026}
}"""

app = App(
    name="invman",
    help="Structural invariant manifolds of neural networks: find what training can never leave.",
    help_epilogue="ARCH is a short form (2-3tanh-1, 2-3tanh-4sigmoid-1+bias), index notation, a file that holds "
    "either, or - for standard input. Results go to stdout, progress to stderr. Exit: 0 ok, 1 a check failed, "
    "2 usage, 3 unsupported architecture, 4 over budget.",
    version=invman.__version__,
    version_flags=["--version"],
    result_action="return_value",
)
for command in (analyze, enumerate_, lattice, verify, orbit, certify, symmetry, laws, show):
    app.command(command, name=command.__name__.rstrip("_"))


@app.default
def top(*, cite: bool = False) -> int:
    """Show this help, or how to cite invman.

    Parameters
    ----------
    cite
        Print BibTeX entries for invman and the theory behind it.
    """
    if cite:
        sys.stdout.write(CITATION.replace("VERSION", invman.__version__) + "\n")
        return 0
    app.help_print()
    return 0


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; errors that invman expects are one message on stderr."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    names = [name for name in app if not name.startswith("-")]
    if words and not words[0].startswith("-") and words[0] not in names:
        hint = nearest(words[0], names) or "Try 'invman --help'."
        sys.stderr.write(f"invman: got the command {words[0]!r}, expected one of {', '.join(names)}. {hint}\n")
        return 2
    try:
        code = app(words, exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except InvmanError as error:
        sys.stderr.write(f"invman: {error}\n")
        return error.exit_code
    except CycloptsError as error:
        sys.stderr.write(f"invman: {error}\nTry 'invman --help'.\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write(GOODBYE)
        return INTERRUPTED
    except BrokenPipeError:
        # the reader of the pipe has gone; nothing more can be said on stdout
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        sys.stderr.write(f"invman: standard output: got {error}, expected a place to write to\n")
        return 2
    return code if isinstance(code, int) else 0


def main() -> NoReturn:
    """Entry point of the console script."""
    # counts are exact integers of any length
    sys.set_int_max_str_digits(0)
    # a kill is handled like Ctrl-C
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGINT, _interrupt)
    code = run()
    if code == INTERRUPTED:
        _leave()
    sys.exit(code)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """Go at once, unless files are being written: then raise, so that they are taken back first.

    An exception in the middle of anything else could come up inside a compiler, which does not survive it, or inside an
    import, which may swallow it.
    """
    files = sys.modules.get("invman.report.files")
    if files is not None and files.writing:
        raise KeyboardInterrupt
    sys.stderr.write(GOODBYE)
    _leave()


def _leave() -> NoReturn:
    """End the process without an orderly shutdown: other threads may still compile, and would crash in it."""
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(INTERRUPTED)
