# SPDX-License-Identifier: BSD-3-Clause
"""Converts the names in a program, which may be any text, to C++ identifiers."""

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
# Names that generated code uses.
_TAKEN = frozenset(
    re.findall(
        r"\w+",
        """rushlight std program baked kernels rl size_t uint8_t int32_t int64_t t state initial impls run
        reset input output ready assert errno offsetof signbit isnan isinf stdin stdout stderr""",
    )
)
_LONGEST = 64
# The suffixes that generated code appends to a method's name.
_MADE = re.compile(r"(|reset|method|baked|(in|out)put\d+|arena\d+(bytes)?|plannedbytes|temporarybytes)")


def identifier(text: str) -> str:
    """A C++ identifier for any text: letters, digits and single underscores, no keyword."""
    name = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9]", "_", text)).strip("_")[:_LONGEST].rstrip("_")
    if not name or name[0].isdigit():
        name = f"m_{name}".rstrip("_")
    # A name in capitals may be a macro.
    return f"{name}_" if name in _KEYWORDS or name in _TAKEN or name.isupper() else name


def pascal(name: str) -> str:
    """An identifier in the form of constants and types (get_vocab: GetVocab)."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def unique(texts: Iterable[str]) -> list[str]:
    """An identifier for each text, such that neither the identifiers nor the names derived from them
    collide."""
    chosen: list[str] = []
    for text in texts:
        name = base = identifier(text)
        count = 1
        while any(_clash(name, other) for other in chosen):
            count += 1
            name = f"{base.rstrip('_')}_m{count}"
        chosen.append(name)
    return chosen


def _clash(a: str, b: str) -> bool:
    """True if the identifiers, or names that source.py derives from them, may be equal."""
    short, long = sorted((pascal(a).lower(), pascal(b).lower()), key=len)
    return long.startswith(short) and bool(_MADE.fullmatch(long[len(short) :]))
