# SPDX-License-Identifier: BSD-3-Clause
"""Layers with weights: finds them, and multiplies their output channels by constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

aten = torch.ops.aten

# Elements of a weight that are multiplied per step.
_PART = 1 << 16
_CONVOLUTIONS = {aten.conv1d.default, aten.conv2d.default, aten.conv3d.default}
_TRANSPOSED = {aten.conv_transpose1d.default, aten.conv_transpose2d.input, aten.conv_transpose3d.input}


@dataclass(frozen=True)
class Layer:
    """A layer with weights: the nodes of its arguments, and the dimension of the weight with the output
    channels."""

    node: Node
    weight: Node
    bias: Node | None
    bias_index: int
    channel_dim: int
    groups: int = 1

    @property
    def is_linear(self) -> bool:
        """True if the output channels are the last dimension of the result, False if they are dimension 1."""
        return self.node.target in (aten.linear.default, aten.addmm.default)

    def channels(self, weight: torch.Tensor) -> int:
        """The number of output channels."""
        return int(weight.shape[self.channel_dim]) * (1 if self.channel_dim == 0 else self.groups)


def layer_of(node: Any) -> Layer | None:
    """The node as a layer whose output scales with its weights; None if it is none."""
    if not isinstance(node, Node) or node.op != "call_function":
        return None
    args: list[Any] = [*node.args, *[None] * 9]
    if node.target is aten.convolution.default:
        transposed, groups = bool(args[6]), args[8]
        return Layer(node, args[1], args[2], 2, 1 if transposed else 0, groups)
    if node.target in _CONVOLUTIONS:
        return Layer(node, args[1], args[2], 2, 0)
    if node.target in _TRANSPOSED:
        options: dict[str, Any] = node.kwargs
        groups = args[6] if len(node.args) > 6 else options.get("groups", 1)
        return Layer(node, args[1], args[2], 2, 1, groups)
    if node.target is aten.linear.default:
        return Layer(node, args[1], args[2], 2, 0)
    if node.target is aten.addmm.default and not node.kwargs:
        return Layer(node, args[2], args[0], 0, 1)
    return None


def sibling(name: str) -> str:
    """The name of the bias that belongs to a weight: encoder.conv.bias for encoder.conv.weight."""
    return f"{name.rpartition('.')[0]}.bias".lstrip(".")


def give(layer: Layer, weight: Node, bias: Node | None) -> None:
    """Replaces the layer's weight and bias."""
    layer.node.replace_input_with(layer.weight, weight)
    args = [*layer.node.args, *[None] * (layer.bias_index + 1 - len(layer.node.args))]
    args[layer.bias_index] = bias
    layer.node.args = tuple(args)
    layer.node.kwargs = {k: v for k, v in layer.node.kwargs.items() if k != "bias"}


def scaled(weight: torch.Tensor, scale: torch.Tensor, layer: Layer) -> torch.Tensor:
    """The weight with each output channel multiplied by its factor, in the weight's dtype and layout."""
    weight = weight.detach()
    if layer.channel_dim == 0:
        factors = scale.view(-1, *[1] * (weight.dim() - 1))
    else:  # [in, out / groups, ...]: a group's rows take the scales of its outputs
        per_group = scale.view(layer.groups, 1, -1)
        per_row = per_group.expand(-1, weight.shape[0] // layer.groups, -1)
        factors = per_row.reshape(weight.shape[0], -1, *[1] * (weight.dim() - 2))
    result = torch.empty_like(weight)
    # In parts: a float64 copy of the whole weight would be the peak memory of an export.
    rows = max(_PART // max(weight[:1].numel(), 1), 1)
    for part, source, factor in zip(*(torch.split(t, rows) for t in (result, weight, factors)), strict=True):
        part.copy_(source.double() * factor)
    return result
