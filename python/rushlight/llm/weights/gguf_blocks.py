# SPDX-License-Identifier: BSD-3-Clause
"""Converts block-quantized tensors of GGUF to block weights with the same values and the same steps.

Scales stay float16 where the file stores one per group. K types (blocks of 256 elements) multiply a
float16 scale by small integers: their products need float32. Types of 5 and 6 bits become 8 bits.
Reference: the structures block_* in ggml's ggml-common.h.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rushlight.llm.blocks import Array, BlockFormat, BlockMatrix, Blocks
from rushlight.llm.weights.gguf import GgufTensor

Bytes = NDArray[np.uint8]

FORMATS = {
    "Q4_0": BlockFormat(4, 32, "float16", False),
    "Q4_1": BlockFormat(4, 32, "float16", True),
    "Q5_0": BlockFormat(8, 32, "float16", False),
    "Q5_1": BlockFormat(8, 32, "float16", True),
    "Q8_0": BlockFormat(8, 32, "float16", False),
    "Q4_K": BlockFormat(4, 32, "float32", True),
    "Q5_K": BlockFormat(8, 32, "float32", True),
    "Q6_K": BlockFormat(8, 16, "float32", False),
}
"""The block format of each type."""

_BLOCK_BYTES = {
    "Q4_0": 18,
    "Q4_1": 20,
    "Q5_0": 22,
    "Q5_1": 24,
    "Q8_0": 34,
    "Q4_K": 144,
    "Q5_K": 176,
    "Q6_K": 210,
}


class GgufBlocks(BlockMatrix):
    """A block-quantized matrix of a GGUF file."""

    def __init__(self, tensor: GgufTensor) -> None:
        super().__init__(FORMATS[tensor.type], tensor.data.shape[0], tensor.sizes[-1])
        self._tensor = tensor

    def rows(self, start: int, stop: int) -> Blocks:
        """See BlockMatrix."""
        kind = self._tensor.type
        raw = self._tensor.data[start:stop]
        q, scales, minimums = _READERS[kind](raw.reshape(-1, _BLOCK_BYTES[kind]))
        rows = stop - start
        return Blocks(
            self.format,
            q.reshape(rows, -1),
            scales.reshape(rows, -1),
            None if minimums is None else minimums.reshape(rows, -1),
        )


Parts = tuple[Array, Array, Array | None]
"""For each block: q, the scales, and the minimums or None."""


def _half(raw: Bytes, at: int) -> Array:
    return np.ascontiguousarray(raw[:, at : at + 2]).view("<f2")


def _nibbles(raw: Bytes) -> Bytes:
    """The low halves of the bytes, then the high halves."""
    return np.concatenate([raw & 15, raw >> 4], axis=-1)


def _fifth_bits(raw: Bytes) -> Bytes:
    """The bits of 4 bytes as 32 elements, each 0 or 16."""
    bits: Bytes = np.unpackbits(raw, axis=1, bitorder="little")
    moved: Bytes = bits << np.uint8(4)
    return moved


def _q4_0(raw: Bytes) -> Parts:
    return _nibbles(raw[:, 2:]), _half(raw, 0), None


def _q4_1(raw: Bytes) -> Parts:
    return _nibbles(raw[:, 4:]), _half(raw, 0), _half(raw, 2)


def _q5_0(raw: Bytes) -> Parts:
    return (_nibbles(raw[:, 6:]) | _fifth_bits(raw[:, 2:6])) + np.uint8(128 - 16), _half(raw, 0), None


def _q5_1(raw: Bytes) -> Parts:
    return _nibbles(raw[:, 8:]) | _fifth_bits(raw[:, 4:8]), _half(raw, 0), _half(raw, 2)


def _q8_0(raw: Bytes) -> Parts:
    return raw[:, 2:] ^ np.uint8(128), _half(raw, 0), None


def _k_scales(raw: Bytes) -> tuple[Array, Array]:
    """The 8 scales and 8 minimums of a block of 256 elements: products of two float16 factors and 6-bit
    integers."""
    low, middle, high = raw[:, 4:8], raw[:, 8:12], raw[:, 12:16]
    scales = np.concatenate([low & 63, high & 15 | low >> 2 & 48], axis=1).astype(np.float32)
    minimums = np.concatenate([middle & 63, high >> 4 | middle >> 2 & 48], axis=1).astype(np.float32)
    return _half(raw, 0).astype(np.float32) * scales, -(_half(raw, 2).astype(np.float32) * minimums)


def _q4_k(raw: Bytes) -> Parts:
    return _nibbles(raw[:, 16:].reshape(-1, 4, 32)), *_k_scales(raw)


def _q5_k(raw: Bytes) -> Parts:
    fifth = (raw[:, 16:48, None] >> np.arange(8, dtype=np.uint8) & 1) << 4
    low = _nibbles(raw[:, 48:].reshape(-1, 4, 32)).reshape(-1, 8, 32)
    return low | fifth.transpose(0, 2, 1), *_k_scales(raw)


def _q6_k(raw: Bytes) -> Parts:
    low, high = raw[:, :128].reshape(-1, 2, 64), raw[:, 128:192].reshape(-1, 2, 32)
    nibbles = np.concatenate([low & 15, low >> 4], axis=2)
    pairs = np.concatenate([(high >> shift & 3) << 4 for shift in (0, 2, 4, 6)], axis=2)
    scales = np.ascontiguousarray(raw[:, 192:208]).view(np.int8).astype(np.float32)
    return (nibbles | pairs) + np.uint8(128 - 32), _half(raw, 208).astype(np.float32) * scales, None


_READERS: dict[str, Callable[[Bytes], Parts]] = {
    "Q4_0": _q4_0,
    "Q4_1": _q4_1,
    "Q5_0": _q5_0,
    "Q5_1": _q5_1,
    "Q8_0": _q8_0,
    "Q4_K": _q4_k,
    "Q5_K": _q5_k,
    "Q6_K": _q6_k,
}
