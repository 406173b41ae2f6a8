# SPDX-License-Identifier: BSD-3-Clause
"""Stores weights as constants of a program, and writes the calls that multiply with them or look up their
rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol

import numpy as np

from rushlight.errors import InvalidArgument
from rushlight.llm.blocks import HALF, Array, BlockFormat, BlockMatrix, StackedBlocks, pack, pack_halves
from rushlight.llm.calls import SEQUENCE, CallWriter
from rushlight.llm.rounding import INT4, INT8, RoundedBlocks
from rushlight.llm.weights.source import FloatMatrix, Matrix
from rushlight.lowered.instructions import TensorOperand

WEIGHTS = ("keep", "int4", "int8", "float16", "float32")
"""Storage formats of weights; `keep` means the file's."""

_LARGEST_HALF = 65504.0

_BLOCK_FORMATS = {"int4": INT4, "int8": INT8}


def in_kind(matrix: Matrix, kind: str) -> Matrix:
    """Converts the matrix to one of WEIGHTS; a matrix already in that format is unchanged. `keep` stores
    bfloat16 as float16, which represents bfloat16 values from 6e-5 to 65504 exactly. Errors:
    InvalidArgument for larger values."""
    if kind == "keep":
        is_half = isinstance(matrix, FloatMatrix) and matrix.dtype != "float32"
        return in_kind(matrix, "float16") if is_half else matrix
    form = _BLOCK_FORMATS.get(kind)
    if form is not None:
        if isinstance(matrix, BlockMatrix) and matrix.format == form:
            return matrix
        return RoundedBlocks(form, matrix.features, matrix.depth, matrix.floats)
    if isinstance(matrix, FloatMatrix) and matrix.dtype == kind:
        return matrix

    def rows(start: int, stop: int) -> Array:
        wide = matrix.floats(start, stop)
        if kind == "float16" and np.abs(wide).max(initial=0) > _LARGEST_HALF:
            raise InvalidArgument(
                f"weights: expected numbers up to {_LARGEST_HALF:g} for float16, got {np.abs(wide).max():g}",
                next_step="Choose --weights float32, int8 or int4.",
            )
        return wide.astype(kind)

    return FloatMatrix(kind, matrix.features, matrix.depth, rows)


