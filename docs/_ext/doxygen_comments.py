# SPDX-License-Identifier: BSD-3-Clause
"""Makes a header's `//` comments Doxygen's, whose text it keeps as it is (as `verbatim`).

A comment above or behind a declaration documents it, the one at the top of a file documents the file.
One with a blank line below documents nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_COMMENT = re.compile(r"^\s*// ?(?!/)(.*)$")
_BEHIND = re.compile(r"^(\s*[^\s/\"][^\"]*?[;,{})\w])\s+// (.*)$")
_NOT_TEXT = re.compile(r"NOLINT|clang-format|SPDX-License-Identifier|namespace ")


def for_doxygen(text: str) -> str:
    """The text of a header, with comments for Doxygen."""
    return "\n".join(_lines(text.split("\n"))) + "\n"


def _lines(lines: list[str]) -> Iterator[str]:
    comment: list[str] = []
    is_first = True
    for line in lines:
        found = _COMMENT.match(line)
        if found and not _NOT_TEXT.match(found[1]):
            comment.append(found[1])
            continue
        if comment and is_first:
            yield from _documentation(["\\file", *_verbatim(comment)])
        elif comment and line.strip():
            yield from _documentation(_verbatim(comment))
        is_first = is_first and not comment
        comment = []
        yield _behind(line)


def _verbatim(comment: list[str]) -> list[str]:
    return ["\\verbatim", *comment, "\\endverbatim"]


def _documentation(lines: list[str]) -> Iterator[str]:
    return (f"/// {line}" for line in lines)


def _behind(line: str) -> str:
    found = _BEHIND.match(line)
    if found is None or _NOT_TEXT.match(found[2]):
        return line
    return f"{found[1]}  ///< \\verbatim {found[2]} \\endverbatim"
