# SPDX-License-Identifier: BSD-3-Clause
"""The sections of a WebAssembly module."""

from __future__ import annotations

from pathlib import Path

from rushlight.errors import InvalidArgument

WASM_MAGIC = b"\0asm"

_NAMES = (
    "custom", "type", "import", "function", "table", "memory", "global", "export", "start", "element", "code",
    "data", "data count", "tag",
)  # fmt: skip
_CUSTOM = 0


def read_wasm_sections(path: Path) -> dict[str, int]:
    """The bytes of each section by name, in order, without custom sections (symbols, debug information),
    which engines ignore. Error: InvalidArgument for a truncated file."""
    data = path.read_bytes()
    sections: dict[str, int] = {}
    position = len(WASM_MAGIC) + 4  # after the magic and the version
    while position < len(data):
        kind = data[position]
        size, position = _unsigned(data, position + 1, path)
        position += size
        if position > len(data):
            raise InvalidArgument(f"module {path}: section {kind}: expected {size} bytes, got fewer")
        if kind != _CUSTOM:
            name = _NAMES[kind] if kind < len(_NAMES) else f"section {kind}"
            sections[name] = sections.get(name, 0) + size
    return sections


def _unsigned(data: bytes, position: int, path: Path) -> tuple[int, int]:
    """An LEB128 integer (seven bits per byte, lowest first), and the offset after it."""
    value = shift = 0
    for byte in data[position : position + 5]:
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position
    raise InvalidArgument(
        f"module {path}: expected a size at byte {position}, got the file's end or a longer number"
    )
