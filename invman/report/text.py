"""Text made fit for a drawing: characters that XML allows, escaping, widths and abbreviations."""

from __future__ import annotations

import re
import unicodedata

_FORBIDDEN = re.compile("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}


def clean(text: object) -> str:
    """Replace every character that XML does not allow (or would change) by U+FFFD.

    Examples
    --------
    >>> clean("a" + chr(0) + "b")
    'a\ufffdb'
    """
    return _FORBIDDEN.sub("\ufffd", str(text).replace("\r\n", "\n"))


def xml(text: object) -> str:
    """Escape a text for XML and HTML, as content or inside a quoted attribute.

    Examples
    --------
    >>> xml('<b>&"')
    '&lt;b&gt;&amp;&quot;'
    """
    return "".join(_ESCAPES.get(character, character) for character in clean(text))


def columns(text: str) -> int:
    """Count the columns a text takes in a fixed-width font: wide East Asian characters two, combining ones none."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def abbreviate(text: object, limit: int) -> str:
    """Shorten a text to at most `limit` columns on one line, its middle replaced by an ellipsis.

    Examples
    --------
    >>> abbreviate("k1:0=1/k2:0=dead,1=-2", 12)
    'k1:0=1/…1=-2'
    """
    line = " ".join(clean(text).split())
    if columns(line) <= limit:
        return line
    room = max(limit - 1, 1)
    tail = room * 2 // 5
    return _take(line, room - tail) + "…" + _take(line[::-1], tail)[::-1]


def _take(text: str, room: int) -> str:
    """Take the longest beginning of a text that fits into `room` columns."""
    used, end = 0, 0
    for character in text:
        used += columns(character)
        if used > room:
            break
        end += 1
    return text[:end]
