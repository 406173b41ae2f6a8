# SPDX-License-Identifier: BSD-3-Clause
"""Describes a decoder of the supported families, independent of the file format."""

from __future__ import annotations

from dataclasses import dataclass

from rushlight.llm.rope import Rope


@dataclass(frozen=True)
class LayerConfig:
    """A layer: the number of most recent keys that a position attends to (0: all), and the index of its
    rotary embedding in the model's list."""

    window: int = 0
    rope: int = 0


@dataclass(frozen=True)
class ModelConfig:
    """A decoder: token embedding, layers of attention and a gated feed-forward part with RMS norms, logits.

    Attributes:
        family: its name in rushlight.llm.families.
        hidden, inner: width of a position between layers, and inside a feed-forward part.
        heads, key_heads, head_dim: query heads, key and value heads, and the width of each.
        vocabulary: number of tokens.
        context: maximum number of positions that the model was trained for.
        layers: one entry per layer.
        ropes: the rotary embeddings that layers refer to; `interleaved` means that pairs are elements 2i and
            2i + 1 instead of i and i + half.
        attention_scale: scale of query-key products; `attention_softcap` caps them if it is above 0.
        final_softcap: soft cap of logits, if above 0.
        embedding_scale: factor of token embeddings.
        norm_eps, norm_offset: parameters of RMS norms; the offset is added to their weights.
        activation: activation of gates: silu, gelu or gelu_tanh.
        query_key_norm: queries and keys have RMS norms.
        attention_bias: queries, keys and values must have biases.
        post_norms: RMS norms after attention and feed-forward parts.
        tied: logits are products with the token embedding.
    """

    family: str
    hidden: int
    inner: int
    heads: int
    key_heads: int
    head_dim: int
    vocabulary: int
    context: int
    layers: tuple[LayerConfig, ...]
    ropes: tuple[Rope, ...]
    interleaved: bool
    attention_scale: float
    norm_eps: float
    activation: str = "silu"
    attention_softcap: float = 0.0
    final_softcap: float = 0.0
    embedding_scale: float = 1.0
    norm_offset: float = 0.0
    query_key_norm: bool = False
    attention_bias: bool = False
    post_norms: bool = False
    tied: bool = False

    @property
    def query_features(self) -> int:
        """The width of all query heads together."""
        return self.heads * self.head_dim

    @property
    def key_features(self) -> int:
        """The width of all key heads together."""
        return self.key_heads * self.head_dim
