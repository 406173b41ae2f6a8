# SPDX-License-Identifier: BSD-3-Clause
"""The observer of a recurrent layer's cells. At conversion it writes the quantization of the layer's states
into the layer's arguments."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e import ObserverBase

from rushlight.integers.recurrent import cell_bits
from rushlight.quantize.recurrent_layer import NUMBERS, recurrent_layer

ops = torch.ops.quantized_decomposed
_LOW, _HIGH = -32768, 32767


class CellObserver(ObserverBase):
    """Tracks the largest magnitude; the scale is the smallest power of two with which it fits in 16 bits."""

    largest: torch.Tensor
    _is_impure = True  # torch.fx removes modules whose results nobody reads

    def __init__(self, dtype: torch.dtype = torch.int16, **_: Any) -> None:
        super().__init__(dtype)
        self.qscheme = torch.per_tensor_symmetric
        self.register_buffer("largest", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Returns the cells unchanged."""
        if x.numel():
            self.largest = torch.maximum(self.largest, x.detach().abs().max().to(torch.float32))
        return x

    def bits(self) -> int:
        """The number of fraction bits of a cell."""
        return cell_bits(float(self.largest))

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        """One scale, and zero point 0."""
        return torch.tensor([2.0 ** -self.bits()]), torch.zeros(1, dtype=torch.int64)

    def convert(self, model: GraphModule, observer_node: Node) -> None:
        """Replaces the observer by quantize and dequantize. On the output with the largest magnitudes, which
        has no other reader, it writes the layer's quantization arguments instead."""
        graph, cell = model.graph, observer_node.args[0]
        assert isinstance(cell, Node)
        layer = cell.args[0] if cell.target is operator.getitem else None
        if isinstance(layer, Node) and layer.target is recurrent_layer and cell.args[1] == 2:
            graph.erase_node(observer_node)
            graph.erase_node(cell)
            layer.args = (*layer.args[:NUMBERS], *_hidden_numbers(model, layer), self.bits())
            return
        form = 2.0 ** -self.bits(), 0, _LOW, _HIGH, torch.int16
        with graph.inserting_before(observer_node):
            numbers = graph.call_function(ops.quantize_per_tensor.default, (cell, *form))
            last = graph.call_function(ops.dequantize_per_tensor.default, (numbers, *form))
        for node in (numbers, last):
            node.meta.update({k: v for k, v in cell.meta.items() if k in ("stack_trace", "nn_module_stack")})
        observer_node.replace_all_uses_with(last)
        graph.erase_node(observer_node)


def _hidden_numbers(model: GraphModule, layer: Node) -> tuple[float, int, int, int]:
    """Scale, zero point and range of the layer's outputs, whether converted or still observed."""
    output = next(u for u in layer.users if u.target is operator.getitem and u.args[1] == 0)
    for user in output.users:
        if user.target is ops.quantize_per_tensor.default:
            numbers: Any = user.args[1:5]
            scale, zero_point, low, high = numbers
            return float(scale), int(zero_point), int(low), int(high)
        if user.op == "call_module":
            observer: Any = model.get_submodule(str(user.target))
            scales, zero_points = observer.calculate_qparams()
            return float(scales), int(zero_points), int(observer.quant_min), int(observer.quant_max)
    raise ValueError(f"{layer}: expected an observer of its outputs, got none")
