# SPDX-License-Identifier: BSD-3-Clause
"""What operators ask of the order in which tensors lie, and in which order they put out theirs."""

from __future__ import annotations

from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import Node

from rushlight.export.graph.nodes import arguments_of, input_of, overload_of, value_of
from rushlight.export.graph.sizes import same_sizes
from rushlight.export.order.orders import is_either

aten = torch.ops.aten

# Their first argument decides, of four dimensions; kernels take the others in either order.
_BY_FIRST = frozenset(
    {
        "aten::convolution",
        "aten::conv2d",
        "rushlight::convolution_act",
        "aten::max_pool2d",
        "aten::max_pool2d_with_indices",
        "aten::avg_pool2d",
        "aten::_adaptive_avg_pool2d",
        "aten::adaptive_avg_pool2d",
        "aten::upsample_nearest2d",
        "aten::upsample_bilinear2d",
    }
)
# Element by element, though PyTorch does not tag them so.
_POINTWISE = frozenset(
    {
        "aten::hardswish",
        "aten::_to_copy",
        "aten::floor_divide",
        "aten::native_dropout",
        "quantized_decomposed::quantize_per_tensor",
        "quantized_decomposed::dequantize_per_tensor",
    }
)
_RESIDUAL = 9  # of convolution_act
# Their kernels take tensors in any order, as it is.
_ATTENTION = frozenset({"aten::scaled_dot_product_attention"})
_REDUCTIONS = frozenset({"aten::mean", "aten::sum", "aten::amax", "aten::amin"})
_CONV_WEIGHT = {"aten::convolution": 1, "aten::conv2d": 1, "rushlight::convolution_act": 1}


def deciding_inputs(node: Node, any_order: bool = False) -> list[Node]:
    """The tensors whose order a node's results have, if they are all of one; none where the results are
    row-major anyway.

    Without `any_order` there is no broadcasting, as ExecuTorch 1.5.1 computes wrong numbers there in
    channels-last.
    """
    name = _name(node)
    if not name or not node.args:
        return []
    if name in _BY_FIRST:
        if value_of(node.args[0]).dim() != 4:
            return []
        residual = arguments_of(node)[_RESIDUAL] if name == "rushlight::convolution_act" else None
        return [input_of(node), *([residual] if residual is not None else [])]
    if name not in _POINTWISE and torch.Tag.pointwise not in overload_of(node).tags:
        return []
    value, tensors = value_of(node), tensors_of(node)
    shape = value.shape if isinstance(value, torch.Tensor) else value[0].shape
    if name.startswith("quantized_decomposed"):  # the others are scales and zero points
        tensors = tensors[:1]
    whole = [n for n in tensors if same_sizes(value_of(n).shape, shape)]
    return whole if any_order or len(whole) == len(tensors) else []


def reads_any_order(node: Node) -> bool:
    """Whether a node's kernel reads tensors in any order, and puts out what is row-major."""
    name = _name(node)
    value = value_of(node)
    return name in _ATTENTION or (
        name in _REDUCTIONS and isinstance(value, torch.Tensor) and is_either(value)
    )


def permutation(node: Node) -> list[int] | None:
    """The dimensions of a node that permutes, counted from 0; None of any other."""
    if node.target is not aten.permute_copy.default:
        return None
    rank = value_of(node).dim()
    return [dim % rank for dim in arguments_of(node)[1]] if rank else []


def permuted_next(node: Node) -> list[int] | None:
    """The permutation that alone reads an attention's result."""
    (user,) = node.users if len(node.users) == 1 else (None,)
    return permutation(user) if user is not None and _name(node) in _ATTENTION else None


def is_convolution(node: Node) -> bool:
    """Whether a node convolves, in the forms that can be channels-last."""
    return _name(node) in _CONV_WEIGHT


def _name(node: Node) -> str:
    return node.target._schema.name if isinstance(node.target, OpOverload) else ""


def tensors_of(node: Node) -> list[Node]:
    """The tensors that a node reads."""
    return [n for n in node.all_input_nodes if isinstance(value_of(n), torch.Tensor)]


def conv_weight(node: Node) -> Any:
    """The node that a convolution reads as weight and as nothing else."""
    place = _CONV_WEIGHT.get(_name(node))
    if place is None:
        return None
    weight = node.args[place]
    return weight if sum(argument is weight for argument in node.args) == 1 else None


def is_size_of(target: Any) -> bool:
    """Whether an operator asks for a tensor's shape only."""
    return isinstance(target, OpOverload) and target._schema.name.startswith("aten::sym_")
