# SPDX-License-Identifier: BSD-3-Clause
"""Shared sources are those of the headers that kernels include."""

from __future__ import annotations

from pathlib import Path

from rushlight.codegen.includes import shared_sources
from rushlight.sources import source_root

SHARED = source_root() / "kernels" / "shared"


def write(root: Path, name: str, *includes: str) -> Path:
    path = root / "kernels" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f'#include "kernels/shared/{include}"\n' for include in includes))
    return path


def test_headers_of_headers_and_of_sources_count(tmp_path: Path) -> None:
    kernel = write(tmp_path, "portable/op_a.cpp", "a.h")
    write(tmp_path, "portable/op_b.cpp", "unused.h")
    write(tmp_path, "shared/a.h", "only_declares.h")
    write(tmp_path, "shared/only_declares.h", "a.h", "b.h")
    write(tmp_path, "shared/b.h")
    write(tmp_path, "shared/b.cpp", "b.h", "c.h")
    write(tmp_path, "shared/c.h")
    write(tmp_path, "shared/c.cpp", "c.h", "is_not_there.h")
    write(tmp_path, "shared/unused.cpp")
    found, read = shared_sources(tmp_path, [kernel])
    assert [path.name for path in found] == ["b.cpp", "c.cpp"]
    assert len(read) == 7 and kernel in read


def test_all_kernels_together_need_every_shared_source() -> None:
    kernels = source_root() / "kernels"
    found, _ = shared_sources(source_root(), sorted(kernels.glob("*/op_*.cpp")))
    assert found == sorted(SHARED.glob("*.cpp"))


def test_what_a_shared_source_defines_its_header_declares() -> None:
    assert [path.name for path in SHARED.glob("*.cpp") if not path.with_suffix(".h").is_file()] == []
