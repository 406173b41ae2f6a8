# SPDX-License-Identifier: BSD-3-Clause
"""Builds wheels of this checkout and creates environments that hold them."""

from __future__ import annotations

import shutil
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from rushlight import process

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples" / "digits"


@dataclass(frozen=True)
class Environment:
    """A Python environment without pip."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def packages(self) -> Path:
        """The environment's site-packages."""
        return next(self.folder.glob("lib/python*/site-packages"))

    def install(self, *words: str | Path) -> None:
        """pip install, run from the environment of the tests."""
        process.run(
            [sys.executable, "-m", "pip", "--python", self.python, "install", "-q", *words], check=True
        )

    def run(self, *words: str | Path, cwd: Path) -> process.Result:
        """Runs the environment's Python outside of this checkout."""
        return process.run([self.python, *words], cwd=cwd, env={"PYTHONPATH": ""})


def build_wheel(source: Path, folder: Path, **defines: str) -> Path:
    """The wheel of a checkout or an sdist, built with the tools of the test environment. The build folder
    lies two levels below the sources, as in `./dev`: ccache then has most objects."""
    build = Path("build", "package")
    shutil.rmtree(source / build, ignore_errors=True)
    options = [f"-Ccmake.define.{name}={value}" for name, value in defines.items()]
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    process.run([*pip, "-w", folder, source, f"-Cbuild-dir={build}", *options], check=True)
    return next(folder.glob("rushlight-*.whl"))


def make_environment(folder: Path) -> Environment:
    venv.create(folder, with_pip=False, symlinks=True)
    return Environment(folder)
