# SPDX-License-Identifier: BSD-3-Clause
"""Decodes failure records of builds without logs to source lines and messages.

runtime/base/failure.h defines the layout of a record: the code in bits 0 to 5, above it a hash of the
check's path and line. Code 0 marks the index of the failed instruction, 0x3f the bytes of a memory
shortage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rushlight.errors import InvalidArgument
from rushlight.sources import source_root
from rushlight.status import name_of

_FOLDERS = ("runtime", "kernels", "backends")
_STATEMENT = re.compile(r"(?<!#define )\b(?:RL_CHECK|failure_position)\s*\((?:[^;\"]|\"(?:[^\"\\]|\\.)*\")*;")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_CODE = re.compile(r"\bError::(\w+)")
_NUMBER, _SHORT = 0, 0x3F  # values of the code field
_MOST = (1 << 26) - 1  # also stands for all larger numbers


# A conversion of printf's formats, such as %s, %zu or %.*s.
_CONVERSION = re.compile(r"%[-+ #0]*[0-9]*(?:\.(?:[0-9]+|\*))?(?:hh|h|ll|l|z|j|t)?[diouxXeEfFgGaAcsp]")


@dataclass(frozen=True)
class Failure:
    """One record. A record that matches no check has no file; `also` names further checks that it may come
    from ("file:line: message"). A record of an instruction only sets `number`, a record of a shortage only
    `short`, in bytes (None for 64 MiB or more)."""

    record: int
    code: int = 0
    name: str = ""
    file: str | None = None
    line: int | None = None
    message: str = ""
    also: tuple[str, ...] = ()
    number: int | None = None
    short: int | None = None

    def __str__(self) -> str:
        if self.code == _NUMBER:
            return f"number {self.number}"
        if self.code == _SHORT:
            return f"{self.short} bytes short" if self.short is not None else "64 MiB short, or more"
        if self.file is None:
            return f"{self.name} ({self.code:#04x}) at an unknown location (of another version?)"
        location = str(_Check(self.file, self.line or 0, self.message))
        return " or ".join([f"{self.name} ({self.code:#04x}) at {location}", *self.also])


@dataclass(frozen=True)
class _Check:
    """A check in the sources: its first line, its format string or "", and the codes that it names."""

    file: str
    line: int
    message: str
    codes: frozenset[str] = frozenset()

    def __str__(self) -> str:
        """The values of the message stayed on the device: each shows as "..."."""
        message = _CONVERSION.sub("...", self.message)
        return f"{self.file}:{self.line}" + (f": {message}" if message else "")


def parse(words: Iterable[str]) -> list[int]:
    """Parses records from hexadecimal words, in the same order. Error: InvalidArgument."""
    records = []
    for word in words:
        if not re.fullmatch(r"(0[xX])?[0-9a-fA-F]{1,8}", word):
            raise InvalidArgument(
                f"failure record: expected a hexadecimal number of up to 8 digits, got {word!r}",
                next_step="Give the words after 'failure:' as the device printed them.",
            )
        records.append(int(word, 16))
    return records


def decode(records: Iterable[int], root: Path | None = None) -> list[Failure]:
    """Decodes records with the sources below `root` (default: the sources that this package builds from)."""
    checks = _checks_by_position(root or source_root())
    return [_decode(record, checks) for record in records]


def failed_instruction(failures: Iterable[Failure]) -> int | None:
    """The index of the instruction at which a method failed, from the last record of this kind."""
    numbers = [failure.number for failure in failures if failure.number is not None]
    return numbers[-1] if numbers else None


def bytes_short(failures: Iterable[Failure]) -> int | None:
    """The size of a memory shortage in bytes, from the last record of this kind."""
    shortages = [failure for failure in failures if failure.code == _SHORT]
    return shortages[-1].short if shortages else None


def position(path: str, line: int) -> int:
    """The hash of a check in a record, from its path relative to the source root and its line."""
    return _hashed((line & 0xFFFF).to_bytes(2, "little"), _hashed(path.encode())) << 6 & 0xFFFFFFFF


def _hashed(data: bytes, value: int = 2166136261) -> int:
    """32-bit FNV-1a; `value` is the hash of the preceding bytes."""
    for byte in data:
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


def _decode(record: int, checks: dict[int, list[_Check]]) -> Failure:
    code, number = record & 0x3F, record >> 6
    if code == _NUMBER:
        return Failure(record, number=number)
    if code == _SHORT:
        return Failure(record, code, short=number if number < _MOST else None)
    name = name_of(code)
    found = checks.get(record - code, [])
    found = [check for check in found if name in check.codes] or found
    if not found:
        return Failure(record, code, name)
    first, *others = found
    return Failure(record, code, name, first.file, first.line, first.message, tuple(map(str, others)))


@cache
def _checks_by_position(root: Path) -> dict[int, list[_Check]]:
    """The checks under `root` by their hashes. A check has a hash for each of its lines: compilers differ in
    the line that __LINE__ gives for a macro of several lines."""
    checks: dict[int, list[_Check]] = {}
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            shown = path.relative_to(root).as_posix()
            # Microkernels contain no checks.
            if path.suffix in (".h", ".cpp") and not shown.startswith("kernels/ukernel/"):
                for check, lines in _checks(shown, path.read_text()):
                    for line in lines:
                        same = checks.setdefault(position(shown, line), [])
                        if check not in same:
                            same.append(check)
    return checks


def _checks(file: str, text: str) -> Iterator[tuple[_Check, range]]:
    """The checks of a source file, each with its range of lines."""
    for statement in _STATEMENT.finditer(text):
        first, source = text.count("\n", 0, statement.start()) + 1, statement[0]
        check = _Check(file, first, "".join(_TEXT.findall(source)), frozenset(_CODE.findall(source)))
        yield check, range(first, first + source.count("\n") + 1)
