# SPDX-License-Identifier: BSD-3-Clause
"""Blobs that backends store by name: delegates read them at run time, and several delegates can share one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch


@dataclass(frozen=True)
class DataEntry:
    """The entry of a name: the index of its buffer, its alignment in bytes, and the layout of the tensor in
    it, if any."""

    buffer_index: int
    alignment: int = 1
    tensor_layout: object | None = None


@dataclass
class NamedDataStoreOutput:
    """Blobs without duplicates, with two maps of names: those in the program file, and those in data files by
    the file's tag."""

    buffers: list[bytes] = field(default_factory=list)
    pte_data: dict[str, DataEntry] = field(default_factory=dict)
    external_data: dict[str, dict[str, DataEntry]] = field(default_factory=dict)

    def named_data(self) -> dict[str, bytes]:
        """The blobs of the program file, by name."""
        return {key: bytes(self.buffers[entry.buffer_index]) for key, entry in self.pte_data.items()}


class NamedDataStore:
    """Collects blobs by name. Equal blobs are stored once, under all their names."""

    def __init__(self) -> None:
        self._output = NamedDataStoreOutput()
        self._index_of: dict[bytes, int] = {}
        self._named: dict[str, int] = {}

    def add_named_data(
        self,
        key: str,
        data: bytes | torch.Tensor,
        alignment: int | None = 1,
        external_tag: str | None = None,
        tensor_layout: object | None = None,
    ) -> None:
        """Stores `data` as `key`: in the program file, or in the data file of `external_tag`. A tensor is
        stored as its elements in memory order. `alignment` is in bytes; the least common multiple wins if
        a key is added twice.

        Errors: ValueError if the key exists with other data, or for an alignment below 1.
        """
        alignment = 1 if alignment is None else alignment
        if alignment <= 0:
            raise ValueError(f"named data '{key}': expected an alignment of at least 1, got {alignment}")
        blob = _tensor_bytes(data) if isinstance(data, torch.Tensor) else bytes(data)
        index = self._index_of.setdefault(blob, len(self._output.buffers))
        if self._named.setdefault(key, index) != index:
            size = len(self._output.buffers[self._named[key]])
            raise ValueError(
                f"named data '{key}': expected the {size} bytes stored before, got {len(blob)} others"
            )
        if index == len(self._output.buffers):
            self._output.buffers.append(blob)
        names = (
            self._output.pte_data
            if external_tag is None
            else self._output.external_data.setdefault(external_tag, {})
        )
        old = names.get(key)
        if old is not None:
            alignment = math.lcm(alignment, old.alignment)
        names[key] = DataEntry(index, alignment, tensor_layout)

    def get_named_data_store_output(self) -> NamedDataStoreOutput:
        """All blobs added so far."""
        return self._output

    def merge_named_data_store(self, other: NamedDataStoreOutput) -> None:
        """Adds the blobs of another store. Errors: ValueError, as for `add_named_data`."""
        for tag, names in [(None, other.pte_data), *other.external_data.items()]:
            for key, entry in names.items():
                blob = other.buffers[entry.buffer_index]
                self.add_named_data(key, bytes(blob), entry.alignment, tag, entry.tensor_layout)


def _tensor_bytes(tensor: torch.Tensor) -> bytes:
    """The elements of a dense tensor in the order of its strides, without gaps."""
    strides = tensor.stride()
    order = sorted(range(tensor.dim()), key=lambda dim: (-strides[dim], dim))
    flat = tensor.detach().cpu().permute(order).contiguous().flatten()
    return flat.view(torch.uint8).numpy().tobytes()
