# SPDX-License-Identifier: BSD-3-Clause
"""Describes a decoder of the supported families, whatever file it comes from."""

from __future__ import annotations

from dataclasses import dataclass

from rushlight.llm.rope import Rope


@dataclass(frozen=True)
class LayerConfig:
    """A layer: how many of the newest keys a position sees (0: all), and which of the model's rotary
    embeddings it has."""

    window: int = 0
    rope: int = 0


@dataclass(frozen=True)
class ModelConfig:
    """A decoder: token embedding, layers of attention and a gated feed-forward part with RMS norms, logits.

    Attributes:
        family: its name in rushlight.llm.families.
        hidden, inner: numbers of a position between the layers, and inside of a feed-forward part.
        heads, key_heads, head_dim: query heads, key and value heads, and numbers of each.
        vocabulary: tokens.
        context: positions that the model was made for.
        layers: one entry a layer.
        ropes: the rotary embeddings that layers have; `interleaved` says which numbers are pairs: 2i and
            2i + 1, or else i and i + half.
        attention_scale: of products of queries and keys; capped by `attention_softcap` if it is above 0.
        final_softcap: of logits, if above 0.
        embedding_scale: of token embeddings.
        norm_eps, norm_offset: of RMS norms; the offset is added to their weights.
        activation: of gates: silu, gelu or gelu_tanh.
        query_key_norm: queries and keys have RMS norms.
        attention_bias: queries, keys and values must have biases.
        post_norms: RMS norms behind attention and feed-forward parts.
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
        """Numbers of all query heads."""
        return self.heads * self.head_dim

    @property
    def key_features(self) -> int:
        """Numbers of all key heads."""
        return self.key_heads * self.head_dim
