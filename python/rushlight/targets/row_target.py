# SPDX-License-Identifier: BSD-3-Clause
"""The common part of all targets of the table; the kinds differ in their requirements and in how they run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rushlight.targets.compilers import missing_tools
from rushlight.targets.table import Row, Table
from rushlight.targets.target import CommandTarget, Requirement


@dataclass(frozen=True)
class RowTarget(CommandTarget, ABC):
    """A row of the table with one of its compilers, under the requested name."""

    table: Table
    row: Row
    compiler: str
    name: str

    @property
    def kind(self) -> str:
        """See Target."""
        return self.row.kind

    @property
    def cpu(self) -> str:
        """See Target."""
        return self.triple

    @property
    def triple(self) -> str:
        """The target triple in the compiler's spelling."""
        return self.row.triples[self.compiler]

    @property
    def board(self) -> str | None:
        """See Target."""
        return self.row.board

    @property
    def pointer_bytes(self) -> int:
        """See Target."""
        return self.row.pointer_bytes

    @property
    def compilers(self) -> tuple[str, ...]:
        """See Target."""
        return tuple(self.row.triples)

    @property
    def toolchain(self) -> dict[str, str]:
        """See Target."""
        return {
            "CMAKE_TOOLCHAIN_FILE": str(self.table.folder / "target.cmake"),
            "RUSHLIGHT_TARGET": self.row.name,
            "RUSHLIGHT_COMPILER": self.compiler,
        }

    @abstractmethod
    def command(self, executable: Path, arguments: Sequence[str] = ()) -> list[str]:
        """See Target."""

    def libraries(self) -> list[str]:
        """Files that gcc and clang need in addition to gcc itself."""
        return []

    def missing_to_run(self) -> list[Requirement]:
        """The missing requirements for running programs."""
        return []

    def requirements(self) -> list[Requirement]:
        """See Target."""
        missing = missing_tools(self.table, self.compiler, self.triple, self.libraries())
        return missing + self.missing_to_run()
