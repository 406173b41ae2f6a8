# SPDX-License-Identifier: BSD-3-Clause
"""Shared sources, and microkernels, are those of the headers that kernels include."""

from __future__ import annotations

import re
from pathlib import Path

from rushlight.codegen.includes import closure, shared_sources
from rushlight.codegen.table import for_small_targets, load_table
from rushlight.codegen.ukernels import condition, native_sources
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
    (tmp_path / "kernels" / "ukernel").mkdir()
    (tmp_path / "kernels" / "ukernel" / "gemm.h").write_text('#include "kernels/ukernel/variants.h"\n')
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


FEATURES = """# A comment.
arm/mve defined(MVE)
arm/fma defined(FMA)
"""


def test_of_a_familys_sources_one_is_compiled_wherever_that_is() -> None:
    files = {
        "model.cpp": '#include "kernels/ukernel/panel.h"\n',
        "kernels/ukernel/features.txt": FEATURES,
        "kernels/ukernel/panel.h": "",
        "kernels/ukernel/arm/panel-mve.cpp": "",
        "kernels/ukernel/arm/panel-fma.cpp": "",
        "kernels/ukernel/generic/panel.cpp": "",
        "kernels/ukernel/x86/panel-avx2.cpp": "",
    }
    sources = native_sources("kernels/ukernel/panel.h", files.get)
    assert [condition(path, files.get) for path in sources] == [
        "(defined(MVE))",
        "(defined(FMA)) && !(defined(MVE))",
        "!(defined(MVE)) && !(defined(FMA))",
    ]
    found, missing = closure(["model.cpp"], files.get)
    assert sorted(found) == sorted(["model.cpp", "kernels/ukernel/panel.h", *sources]) and not missing


def test_sources_of_instruction_sets_are_named_by_features() -> None:
    root = source_root()
    text = (root / "kernels" / "ukernel" / "features.txt").read_text()
    for isa in ("arm", "arm64", "riscv", "wasm"):
        for path in (root / "kernels" / "ukernel" / isa).glob("*.cpp"):
            assert f"\n{isa}/{path.stem.rpartition('-')[2]} " in text, path


def test_families_have_the_variants_that_their_headers_declare() -> None:
    folder = source_root() / "kernels" / "ukernel"
    of_macro = {"RL_UKERNEL": ("x86/{}-avx2", "x86/{}-avx512", "armv7/{}-neon")}
    of_macro |= {"RL_UKERNEL_EXACT": ("x86/{}-avx2", "x86/{}-avx512"), "RL_UKERNEL_NATIVE": ()}
    declaring = 0
    for header in folder.glob("*.h"):
        macros = set(re.findall(r"\b(RL_UKERNEL(?:_EXACT|_NATIVE)?)\(\w", header.read_text()))
        if header.name == "variants.h" or not macros:
            continue
        declaring += 1
        assert len(macros) == 1, header
        expected = {path.format(header.stem) for path in of_macro[macros.pop()]}
        paths = [path for isa in ("x86", "armv7") for path in (folder / isa).glob(f"{header.stem}-*.cpp")]
        assert {f"{path.parent.name}/{path.stem}" for path in paths} == expected
    assert declaring > 10
