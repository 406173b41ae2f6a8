# SPDX-License-Identifier: BSD-3-Clause
"""Includes and imports go down the ladders of CONTRIBUTING.md, and every file says its licence."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import rushlight
from rushlight.program.arena import PARTS
from support import cpp_names
from support.ukernel_contracts import CONTRACTS

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
    "llm",
    "runner",
]
ABOVE_THE_RUNTIME = ["kernels", "backends", "aten", "compat", "python/bindings"]
_PLATFORM = "a platform is chosen when a program is linked: a board's, the host's or the application's own"
_GENERATED = "codegen writes it for each build"
LINKED_FROM_ABOVE = {
    "rushlight::platform::abort": _PLATFORM,
    "rushlight::platform::emit_log": _PLATFORM,
    "rushlight::copy_with_device": "weak: an application that has devices defines it, others have none",
    "rushlight::operators_with_aten": "aten/ defines it, for runners with PyTorch's kernels",
    "rushlight::selected_operators": _GENERATED,
    "rushlight::selected_backends": _GENERATED,
    "rushlight::baked_programs": _GENERATED,
    "rushlight::baked_program_count": _GENERATED,
    "rushlight::schema::kProgramTables": _GENERATED,
    "rushlight::schema::kDataFileTables": _GENERATED,
    "rushlight::schema::kBundledProgramTables": _GENERATED,
}
"""Functions that a layer of the runtime declares, and a higher one or a generated file defines, with the
reason."""
SEEN_BY_KERNELS = {"base", "tensor", "memory", "kernel"}
SHELF_LIMIT = 60
"""Files in a folder of kernels/, at most."""
PACKAGE = [
    "printable",
    "page",
    "errors",
    "status",
    "callable_module",
    "files",
    "documents",
    "sources",
    "process",
    "program",
    "integers",
    "memory",
    "lowered",
    "runtime",
    "codegen",
    "convert",
    "llm",
    "targets",
    "build",
    "trace",
    "run",
    "size",
    "matrix",
    "package",
    "quantize",
    "export",
    "cli",
]

IMPORTS_TORCH = {
    ROOT / "python/rushlight/runtime/fallback.py": "calls PyTorch's kernels, for programs that ask for it"
}
"""Modules outside of `export` and `quantize` that import torch, with the reason."""

_CONTRACT = rf"kernels/ukernel/(?:{'|'.join(CONTRACTS)})\.h"
_INCLUDE = re.compile(rf'^#include "(?!{_CONTRACT})(\w+)/(\w+)/', re.MULTILINE)


def includes(folder: str) -> Iterator[tuple[Path, str, str]]:
    """Each file of a folder with each of its includes, as the first two folders of the path."""
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in (".h", ".cpp", ".inl"):
            for top, part in _INCLUDE.findall(path.read_text()):
                yield path.relative_to(ROOT), top, part


def linked_upwards(root: Path) -> set[str]:
    """The functions and objects that a file of the runtime declares, and only higher layers define; and the
    objects that no file defines. A function without any definition is not one: it may be pure virtual."""
    declared: dict[tuple[str, int], int] = {}
    defined: dict[tuple[str, int], int] = {}
    folders = [*(f"runtime/{layer}" for layer in RUNTIME), *ABOVE_THE_RUNTIME]
    for layer, folder in enumerate(folders):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".inl"):
                continue
            for name in cpp_names.names_of(path.read_text()):
                if name.is_internal:
                    continue
                if name.is_definition:
                    defined.setdefault(name.key, layer)
                elif layer < len(RUNTIME):
                    declared.setdefault(name.key, layer)
    upwards = {key for key, layer in declared.items() if defined.get(key, layer) > layer}
    undefined = {
        key for key in declared.keys() - defined if key[1] == -1 and key[0].startswith("rushlight::")
    }
    return {name for name, _ in upwards | undefined}


def imports(path: Path) -> Iterator[str]:
    """The modules that a Python file imports, anywhere in it, with their full names: inside of functions, by
    importlib, and through the names of `rushlight` that are loaded when they are asked for."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "rushlight":
            names = [alias.name for alias in node.names]
            yield from (rushlight._LAZY.get(name, f"rushlight.{name}") for name in names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: expected imports by full name"
            yield node.module or ""
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (str(a.value) for a in node.args[:1] if isinstance(a, ast.Constant))


def imports_upwards(package: str, path: Path) -> list[str]:
    """The modules of higher packages that a file of `package` imports."""
    modules = [module for module in imports(path) if module.startswith("rushlight.")]
    parts = [(module, module.split(".")[1]) for module in modules]
    return [m for m, part in parts if part in PACKAGE and PACKAGE.index(part) > PACKAGE.index(package)]


def package_files() -> list[tuple[str, Path]]:
    """The files of rushlight, each with its package or module below that."""
    package = ROOT / "python" / "rushlight"
    files = [path.relative_to(package) for path in package.rglob("*.py")]
    return sorted((path.parts[0].removesuffix(".py"), package / path) for path in files)


def test_the_runtime_includes_downwards_only() -> None:
    upwards = [
        f"{path} includes {top}/{part}"
        for path, top, part in includes("runtime")
        if top != "runtime" or RUNTIME.index(part) > RUNTIME.index(path.parts[1])
    ]
    assert upwards == []


def test_the_linker_closes_no_arrow_upwards_but_those_known() -> None:
    assert linked_upwards(ROOT) == LINKED_FROM_ABOVE.keys()


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [
        ("void run(int count);", "void run(int count) {}", {"rushlight::run"}),
        ("extern const Support support;", "const Support support = {&run, 1};", {"rushlight::support"}),
        ("extern const Support support;", "", {"rushlight::support"}),
        ("class Part {\n public:\n  ~Part();\n};", "Part::~Part() {}", {"rushlight::Part::~Part"}),
        (
            "Error run(Span<int, 2> all = {});",
            "template <>\nError run(Span<int, 2> all) {}",
            {"rushlight::run"},
        ),
        ("void run(int count);", "void run(int count, int more) {}", set()),
        ("void run(int count);", "namespace {\nvoid run(int count) {}\n}", set()),
        ("inline void run(int count) {}", "void run(int count) {}", set()),
        ("void run(int count);", "void other() { run(1); }", set()),
        ("struct Support;", "struct Support {\n  void (*run)(int count);\n};", set()),
    ],
)
def test_what_only_a_higher_layer_defines_is_seen(
    low: str, high: str, found: set[str], tmp_path: Path
) -> None:
    for layer, name, text in (("kernel", "table.h", low), ("executor", "table.cpp", high)):
        path = tmp_path / "runtime" / layer / name
        path.parent.mkdir(parents=True)
        path.write_text(f"// run(int); {{\nnamespace rushlight {{\n\n{text}\n\n}}  // namespace rushlight\n")
    assert linked_upwards(tmp_path) == found


