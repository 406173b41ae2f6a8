# SPDX-License-Identifier: BSD-3-Clause
"""Builds the C++ projects of the examples: CMake's configure and build steps, each printed before it runs."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The checkout."""


def run(command: Sequence[str | Path]) -> None:
    """Prints a command and runs it; ends the script with its exit status if it fails."""
    words = [str(word) for word in command]
    print("$", shlex.join(_short(word) for word in words), flush=True)
    done = subprocess.run(words)
    if done.returncode != 0:
        sys.exit(done.returncode)


def build(source: Path, folder: Path, **entries: str | Path) -> None:
    """Configures and builds a project with cache entries for CMake, through ccache if it is installed.

    Code generation runs in the Python that runs this. Build output is shown only if the build fails.
    """
    if ccache := shutil.which("ccache"):
        entries.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", ccache)
    entries.setdefault("Python_EXECUTABLE", sys.executable)
    defines = [f"-D{name}={value}" for name, value in entries.items()]
    _quiet(["cmake", "-S", source, "-B", folder, "-G", "Ninja", *defines])
    _quiet(["cmake", "--build", folder, "-j", str(os.cpu_count() or 1)])


def _quiet(command: Sequence[str | Path]) -> None:
    words = [str(word) for word in command]
    print("$", shlex.join(_short(word) for word in words), flush=True)
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        print(done.stdout)
        sys.exit(done.returncode)


def _short(word: str) -> str:
    """Paths in the checkout as seen from its root."""
    return word.replace(f"{ROOT}/", "").replace(str(ROOT), ".")
