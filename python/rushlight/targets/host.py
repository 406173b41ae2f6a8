# SPDX-License-Identifier: BSD-3-Clause
"""The machine that rushlight itself runs on."""

from __future__ import annotations

import os
import platform
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rushlight import process
from rushlight.targets.target import Requirement, RunResult, missing_build_tools, missing_programs


@dataclass(frozen=True)
class Host:
    """Runs executables as they are."""

    name: str = "host"
    kind: str = "host"
    cpu: str = platform.machine()
    board: None = None
    toolchain_file: None = None
    pointer_bytes: int = struct.calcsize("P")

    def requirements(self) -> list[Requirement]:
        """See Target."""
        return missing_build_tools() + missing_programs({"c++": "g++"})

    def command(self, executable: Path, arguments: Sequence[str] = ()) -> list[str]:
        """See Target."""
        return [str(executable.absolute()), *arguments]

    def run(
        self,
        executable: Path,
        arguments: Sequence[str] = (),
        cwd: str | os.PathLike[str] | None = None,
        timeout: float = 60.0,
    ) -> RunResult:
        """See Target."""
        return process.run(self.command(executable, arguments), cwd=cwd, timeout=timeout)


TARGETS = (Host(),)
