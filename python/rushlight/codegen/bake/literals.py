# SPDX-License-Identifier: BSD-3-Clause
"""Values as C++ literals with the same bits, and a program's text escaped for C++ source."""

from __future__ import annotations

import math
import struct

INT64_MIN = -(1 << 63)


def integer(value: int) -> str:
    """An int64_t literal."""
    return "INT64_MIN" if value == INT64_MIN else f"int64_t{{{value}}}"


def double(value: float) -> str:
    """A double literal with the bits of `value`."""
    if math.isnan(value):
        (bits,) = struct.unpack("<Q", struct.pack("<d", value))
        return f"__builtin_bit_cast(double, uint64_t{{{bits:#x}}})"
    if math.isinf(value):
        return "__builtin_inf()" if value > 0 else "-__builtin_inf()"
    return repr(value)


def boolean(value: object) -> str:
    """A bool literal."""
    return "true" if value else "false"


def string(text: str) -> str:
    """A string literal of the text's UTF-8 bytes."""
    return '"' + "".join(_character(byte) for byte in text.encode("utf-8", "surrogatepass")) + '"'


def _character(byte: int) -> str:
    character = chr(byte)
    plain = 32 <= byte < 127 and character not in '"\\?'
    return character if plain else f"\\{byte:03o}"


def comment(text: str) -> str:
    """Text for a // comment: one printable line of at most 200 characters that cannot end or continue the
    comment."""
    shown = "".join(c if 32 <= ord(c) < 127 and c not in "\\?" else "." for c in text)
    return shown if len(shown) <= 200 else shown[:197] + "..."
