# SPDX-License-Identifier: BSD-3-Clause
"""Observers that torchao lacks: for weights in groups and per-token ranges, which write their own quantized
form at conversion; and a faster histogram observer."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e import HistogramObserver, ObserverBase
from torchao.quantization.pt2e.utils import create_getattr_from_value

ops = torch.ops.quantized_decomposed
# The smallest scale, so that an all-zero weight does not divide by 0.
_SMALLEST = torch.finfo(torch.float32).tiny


class GroupedWeightObserver(ObserverBase):
    """Observes a weight of any rank as rows, each divided into groups with one scale each; zero points are 0.

    Args:
        dtype: torch.int8, for every range.
        quant_min, quant_max: the range, for example -8 and 7.
        group_size: the number of elements that share a scale. None, and a size that does not divide a
            row, use one scale per row.
        training: the forward pass rounds, with a straight-through gradient.
    """

    def __init__(
        self,
        dtype: torch.dtype,
        quant_min: int,
        quant_max: int,
        group_size: int | None = None,
        training: bool = False,
        **_: Any,
    ) -> None:
        super().__init__(dtype)
        self.quant_min, self.quant_max = quant_min, quant_max
        self.wanted_group = group_size
        self.rounds = training
        # convert_pt2e reads the qscheme of each observer.
        self.qscheme = torch.per_tensor_symmetric
        self.register_buffer("scale", torch.ones(1, 1))
        self.group_size = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The weight; in training its rounded form."""
        groups = self._groups(x)
        self.scale = (groups.abs().amax(2) / self.quant_max).clamp_min(_SMALLEST)
        return x + (self.rounded(x) - x).detach() if self.rounds else x

    def rounded(self, x: torch.Tensor) -> torch.Tensor:
        """The weight quantized with the scales of the last forward pass, and dequantized."""
        steps = self._groups(x) / self.scale[..., None]
        whole = steps.round().clamp(self.quant_min, self.quant_max)
        return (whole * self.scale[..., None]).reshape(x.shape).to(x.dtype)

    def _groups(self, x: torch.Tensor) -> torch.Tensor:
        """The weight as float32 [rows, groups, elements]."""
        rows = x.detach().reshape(x.shape[0], -1)
        self.group_size = group_of(rows.shape[1], self.wanted_group)
        return rows.reshape(rows.shape[0], -1, self.group_size).to(torch.float32)

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Scales and zero points, both [rows, groups]."""
        return self.scale, torch.zeros_like(self.scale, dtype=torch.int8)

    def convert(self, model: GraphModule, observer_node: Node) -> None:
        """Replaces the observer by group-wise quantize and dequantize of the weight as a matrix."""
        weight = observer_node.args[0]
        assert isinstance(weight, Node)
        value = weight.meta["val"]
        graph = model.graph
        with graph.inserting_before(observer_node):
            scale = create_getattr_from_value(model, graph, "_weight_scale", self.scale)
            zeros = torch.zeros_like(self.scale, dtype=torch.int8)
            zero_point = create_getattr_from_value(model, graph, "_weight_zero_point", zeros)
            if value.dim() != 2:
                weight = graph.call_function(torch.ops.aten.reshape.default, (weight, [value.shape[0], -1]))
            form = (scale, zero_point, self.quant_min, self.quant_max, self.dtype, self.group_size)
            node = graph.call_function(ops.quantize_per_channel_group.default, (weight, *form))
            node = graph.call_function(ops.dequantize_per_channel_group.default, (node, *form, value.dtype))
            if value.dim() != 2:
                node = graph.call_function(torch.ops.aten.reshape.default, (node, list(value.shape)))
        _replace(observer_node, node)


def _replace(observer_node: Node, last: Node) -> None:
    """Replaces the observer by the nodes written for it; `last` is their result. They take the source line
    and the module of the node that reads it."""
    reader = next(iter(observer_node.users))
    observer_node.replace_all_uses_with(last)
    source = observer_node.args[0]
    observer_node.graph.erase_node(observer_node)
    made = [last]
    while made:
        node = made.pop()
        for key in ("stack_trace", "nn_module_stack"):
            if key in reader.meta:
                node.meta.setdefault(key, reader.meta[key])
        made += [n for n in node.all_input_nodes if n is not source and "val" not in n.meta]


def group_of(row: int, wanted: int | None) -> int:
    """The group size for a row of `row` elements."""
    return wanted if wanted is not None and row % wanted == 0 else row


class RangeObserver(HistogramObserver):
    """torchao's histogram observer with a faster search, which chooses the same range.

    The search is Caffe2's (norm_minimization.cc): it drops one hundred-thousandth of the elements at a
    time from the end with more bins, until the rounding error of the rest increases.
    """

    def _non_linear_param_search(self) -> tuple[torch.Tensor, torch.Tensor]:
        # Overrides torchao's search, which compares one-element tensors in up to 100,000 steps.
        lows, highs = _quantiles()
        total = torch.sum(self.histogram).item()
        sums = torch.cumsum(self.histogram, dim=0).numpy(force=True)
        # The bins where the cumulative counts reach the dropped share at the low end and exceed the kept
        # share.
        reached, above = _positions(sums, lows * total, "left"), _positions(sums, highs * total, "right")
        first, last, least = 0, self.bins - 1, float("inf")
        low = high = 0
        while lows[low] < highs[high]:
            left = min(max(reached(low + 1), first), last)
            right = max(min(above(high + 1) - 1, last), first)
            if left - first > last - right:
                low, right = low + 1, last
            else:
                high, left = high + 1, first
            if (left, right) == (first, last):
                continue
            error = self._compute_quantization_error(left, right)
            if error > least:
                break
            first, last, least = left, right, error
        width = (self.max_val - self.min_val) / self.bins
        return self.min_val + width * first, self.min_val + width * (last + 1)


@functools.cache
def _quantiles() -> tuple[Any, Any]:
    """The shares of all elements below the low end and below the high end after each step, accumulated."""
    count, step = 100_002, 1e-5
    return np.cumsum([0.0, *[step] * count]), np.cumsum([1.0, *[-step] * count])


def _positions(sums: Any, limits: Any, side: Literal["left", "right"]) -> Callable[[int], int]:
    """A function from a step to the bin of its limit. Bins are searched in blocks of 1024 steps, because most
    searches end early."""
    block = 1024

    @functools.cache
    def found(number: int) -> list[int]:
        some = limits[number * block : (number + 1) * block].astype(sums.dtype)
        positions: list[int] = np.searchsorted(sums, some, side=side).tolist()
        return positions

    return lambda step: found(step // block)[step % block]


class PerTokenObserver(ObserverBase):
    """Marks an activation with one range per vector along the last dimension, which each execution
    measures."""

    def __init__(self, dtype: torch.dtype, **_: Any) -> None:
        super().__init__(dtype)
        self.qscheme = torch.per_channel_affine

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Returns the activation unchanged."""
        return x

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Raises NotImplementedError: ranges are known only at execution."""
        raise NotImplementedError("per-token ranges are measured at run time")

    def convert(self, model: GraphModule, observer_node: Node) -> None:
        """Replaces the observer by the choice of ranges, quantize and dequantize."""
        graph, activation = model.graph, observer_node.args[0]
        assert isinstance(activation, Node)
        with graph.inserting_before(observer_node):
            found = graph.call_function(
                ops.choose_qparams_per_token_asymmetric.default, (activation, self.dtype)
            )
            scale = graph.call_function(operator.getitem, (found, 0))
            zero_point = graph.call_function(operator.getitem, (found, 1))
            form = (scale, zero_point, -128, 127, self.dtype)
            node = graph.call_function(ops.quantize_per_token.default, (activation, *form))
            node = graph.call_function(
                ops.dequantize_per_token.default, (node, *form, activation.meta["val"].dtype)
            )
        _replace(observer_node, node)
