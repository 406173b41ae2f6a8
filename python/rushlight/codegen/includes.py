# SPDX-License-Identifier: BSD-3-Clause
"""Which files a build needs: x.cpp defines what the x.h beside it declares, so they are those of the headers
that its sources include, of the headers that these include, and so on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

_SHARED = re.compile(r'^#include "(kernels/shared/[^"]+)\.h"', re.MULTILINE)
_ANY = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def shared_sources(root: Path, sources: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """The sources of kernels/shared that `sources` need, sorted, and every file that was read to know it.
    `root` is the folder that include paths start from."""
    read: dict[Path, None] = {}
    pending = list(sources)
    while pending:
        file = pending.pop()
        if file in read or not file.is_file():
            continue
        read[file] = None
        for name in _SHARED.findall(file.read_text(encoding="utf-8")):
            pending += [root / f"{name}.h", root / f"{name}.cpp"]
    shared = root / "kernels" / "shared"
    return sorted(file for file in read if file.parent == shared and file.suffix == ".cpp"), list(read)


def closure(names: Iterable[str], read: Callable[[str], str | None]) -> tuple[dict[str, str], list[str]]:
    """The text of `names` and of all that they need, headers and sources, by path; and the paths that are
    included and that `read`, which gives the text of a path from the root, does not know."""
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
    return dict(sorted(found.items())), sorted(set(missing))
