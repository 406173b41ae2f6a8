# SPDX-License-Identifier: BSD-3-Clause
"""WebAssembly with the system interface WASI, run by wasmtime from PyPI."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rushlight.targets.row_target import RowTarget
from rushlight.targets.target import Requirement

WASMTIME = "wasmtime>=25"


@dataclass(frozen=True)
class Wasi(RowTarget):
    """A WebAssembly module. It opens files below the current folder only; links out of the folder do not
    work."""

    def missing_to_run(self) -> list[Requirement]:
        """See RowTarget."""
        if importlib.util.find_spec("wasmtime") is not None:
            return []
        return [Requirement("wasmtime", WASMTIME, installer="pip", only_to_run=True)]

    def command(self, executable: Path, arguments: Sequence[str] = ()) -> list[str]:
        """See Target."""
        script = self.table.folder / "wasi" / "run.py"
        return [sys.executable, str(script), str(executable.absolute()), *arguments]
