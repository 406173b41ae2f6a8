# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites weights with group scales to operators of the runtime."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.dialect import quantized
from rushlight.export.graph.constants import Constants
from rushlight.export.graph.nodes import arguments_of, input_of, value_of
from rushlight.export.graph.rewrite import fake_mode_of, insert_before, replace
from rushlight.export.passes.base import Pass, PassContext

aten = torch.ops.aten


class GroupedWeights(Pass):
    """Fuses `dequantize_per_channel_group` of a constant into the embedding or linear layer that reads it;
    for other readers each execution dequantizes the matrix.

    Values from -8 to 7 are packed two per byte. A linear layer reads 8-bit weights directly if each row
    has one scale. No kernel does that for the other weights: they are dequantized as rows of an embedding.
    """

    name = "grouped_weights"
    requires = frozenset({"constants are folded"})
    ensures = frozenset({"no weights in groups"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass. Does not change bodies of control flow, which receive constants as operands."""
        constants = Constants(program)
        modified = False
        for node in list(program.graph.nodes):
            if not quantized.calls(node, "dequantize_per_channel_group"):
                continue
            weight = constants.get(node.args[0])
            if weight is None or constants.get(node.args[1]) is None:
                context.remarks.append(f"grouped_weights: {node.name}: its weight is not constant")
                continue
            _Rewrite(program, constants, context, node, weight).run()
            modified = True
        return constants.remove_unused() or modified


@dataclass
class _Rewrite:
    """The rewrite of one dequantization and its readers."""

    program: ExportedProgram
    constants: Constants
    context: PassContext
    node: Node
    weight: torch.Tensor

    def run(self) -> None:
        for user in list(self.node.users):
            if user.target is aten.embedding.default and user.args[0] is self.node:
                replace(self.program, user, self._rows(user, input_of(user, 1)))
            elif self._multiplies(user):
                replace(self.program, user, self._linear(user))
        if self.node.users:
            replace(self.program, self.node, self._matrix())
        else:
            self.node.graph.erase_node(self.node)

    @property
    def _range(self) -> tuple[int, int]:
        _, _, _, low, high, *_ = arguments_of(self.node)
        return low, high

    @property
    def _dtype(self) -> torch.dtype:
        dtype: torch.dtype = value_of(self.node).dtype
        return dtype

    @cached_property
    def _name(self) -> str:
        return self.constants.name_of(input_of(self.node))

    @cached_property
    def _is_packed(self) -> bool:
        return self._range == (-8, 7) and self.weight.shape[1] % 2 == 0

    @cached_property
    def _stored(self) -> Node:
        if not self._is_packed:
            return input_of(self.node)
        return self.constants.add(quantized.pack_four_bits(self.weight), f"{self._name}_packed")

    @cached_property
    def _scales(self) -> Node:
        """The scales as [rows], or [rows, groups] if a row has several."""
        given = self.constants.get(self.node.args[1])
        assert given is not None
        scales = given.reshape(self.weight.shape[0], -1).squeeze(1).to(self._dtype)
        return self.constants.add(scales.contiguous(), f"{self._name}_scales")

    @cached_property
    def _zero_points(self) -> Node | None:
        given = self.constants.get(self.node.args[2])
        if given is None or not given.any():
            return None
        points = given.to(self._dtype).reshape(value_of(self._scales).shape)
        return self.constants.add(points.contiguous(), f"{self._name}_zero_points")

    def _call(self, before: Node, target: OpOverload, *args: Any) -> Node:
        values = [value_of(a) for a in args]
        with fake_mode_of(value_of(self.node)):
            value = target(*values)
        return insert_before(before, target, args, value=value)

    def _rows(self, before: Node, indices: Node) -> Node:
        target = quantized.embedding_4bit if self._is_packed else quantized.embedding_byte
        return self._call(
            before, target, self._stored, self._scales, self._zero_points, *self._range, indices
        )

    def _matrix(self) -> Node:
        """The whole weight, dequantized to floats."""
        several = len(value_of(self._scales).shape) == 2
        if several or self._is_packed or self._zero_points is not None or self._dtype != torch.float32:
            order = torch.arange(self.weight.shape[0])  # int64: the official kernel aborts for int32
            return self._rows(self.node, self.constants.add(order, f"{self._name}_rows"))
        form = (self._scales, None, 0, *self._range, torch.int8)
        return self._call(
            self.node, torch.ops.quantized_decomposed.dequantize_per_channel.default, self._stored, *form
        )

    def _multiplies(self, user: Node) -> bool:
        """True if the user is a linear layer that can read the weight as integers."""
        if user.target is not aten.linear.default or user.args[1] is not self.node or self._is_packed:
            return False
        plain = self._zero_points is None and len(value_of(self._scales).shape) == 1
        known = self.context.library.find(quantized.mixed_linear) is not None
        return (
            plain and known and user.args[0] is not self.node and value_of(user.args[0]).dtype == self._dtype
        )

    def _linear(self, user: Node) -> Node:
        source, bias = user.args[0], user.args[2] if len(user.args) > 2 else None
        shape = value_of(source).shape
        if len(shape) != 2:
            source = self._call(user, aten.view_copy.default, source, [-1, shape[-1]])
        made = self._call(user, quantized.mixed_linear, source, self._stored, self._scales, None)
        if bias is not None:
            made = self._call(user, aten.add.Tensor, made, bias)
        if len(shape) != 2:
            made = self._view_back(user, made)
        return made

    def _view_back(self, user: Node, made: Node) -> Node:
        """The result of the linear layer with the leading sizes of its input."""
        source, value = user.args[0], value_of(user)
        sizes: list[Any] = []
        for dim, size in enumerate(value.shape):
            if isinstance(size, torch.SymInt):
                args = (source, dim)
                size = insert_before(user, aten.sym_size.int, args, value=value_of(source).shape[dim])
            sizes.append(size)
        return insert_before(user, aten.view_copy.default, (made, sizes), value=value)
