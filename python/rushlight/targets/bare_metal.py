# SPDX-License-Identifier: BSD-3-Clause
"""Microcontroller cores on the boards of toolchains/boards/, run in QEMU with a deterministic clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rushlight.documents import read_json
from rushlight.errors import BuildOnly, InvalidArgument
from rushlight.targets.row_target import RowTarget
from rushlight.targets.target import Requirement, missing_items


@dataclass(frozen=True)
class BareMetal(RowTarget):
    """One core on one board; the target is named after the core, or after the board if the board has its own
    target name."""

    @property
    def cpu(self) -> str:
        """See Target."""
        return self.row.core

    @property
    def build_only(self) -> str:
        """See Target."""
        reason: str = self.description().get("build_only", "")
        return reason

    def description(self) -> dict[str, Any]:
        """The board's board.json; toolchains/boards/README.md has the fields."""
        path = self.table.folder / "boards" / str(self.row.board) / "board.json"
        description: dict[str, Any] = read_json(path)
        return description

    def banks(self) -> dict[str, str]:
        """See Target."""
        banks: dict[str, str] = self.description()["banks"]
        return banks

    def bank_bytes(self) -> dict[str, int]:
        """See Target."""
        return {bank["name"]: bank["bytes"] for bank in self.description()["memory"]}

    def libraries(self) -> list[str]:
        """See RowTarget. The C++ headers need no library; RISC-V uses Arm's, since Debian has none for it."""
        return [f"/usr/lib/picolibc/{self.triple}/picolibc.specs", "/usr/include/newlib/c++"]

    def missing_to_run(self) -> list[Requirement]:
        """See RowTarget."""
        programs = self.description()["emulator"][:1]
        return missing_items({name: self.table.package(name) for name in programs}, only_to_run=True)

    def command(self, executable: Path, arguments: Sequence[str] = ()) -> list[str]:
        """See Target."""
        if self.build_only:
            raise BuildOnly(self.name, self.build_only)
        for argument in arguments:
            if not argument or "\n" in argument:
                raise InvalidArgument(f"argument of a board: expected one line of text, got {argument!r}")
        board = self.description()
        script = self.table.folder / "boards" / "startup" / "run.sh"
        emulator = [*board["emulator"], "-icount", f"shift={board['icount_shift']}"]
        return ["sh", str(script), *emulator, "--", str(executable.absolute()), *arguments]
