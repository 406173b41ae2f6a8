# SPDX-License-Identifier: BSD-3-Clause
"""WebAssembly with the system interface WASI: built by ziglang, run by wasmtime, both from PyPI."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rushlight.sources import source_root
from rushlight.targets.target import CommandTarget, Requirement
from rushlight.targets.zig import missing_zig_tools

WASMTIME = "wasmtime>=25"


@dataclass(frozen=True)
class Wasi(CommandTarget):
    """A module of 32-bit WebAssembly; files are opened below the current folder, links out of it are not
    followed."""

    name: str
    cpu: str
    pointer_bytes: int = 4
    kind: str = "wasi"
    board: None = None

    @property
    def toolchain_file(self) -> Path:
        """See Target."""
        return source_root() / "toolchains" / f"{self.name}.cmake"

    def requirements(self) -> list[Requirement]:
        """See Target."""
        missing = missing_zig_tools()
        if importlib.util.find_spec("wasmtime") is None:
            missing.append(Requirement("wasmtime", WASMTIME, installer="pip", only_to_run=True))
        return missing

    def command(self, executable: Path, arguments: Sequence[str] = ()) -> list[str]:
        """See Target."""
        script = source_root() / "toolchains" / "wasi" / "run.py"
        return [sys.executable, str(script), str(executable.absolute()), *arguments]


TARGETS = (Wasi("wasm32", "wasm32-wasi"),)
