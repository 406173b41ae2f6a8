# SPDX-License-Identifier: BSD-3-Clause
"""Fenced blocks of Markdown pages, and the comments of tests/docs/README.md that say how each is tested."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]

MARKS = ("not run", "file", "frame", "output", "exit", "setup")
"""A comment about the block below it; `setup` may also stand alone."""
_MARK = re.compile(r"<!-- *([a-z]+(?: [a-z]+)*)(?:: *([^\n]*?))? *-->")
_HIDDEN = re.compile(r"<!-- hidden (\w+)\n(.*?)\n-->", re.DOTALL)
_WRITTEN = re.compile(r"<!-- written by ")
_END = re.compile(r"<!-- end of ")


@dataclass(frozen=True)
class Block:
    """A fenced block, a hidden one, or a set-up: the language is then "setup" and the text its paths."""

    language: str
    text: str
    line: int
    marks: dict[str, str] = field(default_factory=dict)


class UnknownMark(ValueError):
    """A comment before a block that no test knows."""


def pages() -> list[Path]:
    """The pages whose blocks are tested. Decisions are records of their day, and are not."""
    readmes = [path for name in ("examples", "benchmarks") for path in (ROOT / name).rglob("README.md")]
    return sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *readmes])


def blocks(text: str) -> list[Block]:
    """The blocks of a page's text, in order. Error: UnknownMark."""
    found: list[Block] = []
    comments: list[Token] = []
    for token in MarkdownIt("commonmark").parse(text):
        if token.type == "html_block":
            found += _alone(token)
            comments.append(token)
            continue
        if token.type == "fence":
            found.append(_fence(token, comments))
        comments = []
    return found


def _line(token: Token) -> int:
    return token.map[0] + 1 if token.map else 0


def _alone(token: Token) -> Iterator[Block]:
    """The blocks that a comment holds: a hidden block, or a set-up."""
    for hidden in _HIDDEN.finditer(token.content):
        yield Block(hidden[1], hidden[2] + "\n", _line(token) + 1)
    for mark in _MARK.finditer(token.content):
        if mark[1] == "setup":
            yield Block("setup", mark[2] or "", _line(token))


def _fence(token: Token, comments: list[Token]) -> Block:
    marks: dict[str, str] = {}
    for comment in comments:
        if _WRITTEN.match(comment.content):
            marks["not run"] = "a script wrote the block"
            continue
        if _END.match(comment.content):
            continue
        for mark in _MARK.finditer(comment.content):
            if mark[1] not in MARKS:
                line = _line(comment)
                raise UnknownMark(f"line {line}: comment: expected {', '.join(MARKS)}; got {mark[1]}")
            if mark[1] != "setup":
                marks[mark[1]] = mark[2] or ""
    return Block(token.info.strip().partition(" ")[0], token.content, _line(token), marks)
