# SPDX-License-Identifier: BSD-3-Clause
"""rushlight.build: models and a target in, the smallest runner for them out."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rushlight import targets
from rushlight.build import cmake
from rushlight.build.inputs import check_build_folder, linked_inputs
from rushlight.build.result import BuildResult
from rushlight.build.sizes import read_sizes
from rushlight.documents import read_json
from rushlight.errors import BackendNotFound, InvalidArgument
from rushlight.files import locked, write_bytes, write_text
from rushlight.program import Program, is_bundled_program, read_bundled_program, read_data_file, read_model
from rushlight.sources import source_root

PathLike = str | os.PathLike[str]

RUNNER = "executor_runner"
_SUFFIXES = {"bare-metal": ".elf", "wasi": ".wasm"}


@dataclass(frozen=True)
class BuildRequest:
    """Everything that decides what is built; paths are absolute. `models` are programs and bundled
    programs, `data_files` the tensors that they leave out; a board gets both linked in. `kernels` are kernel
    libraries of one's own."""

    target: str
    models: tuple[Path, ...] = ()
    data_files: tuple[Path, ...] = ()
    ops: tuple[str, ...] = ()
    ops_yaml: tuple[Path, ...] = ()
    all_ops: bool = False
    dtypes: str = "model"
    kernels: tuple[Path, ...] = ()
    priority: tuple[str, ...] = ()
    prefer: tuple[str, ...] = ()
    python_module: bool = False
    defines: Mapping[str, str] = field(default_factory=dict)

    def cache_entries(self, target: targets.Target, embedded: Path | None = None) -> dict[str, str]:
        """CMake's cache entries for this request; `embedded` is a program to link in."""
        entries = {
            "CMAKE_BUILD_TYPE": "Release" if target.kind == "host" else "MinSizeRel",
            "EXECUTORCH_SELECT_OPS_LIST": ",".join(self.ops),
            "EXECUTORCH_SELECT_OPS_YAML": ";".join(map(str, self.ops_yaml)),
            "EXECUTORCH_SELECT_OPS_MODEL": ";".join(map(str, self.models)),
            "EXECUTORCH_SELECT_ALL_OPS": "ON" if self.all_ops else "OFF",
            "EXECUTORCH_ENABLE_DTYPE_SELECTIVE_BUILD": "ON" if self.dtypes == "model" else "OFF",
            "RUSHLIGHT_KERNEL_LIBRARIES": ";".join(map(str, self.kernels)),
            "RUSHLIGHT_LIBRARY_PRIORITY": ";".join(self.priority),
            "RUSHLIGHT_PREFER": ";".join(self.prefer),
            "RUSHLIGHT_BUILD_RUNNER": "ON",
            "RUSHLIGHT_BUILD_PYTHON": "ON" if self.python_module else "OFF",
            "RUSHLIGHT_EMBED_MODEL": str(embedded or ""),
            "RUSHLIGHT_EMBED_DATA": "",
        }
        if target.kind == "bare-metal":
            entries["RUSHLIGHT_LOG_LEVEL"] = "off"
            entries["RUSHLIGHT_EMBED_DATA"] = ";".join(map(str, self.data_files))
            # A board's runner that is given its model when it runs may be given anything.
            given = "" if embedded else "ON"
            entries["RUSHLIGHT_RUNNER_DATA_FILES"] = given
            entries["RUSHLIGHT_RUNNER_BUNDLED_PROGRAMS"] = given
        return {**entries, **self.defines}


def build(
    models: PathLike | Iterable[PathLike] = (),
    *,
    target: str = "host",
    data_files: PathLike | Iterable[PathLike] = (),
    ops: Sequence[str] = (),
    ops_yaml: PathLike | Iterable[PathLike] = (),
    all_ops: bool = False,
    dtypes: str = "model",
    kernels: PathLike | Iterable[PathLike] = (),
    priority: Sequence[str] = (),
    prefer: Sequence[str] = (),
    output: PathLike | None = None,
    defines: Mapping[str, str] | None = None,
    jobs: int | None = None,
    progress: cmake.Progress | None = None,
) -> BuildResult:
    """Builds executor_runner for `target` with the union of what is asked for: the operators of
    `models` (.pte or .bpte), `ops` by name ("aten::add.out"), those of `ops_yaml` files, or all. On bare
    metal a single model is linked in, of a bundled program the program inside, and so are `data_files`
    (.ptd), at most 8.

    `kernels` are kernel libraries of one's own: folders with a YAML file and sources, or the YAML files. An
    operator that several libraries offer is taken from the one that `prefer` names for it
    ("aten::add.out=portable"), from the first of `priority` that has it, or from the library added last.

    With `dtypes="model"` operators that models ask for are compiled for the models' dtypes only; "all"
    gives them every dtype they have. A host build also makes a Python extension module. Everything is
    written below `output` (default: rushlight-build/<target>); a failed build leaves no executable there.

    Errors: UnknownTarget, MissingToolchain, MissingDependency, InvalidArgument, InvalidProgram,
    BackendNotFound, OperatorNotFound, InvalidSelection, BuildFailed.
    """
    if dtypes not in ("model", "all"):
        raise InvalidArgument(f"dtypes: expected 'model' or 'all', got '{dtypes}'")
    chosen = targets.get(target)
    request = BuildRequest(
        target=target,
        models=_existing(models, "model"),
        data_files=_existing(data_files, "data file"),
        ops=tuple(ops),
        ops_yaml=_existing(ops_yaml, "YAML file"),
        all_ops=all_ops,
        dtypes=dtypes,
        kernels=existing_libraries(kernels),
        priority=tuple(priority),
        prefer=tuple(prefer),
        python_module=chosen.kind == "host",
        defines=dict(defines or {}),
    )
    if not (request.models or request.ops or request.ops_yaml or all_ops):
        raise InvalidArgument(
            "nothing is selected", next_step="Give a model, an operator list, a YAML file, or all operators."
        )
    for model in request.models:
        refuse_delegates(read_model(model), defines)
    for path in request.data_files:
        read_data_file(path)
    return run_request(
        request, Path(output or Path("rushlight-build") / target), jobs=jobs, progress=progress
    )