def test_most_of_what_sources_define_is_found_declared() -> None:
    """Otherwise the test before last might see nothing."""
    names = defaultdict(set)
    for path in sorted((ROOT / "runtime").rglob("*")):
        if path.suffix in (".h", ".cpp"):
            for name in cpp_names.names_of(path.read_text()):
                names[name.is_definition and path.suffix == ".cpp"].add(name.key)
    assert len(names[True] & names[False]) > 300


def defined_twice(root: Path) -> dict[str, list[str]]:
    """The types that two files define under one full name, with the files. Microkernels of two instruction
    sets, or of two variants, are never in one program."""
    files: dict[str, set[str]] = defaultdict(set)
    for folder in ("runtime", *ABOVE_THE_RUNTIME):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".inl"):
                continue
            shelf = path.parent.relative_to(root).as_posix()
            for name in cpp_names.types_of(path.read_text()):
                if "RL_UKERNEL_VARIANT" not in name:
                    only = shelf if shelf.startswith("kernels/ukernel/") else ""
                    files[f"{only} {name}".strip()].add(path.relative_to(root).as_posix())
    return {name: sorted(paths) for name, paths in files.items() if len(paths) > 1}


def test_a_type_is_defined_once() -> None:
    """A file cannot include both of two types with one name, and in a program with both the linker may keep
    the inline functions of one for the other (ODR)."""
    assert defined_twice(ROOT) == {}


