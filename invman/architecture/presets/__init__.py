"""Short forms such as ``2-3tanh-1+bias`` or ``attention(d=4,heads=2,dk=2)``, each an abbreviation of a program."""

from __future__ import annotations

import re

from invman.architecture.activations import nearest
from invman.architecture.presets.attention import ATTENTION
from invman.architecture.presets.convolution import CONV1D, CONV2D
from invman.architecture.presets.dense import Layer, fully_connected, parse_dense
from invman.architecture.presets.experts import MOE
from invman.architecture.presets.options import Option, Preset
from invman.architecture.presets.recurrent import RNN
from invman.architecture.presets.residual import RESMLP
from invman.architecture.presets.transformer import TRANSFORMER
from invman.architecture.program import Program
from invman.architecture.tokens import Scanner

PRESETS: dict[str, Preset] = {
    preset.name: preset for preset in (ATTENTION, TRANSFORMER, RESMLP, CONV1D, CONV2D, RNN, MOE)
}
"""The presets that read like calls, by name."""

_BLANK = r"(?:\s|#[^\n]*\n)*"
_DENSE = re.compile(rf"{_BLANK}[-+]?\d")
_CALL = re.compile(rf"{_BLANK}([^\W\d]\w*)\s*\(")
_FILE = re.compile(r"[^()#\n]*([/\\]|\.[A-Za-z]\w*$)")


def is_short_form(text: str) -> bool:
    """Tell whether a text is meant as a short form: it starts with a width, or reads like a call.

    Examples
    --------
    >>> [is_short_form(text) for text in ("2-3tanh-1", "rnn(hidden=2)", "2nets/a.txt", "input x[i]; f = w[i]*x[i]")]
    [True, True, False, False]
    """
    if "\n" not in text.strip() and _FILE.match(text.strip()):
        return False
    call = _CALL.match(text)
    return _DENSE.match(text) is not None or (
        call is not None and (call.group(1) in PRESETS or text.rstrip().endswith(")"))
    )


def parse_short_form(text: str) -> Program:
    """Read a short form.

    Parameters
    ----------
    text : str
        ``d-m1ACT-...-o`` for a fully connected net (see :func:`invman.architecture.presets.dense.parse_dense`), or
        ``NAME(OPTION=VALUE,...)`` for one of :data:`PRESETS`. Options may come in any order; those with a default
        may be left out.

    Returns
    -------
    Program
        Whose repr is the canonical short form.

    Raises
    ------
    SyntaxProblem
        With a caret under the column that does not fit.
    OverBudgetError
        When the net would have more parameters than any that is trained.

    Examples
    --------
    >>> parse_short_form("attention(heads=2, d=4, dk=2, seq=3, causal=no)")
    attention(d=4,heads=2,dk=2,seq=3)
    """
    if _CALL.match(text) is None:
        return parse_dense(text)
    scanner = Scanner(text, lines=False)
    token = scanner.take()
    if token.text not in PRESETS:
        scanner.fail(f"a preset ({', '.join(PRESETS)})", nearest(token.text, list(PRESETS)), token)
    return PRESETS[token.text].read(scanner)


__all__ = [
    "PRESETS",
    "Layer",
    "Option",
    "Preset",
    "fully_connected",
    "is_short_form",
    "parse_dense",
    "parse_short_form",
]
