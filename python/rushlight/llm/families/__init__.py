# SPDX-License-Identifier: BSD-3-Clause
"""The model families, and the facts of each that model files do not contain."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """Facts shared by all models of a family.

    `interleaved` applies to GGUF, whose converter permutes queries and keys of these families so that
    rotary pairs are neighbours. `global_every`: in models with a window, every n-th layer sees all
    positions (0: none does). `local_base`: the rotary base of layers with a window, if it differs.
    `scale_by_hidden`: the number of layers at which the attention scale follows from hidden / heads, which
    GGUF does not store. `rope_skipped_every`: every n-th layer has no rotary embedding.
    """

    activation: str = "silu"
    interleaved: bool = False
    attention_bias: bool = False
    query_key_norm: bool = False
    post_norms: bool = False
    norm_offset: float = 0.0
    scaled_embedding: bool = False
    tied: bool = False
    default_window: int = 0
    global_every: int = 0
    local_base: float = 0.0
    attention_softcap: float = 0.0
    final_softcap: float = 0.0
    scale_by_hidden: int = 0
    rope_skipped_every: int = 0


_GEMMA = {"activation": "gelu_tanh", "norm_offset": 1.0, "scaled_embedding": True, "tied": True}

FAMILIES = {
    "llama": Family(interleaved=True),
    "smollm3": Family(interleaved=True, rope_skipped_every=4),
    "qwen2": Family(attention_bias=True),
    "qwen3": Family(query_key_norm=True),
    "gemma": Family(**_GEMMA),  # type: ignore[arg-type]
    "gemma2": Family(
        **_GEMMA,  # type: ignore[arg-type]
        post_norms=True,
        default_window=4096,
        global_every=2,
        attention_softcap=50.0,
        final_softcap=30.0,
        scale_by_hidden=46,
    ),
    "gemma3": Family(
        **_GEMMA,  # type: ignore[arg-type]
        query_key_norm=True,
        post_norms=True,
        default_window=4096,
        global_every=6,
        local_base=10000.0,
        scale_by_hidden=62,
    ),
}
"""Families by the architecture's name in GGUF."""
