# SPDX-License-Identifier: BSD-3-Clause
"""GPT-2's printable characters for bytes: bytes without a printable Latin-1 character use U+0100 and up."""

from __future__ import annotations


def _byte_of_character() -> dict[str, int]:
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}


BYTE_OF = _byte_of_character()
CHARACTER_OF = {byte: character for character, byte in BYTE_OF.items()}


def to_bytes(token: str) -> bytes:
    """The bytes of a token; a token with a character outside the table is encoded as UTF-8."""
    try:
        return bytes(BYTE_OF[character] for character in token)
    except KeyError:
        return token.encode()
