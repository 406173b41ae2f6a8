# SPDX-License-Identifier: BSD-3-Clause
"""Dim orders of PyTorch's tensors: from memory formats, from strides, and as assigned to nodes."""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.graph.constants import input_specs, is_lifted
from rushlight.export.graph.nodes import graph_modules
from rushlight.integers.order import is_either as is_same_memory
from rushlight.program.dim_order import DimOrder, is_row_major, row_major

_CHANNELS_LAST = {4: torch.channels_last, 5: torch.channels_last_3d}
"""The ranks with a channels-last order, and PyTorch's format for each."""


def stored_order(node: Node) -> Any:
    """The dim order in which a node's tensor is stored, a tuple of orders for several tensors; None
    (row-major) if no pass has assigned one."""
    return node.meta.get("dim_order")


def channels_last(rank: int) -> DimOrder:
    """The order with dimension 1 innermost; row-major for ranks other than 4 and 5."""
    return (0, *range(2, rank), 1) if rank in _CHANNELS_LAST else row_major(rank)


def is_channels_last(order: DimOrder) -> bool:
    """True if an order is not row-major."""
    return not is_row_major(order)


def order_of_format(memory_format: Any, rank: int) -> DimOrder | None:
    """The order that a torch.memory_format asks for; None if it asks for the source's."""
    if memory_format in (None, torch.preserve_format):
        return None
    return row_major(rank) if memory_format is torch.contiguous_format else channels_last(rank)


def order_of_strides(tensor: torch.Tensor) -> DimOrder:
    """Channels-last if the strides mean that and cannot mean row-major, else row-major.

    With one channel or one pixel the strides fit both; such tensors count as row-major.
    """
    rank = tensor.dim()
    if rank not in _CHANNELS_LAST:
        return row_major(rank)
    if any(isinstance(n, torch.SymInt) for n in (*tensor.shape, *tensor.stride())):
        return _order_of_symbols(tensor)
    if tensor.is_contiguous() or not tensor.is_contiguous(memory_format=_CHANNELS_LAST[rank]):
        return row_major(rank)
    return channels_last(rank)


def _order_of_symbols(tensor: torch.Tensor) -> DimOrder:
    """The order of a tensor with symbolic sizes: channels-last if only the channel dimension has stride 1."""
    strides = tensor.stride()
    one = [d for d, stride in enumerate(strides) if not isinstance(stride, torch.SymInt) and stride == 1]
    return channels_last(tensor.dim()) if one == [1] else row_major(tensor.dim())


def is_either(tensor: torch.Tensor) -> bool:
    """True if both orders give the same memory: one channel, or one pixel."""
    return is_same_memory([n if isinstance(n, int) else 2 for n in tensor.shape])


def uses_channels_last(program: ExportedProgram) -> bool:
    """True if an input is channels-last or an operator asks for it."""
    specs = input_specs(program)
    for module in graph_modules(program.graph_module):
        for node in module.graph.nodes:
            if node.op == "placeholder":
                if not (node.name in specs and is_lifted(specs[node.name])) and _is_channels_last_input(node):
                    return True
            elif node.kwargs.get("memory_format") in _CHANNELS_LAST.values() or "dim_order" in node.kwargs:
                return True
    return False


def _is_channels_last_input(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and is_channels_last(order_of_strides(value))
