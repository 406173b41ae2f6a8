# SPDX-License-Identifier: BSD-3-Clause
"""A decoder of operators of the official runtime 1.5.1 with its libraries of quantized and language model
operators loaded: `executorch.kernels.quantized` and `executorch.extension.llm.custom_ops` in Python.

Rows are [S, width]. Queries and keys are in halves (pairs i and i + half) for the rotary embedding, in
whatever order the file stores them. Layers with full attention use llama::custom_sdpa; layers with a
window or a soft cap multiply with the whole cache and add a mask.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rushlight.codegen.table import Operator
from rushlight.llm.blocks import Array
from rushlight.llm.build import DecoderBuilder
from rushlight.llm.calls import SEQUENCE
from rushlight.llm.config import LayerConfig
from rushlight.llm.export_options import LlmOptions
from rushlight.llm.official_products import OfficialProducts
from rushlight.llm.permuted import in_halves, permuted
from rushlight.llm.products import Products, in_kind
from rushlight.llm.weights.source import Matrix, WeightSource
from rushlight.lowered.instructions import TensorOperand

Size = int | str


class OfficialDecoder(DecoderBuilder):
    """See DecoderBuilder."""

    def __init__(self, source: WeightSource, options: LlmOptions, operators: Mapping[str, Operator]) -> None:
        super().__init__(source, options, operators)
        writer = self.writer
        self._start = writer.number("aten::_local_scalar_dense", self=self.position)
        count = writer.number("aten::sym_size.int", self=self.tokens, dim=1)
        self._end = writer.number("executorch_prim::add.Scalar", a=self._start, b=count)
        self._angles: dict[int, tuple[TensorOperand, TensorOperand]] = {}
        self._masks: dict[int, TensorOperand] = {}

    def make_products(self) -> Products:
        return OfficialProducts(self.writer)

    def op(self, row: str, sizes: tuple[Size, ...], /, **arguments: object) -> TensorOperand:
        """Writes a call into a new float32 tensor, and returns it."""
        name = f"{row.partition('::')[2].partition('.')[0]}"
        return self.writer.call(row, self.writer.tensor(name, "float32", sizes), **arguments)

    def view(self, rows: TensorOperand, *sizes: Size) -> TensorOperand:
        """The same elements under another shape."""
        listed = [-1 if size == SEQUENCE else size for size in sizes]
        return self.op("aten::view_copy.out", sizes, self=rows, size=listed)

    def last(self, hidden: TensorOperand) -> TensorOperand:
        return self.part(hidden, 0, -1, None, (1, self.config.hidden))

    def part(
        self, rows: TensorOperand, dim: int, start: object, end: object, sizes: tuple[Size, ...]
    ) -> TensorOperand:
        """A slice along one dimension."""
        row = "aten::slice_copy.Tensor_out"
        return self.op(row, sizes, self=rows, dim=dim, start=start, end=end, step=1)

    def norm(self, part: str, index: int | None, rows: TensorOperand) -> TensorOperand:
        weight = self.source.vector(part, index, self.config.hidden) + np.float32(self.config.norm_offset)
        return self._normed(part, rows, weight)

    def _normed(self, name: str, rows: TensorOperand, weight: Array) -> TensorOperand:
        sizes: tuple[Size, ...] = rows.symbols
        one: tuple[Size, ...] = (*rows.symbols[:-1], 1)
        squares = self.op("aten::mul.out", sizes, self=rows, other=rows)
        mean = self.op("aten::mean.out", one, self=squares, dim=[-1], keepdim=True)
        moved = self.op("aten::add.Scalar_out", one, self=mean, other=self.config.norm_eps)
        scale = self.op("aten::rsqrt.out", one, self=moved)
        scaled = self.op("aten::mul.out", sizes, self=rows, other=scale)
        return self.op("aten::mul.out", sizes, self=scaled, other=self.writer.constant(name, weight))

    def gated(self, index: int, normed: TensorOperand) -> TensorOperand:
        inner = self.config.inner
        gate, up = (self._projected(index, part, inner, normed) for part in ("gate", "up"))
        sizes = gate.symbols
        if self.config.activation == "silu":
            share = self.op("aten::sigmoid.out", sizes, self=gate)
            gate = self.op("aten::mul.out", sizes, self=gate, other=share)
        else:
            kind = "tanh" if self.config.activation == "gelu_tanh" else "none"
            gate = self.op("aten::gelu.out", sizes, self=gate, approximate=kind)
        return self.op("aten::mul.out", sizes, self=gate, other=up)

    def _projected(
        self, index: int, part: str, features: int, rows: TensorOperand, layer: LayerConfig | None = None
    ) -> TensorOperand:
        """The product with one matrix of a layer; queries and keys, which pass `layer`, come in halves."""
        bias = self.source.bias(
            part, index, features, required=self.config.attention_bias and part in ("query", "key", "value")
        )
        matrix: Matrix = self.source.matrix(part, index, features, self.config.hidden)
        if layer is not None and self.config.interleaved:
            pairs = len(self.config.ropes[layer.rope].frequencies)
            order = in_halves(self.config.head_dim, 2 * pairs)
            matrix = permuted(matrix, order)
            bias = None if bias is None else bias.reshape(-1, len(order))[:, order].reshape(-1)
        name = f"layer{index}.{part}"
        weights = self.products.stacked(name, [in_kind(matrix, self.options.weights)])
        return self.products.linear(name, rows, weights, bias)

    # Attention

    def attention(self, index: int, layer: LayerConfig, normed: TensorOperand) -> TensorOperand:
        config = self.config
        query = self._heads(index, layer, "query", config.heads, normed)
        key = self._heads(index, layer, "key", config.key_heads, normed)
        value = self._projected(index, "value", config.key_features, normed)
        is_plain = bool(layer.window and layer.window < self.options.context) or config.attention_softcap > 0
        keys = self._cached(f"layer{index}.keys", key, is_plain)
        values = self._cached(f"layer{index}.values", value, is_plain)
        if is_plain:
            return self._plain_attention(layer, query, keys, values)
        sizes = (1, SEQUENCE, config.heads, config.head_dim)
        found = self.op(
            "llama::custom_sdpa.out",
            sizes,
            query=self.view(query, *sizes),
            key=keys,
            value=values,
            start_pos=self._start,
            drpout_p=0.0,
            is_causal=True,
            scale=config.attention_scale,
        )
        return self.view(found, SEQUENCE, config.query_features)

    def _heads(
        self, index: int, layer: LayerConfig, part: str, heads: int, normed: TensorOperand
    ) -> TensorOperand:
        """Queries or keys [S, heads, D], after their norm and rotary embedding."""
        config = self.config
        rows = self._projected(index, part, heads * config.head_dim, normed, layer)
        found = self.view(rows, SEQUENCE, heads, config.head_dim)
        if config.query_key_norm:
            name = f"{part}_norm"
            weight = self.source.vector(name, index, config.head_dim) + np.float32(config.norm_offset)
            found = self._normed(name, found, weight)
        return self._rotated(layer.rope, heads, found)

    def _rotated(self, rope: int, heads: int, rows: TensorOperand) -> TensorOperand:
        """Applies the rotary embedding to rows [S, heads, D]."""
        cos, sin = self._cos_sin(rope)
        pairs, dim = cos.sizes[-1], self.config.head_dim
        half = (SEQUENCE, heads, pairs)
        first = self.part(rows, 2, 0, pairs, half)
        second = self.part(rows, 2, pairs, 2 * pairs, half)
        parts = [
            self._crossed("aten::sub.out", first, cos, second, sin),
            self._crossed("aten::add.out", second, cos, first, sin),
        ]
        if dim > 2 * pairs:
            parts.append(self.part(rows, 2, 2 * pairs, dim, (SEQUENCE, heads, dim - 2 * pairs)))
        return self.op("aten::cat.out", rows.symbols, tensors=parts, dim=2)

    def _crossed(
        self, row: str, a: TensorOperand, x: TensorOperand, b: TensorOperand, y: TensorOperand
    ) -> TensorOperand:
        """a * x plus or minus b * y."""
        left = self.op("aten::mul.out", a.symbols, self=a, other=x)
        right = self.op("aten::mul.out", b.symbols, self=b, other=y)
        return self.op(row, a.symbols, self=left, other=right)

    def _cos_sin(self, rope: int) -> tuple[TensorOperand, TensorOperand]:
        """The cosines and sines of these positions [S, 1, pairs]."""
        if rope not in self._angles:
            found = []
            for table in self._ropes[rope]:
                constant = self.writer.constant("rope", np.ascontiguousarray(table[:, None]))
                sizes = (SEQUENCE, 1, table.shape[1])
                found.append(self.part(constant, 0, self._start, self._end, sizes))
            self._angles[rope] = (found[0], found[1])
        return self._angles[rope]

    def _cached(self, name: str, rows: TensorOperand, is_plain: bool) -> TensorOperand:
        """The cache of keys or values [1, context, heads, D] after storing these rows. Plain attention also
        reads positions that were never written; they must hold finite values."""
        config = self.config
        sizes = (1, self.options.context, config.key_heads, config.head_dim)
        cache = self.writer.state(name, "float32", sizes, np.zeros(sizes, np.float32) if is_plain else None)
        value = self.view(rows, 1, SEQUENCE, config.key_heads, config.head_dim)
        self.op("llama::update_cache.out", (1,), value=value, cache=cache, start_pos=self._start)
        return cache

    def _plain_attention(
        self, layer: LayerConfig, query: TensorOperand, keys: TensorOperand, values: TensorOperand
    ) -> TensorOperand:
        config, context = self.config, self.options.context
        shared, dim = config.heads // config.key_heads, config.head_dim
        grouped = self.view(query, SEQUENCE, config.key_heads, shared * dim)
        by_head = (config.key_heads, SEQUENCE, shared * dim)
        queries = self.op("aten::permute_copy.out", by_head, self=grouped, dims=[1, 0, 2])
        rows = self._rows_by_head(queries, shared, dim)
        keys = self.op(
            "aten::permute_copy.out", (1, config.key_heads, dim, context), self=keys, dims=[0, 2, 3, 1]
        )
        values = self.op(
            "aten::permute_copy.out", (1, config.key_heads, context, dim), self=values, dims=[0, 2, 1, 3]
        )
        found = []
        for each in range(shared):
            scores = self._scores(rows[each], self.view(keys, config.key_heads, dim, context), layer)
            flat = self.view(values, config.key_heads, context, dim)
            sizes = (config.key_heads, SEQUENCE, dim)
            found.append(self.op("aten::bmm.out", sizes, self=scores, mat2=flat))
        joined = self.op("aten::cat.out", by_head, tensors=found, dim=2) if shared > 1 else found[0]
        back = (SEQUENCE, config.key_heads, shared * dim)
        mixed = self.op("aten::permute_copy.out", back, self=joined, dims=[1, 0, 2])
        return self.view(mixed, SEQUENCE, config.query_features)

    def _rows_by_head(self, queries: TensorOperand, shared: int, dim: int) -> list[TensorOperand]:
        """The queries of each head that shares a key head [key heads, S, D]."""
        sizes = (self.config.key_heads, SEQUENCE, dim)
        return [self.part(queries, 2, each * dim, (each + 1) * dim, sizes) for each in range(shared)]

    def _scores(self, rows: TensorOperand, keys: TensorOperand, layer: LayerConfig) -> TensorOperand:
        """The attention weights of all keys [key heads, S, context]."""
        config = self.config
        sizes = (config.key_heads, SEQUENCE, self.options.context)
        scores = self.op("aten::bmm.out", sizes, self=rows, mat2=keys)
        scores = self.scaled("scores", scores, config.attention_scale)
        if config.attention_softcap:
            scores = self.scaled("scores", scores, 1 / config.attention_softcap)
            scores = self.op("aten::tanh.out", sizes, self=scores)
            scores = self.scaled("scores", scores, config.attention_softcap)
        masked = self.op("aten::add.out", sizes, self=scores, other=self._mask(layer.window))
        return self.op("aten::_softmax.out", sizes, self=masked, dim=2)

    def _mask(self, window: int) -> TensorOperand:
        """The mask [S, context]: 0 for keys that the position sees, minus infinity for all others."""
        if window not in self._masks:
            context, writer = self.options.context, self.writer
            positions = np.arange(context, dtype=np.float32)
            own = writer.constant("positions", positions.reshape(-1, 1).copy())
            rows = self.part(own, 0, self._start, self._end, (SEQUENCE, 1))
            all_keys = writer.constant("keys", positions.reshape(1, -1).copy())
            sizes = (SEQUENCE, context)
            age = self.op("aten::sub.out", sizes, self=rows, other=all_keys)
            seen = writer.tensor("seen", "bool", sizes)
            writer.call("aten::ge.Scalar_out", seen, self=age, other=0)
            if window:
                near, both = (writer.tensor("near", "bool", sizes) for _ in range(2))
                writer.call("aten::lt.Scalar_out", near, self=age, other=window)
                seen = writer.call("aten::logical_and.out", both, self=seen, other=near)
            zero, never = (writer.constant("mask", np.array(x, np.float32)) for x in (0.0, -np.inf))
            self._masks[window] = self.op(
                "aten::where.self_out", sizes, condition=seen, self=zero, other=never
            )
        return self._masks[window]
