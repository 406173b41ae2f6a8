# SPDX-License-Identifier: BSD-3-Clause
"""Finds the files that a build needs by following includes transitively: x.cpp defines the declarations of
x.h in the same folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from rushlight.codegen.ukernels import native_sources

_SHARED = re.compile(r'^#include "(kernels/(?!ukernel/|backs/)[^"]+)\.h"', re.MULTILINE)
_UKERNEL = re.compile(r'^#include "kernels/ukernel/(\w+)\.h"', re.MULTILINE)
_ANY = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def shared_sources(root: Path, sources: Iterable[Path]) -> tuple[list[Path], list[str], list[Path]]:
    """The files that `sources` need: other sources of kernels/, sorted; families of microkernels; and every
    file that was read. Does not follow headers of kernels/backs, because a kernel includes what it calls.
    `root` is the folder to which include paths are relative."""
    given = list(sources)
    read: dict[Path, None] = {}
    families: set[str] = set()
    pending = list(given)
    while pending:
        file = pending.pop()
        if file in read or not file.is_file():
            continue
        read[file] = None
        text = file.read_text(encoding="utf-8")
        for name in _SHARED.findall(text):
            pending += [root / f"{name}.h", root / f"{name}.cpp"]
        for family in _UKERNEL.findall(text):
            families.add(family)
            pending.append(root / "kernels" / "ukernel" / f"{family}.h")
    shared = sorted(file for file in read if file.suffix == ".cpp" and file not in given)
    generic = root / "kernels" / "ukernel" / "generic"
    return shared, sorted(name for name in families if (generic / f"{name}.cpp").is_file()), list(read)


def closure(names: Iterable[str], read: Callable[[str], str | None]) -> tuple[dict[str, str], list[str]]:
    """The text by path of `names` and of all headers and sources that they need; and the included paths that
    `read` (path relative to the root to text, or None) does not know."""
    found: dict[str, str] = {}
    missing: list[str] = []
    pending = list(names)
    while pending:
        name = pending.pop()
        if name in found:
            continue
        text = read(name)
        if text is None:
            missing.append(name)
            continue
        found[name] = text
        for included in _ANY.findall(text):
            pending.append(included)
            source = included.removesuffix(".h") + ".cpp"
            if included.endswith(".h") and read(source) is not None:
                pending.append(source)
            pending += native_sources(included, read)
    return dict(sorted(found.items())), sorted(set(missing))