@pytest.mark.parametrize(
    ("first", "second", "is_found"),
    [
        ("struct Extent {\n  int begin;\n};", "struct Extent {\n  float min;\n};", True),
        ("enum class Mode : int { kNone };", "class Mode final : public Base<int> {};", True),
        ("template <class T>\nstruct Sum {};", "template <class T>\nstruct Sum {};", True),
        ("template <>\nstruct Sum<a::Half> {};", "template <>\nstruct Sum<a::Float> {};", False),
        ("struct Extent;", "struct Extent {};", False),
        ("struct A {\n  struct Part {};\n};", "struct B {\n  struct Part {};\n};", False),
        ("namespace {\nstruct Part {};\n}", "struct Part {};", False),
        ("struct Part make() { return {}; }", "struct Part {};", False),
    ],
)
def test_a_type_that_is_defined_twice_is_found(
    first: str, second: str, is_found: bool, tmp_path: Path
) -> None:
    (tmp_path / "kernels").mkdir()
    for name, text in (("a.h", first), ("b.h", second)):
        (tmp_path / "kernels" / name).write_text(f"namespace rushlight {{\n{text}\n}}\n")
    assert (defined_twice(tmp_path) != {}) == is_found


def test_the_executor_has_a_type_for_each_part_of_the_arena() -> None:
    """Placing one asserts its type's size and alignment. The layer below has the table of both and no type of
    the executor, because a program says what its methods take before any is loaded."""
    folder = ROOT / "runtime" / "executor"
    loading = "".join((folder / name).read_text() for name in ("method_load.cpp", "arena_block.h"))
    placed = re.findall(r"assign<ArenaPart::(\w+)>", loading)
    assert sorted(placed) == sorted(part.name for part in PARTS)
    assert "static_assert(arena_element_size(kPart, sizeof(void*)) == sizeof(T))" in loading


def test_kernels_see_the_lower_runtime_only() -> None:
    beyond = [
        f"{path} includes {top}/{part}"
        for path, top, part in includes("kernels")
        if top != "kernels" and (top != "runtime" or part not in SEEN_BY_KERNELS)
    ]
    assert [line for line in beyond if "includes rushlight/" not in line] == []


def test_backends_see_the_runtime_up_to_the_module() -> None:
    """And folders of backends see themselves and what they share, `calls`."""
    seen = RUNTIME[: RUNTIME.index("module") + 1]
    beyond = [
        f"{path} includes {top}/{part}"
        for path, top, part in includes("backends")
        if part not in (seen if top == "runtime" else ("calls", path.parts[1]) if top == "backends" else ())
    ]
    assert beyond == []


def test_only_the_bindings_see_backends() -> None:
    """The runtime has them in a table that codegen writes for each build."""
    seen = [
        f"{path} includes {top}/{part}"
        for folder in ("runtime", "kernels", "compat", "python")
        for path, top, part in includes(folder)
        if top == "backends" and not path.is_relative_to("python/bindings")
    ]
    assert seen == []


def test_pytorchs_kernels_are_seen_by_applications_only() -> None:
    seen = [
        path.relative_to(ROOT).as_posix()
        for folder in ("runtime", "kernels", "backends")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".h", ".cpp", ".inl")
        and re.search(r'#include ("aten/|<(ATen|c10|torch)/)', path.read_text())
    ]
    assert seen == []
    allowed = {"runtime": [*RUNTIME[: RUNTIME.index("module") + 1], "runner"], "kernels": ["checks"]}
    beyond = [
        f"{path} includes {top}/{part}"
        for path, top, part in includes("aten")
        if part not in allowed.get(top, ())
    ]
    assert beyond == []


def test_microkernels_see_themselves_only() -> None:
    beyond = [
        f"{path} includes {top}/{part}"
        for path, top, part in includes("kernels/ukernel")
        if (top, part) != ("kernels", "ukernel")
    ]
    assert beyond == []


def test_libraries_of_kernels_do_not_see_each_other() -> None:
    named = {"operators", "backs", "host", "board", "int8", "recurrence", "ukernel"}
    shared = {path.name for path in (ROOT / "kernels").iterdir() if path.is_dir()} - named
    seen = {
        "operators": {"backs", *shared},
        **dict.fromkeys(shared, shared),
        "elements": {"ukernel", *shared},  # the one routine of conversions, which every kernel calls
        "backs": {"backs", *shared},
        "int8": {"int8", "backs", "ukernel", *shared},
        "recurrence": {"recurrence", "backs", "ukernel", *shared},
        "host": {"host", "int8", "recurrence", "backs", "ukernel", *shared},
        "board": {"board", "int8", "recurrence", "backs", "ukernel", *shared},
    }
    across = [
        f"{path} includes {top}/{part}"
        for folder, allowed in seen.items()
        for path, top, part in includes(f"kernels/{folder}")
        if top == "kernels" and part not in allowed
    ]
    assert across == []


