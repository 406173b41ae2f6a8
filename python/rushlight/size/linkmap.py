# SPDX-License-Identifier: BSD-3-Clause
"""Reads a linker's map: the address, object and name of each input section. Supports GNU ld and lld."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from rushlight.errors import InvalidArgument

_GNU_START = "Linker script and memory map"
# An input section is indented by one space, an output section is not; a long name takes a separate line.
_GNU_OUT = re.compile(r"^(\.\S+)(?:\s+0x[0-9a-f]+\s+0x[0-9a-f]+.*)?$")
_GNU_IN = re.compile(r"^ (\S+)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)(?: (.*))?$")
_LLD_LINE = re.compile(r"^ *([0-9a-f]+) +([0-9a-f]+) +([0-9a-f]+) +(\d+) (\s*)(\S.*)$")
_LLD_IN = re.compile(r"^(.*):\((.*)\)$")
_MEMBER = re.compile(r"^(.*)\(([^()]+)\)$")


@dataclass(frozen=True)
class Piece:
    """A linked input section. `file` is the object, `archive` the archive that contains it; both are empty
    for padding."""

    section: str
    name: str
    address: int
    size: int
    file: str
    archive: str


def read_map(path: Path) -> list[Piece]:
    """All input sections that take memory, in map order. Error: InvalidArgument for any other file."""
    try:
        text = path.read_text(errors="replace")
    except OSError as error:
        raise InvalidArgument(f"link map {path}: {error.strerror}") from error
    if _GNU_START in text:
        return _gnu(text.partition(_GNU_START)[2])
    first = text.lstrip().partition("\n")[0].split()
    if first[:3] == ["VMA", "LMA", "Size"]:
        return _lld(text)
    raise InvalidArgument(
        f"link map {path}: expected one of GNU ld or lld, got another file",
        next_step="Link with -Wl,-Map=FILE.",
    )


def _gnu(text: str) -> list[Piece]:
    pieces = []
    section = held = ""
    for line in text.splitlines():
        if held and line.startswith("   "):
            line = f"{held} {line.strip()}"
        held = ""
        if re.match(r"^ (\.\S+|COMMON)$", line):
            held = line
            continue
        if out := _GNU_OUT.match(line):
            section = out[1]
            continue
        found = _GNU_IN.match(line)
        if found is None or found[1].startswith("*("):
            continue
        size = int(found[3], 16)
        if size:
            pieces.append(_piece(section, found[1], int(found[2], 16), size, (found[4] or "").strip()))
    return pieces


def _lld(text: str) -> list[Piece]:
    pieces = []
    section = ""
    for line in text.splitlines()[1:]:
        found = _LLD_LINE.match(line)
        if found is None:
            continue
        address, size, indent, what = int(found[1], 16), int(found[3], 16), len(found[5]), found[6]
        if indent == 0:
            section = what
        elif indent <= 8 and size and (inside := _LLD_IN.match(what)):
            name = re.sub(r"\+0x[0-9a-f]+$", "", inside[2])
            pieces.append(_piece(section, name, address, size, inside[1]))
    return pieces


def _piece(section: str, name: str, address: int, size: int, origin: str) -> Piece:
    if name == "*fill*":
        return Piece(section, name, address, size, "", "")
    member = _MEMBER.match(origin)
    archive, file = (member[1], member[2]) if member else ("", origin)
    return Piece(section, name, address, size, file, archive)
