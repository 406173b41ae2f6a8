# SPDX-License-Identifier: BSD-3-Clause
"""Linux on other processors, run in QEMU's user mode; zig's static executables run directly on a matching
processor."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rushlight.targets.row_target import RowTarget
from rushlight.targets.target import Requirement, missing_items


@dataclass(frozen=True)
class Linux(RowTarget):
    """A Linux processor."""

    @property
    def emulator(self) -> tuple[str, ...]:
        """The words before an executable: none if it runs directly. QEMU finds the dynamic loader and the
        libraries in the folder of Debian's cross compiler."""
        if self.compiler != "zig":
            return (*self.row.emulator, "-L", f"/usr/{self.triple}")
        native = platform.system() == "Linux" and platform.machine() == self.row.processor
        return () if native else self.row.emulator

    def missing_to_run(self) -> list[Requirement]:
        """See RowTarget."""
        programs = self.emulator[:1]
        return missing_items({name: self.table.package(name) for name in programs}, only_to_run=True)

    def command(self, executable: Path, arguments: Sequence[str] = ()) -> list[str]:
        """See Target."""
        return [*self.emulator, str(executable.absolute()), *arguments]
