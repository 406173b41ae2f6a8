# SPDX-License-Identifier: BSD-3-Clause
"""Configures and builds CMake projects, through ccache if it is installed, in folders where it has objects
of other builds."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rushlight import process
from rushlight.documents import read_json
from support.environments import ROOT

INTEROP = ROOT / "tests" / "interop"
CONSUMERS = ROOT / "tests" / "package" / "consumers"
"""Projects that use rushlight."""

MODELS = {name: INTEROP / name / "model.pte" for name in ("f64_add", "multi_method", "mutable_counter")}
"""Programs that these projects run."""

JOBS = os.cpu_count() or 1


def configure(source: Path, build: Path, **entries: str | Path) -> process.Result:
    """CMake's configure step with cache entries. Error: CommandFailed."""
    if ccache := shutil.which("ccache"):
        entries["CMAKE_CXX_COMPILER_LAUNCHER"] = ccache
    defines = [f"-D{name}={value}" for name, value in entries.items()]
    return process.run(["cmake", "-S", source, "-B", build, "-G", "Ninja", *defines], check=True)


def build(folder: Path) -> None:
    """CMake's build step. Error: CommandFailed."""
    process.run(["cmake", "--build", folder, "-j", str(JOBS)], check=True, timeout=1200)


@contextlib.contextmanager
def folder_near_sources(name: str) -> Iterator[Path]:
    """An empty folder for a build of the checkout, removed in the end. Like the build folders of `./dev` it
    is two levels below the sources. `./dev` lets ccache store paths relative to the build folder, so such
    builds share the objects whose flags and generated headers are the same; folders at another depth do
    not."""
    (ROOT / "build").mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=ROOT / "build"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


COMMANDS = {"CMAKE_EXPORT_COMPILE_COMMANDS": "ON"}
"""Environment of a configure step that writes what `compile_without_warnings` reads."""


def compile_without_warnings(build: Path, source: Path) -> list[str]:
    """Compiles the files of a project again with -Wall -Wextra -Werror, and returns their names. As CXXFLAGS
    these flags would also apply to rushlight's tree, which would then share no object with another build.
    Error: CommandFailed."""
    names = []
    for entry in read_json(build / "compile_commands.json"):
        if (file := Path(entry["file"])).parent == source:
            words = [*shlex.split(entry["command"]), "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
            process.run(words, cwd=Path(entry["directory"]), check=True)
            names.append(file.name)
    return names
