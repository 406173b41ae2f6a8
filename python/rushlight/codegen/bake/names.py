# SPDX-License-Identifier: BSD-3-Clause
"""C++ names for what a program calls its parts. A program may call them anything."""

from __future__ import annotations

import re
from collections.abc import Iterable

_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t
        char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
        constinit continue decltype default delete do double dynamic_cast else enum explicit export
        extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
        nullptr operator or or_eq private protected public register reinterpret_cast requires return
        short signed sizeof static static_assert static_cast struct switch template this thread_local
        throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while
        xor xor_eq linux unix main""",
    )
)
# Namespaces and types that generated code names.
_TAKEN = frozenset({"rushlight", "std", "program", "methods", "baked", "kernels", "size_t", "uint8_t"})
_LONGEST = 64


def identifier(text: str) -> str:
    """A C++ identifier for any text: letters, digits and single underscores, no keyword."""
    name = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9]", "_", text)).strip("_")[:_LONGEST].rstrip("_")
    if not name or name[0].isdigit():
        name = f"m_{name}".rstrip("_")
    return f"{name}_" if name in _KEYWORDS or name in _TAKEN else name


def pascal(name: str) -> str:
    """An identifier in the form that constants and types have (get_vocab: GetVocab)."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def unique(texts: Iterable[str]) -> list[str]:
    """An identifier for each text; two are never alike, nor do they begin alike up to an underscore, so that
    names made of them stay apart, in either form."""
    chosen: list[str] = []
    for text in texts:
        name = base = identifier(text)
        count = 1
        while any(_clash(name, other) for other in chosen):
            count += 1
            name = f"{base.rstrip('_')}{count}"
        chosen.append(name)
    return chosen


def _clash(a: str, b: str) -> bool:
    a, b = pascal(a).lower(), pascal(b).lower()
    return a.startswith(b) or b.startswith(a)
