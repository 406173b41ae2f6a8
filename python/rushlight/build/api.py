# SPDX-License-Identifier: BSD-3-Clause
"""rushlight.build: builds the smallest runner for models and a target."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rushlight import targets
from rushlight.build import cmake
from rushlight.build.pipeline import run_request
from rushlight.build.request import BuildRequest, PathLike
from rushlight.build.result import BuildResult
from rushlight.codegen.options import BACKENDS
from rushlight.convert.delegates import XNNPACK
from rushlight.errors import BackendNotFound, InvalidArgument
from rushlight.program import Program, read_data_file, read_model


def build(
    models: PathLike | Iterable[PathLike] = (),
    *,
    target: str = "host",
    data_files: PathLike | Iterable[PathLike] = (),
    ops: Sequence[str] = (),
    ops_yaml: PathLike | Iterable[PathLike] = (),
    all_ops: bool = False,
    dtypes: str = "model",
    calls: str = "model",
    only_dtypes: Sequence[str] = (),
    kernels: PathLike | Iterable[PathLike] = (),
    priority: Sequence[str] = (),
    prefer: Sequence[str] = (),
    cpu_variants: Sequence[str] = (),
    output: PathLike | None = None,
    defines: Mapping[str, str] | None = None,
    integers: bool = True,
    jobs: int | None = None,
    progress: cmake.Progress | None = None,
) -> BuildResult:
    """Builds executor_runner for `target` with the union of the requested operators: the operators of
    `models` (.pte or .bpte), of `ops` by name ("aten::add.out"), of the `ops_yaml` files, or all. On bare
    metal a single model is linked in (for a bundled program, the program inside), and so are `data_files`
    (.ptd), at most 8.

    `kernels` are additional kernel libraries: folders with a YAML file and sources, or the YAML files. An
    operator in several libraries comes from the one that `prefer` names for it ("aten::add.out=portable"),
    else from the first of `priority` that has it, else from the library added last.

    `cpu_variants` are the variants of microkernels to compile on hosts ("avx2"); the default is all.

    With `integers`, a program that is linked in is converted first: its quantized parts compute in
    integers, with results at most one quantization step of an operator's output apart. The converted file
    is in the folder `integers`; a runner that loads files takes it as well as the program itself. With
    several programs, the converted files are in `integers`, `integers-1` and so on.

    With `dtypes="model"`, operators of the models are compiled only for the models' dtypes; "all" compiles
    all dtypes. With `calls="model"`, they are compiled only for the shapes, layouts and numbers of the
    models' calls; others end in NotSupported. Operators whose dtypes nothing else selects get
    `only_dtypes`, or all. A host build also makes a Python extension module. All files are written below
    `output` (default:
    rushlight-build/<target>); a failed build leaves no executable there.

    Errors: UnknownTarget, MissingToolchain, MissingDependency, InvalidArgument, InvalidProgram,
    BackendNotFound, OperatorNotFound, InvalidSelection, BuildFailed.
    """
    if dtypes not in ("model", "all"):
        raise InvalidArgument(f"dtypes: expected 'model' or 'all', got '{dtypes}'")
    if calls not in ("model", "all"):
        raise InvalidArgument(f"calls: expected 'model' or 'all', got '{calls}'")
    chosen = targets.get(target)
    request = BuildRequest(
        target=target,
        models=_existing(models, "model"),
        data_files=_existing(data_files, "data file"),
        ops=tuple(ops),
        ops_yaml=_existing(ops_yaml, "YAML file"),
        all_ops=all_ops,
        dtypes=dtypes,
        calls=calls,
        only_dtypes=tuple(only_dtypes),
        kernels=existing_libraries(kernels),
        priority=tuple(priority),
        prefer=tuple(prefer),
        cpu_variants=tuple(cpu_variants),
        python_module=chosen.kind == "host",
        integers=integers,
        defines=dict(defines or {}),
    )
    if not (request.models or request.ops or request.ops_yaml or all_ops):
        raise InvalidArgument(
            "selection: expected a model, operators, a YAML file or all operators, got none",
            next_step="Give one of them.",
        )
    for model in request.models:
        refuse_delegates(read_model(model), defines, converted=True)
    for path in request.data_files:
        read_data_file(path)
    return run_request(
        request, Path(output or Path("rushlight-build") / target), jobs=jobs, progress=progress
    )


def refuse_delegates(
    program: Program, defines: Mapping[str, str] | None = None, *, converted: bool = False
) -> None:
    """Error: BackendNotFound for a program that delegates to a backend in a build without backends. A build
    with some (`-D RUSHLIGHT_BACKENDS=...`) checks this when it loads the program. `converted`: delegates
    of XNNPACK will become plain calls."""
    if (defines or {}).get(BACKENDS):
        return
    ids = dict.fromkeys(delegate.id for plan in program.plans for delegate in plan.delegates)
    missing = [each for each in ids if not (converted and each == XNNPACK)]
    if missing:
        raise BackendNotFound(missing, [])


def existing_libraries(paths: PathLike | Iterable[PathLike]) -> tuple[Path, ...]:
    """Kernel libraries as absolute paths. Error: InvalidArgument for a missing one."""
    return _existing(paths, "kernel library", folders=True)


def _existing(paths: PathLike | Iterable[PathLike], what: str, *, folders: bool = False) -> tuple[Path, ...]:
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    resolved = tuple(Path(path).resolve() for path in listed)
    for path in resolved:
        if not path.is_file() and not (folders and path.is_dir()):
            raise InvalidArgument(f"{what} {path}: no such {'file or folder' if folders else 'file'}")
    return resolved
