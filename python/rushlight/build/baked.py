# SPDX-License-Identifier: BSD-3-Clause
"""Builds baked programs: generated C++ with the kernels that it calls, without an interpreter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rushlight.build import cmake
from rushlight.build.api import existing_libraries
from rushlight.build.pipeline import make
from rushlight.build.request import RUNNER, BakedModel, BuildRequest, PathLike, minimal_name
from rushlight.build.result import BuildResult
from rushlight.build.sizes import Sizes, read_sizes
from rushlight.codegen.bake import Baked


@dataclass(frozen=True)
class BakedBuild:
    """Baked programs in one executable. `result.executable` is baked_runner, which runs the calls of a case
    on any of `programs`. `minimal` has, by program name, the sizes of an application that only runs this
    program once, and `minimal_executables` its path; `interpreter` is an executor_runner with the same
    kernels. The last three are present only if requested."""

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
    """Bakes a program and builds it for `target`, with baked_runner, and with `minimal` also the smallest
    application. All files are written below `output` (default: rushlight-build/<target>-baked);
    `environment` adds to this process's environment for compilers.

    Errors: as bake(); UnknownTarget, MissingToolchain, BuildFailed.
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
    """As build_baked, for several programs in one executable. `kernels` are kernel libraries in addition to
    rushlight's. `interpreter` also builds an executor_runner that loads programs from files, with the same
    kernels."""
    request = BuildRequest(
        target=target,
        kernels=existing_libraries(kernels),
        baked=tuple(models),
        minimal=minimal,
        interpreter=interpreter,
        defines=dict(defines or {}),
    )
    folder = Path(output or Path("rushlight-build") / f"{target}-baked")
    made = make(request, folder, jobs=jobs, progress=progress, environment=environment)
    names = [program.name for program in made.programs if minimal]
    applications = {name: made.binary / minimal_name(name) for name in names}
    return BakedBuild(
        made.result,
        made.programs,
        minimal={name: read_sizes(path) for name, path in applications.items()},
        minimal_executables=applications,
        interpreter=_beside(made.result, made.binary / RUNNER) if interpreter else None,
    )


def _beside(result: BuildResult, executable: Path) -> BuildResult:
    """The same build with another of its executables."""
    return replace(result, executable=executable, sizes=read_sizes(executable))
