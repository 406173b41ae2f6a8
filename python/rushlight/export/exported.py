# SPDX-License-Identifier: BSD-3-Clause
"""An exported program in memory, to save, inspect or execute."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rushlight.errors import InvalidArgument
from rushlight.export.lower.data import stored_bytes
from rushlight.export.options import MethodSource
from rushlight.export.report.bundle import expected_suites
from rushlight.export.report.debug import debug_record
from rushlight.export.report.report import Report
from rushlight.lowered.emit import Pools
from rushlight.program import (
    DataEntry,
    DebugRecord,
    FileImage,
    Program,
    ProgramParts,
    read_program,
    write_bundled_program,
    write_data_file,
    write_program,
)
from rushlight.program.debug import debug_record_path
from rushlight.program.model import Method


@dataclass
class Exported:
    """The result of `rushlight.export`.

    Attributes:
        parts: the methods and their constants, as in the file.
        report: operators, memory and time.
        sources: the models of the methods, which give expected outputs.
    """

    parts: ProgramParts
    report: Report
    sources: Mapping[str, MethodSource] = field(repr=False)
    pools: Pools = field(repr=False)

    @classmethod
    def of(
        cls, methods: Sequence[Method], pools: Pools, report: Report, sources: Mapping[str, MethodSource]
    ) -> Exported:
        """Assembles the program of these methods."""
        parts = ProgramParts(tuple(methods), pools.constants.pieces, pools.mutable.pieces, pools.named_data)
        exported = cls(parts, report, sources, pools)
        report.constant_bytes = pools.constants.nbytes + pools.mutable.nbytes
        report.external_bytes = sum(len(entry.data) for entry in exported._external)
        report.file_bytes = exported._image.nbytes
        return exported

    @cached_property
    def _image(self) -> FileImage:
        return write_program(self.parts)

    @cached_property
    def _external(self) -> list[DataEntry]:
        return [
            DataEntry(
                key=name,
                segment=0,
                data=stored_bytes(tensor, operand.dim_order).data,
                dtype=operand.dtype,
                sizes=operand.sizes,
                dim_order=operand.dim_order,
            )
            for name, (operand, tensor) in self.pools.external.items()
        ] + [DataEntry(key, memoryview(data)) for key, data in self.pools.external_data.items()]

    @property
    def buffer(self) -> bytes:
        """The bytes of the program file (.pte)."""
        return self._image.tobytes()

    @property
    def data_buffer(self) -> bytes | None:
        """The bytes of the data file (.ptd) with the external constants; None if all constants are in the
        program."""
        return write_data_file(self._external).tobytes() if self._external else None

    @property
    def stored_bytes(self) -> int:
        """The size in bytes of the program file plus the data file, without writing either."""
        data = write_data_file(self._external).nbytes if self._external else 0
        return self._image.nbytes + data

    @property
    def program(self) -> Program:
        """The program as read back from its file's bytes."""
        return read_program(self.buffer)

    @property
    def debug(self) -> DebugRecord:
        """The origin of each instruction in the model: modules and source lines."""
        return debug_record(self._image, self.report.methods)

    def save(self, path: str | os.PathLike[str], *, debug: bool = False) -> None:
        """Writes the program file, and the data file beside it (model.ptd) if constants are external.

        Args:
            path: the path of the program file, such as "model.pte".
            debug: also write the debug record (model.debug.json), which maps instructions to source lines.

        Errors: FileFailed if a path cannot be written.
        """
        self._image.save(path)
        if self._external:
            write_data_file(self._external).save(Path(path).with_suffix(".ptd"))
        if debug:
            self.debug.save(debug_record_path(path))

    def save_bundled(
        self, path: str | os.PathLike[str], cases: Mapping[str, Sequence[Sequence[Any]]] | None = None
    ) -> None:
        """Writes a bundled program (.bpte): the program, test cases, and the outputs that the PyTorch models
        compute for them.

        Args:
            path: the path of the file to write.
            cases: for each method, the positional inputs of its calls, made in order on one instance;
                None calls each method once with its example inputs.

        Errors: FileFailed if the path cannot be written; InvalidArgument for an unknown method, external
        constants, and values that the format cannot hold.
        """
        names = [method.name for method in self.parts.methods]
        for name in cases or {}:
            if name not in names:
                raise InvalidArgument(f"cases: expected a method of {', '.join(names)}, got '{name}'")
        if self._external:
            raise InvalidArgument(
                "bundled program: expected all constants inside, got external ones: export without `external`"
            )
        write_bundled_program(self._image, expected_suites(self.sources, cases)).save(path)
