# SPDX-License-Identifier: BSD-3-Clause
"""Makes foreign text safe for terminals and pages. Names can hold terminal escapes, marks that change the
direction of text, and characters without width, which alter or hide the text around them."""

from __future__ import annotations

import html
import unicodedata


def printable(text: str, keep: str = "\n\t") -> str:
    """The text with hidden characters, except the characters in `keep`, as escapes (\\x1b, \\u202e). Hidden
    characters are controls (C0, C1, DEL), format characters (directions, zero widths, tags), lone
    surrogates, separators of lines and paragraphs, and unassigned code points."""
    if text.isprintable():
        return text
    return "".join(c if c in keep or not _is_hidden(c) else _escape(c) for c in text)


def one_line(text: str) -> str:
    """printable() for a name or a table cell: line ends and tabs become escapes, too."""
    return printable(text, keep="")


def escaped(text: str) -> str:
    """Foreign text for the content and the quoted attributes of HTML and SVG."""
    return html.escape(printable(text), quote=True)


def _is_hidden(character: str) -> bool:
    return not character.isprintable() and unicodedata.category(character) != "Zs"


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")
