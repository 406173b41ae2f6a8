# SPDX-License-Identifier: BSD-3-Clause
"""Includes and imports go down the ladders of CONTRIBUTING.md, and every file says its licence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

RUNTIME = [
    "base",
    "platform",
    "tensor",
    "memory",
    "trace",
    "program",
    "kernel",
    "baked",
    "backend",
    "executor",
    "bundled",
    "module",
    "runner",
]
SEEN_BY_KERNELS = {"base", "tensor", "memory", "kernel"}
PACKAGE = [
    "printable",
    "errors",
    "callable_module",
    "files",
    "documents",
    "process",
    "sources",
    "program",
    "codegen",
    "targets",
    "build",
    "devtools",
    "quantize",
    "export",
    "cli",
]

_INCLUDE = re.compile(r'^#include "(\w+)/(\w+)/', re.MULTILINE)


def includes(folder: str) -> Iterator[tuple[Path, str, str]]:
    """Each file of a folder with each of its includes, as the first two folders of the path."""
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in (".h", ".cpp", ".inl"):
            for top, room in _INCLUDE.findall(path.read_text()):
                yield path.relative_to(ROOT), top, room


def imports(path: Path) -> Iterator[str]:
    """The modules that a Python file imports, anywhere in it, with their full names."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "rushlight":
            yield from (f"rushlight.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: expected imports by full name"
            yield node.module or ""


def package_files() -> list[tuple[str, Path]]:
    """The files of the Python package, each with its room."""
    package = ROOT / "python" / "rushlight"
    files = [path.relative_to(package) for path in package.rglob("*.py")]
    return sorted((path.parts[0].removesuffix(".py"), package / path) for path in files)


def test_the_runtime_includes_downwards_only() -> None:
    upwards = [
        f"{path} includes {top}/{room}"
        for path, top, room in includes("runtime")
        if top != "runtime" or RUNTIME.index(room) > RUNTIME.index(path.parts[1])
    ]
    assert upwards == []


def test_kernels_see_the_lower_runtime_only() -> None:
    beyond = [
        f"{path} includes {top}/{room}"
        for path, top, room in includes("kernels")
        if top != "kernels" and (top != "runtime" or room not in SEEN_BY_KERNELS)
    ]
    assert [line for line in beyond if "includes rushlight/" not in line] == []


def test_microkernels_see_themselves_only() -> None:
    beyond = [
        f"{path} includes {top}/{room}"
        for path, top, room in includes("kernels/ukernel")
        if (top, room) != ("kernels", "ukernel")
    ]
    assert beyond == []


def test_libraries_of_kernels_do_not_see_each_other() -> None:
    seen = {
        "portable": {"portable", "shared"},
        "quantized": {"quantized", "shared"},
        "prim": {"prim", "shared"},
        "shared": {"shared"},
        "optimized": {"optimized", "shared", "ukernel"},
    }
    across = [
        f"{path} includes {top}/{room}"
        for folder, allowed in seen.items()
        for path, top, room in includes(f"kernels/{folder}")
        if top == "kernels" and room not in allowed
    ]
    assert across == []


def test_instruction_sets_are_named_in_microkernels_only() -> None:
    intrinsics = re.compile(r"#include <(?:\w*intrin|arm_\w+|riscv_vector|wasm_simd128)\.h>")
    naming = [
        path.relative_to(ROOT).as_posix()
        for folder in ("runtime", "kernels")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".h", ".cpp", ".inl") and intrinsics.search(path.read_text())
    ]
    isa = ("x86", "arm", "arm64", "riscv", "wasm")
    assert [path for path in naming if not path.startswith(tuple(f"kernels/ukernel/{i}/" for i in isa))] == []


def test_nobody_sees_compat() -> None:
    seen = [
        f"{path} includes {top}/{room}"
        for folder in ("runtime", "kernels", "python", "toolchains")
        for path, top, room in includes(folder)
        if top == "compat"
    ]
    assert seen == []


def test_the_package_imports_downwards_only() -> None:
    upwards = []
    for room, path in package_files():
        for module in imports(path):
            parts = module.split(".")
            if parts[0] != "rushlight" or len(parts) < 2 or room in ("__init__", "runtime"):
                continue
            target = parts[1]
            if target in PACKAGE and PACKAGE.index(target) > PACKAGE.index(room):
                upwards.append(f"{path.relative_to(ROOT)} imports {module}")
    assert upwards == []


def test_rooms_of_the_package_have_a_place_in_the_order() -> None:
    assert {room for room, _ in package_files()} - {"__init__", "runtime", *PACKAGE} == set()


def test_the_core_imports_numpy_and_ml_dtypes_only() -> None:
    allowed = {"rushlight", "numpy", "ml_dtypes"}
    third_party = {"torch", "yaml", "click", "rich", "flatbuffers", "elftools", "torchao", "executorch"}
    for room, path in package_files():
        if room in ("__init__", "errors", "printable", "files", "runtime"):
            used = {module.split(".")[0] for module in imports(path)}
            assert used & third_party == set(), f"{path}: expected only {sorted(allowed)}"


def test_files_are_written_the_same_with_any_version_of_flatbuffers() -> None:
    for _, path in package_files():
        assert not any(module.startswith("flatbuffers") for module in imports(path)), path


def test_only_exporting_and_quantizing_import_torch() -> None:
    for room, path in package_files():
        if room not in ("export", "quantize"):
            assert {"torch", "torchao"}.isdisjoint(m.split(".")[0] for m in imports(path)), path


def test_every_source_begins_with_its_licence() -> None:
    without = []
    for folder in (
        "runtime",
        "kernels",
        "compat",
        "cmake",
        "toolchains",
        "python",
        "tests",
        "examples",
        "benchmarks",
    ):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".h", ".cpp", ".py", ".cmake", ".yaml", ".ld") and path.is_file():
                with path.open() as file:
                    head = file.readline() + file.readline()
                if "SPDX-License-Identifier: BSD-3-Clause" not in head:
                    without.append(str(path.relative_to(ROOT)))
    assert without == []
