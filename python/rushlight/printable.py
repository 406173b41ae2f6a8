# SPDX-License-Identifier: BSD-3-Clause
"""Foreign text for terminals and pages. Names in files and names of files may hold terminal escapes, marks
that turn the direction of text, and characters without width: shown as they are, they change what is seen."""

from __future__ import annotations

import html
import unicodedata


def printable(text: str, keep: str = "\n\t") -> str:
    """The text with hidden characters, but those of `keep`, as escapes (\\x1b, \\u202e). Hidden are controls
    (C0, C1, DEL), format characters (directions, zero widths, tags), lone surrogates, separators of lines and
    paragraphs, and what Unicode has not assigned."""
    if text.isprintable():
        return text
    return "".join(c if c in keep or not _is_hidden(c) else _escape(c) for c in text)


def one_line(text: str) -> str:
    """printable() for a name or a table's cell: line ends and tabs, too, are escapes."""
    return printable(text, keep="")


def escaped(text: str) -> str:
    """Foreign text for HTML and SVG, in content and in quoted attributes."""
    return html.escape(printable(text), quote=True)


def _is_hidden(character: str) -> bool:
    return not character.isprintable() and unicodedata.category(character) != "Zs"


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")
