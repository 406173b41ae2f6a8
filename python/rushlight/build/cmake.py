# SPDX-License-Identifier: BSD-3-Clause
"""Runs CMake: configures, then builds, with progress; a failure carries the log of the failed command."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from rushlight import process
from rushlight.build.compiler_cache import CacheUse, CompilerCache
from rushlight.codegen.arguments import FAILURE_FILE
from rushlight.codegen.options import spellings
from rushlight.documents import read_json
from rushlight.errors import BuildFailed, FileFailed, RushlightError
from rushlight.files import write_text

Progress = Callable[[str, float], None]
"""Called with a description of the current step and the share done, from 0 to 1."""

_LEAST_FREE = 1 << 20
"""Free bytes below which a disk counts as full: compilers then fail."""

_STEP = re.compile(r"^\[(\d+)/(\d+)\] (.*)")


def configure(source: Path, binary: Path, cache: Mapping[str, str], toolchain: Mapping[str, str]) -> None:
    """Writes the build files of `source` into `binary` with the given cache entries; the entries of
    `toolchain` choose the target. The build uses the sources through a link in its folder, so that no path
    in it depends on their location.

    Errors: BuildFailed with CMake's output; where code generation failed, its own error.
    """
    linked = binary / "source"
    command = ["cmake", "-S", str(linked), "-B", str(binary)]
    if process.find_program("ninja"):
        command += ["-G", "Ninja"]
    for name, value in toolchain.items():
        inside = Path(value).is_absolute() and Path(value).is_relative_to(source)
        command.append(f"-D{name}={linked / Path(value).relative_to(source) if inside else value}")
    command.append(f"-DPython_EXECUTABLE={sys.executable}")
    _start_afresh_unless(binary, "\n".join([*command, str(source), *spellings()]))
    if not linked.is_symlink():
        linked.symlink_to(source, target_is_directory=True)
    command += [f"-D{name}={value}" for name, value in cache.items()]
    failure = binary / "generator-failure.json"
    failure.unlink(missing_ok=True)
    result = process.run(command, env={FAILURE_FILE: str(failure.absolute())})
    made = [name for name in ("build.ninja", "Makefile") if (binary / name).is_file()]
    if result.returncode != 0 or not made:
        _refuse_full_disk(binary, result.stderr + result.stdout)
        if failure.is_file():
            raise RushlightError.from_data(read_json(failure))
        raise BuildFailed(command, result.stderr + result.stdout)


def _refuse_full_disk(binary: Path, log: str) -> None:
    """Error: FileFailed if the disk is full: CMake and compilers then report missing or truncated files
    instead."""
    if os.strerror(errno.ENOSPC) in log or shutil.disk_usage(binary).free < _LEAST_FREE:
        raise FileFailed.disk_full(binary)


def _start_afresh_unless(binary: Path, fixed: str) -> None:
    """Empties `binary` if it was configured with another source, toolchain, Python or options, since CMake
    keeps earlier results and entries in its cache."""
    stamp = binary / "configured-with.txt"
    same = stamp.is_file() and stamp.read_text() == fixed
    if not same and (binary / "CMakeCache.txt").is_file():
        shutil.rmtree(binary)
    binary.mkdir(parents=True, exist_ok=True)
    write_text(stamp, fixed)


def build(
    binary: Path,
    targets: list[str],
    jobs: int | None = None,
    progress: Progress | None = None,
    environment: Mapping[str, str] | None = None,
) -> CacheUse | None:
    """Builds `targets`; returns the use of the compiler cache, None without one. Error: BuildFailed with the
    end of the log."""
    command = ["cmake", "--build", str(binary), "--target", *targets]
    command += ["--parallel", str(jobs)] if jobs else ["--parallel"]

    def on_line(line: str) -> None:
        step = _STEP.match(line)
        if step and progress:
            done, total, what = int(step[1]), int(step[2]), step[3]
            progress(what.rsplit("/", 1)[-1].removesuffix(".o"), done / total)

    cache = CompilerCache(binary)
    cache.start()
    result = process.run(command, on_line=on_line, env={**cache.environment(), **(environment or {})})
    if result.returncode != 0:
        _refuse_full_disk(binary, result.stdout)
        raise BuildFailed(command, result.stdout)
    return cache.use()
