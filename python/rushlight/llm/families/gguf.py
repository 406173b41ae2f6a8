# SPDX-License-Identifier: BSD-3-Clause
"""Reads the description of a model from the metadata of a GGUF file."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rushlight.errors import InvalidArgument
from rushlight.llm import rope
from rushlight.llm.config import LayerConfig, ModelConfig
from rushlight.llm.families import FAMILIES, Family
from rushlight.llm.fields import Fields
from rushlight.llm.rope import Rope
from rushlight.llm.weights.gguf import GgufFile
from rushlight.printable import one_line

_MOST_LAYERS = 4096


def gguf_config(file: GgufFile, rope_divisors: Sequence[float] | None) -> ModelConfig:
    """The model of a file; `rope_divisors` come from its tensor `rope_freqs.weight`.

    Errors: InvalidArgument for an unknown architecture, and for missing or invalid metadata.
    """
    name = Fields(file.metadata, file.path).text("general.architecture")
    family = FAMILIES.get(name)
    if family is None:
        known = ", ".join(FAMILIES)
        raise InvalidArgument(
            f"{file.path}: general.architecture: expected one of {known}, got '{one_line(name[:60])}'",
            next_step="Export a model of one of these families.",
        )
    fields = Fields(file.metadata, file.path, f"{name}.")
    heads = fields.integer("attention.head_count")
    hidden = fields.integer("embedding_length")
    head_dim = fields.integer("attention.key_length", max(hidden // heads, 1))
    fields.integer("attention.value_length", head_dim, least=head_dim, most=head_dim)
    layers = fields.integer("block_count", most=_MOST_LAYERS)
    tokens = file.metadata.get("tokenizer.ggml.tokens")
    count = len(tokens) if isinstance(tokens, list) else None
    embedding = file.tensors.get("token_embd.weight")
    vocabulary = fields.integer("vocab_size", embedding.sizes[0] if embedding else count)
    by_hidden = family.scale_by_hidden == layers
    kept = _global_rope(fields, head_dim, rope_divisors)
    local = (
        rope.plain(
            fields.real("rope.freq_base_swa", family.local_base),
            fields.integer("rope.dimension_count", head_dim),
        )
        if family.local_base
        else kept
    )
    return ModelConfig(
        family=name,
        hidden=hidden,
        inner=fields.integer("feed_forward_length"),
        heads=heads,
        key_heads=fields.integer("attention.head_count_kv", heads, most=heads),
        head_dim=head_dim,
        vocabulary=vocabulary,
        context=fields.integer("context_length", 2048),
        layers=_layers(fields, family, layers),
        ropes=(kept, local, rope.NO_ROPE),
        interleaved=family.interleaved,
        attention_scale=1 / math.sqrt(hidden // heads if by_hidden else head_dim),
        norm_eps=fields.real("attention.layer_norm_rms_epsilon"),
        activation=family.activation,
        attention_softcap=_softcap(fields, "attn_logit_softcapping", family.attention_softcap),
        final_softcap=_softcap(fields, "final_logit_softcapping", family.final_softcap),
        embedding_scale=math.sqrt(hidden) if family.scaled_embedding else 1.0,
        query_key_norm=family.query_key_norm,
        attention_bias=family.attention_bias,
        post_norms=family.post_norms,
        tied="output.weight" not in file.tensors,
    )


def _softcap(fields: Fields, key: str, default: float) -> float:
    return fields.real(key, default) if default or fields.get(key) else 0.0


def _layers(fields: Fields, family: Family, count: int) -> tuple[LayerConfig, ...]:
    window = fields.integer("attention.sliding_window", family.default_window, least=0)
    every = family.global_every
    listed = None
    if isinstance(fields.get("attention.sliding_window_pattern"), list):
        listed = fields.items("attention.sliding_window_pattern", bool, count)
    elif every:
        every = fields.integer("attention.sliding_window_pattern", every)
    found = []
    for index in range(count):
        is_local = listed[index] if listed else not every or bool((index + 1) % every)
        skipped = family.rope_skipped_every and (index + 1) % family.rope_skipped_every == 0
        kept = 1 if is_local and window else 0
        found.append(LayerConfig(window if is_local else 0, 2 if skipped else kept))
    return tuple(found)


def _global_rope(fields: Fields, head_dim: int, divisors: Sequence[float] | None) -> Rope:
    base = fields.real("rope.freq_base", 10000.0, least=1.0)
    numbers = fields.integer("rope.dimension_count", head_dim, least=2, most=head_dim)
    found = rope.plain(base, numbers)
    if divisors is not None:
        if len(divisors) != len(found.frequencies) or not all(each > 0 for each in divisors):
            raise InvalidArgument(
                f"tensor 'rope_freqs.weight': expected {len(found.frequencies)} numbers above 0, "
                f"got {len(divisors)}"
            )
        found = rope.divided(found, divisors)
    kind = fields.text("rope.scaling.type", "none")
    if kind == "none":
        return found
    factor = fields.real("rope.scaling.factor", 1.0)
    if kind == "linear":
        return rope.linear(found, factor)
    if kind == "yarn":
        original = fields.integer("rope.scaling.original_context_length")
        fast = fields.real("rope.scaling.yarn_beta_fast", 32.0)
        slow = fields.real("rope.scaling.yarn_beta_slow", 1.0)
        return rope.yarn(
            found, base, factor, original, fast, slow, fields.optional_real("rope.scaling.attn_factor")
        )
    raise fields.refuse("rope.scaling.type", "none, linear or yarn")
