# SPDX-License-Identifier: BSD-3-Clause
"""Constant C++ arrays, shared by all uses of equal content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rushlight.codegen.bake import literals

_FORMS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "int32_t": ("ints", str),
    "uint8_t": ("bytes", str),
    "int64_t": ("longs", literals.integer),
    "double": ("doubles", literals.double),
    "bool": ("bools", literals.boolean),
}


@dataclass
class Pools:
    """Arrays by element type and content, each defined once."""

    _names: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)

    def array(self, kind: str, items: Sequence[Any]) -> str:
        """The name of an array of `kind` with these items, at least one."""
        stem, form = _FORMS[kind]
        key = (kind, tuple(form(item) for item in items))
        return self._names.setdefault(key, f"{stem}{len(self._names)}")

    def span(self, kind: str, items: Sequence[Any]) -> str:
        """A span over such an array; may be empty."""
        if not items:
            return f"rl::Span<const {kind}>()"
        return f"rl::Span<const {kind}>({self.array(kind, items)})"

    def definitions(self) -> list[str]:
        """The definitions of all arrays in C++."""
        return [
            f"constexpr {kind} {name}[] = {{{', '.join(items)}}};"
            for (kind, items), name in self._names.items()
        ]
