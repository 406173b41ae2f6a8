# SPDX-License-Identifier: BSD-3-Clause
"""Builds the method `forward` of a decoder as a list of calls: from tokens and the position of the first one
to logits.

A layer consists of eight calls: norm, one product for queries, keys and values, attention over the cache,
its output product with the residual added, norm, one product for gates and values, the gate, and its
output product with the residual added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from rushlight.codegen.table import Operator
from rushlight.llm.blocks import Array
from rushlight.llm.calls import SEQUENCE, CallWriter
from rushlight.llm.config import LayerConfig
from rushlight.llm.export_options import LlmOptions
from rushlight.llm.products import Products, Weight, in_kind
from rushlight.llm.weights.source import Matrix, WeightSource
from rushlight.lowered.instructions import LoweredMethod, TensorOperand

Progress = Callable[[str, float], None]


def write_decoder(decoder: DecoderBuilder, progress: Progress) -> LoweredMethod:
    """The whole method, before memory planning. Errors: InvalidArgument for weights that are missing, have
    other shapes or are not used."""
    hidden = decoder.embed()
    layers = decoder.config.layers
    for index, layer in enumerate(layers):
        progress(f"layer {index + 1} of {len(layers)}", index / (len(layers) + 1))
        hidden = decoder.layer(index, layer, hidden)
    progress("logits", len(layers) / (len(layers) + 1))
    decoder.writer.method.outputs.append(decoder.logits(hidden))
    decoder.source.check_all_used()
    return decoder.writer.method


class DecoderBuilder:
    """Writes the parts of a decoder in order of execution."""

    def __init__(self, source: WeightSource, options: LlmOptions, operators: Mapping[str, Operator]) -> None:
        self.source, self.options, self.config = source, options, source.config
        self.writer = CallWriter("forward", operators, options.max_seq)
        self.products = self.make_products()
        self.tokens = self.writer.input("tokens", "int64", (1, SEQUENCE))
        self.position = self.writer.input("input_pos", "int64", (1,))
        self._ropes = [rope.tables(options.context) for rope in self.config.ropes]
        self._embedding: Weight | None = None

    def make_products(self) -> Products:
        """The writer of the products with weights."""
        return Products(self.writer, self.options.activation_bits)

    def embed(self) -> TensorOperand:
        """The embeddings of the tokens."""
        config = self.config
        matrix = self.source.matrix("embedding", None, config.vocabulary, config.hidden)
        chosen = in_kind(matrix, self.options.embeddings)
        self._embedding = self.products.embedding("embedding", chosen)
        rows = self.products.rows_of("tokens", self._embedding, self.tokens)
        return self.scaled("tokens.scaled", rows, config.embedding_scale)

    def layer(self, index: int, layer: LayerConfig, hidden: TensorOperand) -> TensorOperand:
        """The calls of one layer; returns its output [1, S, hidden]."""
        config = self.config
        normed = self.norm("attention_norm", index, hidden)
        mixed = self.attention(index, layer, normed)
        output = self.matrix("attention_output", index, config.hidden, config.query_features)
        hidden = self.added(index, "attention", mixed, output, hidden)
        gated = self.gated(index, self.norm("feed_norm", index, hidden))
        down = self.matrix("down", index, config.hidden, config.inner)
        return self.added(index, "feed", gated, down, hidden)

    def logits(self, hidden: TensorOperand) -> TensorOperand:
        """The logits of the last position [1, vocabulary]."""
        config = self.config
        normed = self.norm("norm", None, self.last(hidden))
        weight = self._embedding
        if not config.tied:
            matrix = self.source.matrix("output", None, config.vocabulary, config.hidden)
            weight = self.products.weight("output", in_kind(matrix, self.options.embeddings))
        assert weight is not None
        bias = self.source.bias("output", None, config.vocabulary) if not config.tied else None
        found = self.products.linear("logits", normed, [weight], bias)
        if not config.final_softcap:
            return found
        found = self.scaled("logits.capped", found, 1 / config.final_softcap)
        capped = self.writer.tensor("logits.tanh", "float32", found.sizes)
        self.writer.call("aten::tanh.out", capped, self=found)
        return self.scaled("logits.scaled", capped, config.final_softcap)

    def last(self, hidden: TensorOperand) -> TensorOperand:
        """The hidden state of the last position [1, hidden]."""
        out = self.writer.tensor("last", "float32", (1, self.config.hidden))
        return self.writer.call("aten::select_copy.int_out", out, self=hidden, dim=1, index=-1)

    def query_key_value(self, index: int, normed: TensorOperand) -> TensorOperand:
        """Queries, keys and values of each position, concatenated."""
        config = self.config
        parts = {
            "query": config.query_features,
            "key": config.key_features,
            "value": config.key_features,
        }
        matrices = [self.matrix(part, index, count, config.hidden) for part, count in parts.items()]
        bias = self.biases(index, parts, required=config.attention_bias)
        name = f"layer{index}.qkv"
        return self.products.linear(name, normed, self.products.stacked(name, matrices), bias)

    def attention(self, index: int, layer: LayerConfig, normed: TensorOperand) -> TensorOperand:
        """Attention over the cache of this layer, after the keys and values of these positions are stored in
        it."""
        config, writer = self.config, self.writer
        name = f"layer{index}.attention"
        out = writer.tensor(name, "float32", (1, SEQUENCE, config.query_features))
        keys, key_scales = self.cache(f"{name}.keys")
        values, value_scales = self.cache(f"{name}.values")
        cos, sin = (writer.constant("rope", table) for table in self._ropes[layer.rope])
        return writer.call(
            "rushlight::cached_attention.out",
            out,
            qkv=self.query_key_value(index, normed),
            key_cache=keys,
            value_cache=values,
            key_scales=key_scales,
            value_scales=value_scales,
            input_pos=self.position,
            cos=cos,
            sin=sin,
            query_norm=self.head_norm("query_norm", index),
            key_norm=self.head_norm("key_norm", index),
            eps=config.norm_eps,
            heads=config.heads,
            key_heads=config.key_heads,
            interleaved=config.interleaved,
            scale=config.attention_scale,
            window=layer.window,
            softcap=config.attention_softcap,
        )

    def cache(self, name: str) -> tuple[TensorOperand, TensorOperand | None]:
        """The state for keys or values of a layer, and for their scales (None without)."""
        config, options = self.config, self.options
        sizes = (1, config.key_heads, options.context, config.head_dim)
        numbers = self.writer.state(name, options.cache, sizes)
        if options.cache != "int8":
            return numbers, None
        return numbers, self.writer.state(f"{name}.scales", "float32", sizes[:3])

    def gated(self, index: int, normed: TensorOperand) -> TensorOperand:
        """The gated inner activations of a feed-forward part."""
        config = self.config
        parts = {"gate": config.inner, "up": config.inner}
        matrices = [self.matrix(part, index, count, config.hidden) for part, count in parts.items()]
        name = f"layer{index}.gate"
        weights = self.products.stacked(name, matrices)
        both = self.products.linear(name, normed, weights, self.biases(index, parts))
        out = self.writer.tensor(f"{name}d", "float32", (1, SEQUENCE, config.inner))
        return self.writer.call("rushlight::gated_act.out", out, input=both, activation=config.activation)

    def added(
        self, index: int, part: str, rows: TensorOperand, matrix: Matrix, residual: TensorOperand
    ) -> TensorOperand:
        """The residual plus the product of a part; in some families the product passes through a separate
        norm first."""
        config = self.config
        name = f"layer{index}.{part}_output"
        bias = self.source.bias("attention_output" if part == "attention" else "down", index, config.hidden)
        weights = self.products.stacked(name, [matrix])
        if not config.post_norms:
            return self.products.linear(name, rows, weights, bias, residual)
        product = self.products.linear(name, rows, weights, bias)
        return self.products.add(name, self.norm(f"{part}_post_norm", index, product), residual)

    def matrix(self, part: str, index: int, features: int, depth: int) -> Matrix:
        """A matrix of a layer in the chosen storage format."""
        return in_kind(self.source.matrix(part, index, features, depth), self.options.weights)

    def biases(self, index: int, parts: Mapping[str, int], *, required: bool = False) -> Array | None:
        """The biases of several parts, concatenated, with zeros for parts without bias; None if no part has
        one."""
        found = [self.source.bias(part, index, count, required=required) for part, count in parts.items()]
        if all(bias is None for bias in found):
            return None
        zeros = [np.zeros(count, np.float32) for count in parts.values()]
        return np.concatenate(
            [zero if bias is None else bias for bias, zero in zip(found, zeros, strict=True)]
        )

    def norm(self, part: str, index: int | None, rows: TensorOperand) -> TensorOperand:
        """The RMS norm of a part."""
        config = self.config
        weight = self.source.vector(part, index, config.hidden) + np.float32(config.norm_offset)
        name = part if index is None else f"layer{index}.{part}"
        out = self.writer.tensor(name, "float32", rows.symbols)
        return self.writer.call(
            "rushlight::rms_norm.out",
            out,
            input=rows,
            normalized_shape=[config.hidden],
            weight=self.writer.constant(name, weight),
            eps=config.norm_eps,
        )

    def head_norm(self, part: str, index: int) -> TensorOperand | None:
        """The weights of the RMS norm of heads; None in families without this norm."""
        config = self.config
        if not config.query_key_norm:
            return None
        weight = self.source.vector(part, index, config.head_dim) + np.float32(config.norm_offset)
        return self.writer.constant(f"layer{index}.{part}", weight)

    def scaled(self, name: str, rows: TensorOperand, factor: float) -> TensorOperand:
        """The rows multiplied by a constant."""
        if factor == 1.0:
            return rows
        out = self.writer.tensor(name, "float32", rows.symbols)
        return self.writer.call("aten::mul.Scalar_out", out, self=rows, other=factor)
