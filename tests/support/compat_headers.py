# SPDX-License-Identifier: BSD-3-Clause
"""The headers of compat/, and the list of them in docs/compat.md."""

from __future__ import annotations

from pathlib import Path

from rushlight.codegen import flatbuffer_classes
from support import written

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "compat.md"
INCLUDE = ROOT / "compat" / "include"
C10 = "executorch/runtime/core/portable_type/c10/"

GENERATED = (
    "executorch/kernels/portable/Functions.h",
    "executorch/kernels/portable/NativeFunctions.h",
    *flatbuffer_classes.headers(),
)
"""Headers that code generation writes into a build, from the operator table and from the files' schemas."""


def headers() -> list[str]:
    """All headers of compat/, as code includes them."""
    found = [path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*.h")]
    return sorted({*found, *GENERATED})


def listed() -> str:
    """The headers as a list by folder."""
    folders: dict[str, list[str]] = {}
    for header in headers():
        parent, _, name = header.rpartition("/")
        if header.startswith(C10):
            parent, name = C10.rstrip("/"), header.removeprefix(C10)
        folders.setdefault(parent, []).append(name)
    lines = ["| folder | headers |", "|---|---|"]
    for folder, names in sorted(folders.items()):
        lines.append(f"| `{folder}/` | {', '.join(f'`{name}`' for name in names)} |")
    return "\n".join(lines) + "\n"


def page() -> str:
    """The page with a new list."""
    return written.replaced(PAGE.read_text(), "headers", listed())