@dataclass(frozen=True)
class BlockWeight:
    """A packed weight in block format or float16."""

    constant: TensorOperand
    format: BlockFormat
    features: int
    depth: int

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the calls that read it."""
        form = self.format
        return {
            "weight": self.constant,
            "features": self.features,
            "bits": form.bits,
            "group": form.group,
            "scales": form.scales,
            "has_minimum": form.has_minimum,
        }


@dataclass(frozen=True)
class FloatWeight:
    """A float32 weight."""

    constant: TensorOperand
    features: int
    depth: int


class Weight(Protocol):
    """A weight of a program."""

    @property
    def constant(self) -> TensorOperand:
        """The constant that holds its values."""

    @property
    def features(self) -> int:
        """The number of rows of the matrix."""

    @property
    def depth(self) -> int:
        """The elements per row."""


class Products:
    """Writes products into a method; rows that meet block weights are rounded to `activation_bits`."""

    def __init__(self, writer: CallWriter, activation_bits: int) -> None:
        self._writer, self._bits = writer, activation_bits

    def weight(self, name: str, matrix: Matrix) -> Weight:
        """The matrix as a constant."""
        if isinstance(matrix, BlockMatrix):
            return self._blocks(name, matrix, matrix.format, pack(matrix))
        if matrix.dtype == "float16":
            packed = pack_halves(matrix.features, matrix.depth, matrix.read)
            return self._blocks(name, matrix, HALF, packed)
        array = np.ascontiguousarray(matrix.read(0, matrix.features))
        return FloatWeight(self._writer.constant(name, array), matrix.features, matrix.depth)

    def embedding(self, name: str, matrix: Matrix) -> Weight:
        """The matrix as a constant for row lookup."""
        return self.weight(name, matrix)

    def stacked(self, name: str, matrices: Sequence[Matrix]) -> list[Weight]:
        """Matrices that multiply the same rows, stacked: neighbours of one format become one constant."""
        groups = [list(alike) for _, alike in groupby(matrices, _format)]
        return [self.weight(name, _joined(alike)) for alike in groups]

    def linear(
        self,
        name: str,
        rows: TensorOperand,
        weights: Sequence[Weight],
        bias: Array | None = None,
        residual: TensorOperand | None = None,
    ) -> TensorOperand:
        """rows times the transposed weights, with their features concatenated, plus bias and residual."""
        parts, first = [], 0
        for weight in weights:
            last = first + weight.features
            part = None if bias is None else np.ascontiguousarray(bias[first:last])
            parts.append(self._product(name, rows, weight, part, residual if len(weights) == 1 else None))
            first = last
        if len(parts) == 1:
            return parts[0]
        joined = self._out(name, rows, first)
        self._writer.call("aten::cat.out", joined, tensors=parts, dim=len(rows.sizes) - 1)
        return joined if residual is None else self.add(name, joined, residual)

    def rows_of(self, name: str, weight: Weight, indices: TensorOperand) -> TensorOperand:
        """The rows at the indices [1, S], in float32."""
        out = self._writer.tensor(name, "float32", (1, SEQUENCE, weight.depth))
        if isinstance(weight, BlockWeight):
            arguments = {**weight.arguments, "indices": indices, "depth": weight.depth}
            return self._writer.call("rushlight::block_embedding.out", out, **arguments)
        return self._look_up(out, weight, indices)

    def add(self, name: str, a: TensorOperand, b: TensorOperand) -> TensorOperand:
        """The sum of two tensors of the same shape."""
        out = self._out(name, a, a.sizes[-1])
        return self._writer.call("aten::add.out", out, self=a, other=b)

    def _look_up(self, out: TensorOperand, weight: Weight, indices: TensorOperand) -> TensorOperand:
        return self._writer.call(
            "aten::embedding.out", out, weight=weight.constant, indices=indices, padding_idx=-1
        )

    def _product(
        self,
        name: str,
        rows: TensorOperand,
        weight: Weight,
        bias: Array | None,
        residual: TensorOperand | None,
    ) -> TensorOperand:
        out = self._out(name, rows, weight.features)
        added = None if bias is None else self._writer.constant(f"{name}.bias", bias)
        if not isinstance(weight, BlockWeight):
            self._writer.call("aten::linear.out", out, input=rows, weight=weight.constant, bias=added)
            return out if residual is None else self.add(name, out, residual)
        return self._writer.call(
            "rushlight::block_linear.out",
            out,
            input=rows,
            bias=added,
            residual=residual,
            activation_bits=self._bits,
            **weight.arguments,
        )

    def _out(self, name: str, like: TensorOperand, features: int) -> TensorOperand:
        sizes: tuple[int | str, ...] = (*like.symbols[:-1], features)
        return self._writer.tensor(name, "float32", sizes)

    def _blocks(self, name: str, matrix: Matrix, form: BlockFormat, packed: Array) -> BlockWeight:
        constant = self._writer.constant(name, packed)
        return BlockWeight(constant, form, matrix.features, matrix.depth)


def _format(matrix: Matrix) -> BlockFormat | str:
    return matrix.format if isinstance(matrix, BlockMatrix) else matrix.dtype


def _joined(parts: list[Matrix]) -> Matrix:
    if len(parts) == 1:
        return parts[0]
    blocks = [part for part in parts if isinstance(part, BlockMatrix)]
    if blocks:
        return StackedBlocks(blocks)
    floats = [part for part in parts if isinstance(part, FloatMatrix)]
    whole = np.concatenate([part.read(0, part.features) for part in floats])
    features, depth = whole.shape
    return FloatMatrix(floats[0].dtype, features, depth, lambda start, stop: whole[start:stop])
