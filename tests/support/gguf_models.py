# SPDX-License-Identifier: BSD-3-Clause
"""GGUF files of the tiny language models, written by the package `gguf`, in any of its types."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import gguf
import numpy as np
import torch
import transformers
from gguf import GGMLQuantizationType as Type

from support import family_models as tiny

# Offsets of the float16 values of a block, for types to which the package cannot quantize.
_HALVES = {Type.Q4_K: (0, 2), Type.Q5_K: (0, 2), Type.Q6_K: (208,)}

_PARTS = {
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    **{f"self_attn.{part}_proj": f"attn_{part}" for part in "qkv"},
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
_POST_NORMS = {
    "post_attention_layernorm": "post_attention_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}
_OUTER = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def gguf_name(name: str, has_post_norms: bool) -> str:
    """The name of a parameter of transformers in GGUF."""
    stem, suffix = name.rsplit(".", 1)
    if stem in _OUTER:
        return f"{_OUTER[stem]}.{suffix}"
    _, _, layer, part = stem.split(".", 3)
    parts = {**_PARTS, **_POST_NORMS} if has_post_norms else _PARTS
    return f"blk.{layer}.{parts[part]}.{suffix}"


def raw_blocks(values: np.ndarray, kind: Type, generator: np.random.Generator) -> np.ndarray:
    """Rows encoded in a type. K types, to which the package cannot quantize, get random blocks instead."""
    if kind not in _HALVES:
        return gguf.quantize(np.ascontiguousarray(values), kind)
    numbers, nbytes = gguf.GGML_QUANT_SIZES[kind]
    count = values.size // numbers
    raw = generator.integers(0, 256, (count, nbytes), dtype=np.uint8)
    size = {Type.Q4_K: 300.0, Type.Q5_K: 600.0, Type.Q6_K: 1500.0}[kind] * math.sqrt(values.shape[1])
    for at in _HALVES[kind]:
        scales = generator.uniform(0.5, 1.5, (count, 1)) / size * (8 if at == 2 else 1)  # minimums at 2
        raw[:, at : at + 2] = scales.astype(np.float16).view(np.uint8)
    return raw.reshape(values.shape[0], -1)


def write_gguf(
    model: Any,
    architecture: str,
    path: Path,
    kind_of: Callable[[str], Type],
    more: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> None:
    """Writes a model as the family `architecture`, matrices in the types that `kind_of` gives for their names
    in GGUF, and additional tensors. The model's own matrices take the dequantized values of the file."""
    generator = np.random.default_rng(3)
    config = model.config
    writer = gguf.GGUFWriter(path, architecture)
    _add_facts(writer, config, architecture)
    is_permuted = architecture in ("llama", "smollm3")
    has_post_norms = architecture in ("gemma2", "gemma3")
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            array = parameter.numpy()
            stored = gguf_name(name, has_post_norms)
            if array.ndim == 1:
                offset = np.float32(1) if architecture.startswith("gemma") and "norm" in name else 0
                writer.add_tensor(stored, (array + offset).astype(np.float32))
                continue
            heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
            permuted = heads.get(stored.split(".")[-2]) if is_permuted else None
            rows = array if permuted is None else _interleaved(array, permuted)
            kind = kind_of(stored)
            raw = raw_blocks(rows, kind, generator)
            writer.add_tensor(stored, raw, raw_dtype=kind)
            values = gguf.dequantize(raw, kind).astype(np.float32).reshape(rows.shape)
            values = values if permuted is None else _halved(values, permuted)
            parameter.copy_(torch.from_numpy(values.copy()))
    for name, array in more.items():
        writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_facts(writer: gguf.GGUFWriter, config: Any, architecture: str) -> None:
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    if getattr(config, "head_dim", None):
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)
    rope = config.rope_parameters
    writer.add_rope_freq_base(rope.get("full_attention", rope)["rope_theta"])
    if architecture in ("gemma2", "gemma3"):
        writer.add_sliding_window(config.sliding_window)
    if architecture == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    writer.add_bos_token_id(tiny.SIZES["bos_token_id"])
    writer.add_eos_token_id(tiny.SIZES["eos_token_id"])


def _interleaved(rows: np.ndarray, heads: int) -> np.ndarray:
    """Rows i and i + half of each head become neighbours."""
    return rows.reshape(heads, 2, -1, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)


def _halved(rows: np.ndarray, heads: int) -> np.ndarray:
    return rows.reshape(heads, -1, 2, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)


def load_llama(path: Path) -> Any:
    """The llama of a GGUF file in transformers, in float32, with values as the package dequantizes them."""
    reader = gguf.GGUFReader(path)

    def fact(name: str) -> Any:
        return reader.fields[f"llama.{name}"].contents()

    heads, key_heads = fact("attention.head_count"), fact("attention.head_count_kv")
    config = transformers.LlamaConfig(
        hidden_size=fact("embedding_length"),
        intermediate_size=fact("feed_forward_length"),
        num_hidden_layers=fact("block_count"),
        num_attention_heads=heads,
        num_key_value_heads=key_heads,
        vocab_size=fact("vocab_size"),
        rms_norm_eps=fact("attention.layer_norm_rms_epsilon"),
        max_position_embeddings=fact("context_length"),
        rope_parameters={"rope_type": "default", "rope_theta": fact("rope.freq_base")},
        tie_word_embeddings=True,
    )
    config._attn_implementation = "eager"
    model = transformers.LlamaForCausalLM(config).eval()
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            stored = gguf_name(name, False)
            tensor = tensors.pop(stored)
            values = gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
            permuted = {"attn_q": heads, "attn_k": key_heads}.get(stored.split(".")[-2])
            values = values if permuted is None else _halved(values, permuted)
            parameter.copy_(torch.from_numpy(values.copy()))
    assert not tensors
    return model
