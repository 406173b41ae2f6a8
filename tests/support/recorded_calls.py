# SPDX-License-Identifier: BSD-3-Clause
"""tests/fuzz/calls.bin: calls of operators that tests/fuzz/record_calls.py recorded."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

CALLS = Path(__file__).resolve().parents[1] / "fuzz" / "calls.bin"
MAGIC = b"RLCALLS1"


def read(path: Path = CALLS) -> list[tuple[str, bytes]]:
    """The operator's name and the encoded arguments of each recorded call."""
    content = path.read_bytes()
    assert content[: len(MAGIC)] == MAGIC
    (count,) = struct.unpack_from("<I", content, len(MAGIC))
    at, calls = len(MAGIC) + 4, []
    for _ in range(count):
        name_length, length = struct.unpack_from("<BI", content, at)
        at += 5
        name = content[at : at + name_length].decode()
        calls.append((name, content[at + name_length : at + name_length + length]))
        at += name_length + length
    return calls


def write(calls: Sequence[tuple[str, bytes]], path: Path = CALLS) -> None:
    """The file that `read` reads."""
    parts = [MAGIC, struct.pack("<I", len(calls))]
    for name, encoded in calls:
        parts += [struct.pack("<BI", len(name), len(encoded)), name.encode(), encoded]
    path.write_bytes(b"".join(parts))
