# SPDX-License-Identifier: BSD-3-Clause
"""The steps of a build, for interpreting and baked runners: bake, configure, compile, move the executable to
its path, measure it."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rushlight import targets
from rushlight.build import cmake
from rushlight.build.inputs import check_build_folder, linked_inputs
from rushlight.build.request import BuildRequest
from rushlight.build.result import BuildResult
from rushlight.build.sizes import read_sizes
from rushlight.codegen.bake import Baked, bake, program_name
from rushlight.convert.files import converted_model, delegate_programs
from rushlight.documents import read_json
from rushlight.errors import InvalidArgument
from rushlight.files import locked, write_bytes, write_text
from rushlight.program import is_bundled_program, read_bundled_program, read_data_file, read_model
from rushlight.sources import source_root


@dataclass(frozen=True)
class Made:
    """The results of a build: the public result, CMake's folder with all other outputs, and the baked
    programs."""

    result: BuildResult
    binary: Path
    programs: tuple[Baked, ...]


def run_request(
    request: BuildRequest,
    output: Path,
    *,
    jobs: int | None = None,
    progress: cmake.Progress | None = None,
    environment: Mapping[str, str] | None = None,
) -> BuildResult:
    """Builds `request` below `output`; `environment` adds to this process's environment for compilers. Waits
    while another process builds there."""
    return make(request, output, jobs=jobs, progress=progress, environment=environment).result


def make(
    request: BuildRequest,
    output: Path,
    *,
    jobs: int | None = None,
    progress: cmake.Progress | None = None,
    environment: Mapping[str, str] | None = None,
) -> Made:
    """As run_request, but returns all results."""
    target = targets.get(request.target)
    output = output.resolve()
    with alone_in(output), made_or_gone(output / request.file_name(target)) as executable:
        target.check_builds()
        start = time.monotonic()
        request = _with_links(_converted(request, target, output), output)
        programs = _bake(request, target, output / "baked", progress)
        folders = [program.folder for program in programs]
        if folders:
            selected = tuple(folder / "selected_operators.yaml" for folder in folders)
            request = replace(request, ops_yaml=(*request.ops_yaml, *selected))
        if progress:
            progress("configuring", 0.0)
        model, embedded = _embedded(request, target, output)
        binary = output / "cmake-build"
        entries = request.cache_entries(target, embedded, folders)
        cmake.configure(source_root(), binary, entries, target.toolchain)
        configured = time.monotonic() - start
        wanted = request.cmake_targets([program.name for program in programs])
        used = cmake.build(binary, wanted, jobs, progress, environment)
        put_executable(binary / request.runner, executable)
        selected_kernels = binary / "generated" / "selected_kernels.json"
        result = BuildResult(
            target=request.target,
            output=output,
            executable=executable,
            extension=_extension(binary) if request.python_module else None,
            selection=read_selection(selected_kernels),
            sizes=read_sizes(executable),
            seconds=time.monotonic() - start,
            configure_seconds=configured,
            compiler_cache=used,
            linked_model=model,
            delegates=read_json(selected_kernels)["delegates"],
        )
        write_text(output / "build.json", json.dumps(result.to_json(), indent=1) + "\n")
        return Made(result, binary, programs)


def _converted(request: BuildRequest, target: targets.Target, output: Path) -> BuildRequest:
    """The request with converted programs. They replace the program that a board links in. Runners that load
    files get the operators of both forms, and on hosts also the operators of the programs inside
    delegates."""
    folders = ("integers", *(f"integers-{number}" for number in range(1, len(request.models))))
    converted = [
        converted_model(each, output / at, integers=request.integers, data_files=request.data_files)
        for each, at in zip(request.models, folders, strict=False)
    ]
    if target.kind == "bare-metal" and request.links_model:
        files = _still_needed(converted, request.data_files)
        return replace(request, models=tuple(converted), data_files=files)
    inside: list[Path] = []
    if target.kind in ("host", "linux"):
        for each, at in zip(request.models, folders, strict=False):
            folder = output / at.replace("integers", "delegates")
            inside += delegate_programs(each, folder, data_files=request.data_files)
    return replace(request, models=tuple(dict.fromkeys((*request.models, *converted, *inside))))


def _still_needed(models: Sequence[Path], data_files: Sequence[Path]) -> tuple[Path, ...]:
    """The data files that the programs still use: conversion copies the data of delegates into the
    program."""
    methods = [method for model in models for method in read_model(model).plans]
    if any(method.delegates for method in methods):
        return tuple(data_files)
    names = {tensor.name for method in methods for tensor in method.external_tensors()}
    return tuple(path for path in data_files if names & set(read_data_file(path).keys()))


def _with_links(request: BuildRequest, output: Path) -> BuildRequest:
    """The request with paths that CMake and the assembler accept."""
    return replace(
        request,
        models=linked_inputs(request.models, output),
        data_files=linked_inputs(request.data_files, output),
        ops_yaml=linked_inputs(request.ops_yaml, output),
        kernels=linked_inputs(request.kernels, output),
    )


def _bake(
    request: BuildRequest, target: targets.Target, folder: Path, progress: cmake.Progress | None
) -> tuple[Baked, ...]:
    """Writes the C++ of each program to bake, in a folder named like the program. Errors: InvalidArgument for
    two programs of the same name; as bake()."""
    weights = "array" if target.kind == "wasi" else "incbin"  # the assembler file needs ELF
    programs: list[Baked] = []
    for wanted in request.baked:
        if progress:
            progress("baking", 0.0)
        name = program_name(wanted.model, wanted.name)
        if any(name == other.name for other in programs):
            raise InvalidArgument(f"baked program '{name}': expected a unique name, got it twice")
        programs.append(
            bake(
                wanted.model,
                folder / name,
                name=name,
                data_files=wanted.data_files,
                kernels=request.kernels,
                weights=weights,
            )
        )
    return tuple(programs)


def _embedded(
    request: BuildRequest, target: targets.Target, output: Path
) -> tuple[Path | None, tuple[Path, ...]]:
    """The program to link into a board's runner (the only model), and all files to link in. The program of a
    bundle is written to a separate file: inside the bundle it lacks the alignment that flash needs."""
    if target.kind != "bare-metal":
        return None, ()
    if not request.links_model:
        return None, request.data_files
    (model,) = request.models
    data = model.read_bytes()
    if is_bundled_program(data):
        model = output / f"{model.stem}.pte"
        program = read_bundled_program(data).program
        if not model.is_file() or model.read_bytes() != program:
            write_bytes(model, program)
    return model, (model, *request.data_files)


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Locks the build folder; waits for another process that builds there. Errors: InvalidArgument for a path
    that tools would misread, FileFailed for a folder that cannot be written."""
    check_build_folder(folder)
    with locked(folder):
        yield


@contextlib.contextmanager
def made_or_gone(executable: Path) -> Iterator[Path]:
    """Removes the executable if the block fails, so that an earlier build's is not mistaken for this one's.
    Until the new one replaces it, the earlier one stays usable."""
    try:
        yield executable
    except BaseException:
        with contextlib.suppress(OSError):
            executable.unlink()
        raise


def put_executable(linked: Path, executable: Path) -> None:
    """Replaces the executable by a hard link to the build's file, atomically."""
    copy = linked.with_name(linked.name + ".new")
    copy.unlink(missing_ok=True)
    os.link(linked, copy)
    copy.replace(executable)


def _extension(binary: Path) -> Path:
    return next((binary / "python" / "bindings").glob("_runtime*.so"))


def read_selection(path: Path) -> dict[str, list[str]]:
    """The operators and their dtypes, from a build's selected_kernels.json."""
    operators = read_json(path)["operators"]
    return {name: list(row["dtypes"]) for name, row in sorted(operators.items())}
