# SPDX-License-Identifier: BSD-3-Clause
"""Builds baked programs: C++ of their own with the kernels that they call, and no interpreter."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rushlight import targets
from rushlight.build import cmake
from rushlight.build.api import RUNNER as INTERPRETER
from rushlight.build.api import (
    PathLike,
    alone_in,
    made_or_gone,
    put_executable,
    read_selection,
)
from rushlight.build.inputs import linked_inputs
from rushlight.build.result import BuildResult
from rushlight.build.sizes import Sizes, read_sizes
from rushlight.codegen.bake import Baked, bake, program_name
from rushlight.errors import InvalidArgument
from rushlight.files import write_text
from rushlight.sources import source_root

RUNNER = "baked_runner"


@dataclass(frozen=True)
class BakedModel:
    """A program to bake; `name` as bake() has it."""

    model: Path
    data_files: tuple[Path, ...] = ()
    name: str | None = None


@dataclass(frozen=True)
class BakedBuild:
    """Baked programs in one executable. `result.executable` is baked_runner, which runs the calls of a case
    on any of `programs`. `minimal` has the sizes of an application that does no more than run one of them
    once, by name, and `minimal_executables` its path; `interpreter` is an executor_runner with the very same
    kernels. These only where they were asked for."""

    result: BuildResult
    programs: tuple[Baked, ...]
    minimal: Mapping[str, Sizes] = field(default_factory=dict)
    minimal_executables: Mapping[str, Path] = field(default_factory=dict)
    interpreter: BuildResult | None = None


def build_baked(
    model: PathLike,
    *,
    target: str = "host",
    output: PathLike | None = None,
    data_files: Iterable[PathLike] = (),
    name: str | None = None,
    kernels: Iterable[PathLike] = (),
    defines: Mapping[str, str] | None = None,
    jobs: int | None = None,
    progress: cmake.Progress | None = None,
    minimal: bool = True,
    environment: Mapping[str, str] | None = None,
) -> BakedBuild:
    """Bakes a program and builds it for `target`, with baked_runner, and with `minimal` the smallest
    application, too. Everything is written below `output` (default: rushlight-build/<target>-baked);
    `environment` is laid over this process's for compilers.

    Errors: those of bake(); UnknownTarget, MissingToolchain, BuildFailed.
    """
    wanted = BakedModel(Path(model), tuple(map(Path, data_files)), name)
    return build_baked_programs(
        [wanted],
        target=target,
        output=output,
        kernels=kernels,
        defines=defines,
        jobs=jobs,
        progress=progress,
        minimal=minimal,
        environment=environment,
    )


def build_baked_programs(
    models: Sequence[BakedModel],
    *,
    target: str = "host",
    output: PathLike | None = None,
    kernels: Iterable[PathLike] = (),
    defines: Mapping[str, str] | None = None,
    jobs: int | None = None,
    progress: cmake.Progress | None = None,
    minimal: bool = False,
    environment: Mapping[str, str] | None = None,
    interpreter: bool = False,
) -> BakedBuild:
    """As build_baked, for several programs in one executable. `kernels` are kernel libraries besides
    rushlight's. `interpreter` asks for an executor_runner that
    is given programs, made of the same kernels."""
    chosen = targets.get(target)
    folder = Path(output or Path("rushlight-build") / f"{target}-baked").resolve()
    file = folder / (RUNNER + (".elf" if chosen.kind == "bare-metal" else ""))
    with alone_in(folder), made_or_gone(file) as executable:
        chosen.check_builds()
        if progress:
            progress("baking", 0.0)
        libraries = linked_inputs((Path(library).resolve() for library in kernels), folder)
        programs = _bake(models, folder / "baked", libraries)
        entries = {
            "RUSHLIGHT_KERNEL_LIBRARIES": ";".join(map(str, libraries)),
            **_cache_entries(programs, chosen, defines or {}),
        }
        if interpreter:
            entries |= {"RUSHLIGHT_BUILD_RUNNER": "ON", "RUSHLIGHT_RUNNER_DATA_FILES": "ON"}
        minimals = [program.name for program in programs if minimal]
        how = (jobs, progress, environment)
        return _build(chosen, folder, executable, programs, entries, minimals, interpreter, *how)


def _build(
    target: targets.Target,
    folder: Path,
    executable: Path,
    programs: tuple[Baked, ...],
    entries: Mapping[str, str],
    minimals: Sequence[str],
    interpreter: bool,
    jobs: int | None,
    progress: cmake.Progress | None,
    environment: Mapping[str, str] | None,
) -> BakedBuild:
    """Configures and builds; `minimals` are the programs that get the smallest application."""
    start = time.monotonic()
    binary = folder / "cmake-build"
    cmake.configure(source_root(), binary, entries, target.toolchain)
    configured = time.monotonic() - start
    applications = {name: binary / f"{name}_minimal" for name in minimals}
    wanted = [RUNNER, *(path.name for path in applications.values()), *([INTERPRETER] if interpreter else [])]
    used = cmake.build(binary, wanted, jobs, progress, environment)
    put_executable(binary / RUNNER, executable)
    result = BuildResult(
        target=target.name,
        output=folder,
        executable=executable,
        extension=None,
        selection=read_selection(binary / "generated" / "selected_kernels.json"),
        sizes=read_sizes(executable),
        seconds=time.monotonic() - start,
        configure_seconds=configured,
        compiler_cache=used,
    )
    write_text(folder / "build.json", json.dumps(result.to_json(), indent=1) + "\n")
    return BakedBuild(
        result,
        programs,
        minimal={name: read_sizes(path) for name, path in applications.items()},
        minimal_executables=applications,
        interpreter=_beside(result, binary / INTERPRETER) if interpreter else None,
    )


def _beside(result: BuildResult, executable: Path) -> BuildResult:
    """The same build, seen as another of its executables."""
    return replace(result, executable=executable, sizes=read_sizes(executable))


def _bake(models: Sequence[BakedModel], folder: Path, kernels: tuple[Path, ...]) -> tuple[Baked, ...]:
    """The C++ of each, in a folder of its program's name."""
    programs: list[Baked] = []
    for wanted in models:
        name = program_name(wanted.model, wanted.name)
        if any(name == other.name for other in programs):
            raise InvalidArgument(f"two baked programs are called '{name}'")
        programs.append(
            bake(wanted.model, folder / name, name=name, data_files=wanted.data_files, kernels=kernels)
        )
    return tuple(programs)


def _cache_entries(
    programs: Sequence[Baked], target: targets.Target, defines: Mapping[str, str]
) -> dict[str, str]:
    folders = [program.folder for program in programs]
    entries = {
        "CMAKE_BUILD_TYPE": "Release" if target.kind == "host" else "MinSizeRel",
        "EXECUTORCH_SELECT_OPS_YAML": ";".join(str(f / "selected_operators.yaml") for f in folders),
        "EXECUTORCH_SELECT_ALL_OPS": "OFF",
        "EXECUTORCH_ENABLE_DTYPE_SELECTIVE_BUILD": "ON",
        "RUSHLIGHT_BUILD_RUNNER": "OFF",
        "RUSHLIGHT_BAKED": ";".join(map(str, folders)),
    }
    if target.kind == "bare-metal":
        entries["RUSHLIGHT_LOG_LEVEL"] = "off"
    return {**entries, **defines}
