# SPDX-License-Identifier: BSD-3-Clause
"""Collects a program's constants and initial states in one block of bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rushlight.errors import InvalidArgument, InvalidProgram
from rushlight.program import DataEntry, Program, Storage, TensorInfo

ALIGNMENT = 16


@dataclass
class Weights:
    """Data without duplicates, each piece at a multiple of 16 bytes. `external` has the data outside the
    program, by key."""

    program: Program
    external: Mapping[str, DataEntry]
    blob: bytearray = field(default_factory=bytearray)
    _offsets: dict[bytes, int] = field(default_factory=dict)

    def add(self, tensor: TensorInfo) -> int:
        """The offset of the tensor's bytes. Errors: InvalidArgument, InvalidProgram (see `content`)."""
        content = bytes(self.content(tensor))
        offset = self._offsets.get(content)
        if offset is None:
            self.blob += bytes(-len(self.blob) % ALIGNMENT)
            offset = self._offsets[content] = len(self.blob)
            self.blob += content
            self._check_size()
        return offset

    def _check_size(self) -> None:
        """Errors: InvalidProgram if overlapping pieces of a hostile file add up to more than twice its size;
        a real model's pieces do not overlap."""
        held = len(self.program.data) + sum(len(entry.data) for entry in self.external.values())
        if len(self.blob) > 2 * held + ALIGNMENT:
            raise InvalidProgram("program: expected constants of at most twice the file's bytes, got more")

    def content(self, tensor: TensorInfo) -> memoryview:
        """The file's bytes for the tensor.

        Errors: InvalidArgument if no data file has it, InvalidProgram if the data file has another dtype
        or layout.
        """
        if tensor.storage is not Storage.EXTERNAL:
            return self.program.constant(tensor)
        entry = self.external.get(tensor.name)
        if entry is None:
            raise InvalidArgument(
                f"tensor '{tensor.name}': expected a data file with it, got none",
                next_step="Pass the .ptd file that was exported with the program: --data weights.ptd",
            )
        expected = (tensor.dtype, tensor.sizes, tensor.dim_order)
        if (entry.dtype, entry.sizes, entry.dim_order) != expected:
            raise InvalidProgram(
                f"tensor '{tensor.name}': expected {tensor.dtype} of {list(tensor.sizes)}, got "
                f"{entry.dtype} of {list(entry.sizes)}"
            )
        return entry.data[: tensor.nbytes]
