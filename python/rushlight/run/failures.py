# SPDX-License-Identifier: BSD-3-Clause
"""Decodes failure records of builds without logs into places in the sources and their messages.

The layout of a record is runtime/base/failure.h's: the code in bits 0 to 5, the line modulo 1024 in bits 6
to 15, the hash of the file's path above; a code of 0 marks a plain number in the other bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rushlight.errors import InvalidArgument
from rushlight.sources import source_root
from rushlight.status import name_of

_FOLDERS = ("runtime", "kernels", "backends")
_STATEMENT = re.compile(r"\bRL_CHECK\s*\(")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Failure:
    """One record. For a plain number only `number` is set; `file` is None if no source has the place."""

    record: int
    code: int = 0
    name: str = ""
    file: str | None = None
    line: int | None = None
    message: str = ""
    number: int | None = None

    def is_from(self, file: str) -> bool:
        """True if the source `file` recorded it, by a check or otherwise."""
        return self.number is None and self.record >> 16 == file_hash(file)

    def __str__(self) -> str:
        if self.number is not None:
            return f"number {self.number}"
        place = f"{self.file}:{self.line}" if self.file else "an unknown place (of another version?)"
        return f"{self.name} ({self.code:#04x}) at {place}" + (f": {self.message}" if self.message else "")


def parse(words: Iterable[str]) -> list[int]:
    """Records from hexadecimal words, in the order given. Error: InvalidArgument."""
    records = []
    for word in words:
        if not re.fullmatch(r"(0[xX])?[0-9a-fA-F]{1,8}", word):
            raise InvalidArgument(
                f"a failure record is a hexadecimal number of up to 8 digits, got {word!r}",
                next_step="Give the words after 'failure:' as the device printed them.",
            )
        records.append(int(word, 16))
    return records


def decode(records: Iterable[int], root: Path | None = None) -> list[Failure]:
    """Decodes records with the sources below `root` (default: those that this package builds from)."""
    files = _files_by_hash(root or source_root())
    return [_decode(record, files) for record in records]


def failed_instruction(failures: Iterable[Failure]) -> int | None:
    """The instruction at which a method failed: the number that was recorded last."""
    numbers = [failure.number for failure in failures if failure.number is not None]
    return numbers[-1] if numbers else None


def file_hash(path: str) -> int:
    """16 bits of a path relative to the root of the sources: FNV-1a, folded."""
    value = 2166136261
    for byte in path.encode():
        value = (value ^ byte) * 16777619 % (1 << 32)
    return (value >> 16) ^ (value & 0xFFFF)


def _decode(record: int, files: dict[int, list[tuple[str, Path]]]) -> Failure:
    code, line = record & 0x3F, record >> 6 & 0x3FF
    if code == 0:
        return Failure(record, number=record >> 6)
    name = name_of(code)
    for shown, path in files.get(record >> 16, []):
        found = _statement_at(path, line)
        if found is not None:
            return Failure(record, code, name, shown, *found)
    return Failure(record, code, name)


@cache
def _files_by_hash(root: Path) -> dict[int, list[tuple[str, Path]]]:
    files: dict[int, list[tuple[str, Path]]] = {}
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            shown = path.relative_to(root).as_posix()
            # Microkernels check nothing.
            if path.suffix in (".h", ".cpp") and not shown.startswith("kernels/ukernel/"):
                files.setdefault(file_hash(shown), []).append((shown, path))
    return files


def _statement_at(path: Path, line: int) -> tuple[int, str] | None:
    """The line and message of the check that covers line `line` modulo 1024."""
    lines = path.read_text().splitlines()
    for last in range(line, len(lines) + 1, 1024):
        for first in range(last, max(0, last - 12), -1):
            start = _STATEMENT.search(lines[first - 1])
            if start is not None:
                return first, _message(lines[first - 1 :], start.start())
    return None


def _message(lines: Sequence[str], start: int) -> str:
    """The format string of the check that starts in the first line; "" when it has none."""
    statement = "\n".join(lines[:12])[start:]
    end = statement.find(";")
    return "".join(_TEXT.findall(statement[: end if end > 0 else None]))
