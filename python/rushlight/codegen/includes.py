# SPDX-License-Identifier: BSD-3-Clause
"""Which sources of kernels/shared a build needs: kernels/shared/x.cpp defines what x.h declares, so they are
those of the headers that its kernels include, of the headers that these include, and so on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_INCLUDE = re.compile(r'^#include "(kernels/shared/[^"]+)\.h"', re.MULTILINE)


def shared_sources(root: Path, sources: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """The shared sources that `sources` need, sorted, and every file that was read to know it. `root` is the
    folder that include paths start from."""
    read: dict[Path, None] = {}
    pending = list(sources)
    while pending:
        file = pending.pop()
        if file in read or not file.is_file():
            continue
        read[file] = None
        for name in _INCLUDE.findall(file.read_text(encoding="utf-8")):
            pending += [root / f"{name}.h", root / f"{name}.cpp"]
    shared = root / "kernels" / "shared"
    return sorted(file for file in read if file.parent == shared and file.suffix == ".cpp"), list(read)
