# SPDX-License-Identifier: BSD-3-Clause
"""A program that was exported, in memory: to be saved, looked at, run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rushlight.export.emit import Pools
from rushlight.export.report import Report
from rushlight.program import FileImage, Program, ProgramParts, read_program, write_program
from rushlight.program.model import Method


@dataclass
class Exported:
    """What `rushlight.export` returns.

    Attributes:
        parts: the methods and their constants, as the file will have them.
        report: operators, memory and time.
    """

    parts: ProgramParts
    report: Report
    pools: Pools = field(repr=False)

    @classmethod
    def of(cls, methods: Sequence[Method], pools: Pools, report: Report) -> Exported:
        """The program of these methods."""
        constants, mutable = pools.constants.pieces, pools.mutable.pieces
        parts = ProgramParts(tuple(methods), constants, mutable, pools.named_data)
        exported = cls(parts, report, pools)
        report.constant_bytes = pools.constants.nbytes + pools.mutable.nbytes
        report.file_bytes = exported._image.nbytes
        return exported

    @cached_property
    def _image(self) -> FileImage:
        return write_program(self.parts)

    @property
    def buffer(self) -> bytes:
        """The bytes of the program file (.pte)."""
        return self._image.tobytes()

    @property
    def program(self) -> Program:
        """The program as its file will be read, to look at."""
        return read_program(self.buffer)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the program file. Errors: InvalidArgument for a path that cannot be written."""
        self._image.save(path)
