# SPDX-License-Identifier: BSD-3-Clause
"""Reads a target's memory banks from a YAML or JSON file:

banks:
  - name: dtcm
    size: 128 KiB    # bytes, or with KiB, MiB or GiB; omitted: as large as needed
    speed: 8         # bytes per cycle or another rate; default 1
  - name: sdram
    size: 8 MiB
    id: 2            # its memory id in the program; default: the index in this list, from 1
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rushlight.documents import read_yaml
from rushlight.errors import InvalidArgument
from rushlight.memory.requests import Bank

_KEYS = ("name", "id", "size", "speed")
_UNITS = {"": 1, "b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}


Source = str | os.PathLike[str] | Mapping[str, Any] | Sequence[Any]


def read_banks(source: Source) -> list[Bank]:
    """The banks in a file, in a mapping with the same keys, or in the list of the mapping; a list of Bank is
    returned as it is.

    Errors: InvalidArgument naming the file, the key, the expected and the actual value.
    """
    if isinstance(source, Mapping):
        return _banks(source, "memory banks")
    if isinstance(source, Sequence) and not isinstance(source, str):
        if source and all(isinstance(bank, Bank) for bank in source):
            return _distinct([bank for bank in source if isinstance(bank, Bank)], "memory banks")
        return _banks({"banks": list(source)}, "memory banks")
    path = Path(source)
    return _banks(read_yaml(path, what="memory banks", extra="export"), str(path))


def _banks(content: Any, what: str) -> list[Bank]:
    if not isinstance(content, Mapping) or list(content) != ["banks"]:
        raise InvalidArgument(f"{what}: expected one key 'banks', got {_shown(content)}")
    rows = content["banks"]
    if not isinstance(rows, list) or not rows:
        raise InvalidArgument(f"{what}: banks: expected a list of at least one bank, got {_shown(rows)}")
    return _distinct([_bank(row, index, f"{what}: banks[{index}]") for index, row in enumerate(rows)], what)


def _distinct(banks: list[Bank], what: str) -> list[Bank]:
    """Checks that names and ids are unique. Errors: InvalidArgument."""
    for key in ("name", "id"):
        values = [getattr(bank, key) for bank in banks]
        for index, value in enumerate(values):
            if value in values[:index]:
                raise InvalidArgument(
                    f"{what}: banks[{index}]: {key}: expected a unique value, got {value!r} again"
                )
    return banks


def _bank(row: Any, index: int, what: str) -> Bank:
    if not isinstance(row, Mapping):
        raise InvalidArgument(f"{what}: expected the keys {', '.join(_KEYS)}, got {_shown(row)}")
    for key in row:
        if key not in _KEYS:
            raise InvalidArgument(f"{what}: expected one of {', '.join(_KEYS)}, got {_shown(key)}")
    name, number, speed = row.get("name"), row.get("id", index + 1), row.get("speed", 1)
    if not isinstance(name, str) or not name:
        raise InvalidArgument(f"{what}: name: expected a text, got {_shown(name)}")
    if not _is_number(number, int) or not 1 <= number < 256:
        raise InvalidArgument(
            f"{what} ('{name}'): id: expected an integer from 1 to 255, got {_shown(number)}"
        )
    if not _is_number(speed, (int, float)) or not 0 < speed < math.inf:
        raise InvalidArgument(f"{what} ('{name}'): speed: expected a number above 0, got {_shown(speed)}")
    return Bank(name, number, _size(row.get("size"), f"{what} ('{name}'): size"), float(speed))


def _is_number(value: object, kind: type | tuple[type, ...]) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _size(value: Any, what: str) -> int | None:
    """Bytes from an int or a text such as "64 KiB"."""
    if value is None:
        return None
    if _is_number(value, int) and value >= 0:
        return int(value)
    told = re.fullmatch(r"(\d+)\s*([a-zA-Z]*)", value.strip()) if isinstance(value, str) else None
    if told is None or told[2].lower() not in _UNITS:
        raise InvalidArgument(
            f"{what}: expected bytes, or a text such as '64 KiB' or '8 MiB', got {_shown(value)}"
        )
    return int(told[1]) * _UNITS[told[2].lower()]


def _shown(value: object) -> str:
    """A value for an error message, at most 60 characters; YAML's null shows as None."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
