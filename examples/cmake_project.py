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
    print("$", _shown(words), flush=True)
    done = subprocess.run(words)
    if done.returncode != 0:
        sys.exit(done.returncode)


def build(source: Path, folder: Path, **entries: str | Path) -> None:
    """Configures and builds a project with cache entries for CMake, through ccache if it is installed.

    Code generation runs in the Python that runs this. Build output is shown only if the build fails.
    """
    defaults = {"Python_EXECUTABLE": sys.executable}
    if ccache := shutil.which("ccache"):
        defaults["CMAKE_CXX_COMPILER_LAUNCHER"] = ccache
    given, added = (
        [f"-D{name}={value}" for name, value in each.items()]
        for each in (entries, {name: value for name, value in defaults.items() if name not in entries})
    )
    _quiet(["cmake", "-S", source, "-B", folder, "-G", "Ninja", *given], added)
    _quiet(["cmake", "--build", folder, "-j", str(os.cpu_count() or 1)])


def _quiet(command: Sequence[str | Path], unsaid: Sequence[str] = ()) -> None:
    """Prints a command, and its output only if it fails. The words `unsaid` are added when it runs."""
    words = [str(word) for word in command]
    print("$", _shown(words), flush=True)
    done = subprocess.run([*words, *unsaid], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        print(done.stdout)
        sys.exit(done.returncode)


def _shown(words: Sequence[str]) -> str:
    """A command for a shell in the root of the checkout."""
    return " ".join(_short(shlex.quote(word)) for word in words)


def _short(word: str) -> str:
    """A path in the checkout as seen from its root; whole in cache entries, which projects read elsewhere."""
    root = "$PWD" if word.startswith("-D") else "."
    return word.replace(str(ROOT), root).replace("./", "")
