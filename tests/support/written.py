# SPDX-License-Identifier: BSD-3-Clause
"""Parts of pages that scripts write: a part is replaced as a whole, and carries a digest of its text.

    <!-- written by benchmarks/size/run.py --write: models 0f343b09 -->
    ...
    <!-- end of models -->

A test recomputes the digests of all pages, so that a number put in by hand is seen.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_PART = re.compile(
    r"<!-- written by (?P<command>[^\n:]+): (?P<name>[\w-]+) (?P<digest>\w+) -->\n"
    r"(?P<text>.*?)\n<!-- end of (?P=name) -->\n",
    re.DOTALL,
)


@dataclass(frozen=True)
class Part:
    """One part of a page: which command writes it, and its text."""

    command: str
    name: str
    digest: str
    text: str

    @property
    def is_as_written(self) -> bool:
        """True if the text is as the command wrote it."""
        return self.digest == _digest(self.text)


def parts(page: str) -> Iterator[Part]:
    """The parts of a page's text."""
    return (Part(**found.groupdict()) for found in _PART.finditer(page))


def replaced(page: str, name: str, text: str) -> str:
    """A page's text with another text in the part `name`. Error: ValueError unless it has one such part."""
    text = text.strip("\n")
    found = [match for match in _PART.finditer(page) if match["name"] == name]
    if len(found) != 1:
        raise ValueError(f"parts named {name}: expected 1, got {len(found)}")
    [old] = found
    new = f"<!-- written by {old['command']}: {name} {_digest(text)} -->\n{text}\n<!-- end of {name} -->\n"
    return page[: old.start()] + new + page[old.end() :]


def write(path: Path, name: str, text: str) -> None:
    """Replaces the part `name` of the page at `path`."""
    path.write_text(replaced(path.read_text(), name, text))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
