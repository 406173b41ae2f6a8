# SPDX-License-Identifier: BSD-3-Clause
"""Checked access to the fields of a model's description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rushlight.errors import InvalidArgument
from rushlight.printable import one_line

LARGEST = 1 << 31
"""The bound of all sizes of a model: a product of two sizes fits in 64 bits."""

_SMALLEST = 1e-30
"""Smaller values, and values above its inverse, may overflow in products of float32."""


class Fields:
    """A mapping with checked access. `prefix` is prepended to each key; errors begin with `where`. Keys with
    the value None count as missing."""

    def __init__(self, values: Mapping[str, Any], where: str, prefix: str = "") -> None:
        self._values, self.where, self._prefix = values, where, prefix

    def has(self, key: str) -> bool:
        """True if the key is present, also with the value None."""
        return self._prefix + key in self._values

    def get(self, key: str) -> Any:
        """The value; None if it is missing."""
        return self._values.get(self._prefix + key)

    def refuse(self, key: str, expected: str) -> InvalidArgument:
        """The error for an invalid value."""
        found = self.get(key)
        got = "none" if found is None else one_line(repr(found))[:60]
        return InvalidArgument(f"{self.where}: {self._prefix}{key}: expected {expected}, got {got}")

    def integer(self, key: str, default: int | None = None, *, least: int = 1, most: int = LARGEST) -> int:
        """An integer. Errors: InvalidArgument, also if it is missing and has no default."""
        found = self.get(key)
        found = default if found is None else found
        if isinstance(found, list) and found and all(each == found[0] for each in found):
            found = found[0]  # GGUF may have one value per layer
        if not isinstance(found, int) or isinstance(found, bool) or not least <= found <= most:
            raise self.refuse(key, f"a whole number from {least} to {most}")
        return found

    def integers(self, key: str, *, least: int = 0, most: int = LARGEST) -> list[int]:
        """An integer or a list of integers. Errors: InvalidArgument."""
        found = self.get(key)
        found = found if isinstance(found, list) else [found]
        if not all(type(each) is int and least <= each <= most for each in found):
            raise self.refuse(key, f"whole numbers from {least} to {most}")
        return found

    def real(self, key: str, default: float | None = None, *, least: float = 0.0) -> float:
        """A number above `least`, from 1e-30 to 1e30. Errors: InvalidArgument."""
        found = self.get(key)
        found = default if found is None else found
        if isinstance(found, float) or (type(found) is int and abs(found) < LARGEST):
            number = float(found)
            if _SMALLEST <= number <= 1 / _SMALLEST and number > least:
                return number
        raise self.refuse(key, f"a number above {least:g}")

    def optional_real(self, key: str) -> float | None:
        """A finite number above 0; None if it is missing. Errors: InvalidArgument."""
        return None if self.get(key) is None else self.real(key)

    def text(self, key: str, default: str | None = None) -> str:
        """A string. Errors: InvalidArgument."""
        found = self.get(key)
        found = default if found is None else found
        if not isinstance(found, str):
            raise self.refuse(key, "a string")
        return found

    def flag(self, key: str, default: bool = False) -> bool:
        """A boolean. Errors: InvalidArgument."""
        found = self.get(key)
        found = default if found is None else found
        if not isinstance(found, bool):
            raise self.refuse(key, "true or false")
        return found

    def items(self, key: str, kind: type, length: int) -> list[Any] | None:
        """A list of `length` items of type `kind`; None if it is missing. Errors: InvalidArgument."""
        found = self.get(key)
        if found is None:
            return None
        if not isinstance(found, list) or len(found) != length or not all(type(i) is kind for i in found):
            raise self.refuse(key, f"a list of {length} times {kind.__name__}")
        return found

    def part(self, key: str) -> Fields | None:
        """The fields of a nested mapping; None if it is missing. Errors: InvalidArgument."""
        found = self.get(key)
        if found is None:
            return None
        if not isinstance(found, Mapping):
            raise self.refuse(key, "a mapping")
        return Fields(found, f"{self.where}: {self._prefix}{key}")
