# SPDX-License-Identifier: BSD-3-Clause
"""The machine that rushlight itself runs on."""

from __future__ import annotations

import platform
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rushlight.targets.target import CommandTarget, Requirement, missing_build_tools, missing_items


@dataclass(frozen=True)
class Host(CommandTarget):
    """The host; runs executables directly."""

    name: str = "host"
    kind: str = "host"
    cpu: str = platform.machine()
    board: None = None
    compiler: str = ""
    compilers: tuple[str, ...] = ()
    pointer_bytes: int = struct.calcsize("P")

    @property
    def toolchain(self) -> dict[str, str]:
        """See Target."""
        return {}

    def requirements(self) -> list[Requirement]:
        """See Target."""
        return missing_build_tools() + missing_items({"c++": "g++"})

    def command(self, executable: Path, arguments: Sequence[str] = ()) -> list[str]:
        """See Target."""
        return [str(executable.absolute()), *arguments]
