# SPDX-License-Identifier: BSD-3-Clause
"""Shared sources and microkernels follow from the headers that kernels include."""

from __future__ import annotations

from pathlib import Path

from rushlight.codegen.includes import shared_sources
from rushlight.codegen.table import for_small_targets, load_table
from rushlight.sources import source_root

KERNELS = source_root() / "kernels"
NOT_SHARED = {"backs", "board", "host", "operators", "ukernel"}
SHARED = [folder for folder in sorted(KERNELS.iterdir()) if folder.is_dir() and folder.name not in NOT_SHARED]
"""The folders of what operators share."""


def write(root: Path, name: str, *includes: str) -> Path:
    path = root / "kernels" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f'#include "kernels/walk/{include}"\n' for include in includes))
    return path


def test_headers_of_headers_and_of_sources_count(tmp_path: Path) -> None:
    kernel = write(tmp_path, "operators/copies/op_a.cpp", "a.h")
    write(tmp_path, "operators/copies/op_b.cpp", "unused.h")
    write(tmp_path, "walk/a.h", "only_declares.h")
    write(tmp_path, "walk/only_declares.h", "a.h", "b.h")
    write(tmp_path, "walk/b.h")
    write(tmp_path, "walk/b.cpp", "b.h", "c.h")
    write(tmp_path, "walk/c.h")
    write(tmp_path, "walk/c.cpp", "c.h", "is_not_there.h")
    write(tmp_path, "walk/unused.cpp")
    found, families, read = shared_sources(tmp_path, [kernel])
    assert [path.name for path in found] == ["b.cpp", "c.cpp"]
    assert len(read) == 7 and kernel in read
    assert families == []


def test_microkernels_are_found_through_what_backs_share(tmp_path: Path) -> None:
    kernel = write(tmp_path, "host/a.cpp")
    kernel.write_text('#include "kernels/host/tiles.h"\n')
    write(tmp_path, "host/tiles.h")
    (tmp_path / "kernels" / "host" / "tiles.cpp").write_text('#include "kernels/ukernel/gemm.h"\n')
    generic = tmp_path / "kernels" / "ukernel" / "generic"
    generic.mkdir(parents=True)
    (generic / "gemm.cpp").touch()
    (tmp_path / "kernels" / "ukernel" / "gemm.h").write_text('#include "kernels/ukernel/variants.h"\n')
    (generic.parent / "variants.h").write_text('#include "kernels/ukernel/variant_table.h"\n')
    found, families, _ = shared_sources(tmp_path, [kernel])
    assert [path.name for path in found] == ["tiles.cpp"]
    assert families == ["gemm"]


def every_kernel() -> list[Path]:
    """The sources of all fronts and of all backs."""
    table = load_table(source_root() / "kernels" / "ops.yaml")
    rows = [*table.rows(), *for_small_targets(table).rows()]
    return sorted({path.resolve() for row in rows for path in table.source_paths(row)})


def test_all_kernels_together_need_every_shared_source() -> None:
    found, _, _ = shared_sources(source_root(), every_kernel())
    every = sorted(path for folder in SHARED for path in folder.glob("*.cpp"))
    assert [path for path in found if path.parent in SHARED] == every


def test_all_kernels_together_call_every_family_of_microkernels() -> None:
    kernels = source_root() / "kernels"
    _, families, _ = shared_sources(source_root(), every_kernel())
    sources = (kernels / "ukernel" / "generic").glob("*.cpp")
    assert {path.stem for path in sources} <= set(families)


def test_what_a_shared_source_defines_its_header_declares() -> None:
    sources = [path for folder in SHARED for path in folder.glob("*.cpp")]
    assert sources and [path.name for path in sources if not path.with_suffix(".h").is_file()] == []
