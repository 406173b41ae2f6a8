# SPDX-License-Identifier: BSD-3-Clause
"""Which sources a family of microkernels has, for builds in which the compiler's definitions choose among
them and not CMake (cmake/ukernel.cmake)."""

from __future__ import annotations

import re
from collections.abc import Callable

FEATURES = "kernels/ukernel/features.txt"

_HEADER = re.compile(r"kernels/ukernel/(\w+)\.h")
_SOURCE = re.compile(r"kernels/ukernel/(\w+)/(\w+?)(?:-(\w+))?\.cpp")
_ROW = re.compile(r"^(\w+)/(\w+) (.+)$", re.MULTILINE)

Read = Callable[[str], str | None]


def native_sources(header: str, read: Read) -> list[str]:
    """The sources of a family, of which one is to be compiled: those of features in the list's order, then
    the generic one; nothing for other headers. `read` gives a file's text by its path from the root, or
    None."""
    found = _HEADER.fullmatch(header)
    if found is None:
        return []
    family = found[1]
    listed = _ROW.findall(read(FEATURES) or "")
    paths = [f"kernels/ukernel/{isa}/{family}-{feature}.cpp" for isa, feature, _ in listed]
    paths.append(f"kernels/ukernel/generic/{family}.cpp")
    return [path for path in paths if read(path) is not None]


def condition(path: str, read: Read) -> str:
    """When a source of native_sources is the one to compile, for #if; empty: always."""
    found = _SOURCE.fullmatch(path)
    if found is None:
        return ""
    asked = {f"{isa}/{feature}": text for isa, feature, text in _ROW.findall(read(FEATURES) or "")}
    before: list[str] = []
    for other in native_sources(f"kernels/ukernel/{found[2]}.h", read):
        parts = _SOURCE.fullmatch(other)
        assert parts is not None
        isa, _, feature = parts.groups()
        own = asked.get(f"{isa}/{feature}")
        if other == path:
            return " && ".join([*([f"({own})"] if own else []), *(f"!({text})" for text in before)])
        if own:
            before.append(own)
    return ""
