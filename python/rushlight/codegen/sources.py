# SPDX-License-Identifier: BSD-3-Clause
"""Finds the C++ sources in a kernel library's folder, and the source that defines a function."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_SUFFIXES = (".cpp", ".cc", ".cxx", ".c++")


def source_files(folder: Path) -> list[Path]:
    """The sources directly in a folder, sorted by name."""
    return sorted(path for path in folder.iterdir() if path.suffix in _SUFFIXES and path.is_file())


def defining_source(sources: Sequence[Path], function: str) -> str:
    """The name of the only source that defines a function, in the form of a row: without .cpp. Empty if none
    or several do. Only the last part of a name with namespaces is searched."""
    name = function.rpartition("::")[2]
    found = [path for path in sources if _defines(path.read_text(encoding="utf-8", errors="replace"), name)]
    if len(found) != 1:
        return ""
    return found[0].stem if found[0].suffix == ".cpp" else found[0].name


def _defines(text: str, name: str) -> bool:
    """True if the text contains `name(...) {`, a definition and not just a call or declaration."""
    for match in re.finditer(rf"\b{re.escape(name)}\s*\(", text):
        depth, index = 1, match.end()
        while depth and index < len(text):
            depth += {"(": 1, ")": -1}.get(text[index], 0)
            index += 1
        if re.match(r"\s*\{", text[index:]):
            return True
    return False
