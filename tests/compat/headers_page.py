# SPDX-License-Identifier: BSD-3-Clause
"""The headers of compat/ as the list in docs/compat.md; `python tests/compat/headers_page.py` writes it."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks"))

import written  # noqa: E402

PAGE = ROOT / "docs" / "compat.md"
INCLUDE = ROOT / "compat" / "include"
C10 = "executorch/runtime/core/portable_type/c10/"

GENERATED = (
    "executorch/kernels/portable/Functions.h",
    "executorch/kernels/portable/NativeFunctions.h",
)
"""Headers that code generation writes into a build, from the operator table."""

_FLATC = "flatc's classes for the schema, over Google's flatbuffers library, which nothing here uses"
MISSING = {
    "executorch/devtools/bundled_program/schema/bundled_program_schema_generated.h": _FLATC,
    "executorch/extension/flat_tensor/serialize/flat_tensor_generated.h": _FLATC,
    "executorch/schema/program_generated.h": f"{_FLATC}; what they tell of a method, `MethodMeta` tells, too",
    "executorch/runtime/executor/tensor_parser.h": "its functions take those classes",
}
"""Headers that code for ExecuTorch 1.5.1 may include, are not here, and why."""


def headers() -> list[str]:
    """All headers of compat/, as code includes them."""
    found = [path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*.h")]
    return sorted({*found, *GENERATED})


def listed() -> str:
    """The headers by folder, and those that are missing."""
    folders: dict[str, list[str]] = {}
    for header in headers():
        parent, _, name = header.rpartition("/")
        if header.startswith(C10):
            parent, name = C10.rstrip("/"), header.removeprefix(C10)
        folders.setdefault(parent, []).append(name)
    lines = ["| folder | headers |", "|---|---|"]
    for folder, names in sorted(folders.items()):
        lines.append(f"| `{folder}/` | {', '.join(f'`{name}`' for name in names)} |")
    lines += ["", "Headers that code for ExecuTorch 1.5.1 may include, and that are not here:", ""]
    lines += [f"- `{header}`: {reason}" for header, reason in sorted(MISSING.items())]
    return "\n".join(lines) + "\n"


def page() -> str:
    """The page with its list made again."""
    return written.replaced(PAGE.read_text(), "headers", listed())


if __name__ == "__main__":
    PAGE.write_text(page())
