# SPDX-License-Identifier: BSD-3-Clause
"""Reads the description of a model from config.json, as Hugging Face's transformers writes it: releases
before 5 write `rope_theta` and `rope_scaling`, later ones `rope_parameters`."""

from __future__ import annotations

import math

from rushlight.errors import InvalidArgument
from rushlight.llm import rope
from rushlight.llm.config import LayerConfig, ModelConfig
from rushlight.llm.families import FAMILIES, Family
from rushlight.llm.fields import Fields
from rushlight.llm.rope import Rope
from rushlight.printable import one_line

_MOST_LAYERS = 4096

_MODEL_TYPES = {
    **{name: name for name in ("llama", "smollm3", "qwen2", "qwen3", "gemma", "gemma2")},
    "mistral": "llama",
    "gemma3_text": "gemma3",
    "gemma3": "gemma3",
}
"""The family of each `model_type`."""

_ACTIVATIONS = {
    "silu": "silu",
    "swish": "silu",
    "gelu": "gelu",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_new": "gelu_tanh",
}


def huggingface_config(fields: Fields) -> ModelConfig:
    """The model that config.json describes.

    Errors: InvalidArgument for an unknown model type, and for missing or invalid fields.
    """
    name, fields = _model_type(fields)
    family = FAMILIES[name]
    heads, hidden = fields.integer("num_attention_heads"), fields.integer("hidden_size")
    head_dim = fields.integer("head_dim", max(hidden // heads, 1))
    layers = fields.integer("num_hidden_layers", most=_MOST_LAYERS)
    whole, local = _ropes(fields, family, head_dim)
    return ModelConfig(
        family=name,
        hidden=hidden,
        inner=fields.integer("intermediate_size"),
        heads=heads,
        key_heads=fields.integer("num_key_value_heads", heads, most=heads),
        head_dim=head_dim,
        vocabulary=fields.integer("vocab_size"),
        context=fields.integer("max_position_embeddings", 2048),
        layers=_layers(fields, family, layers),
        ropes=(whole, local, rope.NO_ROPE),
        interleaved=False,
        attention_scale=1 / math.sqrt(fields.real("query_pre_attn_scalar", head_dim)),
        norm_eps=fields.real("rms_norm_eps", 1e-6),
        activation=_activation(fields, family),
        attention_softcap=_softcap(fields, "attn_logit_softcapping", family.attention_softcap),
        final_softcap=_softcap(fields, "final_logit_softcapping", family.final_softcap),
        embedding_scale=math.sqrt(hidden) if family.scaled_embedding else 1.0,
        norm_offset=family.norm_offset,
        query_key_norm=family.query_key_norm,
        attention_bias=family.attention_bias or fields.flag("attention_bias"),
        post_norms=family.post_norms,
        tied=fields.flag("tie_word_embeddings", family.tied),
    )


def _model_type(fields: Fields) -> tuple[str, Fields]:
    """The family, and the fields of the text model (multimodal configurations nest them)."""
    name = fields.text("model_type")
    known = _MODEL_TYPES.get(name)
    if known is None:
        raise InvalidArgument(
            f"{fields.where}: model_type: expected one of {', '.join(_MODEL_TYPES)}, got "
            f"'{one_line(name[:60])}'",
            next_step="Export a model of one of these families.",
        )
    text = fields.part("text_config") or fields
    for part in (fields, text):
        if part.get("quantization_config") is not None:
            raise part.refuse("quantization_config", "none: weights in float32, float16 or bfloat16")
        if part.flag("use_bidirectional_attention"):
            raise part.refuse("use_bidirectional_attention", "false: a decoder")
    return known, text


def _activation(fields: Fields, family: Family) -> str:
    key = "hidden_activation" if fields.get("hidden_activation") is not None else "hidden_act"
    if fields.get(key) is None:
        return family.activation
    found = _ACTIVATIONS.get(fields.text(key))
    if found is None:
        raise fields.refuse(key, f"one of {', '.join(_ACTIVATIONS)}")
    return found


def _softcap(fields: Fields, key: str, default: float) -> float:
    """The soft cap; 0 where the file says null."""
    if fields.get(key) is None:
        return 0.0 if fields.has(key) else default
    return fields.real(key)


def _layers(fields: Fields, family: Family, count: int) -> tuple[LayerConfig, ...]:
    rotary = fields.items("no_rope_layers", int, count)
    if rotary is None:
        every = fields.integer("no_rope_layer_interval", family.rope_skipped_every, least=0)
        rotary = [int(not every or (index + 1) % every != 0) for index in range(count)]
    windows = _windows(fields, family, count)
    return tuple(
        LayerConfig(window, 2 if not rotates else 1 if window else 0)
        for window, rotates in zip(windows, rotary, strict=True)
    )


def _windows(fields: Fields, family: Family, count: int) -> list[int]:
    window = fields.integer("sliding_window", family.default_window, least=0)
    kinds = fields.items("layer_types", str, count)
    if kinds is not None:
        if set(kinds) - {"full_attention", "sliding_attention"}:
            raise fields.refuse("layer_types", "full_attention or sliding_attention for each layer")
        return [window if kind == "sliding_attention" else 0 for kind in kinds]
    if fields.get("use_sliding_window") is not None:
        first = fields.integer("max_window_layers", count, least=0)
        window = window if fields.flag("use_sliding_window") else 0
        return [window if index >= first else 0 for index in range(count)]
    every = family.global_every
    if every:
        every = fields.integer("sliding_window_pattern", every)
    return [window if not every or (index + 1) % every else 0 for index in range(count)]


def _ropes(fields: Fields, family: Family, head_dim: int) -> tuple[Rope, Rope]:
    """The rotary embeddings of layers with full attention and of layers with a window."""
    found = fields.part("rope_parameters")
    if found is not None and found.get("full_attention") is not None:
        parts = (found.part("full_attention"), found.part("sliding_attention"))
        whole, local = (_rope(part or found, fields, head_dim) for part in parts)
        return whole, local
    base = fields.real("rope_theta", 10000.0, least=1.0)
    whole = _rope(found or fields.part("rope_scaling") or Fields({}, fields.where), fields, head_dim, base)
    if not family.local_base:
        return whole, whole
    return whole, rope.plain(fields.real("rope_local_base_freq", family.local_base), head_dim)


def _rope(part: Fields, model: Fields, head_dim: int, base: float = 10000.0) -> Rope:
    base = part.real("rope_theta", base, least=1.0)
    share = part.real("partial_rotary_factor", model.real("partial_rotary_factor", 1.0))
    numbers = int(head_dim * share)
    if not 2 <= numbers <= head_dim or numbers % 2:
        raise part.refuse("partial_rotary_factor", f"an even number of {head_dim} rotary numbers")
    found = rope.plain(base, numbers)
    kind = part.text("rope_type", part.text("type", "default"))
    if kind == "default":
        return found
    if kind not in ("linear", "llama3", "yarn"):
        raise part.refuse("rope_type", "default, linear, llama3 or yarn")
    factor = part.real("factor")
    if kind == "linear":
        return rope.linear(found, factor)
    original = part.integer(
        "original_max_position_embeddings", model.integer("max_position_embeddings", 2048)
    )
    if kind == "llama3":
        low, high = part.real("low_freq_factor"), part.real("high_freq_factor")
        if high <= low:
            raise part.refuse("high_freq_factor", f"a number above the low one, {low:g}")
        return rope.llama3(found, factor, low, high, original)
    fast, slow = part.real("beta_fast", 32.0), part.real("beta_slow", 1.0)
    return rope.yarn(found, base, factor, original, fast, slow, part.optional_real("attention_factor"))
