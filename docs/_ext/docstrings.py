# SPDX-License-Identifier: BSD-3-Clause
"""Docstrings as Markdown: sections (`Args:`, `Errors:`) become lists, indented code is fenced."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from generated import code

_SECTION = re.compile(r"^(Args|Attributes|Returns|Errors?): *(.*)$")
_ITEM = re.compile(r"^([\w*.]+(?:, [\w*.]+)*): (.*)$")


def markdown(docstring: str, language: str = "python") -> str:
    """A docstring's text as Markdown."""
    return "\n\n".join(_paragraphs(docstring, language)) + "\n"


def _paragraphs(text: str, language: str) -> Iterator[str]:
    for block in re.split(r"\n\s*\n(?! {3})|\n(?=Errors?: )", text.strip("\n")):
        lines = block.split("\n")
        section = _SECTION.match(lines[0])
        if all(line.startswith("  ") or not line for line in lines):
            yield code(block, language)
        elif section and section[2]:
            yield f"**{section[1]}:** " + _plain("\n".join([section[2], *map(str.strip, lines[1:])]))
        elif section:
            yield f"**{section[1]}**"
            yield _items(textwrap.dedent("\n".join(lines[1:])))
        else:
            yield from _with_code(lines, language)


def _with_code(lines: list[str], language: str) -> Iterator[str]:
    """A paragraph, and the indented lines below it, which are code."""
    first = next((number for number, line in enumerate(lines) if line.startswith("  ")), len(lines))
    yield _plain("\n".join(lines[:first]))
    if first < len(lines):
        yield code("\n".join(lines[first:]), language)


def _items(text: str) -> str:
    """`name: text` with deeper lines below, as a list; those lines may be such items too."""
    found: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        if line and not line.startswith(" "):
            found.append((line, []))
        elif found:
            found[-1][1].append(line)
    return "\n".join(_item(head, below) for head, below in found)


def _item(head: str, below: list[str]) -> str:
    matched = _ITEM.match(head)
    names = ", ".join(f"`{name}`" for name in matched[1].split(", ")) if matched else ""
    text = f"{names}: {_plain(matched[2])}" if matched else _plain(head)
    rest = textwrap.dedent("\n".join(below)).strip("\n")
    is_list = text.endswith(":") and _ITEM.match(rest.split("\n")[0])
    return f"- {text}\n" + textwrap.indent(_items(rest) if is_list else _plain(rest), "  ")


def _plain(text: str) -> str:
    """Text in which what Markdown would take for markup, outside of backticks, is shown."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*<>\[\]$])", r"\\\1", part) for part in parts)
