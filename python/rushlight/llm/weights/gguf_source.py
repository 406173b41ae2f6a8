# SPDX-License-Identifier: BSD-3-Clause
"""The weights of a model in a GGUF file."""

from __future__ import annotations

import os
from collections.abc import Iterable

import ml_dtypes
import numpy as np

from rushlight.errors import InvalidArgument
from rushlight.llm import template, vocabulary
from rushlight.llm.blocks import Array
from rushlight.llm.families.gguf import gguf_config
from rushlight.llm.fields import Fields
from rushlight.llm.metadata import SpecialTokens
from rushlight.llm.weights.gguf import GgufFile, GgufTensor, read_gguf
from rushlight.llm.weights.gguf_blocks import FORMATS, GgufBlocks
from rushlight.llm.weights.source import FloatMatrix, Matrix, WeightSource

_FLOATS = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BF16": np.dtype(ml_dtypes.bfloat16)}

_ROPE_DIVISORS = "rope_freqs.weight"

_NAMES = {
    "embedding": "token_embd",
    "output": "output",
    "norm": "output_norm",
    "attention_norm": "blk.{}.attn_norm",
    "query": "blk.{}.attn_q",
    "key": "blk.{}.attn_k",
    "value": "blk.{}.attn_v",
    "query_norm": "blk.{}.attn_q_norm",
    "key_norm": "blk.{}.attn_k_norm",
    "attention_output": "blk.{}.attn_output",
    "attention_post_norm": "blk.{}.post_attention_norm",
    "feed_norm": "blk.{}.ffn_norm",
    "gate": "blk.{}.ffn_gate",
    "up": "blk.{}.ffn_up",
    "down": "blk.{}.ffn_down",
    "feed_post_norm": "blk.{}.post_ffw_norm",
}


class GgufSource(WeightSource):
    """See WeightSource."""

    def __init__(self, file: GgufFile) -> None:
        divisors = file.tensors.get(_ROPE_DIVISORS)
        listed = None if divisors is None else _floats(divisors).reshape(-1).tolist()
        super().__init__(file.path, _NAMES, gguf_config(file, listed))
        self.file = file

    def sizes(self, name: str) -> tuple[int, ...] | None:
        tensor = self.file.tensors.get(name)
        return None if tensor is None else tensor.sizes

    def tensor_names(self) -> Iterable[str]:
        return [name for name in self.file.tensors if name != _ROPE_DIVISORS]

    def open_matrix(self, name: str) -> Matrix:
        tensor = self.file.tensors[name]
        if tensor.type in FORMATS:
            return GgufBlocks(tensor)
        array = _floats(tensor)
        features, depth = tensor.sizes
        return FloatMatrix(array.dtype.name, features, depth, lambda start, stop: array[start:stop])

    def read_vector(self, name: str) -> Array:
        return _floats(self.file.tensors[name]).astype(np.float32)

    def special_tokens(self) -> SpecialTokens:
        fields = Fields(self.file.metadata, self.file.path, "tokenizer.ggml.")
        last = self.config.vocabulary - 1

        def token(key: str) -> int | None:
            return None if fields.get(key) is None else fields.integer(key, least=0, most=last)

        ends = [token(key) for key in ("eos_token_id", "eot_token_id", "eom_token_id")]
        return SpecialTokens(token("bos_token_id"), tuple(dict.fromkeys(e for e in ends if e is not None)))

    def vocabulary(self) -> bytes | None:
        has_tokens = "tokenizer.ggml.tokens" in self.file.metadata
        return vocabulary.from_gguf(self.file.metadata) if has_tokens else None

    def chat_template(self) -> bytes | None:
        return template.from_gguf(self.file.metadata)


def _floats(tensor: GgufTensor) -> Array:
    if tensor.type not in _FLOATS:
        raise InvalidArgument(f"tensor '{tensor.name}': expected F32, F16 or BF16, got {tensor.type}")
    found: Array = np.ascontiguousarray(tensor.data).view(_FLOATS[tensor.type]).reshape(tensor.sizes)
    return found


def open_gguf(path: str | os.PathLike[str]) -> GgufSource:
    """Opens the weights of a file. Errors: FileFailed; InvalidArgument."""
    return GgufSource(read_gguf(path))