def run_request(
    request: BuildRequest,
    output: Path,
    *,
    jobs: int | None = None,
    progress: cmake.Progress | None = None,
    environment: Mapping[str, str] | None = None,
) -> BuildResult:
    """Builds what `request` says below `output`; `environment` is laid over this process's for compilers.
    While another process builds there, this one waits."""
    target = targets.get(request.target)
    output = output.resolve()
    with alone_in(output), made_or_gone(output / (RUNNER + _SUFFIXES.get(target.kind, ""))) as executable:
        target.check_builds()
        return _build(request, target, output, executable, jobs, progress, environment)


def _build(
    request: BuildRequest,
    target: targets.Target,
    output: Path,
    executable: Path,
    jobs: int | None,
    progress: cmake.Progress | None,
    environment: Mapping[str, str] | None,
) -> BuildResult:
    start = time.monotonic()
    binary = output / "cmake-build"
    if progress:
        progress("configuring", 0.0)
    request = replace(
        request,
        models=linked_inputs(request.models, output),
        data_files=linked_inputs(request.data_files, output),
        ops_yaml=linked_inputs(request.ops_yaml, output),
        kernels=linked_inputs(request.kernels, output),
    )
    embedded = _embedded(request, target, output)
    cmake.configure(source_root(), binary, request.cache_entries(target, embedded), target.toolchain)
    configured = time.monotonic() - start
    wanted = [RUNNER] + (["rushlight_python"] if request.python_module else [])
    used = cmake.build(binary, wanted, jobs, progress, environment)
    put_executable(binary / RUNNER, executable)
    selected = binary / "generated" / "selected_kernels.json"
    result = BuildResult(
        target=request.target,
        output=output,
        executable=executable,
        extension=_extension(binary) if request.python_module else None,
        selection=read_selection(selected),
        sizes=read_sizes(executable),
        seconds=time.monotonic() - start,
        configure_seconds=configured,
        compiler_cache=used,
        linked_model=embedded,
        delegates=read_json(selected)["delegates"],
    )
    write_text(output / "build.json", json.dumps(result.to_json(), indent=1) + "\n")
    return result


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Builds in a folder; another process that does so is waited for. Errors: InvalidArgument for a folder
    that nothing can be built in, FileFailed for one that cannot be written."""
    check_build_folder(folder)
    with locked(folder):
        yield


@contextlib.contextmanager
def made_or_gone(executable: Path) -> Iterator[Path]:
    """What makes an executable: when it fails, none of an earlier build is taken for this one's. Until it has
    made one, others may go on using that of before."""
    try:
        yield executable
    except BaseException:
        with contextlib.suppress(OSError):
            executable.unlink()
        raise


def _embedded(request: BuildRequest, target: targets.Target, output: Path) -> Path | None:
    """The program that a board gets linked in: the only model. That of a bundled program is written apart:
    inside it is not aligned as flash has to have it."""
    if target.kind != "bare-metal" or len(request.models) != 1:
        return None
    (model,) = request.models
    data = model.read_bytes()
    if not is_bundled_program(data):
        return model
    inside = output / f"{model.stem}.pte"
    program = read_bundled_program(data).program
    if not inside.is_file() or inside.read_bytes() != program:
        write_bytes(inside, program)
    return inside


def refuse_delegates(program: Program, defines: Mapping[str, str] | None = None) -> None:
    """Error: BackendNotFound, for a program that hands work to a backend in a build without backends. A
    build with some (`RUSHLIGHT_BACKENDS`) finds out when it loads the program."""
    if (defines or {}).get("RUSHLIGHT_BACKENDS"):
        return
    missing = list(dict.fromkeys(delegate.id for plan in program.plans for delegate in plan.delegates))
    if missing:
        raise BackendNotFound(missing, [])


def existing_libraries(paths: PathLike | Iterable[PathLike]) -> tuple[Path, ...]:
    """Kernel libraries as absolute paths. Error: InvalidArgument for one that is not there."""
    return _existing(paths, "kernel library", folders=True)


def _existing(paths: PathLike | Iterable[PathLike], what: str, *, folders: bool = False) -> tuple[Path, ...]:
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    resolved = tuple(Path(path).resolve() for path in listed)
    for path in resolved:
        if not path.is_file() and not (folders and path.is_dir()):
            raise InvalidArgument(f"{what} {path}: no such {'file or folder' if folders else 'file'}")
    return resolved


def put_executable(linked: Path, executable: Path) -> None:
    """Moves a link to the build's own file into place, in one step."""
    copy = linked.with_name(linked.name + ".new")
    copy.unlink(missing_ok=True)
    os.link(linked, copy)
    copy.replace(executable)


def _extension(binary: Path) -> Path:
    return next((binary / "python" / "bindings").glob("_runtime*.so"))


def read_selection(path: Path) -> dict[str, list[str]]:
    """Operator names and their dtypes, of a build's selected_kernels.json."""
    operators = read_json(path)["operators"]
    return {name: list(row["dtypes"]) for name, row in sorted(operators.items())}
