# SPDX-License-Identifier: BSD-3-Clause
"""Weights and products for the operators of the official runtime: int8 with a scale per group, or float32."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rushlight.llm.blocks import Array, BlockMatrix
from rushlight.llm.calls import SEQUENCE, CallWriter
from rushlight.llm.products import FloatWeight, Products, Weight
from rushlight.llm.weights.source import Matrix
from rushlight.lowered.instructions import TensorOperand


@dataclass(frozen=True)
class ByteWeight:
    """int8 [features, depth] and float32 scales [features, groups]. `minimums` [features, groups] are
    multiplied by the group size, for products with group means."""

    constant: TensorOperand
    scales: TensorOperand
    minimums: TensorOperand | None
    features: int
    depth: int


class OfficialProducts(Products):
    """See Products. Rows are [S, depth]: mixed_linear takes no other rank. A separate product multiplies each
    group's minimum by the sum of the group's inputs, since mixed_linear has no zero points."""

    def __init__(self, writer: CallWriter) -> None:
        super().__init__(writer, 16)
        self._means: dict[tuple[int, int], TensorOperand] = {}

    def weight(self, name: str, matrix: Matrix) -> Weight:
        """See Products."""
        if isinstance(matrix, BlockMatrix) and matrix.depth % matrix.format.group == 0:
            return self._bytes(name, matrix)
        return self._floats(name, matrix)

    def embedding(self, name: str, matrix: Matrix) -> Weight:
        """See Products. Weights with minimums become float32, since embedding_byte has no minimums."""
        has_minimum = isinstance(matrix, BlockMatrix) and matrix.format.has_minimum
        return self._floats(name, matrix) if has_minimum else self.weight(name, matrix)

    def rows_of(self, name: str, weight: Weight, indices: TensorOperand) -> TensorOperand:
        """The rows at the indices [1, S] as [S, depth]."""
        out = self._writer.tensor(name, "float32", (1, SEQUENCE, weight.depth))
        if isinstance(weight, ByteWeight):
            self._writer.call(
                "quantized_decomposed::embedding_byte.out",
                out,
                weight=weight.constant,
                weight_scales=weight.scales,
                weight_quant_min=-128,
                weight_quant_max=127,
                indices=indices,
            )
        else:
            super()._look_up(out, weight, indices)
        flat = self._writer.tensor(f"{name}.rows", "float32", (SEQUENCE, weight.depth))
        return self._writer.call("aten::view_copy.out", flat, self=out, size=[-1, weight.depth])

    def _floats(self, name: str, matrix: Matrix) -> FloatWeight:
        floats = np.ascontiguousarray(matrix.floats(0, matrix.features))
        return FloatWeight(self._writer.constant(name, floats), matrix.features, matrix.depth)

    def _bytes(self, name: str, matrix: BlockMatrix) -> ByteWeight:
        q, scales, minimums = [], [], []
        for _, blocks in matrix.chunks():
            zero = 0 if blocks.minimums is not None else matrix.format.zero
            if blocks.minimums is not None and matrix.format.bits == 8:
                zero = 128  # scale * q + minimum = scale * (q - 128) + (minimum + 128 * scale)
            wide = blocks.scales.astype(np.float32)
            q.append((blocks.q.astype(np.int16) - zero).astype(np.int8))
            scales.append(wide)
            if blocks.minimums is not None:
                minimums.append((blocks.minimums.astype(np.float32) + zero * wide) * matrix.format.group)
        least = self._writer.constant(f"{name}.minimums", np.concatenate(minimums)) if minimums else None
        return ByteWeight(
            self._writer.constant(name, np.concatenate(q)),
            self._writer.constant(f"{name}.scales", np.concatenate(scales)),
            least,
            matrix.features,
            matrix.depth,
        )

    def _product(
        self,
        name: str,
        rows: TensorOperand,
        weight: Weight,
        bias: Array | None,
        residual: TensorOperand | None,
    ) -> TensorOperand:
        if not isinstance(weight, ByteWeight):
            return super()._product(name, rows, weight, bias, residual)
        out = self._out(name, rows, weight.features)
        self._writer.call(
            "quantized_decomposed::mixed_linear.out",
            out,
            input=rows,
            weight=weight.constant,
            weight_scales=weight.scales,
        )
        if weight.minimums is not None:
            means = self._group_means(rows, weight.scales.sizes[1])
            least = self._out(f"{name}.least", rows, weight.features)
            added = None if bias is None else self._writer.constant(f"{name}.bias", bias)
            self._writer.call("aten::linear.out", least, input=means, weight=weight.minimums, bias=added)
            out = self.add(name, out, least)
        elif bias is not None:
            out = self.add(name, out, self._writer.constant(f"{name}.bias", bias))
        return out if residual is None else self.add(name, out, residual)

    def _group_means(self, rows: TensorOperand, groups: int) -> TensorOperand:
        """The mean of each group of each row [S, groups]."""
        known = self._means.get((id(rows), groups))
        if known is None:
            count, writer = rows.symbols[0], self._writer
            group = rows.sizes[1] // groups
            grouped = writer.tensor("grouped", "float32", (count, groups, group))
            writer.call("aten::view_copy.out", grouped, self=rows, size=[-1, groups, group])
            known = writer.tensor("means", "float32", (count, groups))
            writer.call("aten::mean.out", known, self=grouped, dim=[-1])
            self._means[id(rows), groups] = known
        return known