def test_a_shelf_of_kernels_is_small_enough_to_read() -> None:
    fronts = ROOT / "kernels" / "operators"
    shelves = [path for path in fronts.iterdir() if path.is_dir()]
    shelves += [path for path in (ROOT / "kernels").iterdir() if path.is_dir() and path != fronts]
    assert [path.name for path in shelves if len(list(path.glob("*.*"))) > SHELF_LIMIT] == []
    assert [path.name for path in fronts.iterdir() if path.is_file()] == []


def test_instruction_sets_are_named_in_microkernels_only() -> None:
    intrinsics = re.compile(r"#include <(?:\w*intrin|arm_\w+|riscv_vector|wasm_simd128)\.h>")
    naming = [
        path.relative_to(ROOT).as_posix()
        for folder in ("runtime", "kernels", "backends")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".h", ".cpp", ".inl") and intrinsics.search(path.read_text())
    ]
    isa = ("x86", "arm", "arm64", "riscv", "wasm")
    assert [path for path in naming if not path.startswith(tuple(f"kernels/ukernel/{i}/" for i in isa))] == []


def test_nobody_sees_compat() -> None:
    seen = [
        f"{path} includes {top}/{part}"
        for folder in ("runtime", "kernels", "backends", "python", "toolchains")
        for path, top, part in includes(folder)
        if top == "compat"
    ]
    assert seen == []


def test_the_package_imports_downwards_only() -> None:
    upwards = [
        f"{path.relative_to(ROOT)} imports {module}"
        for package, path in package_files()
        if package != "__init__"  # which loads everything, when it is asked for
        for module in imports_upwards(package, path)
    ]
    assert upwards == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from rushlight.export import export", ["rushlight.export"]),
        ("def late():\n    from rushlight import run", ["rushlight.run"]),
        ("def late():\n    import rushlight.cli.main", ["rushlight.cli.main"]),
        ("def late():\n    from rushlight import verify_bundled_program", ["rushlight.run.bundled"]),
        ("importlib.import_module('rushlight.build.api')", ["rushlight.build.api"]),
        ("from rushlight import set_seed, runtime, errors", []),
        ("from rushlight.program.debug import source_of", []),
    ],
)
def test_imports_upwards_are_seen_wherever_they_are(text: str, found: list[str], tmp_path: Path) -> None:
    path = tmp_path / "file.py"
    path.write_text(text)
    assert imports_upwards("codegen", path) == found


def test_every_package_has_its_place_in_the_order() -> None:
    assert {package for package, _ in package_files()} - {"__init__", *PACKAGE} == set()


def test_the_runtime_of_the_package_stands_alone_but_for_the_debug_record() -> None:
    seen = {module for package, path in package_files() if package == "runtime" for module in imports(path)}
    own = {module for module in seen if module.startswith("rushlight.") and module.split(".")[1] != "runtime"}
    native = {"rushlight._runtime"}
    assert own - native == {"rushlight.errors", "rushlight.status", "rushlight.program.debug"}


def test_the_core_imports_numpy_and_ml_dtypes_only() -> None:
    allowed = {"rushlight", "numpy", "ml_dtypes"}
    third_party = {"torch", "yaml", "click", "rich", "flatbuffers", "elftools", "torchao", "executorch"}
    for package, path in package_files():
        if package in ("__init__", "errors", "status", "printable", "files", "runtime"):
            used = {module.split(".")[0] for module in imports(path)}
            own = {"torch"} if path in IMPORTS_TORCH else set()
            assert used & third_party == own, f"{path}: expected only {sorted(allowed | own)}"


def test_files_are_written_the_same_with_any_version_of_flatbuffers() -> None:
    for _, path in package_files():
        assert not any(module.startswith("flatbuffers") for module in imports(path)), path


def test_only_exporting_and_quantizing_import_torch() -> None:
    for package, path in package_files():
        if package not in ("export", "quantize") and path not in IMPORTS_TORCH:
            assert {"torch", "torchao"}.isdisjoint(m.split(".")[0] for m in imports(path)), path


def test_every_source_begins_with_its_licence() -> None:
    without = []
    for folder in (
        "runtime",
        "kernels",
        "backends",
        "aten",
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
