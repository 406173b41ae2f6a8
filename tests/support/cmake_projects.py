# SPDX-License-Identifier: BSD-3-Clause
"""Configures and builds CMake projects, through ccache if it is installed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from rushlight import process
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
