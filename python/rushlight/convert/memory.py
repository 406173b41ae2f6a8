# SPDX-License-Identifier: BSD-3-Clause
"""Tracks which storage occupies which bytes of planned memory while a method's code is scanned in order.

A file assigns offsets and reuses bytes. To move calls, the converter must know which write each read sees:
each write that covers its whole tensor begins a new storage and ends the storages previously in these
bytes.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from rushlight.lowered.instructions import Storage
from rushlight.program.model import TensorInfo


@dataclass(frozen=True)
class Piece:
    """The bytes from `start` to `end` of a bank that hold a part of `storage`; the storage's first byte is at
    `base`."""

    start: int
    end: int
    base: int
    storage: Storage


class PlannedMemory:
    """The banks of a method at one position of its code."""

    def __init__(self) -> None:
        self._pieces: dict[int, list[Piece]] = defaultdict(list)

    def find(self, tensor: TensorInfo) -> tuple[Storage, int] | None:
        """The storage that holds all bytes of a tensor, and the tensor's offset in it; None if no single
        storage does."""
        start, end = tensor.memory_offset, tensor.memory_offset + tensor.nbytes
        for piece in self._pieces[tensor.memory_id]:
            if piece.start <= start and end <= piece.end:
                return piece.storage, start - piece.base
        return None

    def touched(self, tensor: TensorInfo) -> list[Storage]:
        """The storages that overlap a tensor."""
        start, end = tensor.memory_offset, tensor.memory_offset + tensor.nbytes
        pieces = self._pieces[tensor.memory_id]
        return [piece.storage for piece in pieces if piece.start < end and start < piece.end]

    def put(self, tensor: TensorInfo, storage: Storage) -> None:
        """Assigns the tensor's bytes to a storage from here on."""
        start, end = tensor.memory_offset, tensor.memory_offset + tensor.nbytes
        kept = []
        for piece in self._pieces[tensor.memory_id]:
            if piece.start < start:
                kept.append(Piece(piece.start, min(piece.end, start), piece.base, piece.storage))
            if end < piece.end:
                kept.append(Piece(max(piece.start, end), piece.end, piece.base, piece.storage))
        self._pieces[tensor.memory_id] = [*kept, Piece(start, end, start, storage)]
