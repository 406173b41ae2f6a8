# SPDX-License-Identifier: BSD-3-Clause
"""What stands in a prepared graph where torchao has no observer for it, or a slow one: weights in groups and
ranges for each token, which write their own quantized form when the graph is converted, and histograms."""

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
# What the smallest scale may be, so that weights of nothing but zeros divide by something.
_SMALLEST = torch.finfo(torch.float32).tiny


class GroupedWeightObserver(ObserverBase):
    """Observes a weight of any rank as rows, each cut in groups with a scale of its own; zero points are 0.

    Args:
        dtype: torch.int8, whatever the range.
        quant_min, quant_max: the range, for example -8 and 7.
        group_size: elements that share a scale; None for a row. Where it does not divide a row, a row.
        training: the forward pass rounds, with the gradient of not rounding.
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
        # A conversion asks each observer for its scheme.
        self.qscheme = torch.per_tensor_symmetric
        self.register_buffer("scale", torch.ones(1, 1))
        self.group_size = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The weight, or in training its rounded form."""
        groups = self._groups(x)
        self.scale = (groups.abs().amax(2) / self.quant_max).clamp_min(_SMALLEST)
        return x + (self.rounded(x) - x).detach() if self.rounds else x

    def rounded(self, x: torch.Tensor) -> torch.Tensor:
        """The weight quantized, with the scales of the last forward pass, and dequantized."""
        steps = self._groups(x) / self.scale[..., None]
        whole = steps.round().clamp(self.quant_min, self.quant_max)
        return (whole * self.scale[..., None]).reshape(x.shape).to(x.dtype)

    def _groups(self, x: torch.Tensor) -> torch.Tensor:
        """The weight as [rows, groups, elements]."""
        rows = x.detach().reshape(x.shape[0], -1)
        self.group_size = group_of(rows.shape[1], self.wanted_group)
        return rows.reshape(rows.shape[0], -1, self.group_size).to(torch.float32)

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Scales and zero points, both [rows, groups]."""
        return self.scale, torch.zeros_like(self.scale, dtype=torch.int8)

    def convert(self, model: GraphModule, observer_node: Node) -> None:
        """Write quantize and dequantize by groups, on the weight as a matrix, in place of the observer."""
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
        _take_place(observer_node, node)


def _take_place(observer_node: Node, last: Node) -> None:
    """Put what was written for an observer, `last` its result, in the place of the observer; all of it comes
    from the source line and the module of whoever reads it."""
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
    """The group of a row of that many elements."""
    return wanted if wanted is not None and row % wanted == 0 else row


class RangeObserver(HistogramObserver):
    """torchao's histogram of an activation, which finds the same range sooner where few elements were seen.

    The search is that of Caffe2 (norm_minimization.cc): by a hundred-thousandth of the elements at a time, it
    drops bins from the end that has more of them, until the error of rounding what is left goes up.
    """

    def _non_linear_param_search(self) -> tuple[torch.Tensor, torch.Tensor]:
        # In place of torchao's, which compares tensors of one element in each of up to 100,000 steps.
        lows, highs = _quantiles()
        total = torch.sum(self.histogram).item()
        sums = torch.cumsum(self.histogram, dim=0).numpy(force=True)
        # Where the sums reach what is dropped at the low end, and where they go above what is kept.
        reached, above = _places(sums, lows * total, "left"), _places(sums, highs * total, "right")
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
    """The parts of all elements below the low end and below the high end after each step, as added up."""
    count, step = 100_002, 1e-5
    return np.cumsum([0.0, *[step] * count]), np.cumsum([1.0, *[-step] * count])


def _places(sums: Any, limits: Any, side: Literal["left", "right"]) -> Callable[[int], int]:
    """The place among the sums of the limit of a step. Most searches end early: it is found for some at a
    time."""
    block = 1024

    @functools.cache
    def found(number: int) -> list[int]:
        some = limits[number * block : (number + 1) * block].astype(sums.dtype)
        places: list[int] = np.searchsorted(sums, some, side=side).tolist()
        return places

    return lambda step: found(step // block)[step % block]


class PerTokenObserver(ObserverBase):
    """Marks an activation whose vectors along the last dimension each get a range, found in each run."""

    def __init__(self, dtype: torch.dtype, **_: Any) -> None:
        super().__init__(dtype)
        self.qscheme = torch.per_channel_affine

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The activation as it is."""
        return x

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        """There are none before a run."""
        raise NotImplementedError("ranges for each token are found in each run")

    def convert(self, model: GraphModule, observer_node: Node) -> None:
        """Write the search for ranges, quantize and dequantize in place of the observer."""
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
        _take_place(observer_node, node)
