# SPDX-License-Identifier: BSD-3-Clause
"""Reads weights: safetensors, and the three encodings of GGUF that the tests need."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch

_DTYPES = {"F32": np.float32, "F16": np.float16, "I64": np.int64}


def read_safetensors(path: Path) -> dict[str, torch.Tensor]:
    """Tensors by name."""
    data = path.read_bytes()
    (size,) = struct.unpack_from("<Q", data)
    start = 8 + size
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            array = np.frombuffer(data[start + first : start + last], _DTYPES[entry["dtype"]])
            tensors[name] = torch.from_numpy(array.reshape(entry["shape"]).copy())
    return tensors


@dataclass(frozen=True)
class Gguf:
    """The metadata of a GGUF file, and its tensors as float32."""

    facts: dict[str, Any]
    tensors: dict[str, torch.Tensor]


class _Cursor:
    _NUMBERS: ClassVar = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def text(self) -> str:
        (size,) = self.take("Q")
        self.at += size
        return self.data[self.at - size : self.at].decode()

    def value(self, kind: int) -> Any:
        if kind == 8:
            return self.text()
        if kind == 9:
            inner, count = self.take("IQ")
            return [self.value(inner) for _ in range(count)]
        return self.take(self._NUMBERS[kind])[0]


def read_gguf(path: Path) -> Gguf:
    """The whole file, with weights dequantized."""
    cursor = _Cursor(path.read_bytes())
    _, _, count, facts_count = cursor.take("4sIQQ")
    facts = {cursor.text(): cursor.value(cursor.take("I")[0]) for _ in range(facts_count)}
    entries = []
    for _ in range(count):
        name, (dims,) = cursor.text(), cursor.take("I")
        entries.append((name, cursor.take(f"{dims}Q"), *cursor.take("IQ")))
    start = -(-cursor.at // 32) * 32
    tensors = {
        name: torch.from_numpy(_decoded(cursor.data, start + offset, math.prod(sizes), kind)).reshape(
            tuple(reversed(sizes))
        )
        for name, sizes, kind, offset in entries
    }
    return Gguf(facts, tensors)


def _decoded(data: bytes, at: int, count: int, kind: int) -> np.ndarray:
    """F32, Q4_1 (32 elements: scale, minimum, 4 bits each) or Q8_0 (32 elements: scale, 8 bits each)."""
    if kind == 0:
        return np.frombuffer(data, np.float32, count, at).copy()
    if kind == 3:
        layout = np.dtype([("scale", "<f2"), ("low", "<f2"), ("bits", "u1", 16)])
        blocks = np.frombuffer(data, layout, count // 32, at)
        codes = np.concatenate([blocks["bits"] & 15, blocks["bits"] >> 4], axis=1).astype(np.float32)
        scaled = codes * blocks["scale"].astype(np.float32)[:, None]
        return (scaled + blocks["low"].astype(np.float32)[:, None]).ravel()
    assert kind == 8, f"expected F32, Q4_1 or Q8_0, got type {kind}"
    layout = np.dtype([("scale", "<f2"), ("codes", "i1", 32)])
    blocks = np.frombuffer(data, layout, count // 32, at)
    return (blocks["codes"].astype(np.float32) * blocks["scale"].astype(np.float32)[:, None]).ravel()
