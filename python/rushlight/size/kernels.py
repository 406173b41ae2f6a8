# SPDX-License-Identifier: BSD-3-Clause
"""Measures the bytes of each kernel on a target, in the objects of a build with all operators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rushlight import targets
from rushlight.build import BuildRequest, alone_in, cmake
from rushlight.build.request import PathLike
from rushlight.build.sizes import read_object_size
from rushlight.documents import read_json
from rushlight.errors import BuildFailed
from rushlight.sources import source_root

LIBRARY = "executorch_kernels"


@dataclass(frozen=True)
class KernelSizes:
    """Bytes of code, constants and initial data. `sources` has each kernel's own bytes, by source
    ("operators/matmul/op_mm"); `shared` has shared code and the called microkernels, by file; `table` is
    the operator table: names, signatures and functions that unpack arguments. `operators` lists the
    operators of each source. The objects are not linked: savings of the linker and the C library do not
    count."""

    target: str
    dtypes: tuple[str, ...]
    sources: dict[str, int]
    shared: dict[str, int]
    table: int
    operators: dict[str, list[str]]

    @property
    def total(self) -> int:
        """The bytes of the whole library."""
        return sum(self.sources.values()) + sum(self.shared.values()) + self.table

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "total": self.total}


def kernel_sizes(
    target: str = "cortex-m33",
    *,
    dtypes: Iterable[str] = (),
    output: PathLike | None = None,
    defines: Mapping[str, str] | None = None,
    jobs: int | None = None,
    progress: cmake.Progress | None = None,
) -> KernelSizes:
    """Builds each operator for `target`, optimized for size, and measures the objects. `dtypes` are the
    dtypes to build, all if empty. Written below `output` (default: rushlight-build/kernels-<target>).

    Errors: UnknownTarget, MissingToolchain, MissingDependency, InvalidSelection, BuildFailed.
    """
    chosen = targets.get(target)
    chosen.check_builds()
    folder = Path(output or Path("rushlight-build") / f"kernels-{target}").resolve()
    binary = folder / "cmake-build"
    wanted = tuple(dtypes)
    given = {"CMAKE_BUILD_TYPE": "MinSizeRel", **(defines or {})}
    request = BuildRequest(target, all_ops=True, dtypes="all", only_dtypes=wanted, defines=given)
    entries = request.cache_entries(chosen)
    with alone_in(folder):
        cmake.configure(source_root(), binary, entries, chosen.toolchain)
        cmake.build(binary, [LIBRARY], jobs, progress)
        return _measured(target, wanted, binary)


def _measured(target: str, dtypes: tuple[str, ...], binary: Path) -> KernelSizes:
    operators = _operators(binary / "generated" / "selected_kernels.json")
    objects = binary / "CMakeFiles" / f"{LIBRARY}.dir"
    files = {path.relative_to(objects): path for path in objects.rglob("*.cpp.o*")}
    sizes = {_source(name): read_object_size(path) for name, path in sorted(files.items())}
    kernels = {_source(name) for name in files if name.parts[0] == "kernels"}
    if missing := sorted(set(operators) - set(sizes)):
        raise BuildFailed(
            ["cmake", "--build", str(binary)], f"{objects}: expected an object of {missing[0]}, got none"
        )
    return KernelSizes(
        target=target,
        dtypes=dtypes,
        sources={source: sizes[source] for source in sorted(operators)},
        shared={source: sizes[source] for source in sorted(kernels - set(operators))},
        table=sizes["operator_table"],
        operators=operators,
    )


def _operators(selected: Path) -> dict[str, list[str]]:
    """The operators by source: by the source of their front, and of their back if they have one."""
    content = read_json(selected)
    found: dict[str, list[str]] = {}
    for name, row in content["operators"].items():
        for path in filter(None, (row["source"], row["back"])):
            source = Path(path).relative_to((source_root() / "kernels").resolve())
            found.setdefault(source.with_suffix("").as_posix(), []).append(name)
    return found


def _source(path: Path) -> str:
    """kernels/operators/elementwise/op_add.cpp.obj becomes operators/elementwise/op_add, as in ops.yaml."""
    name = path.with_name(path.name.partition(".cpp.")[0])
    return str(Path(*name.parts[1:]))
