# SPDX-License-Identifier: BSD-3-Clause
"""Cross-layer equalization (Nagel et al. 2019, "Data-Free Quantization"): scales the channels between two
layers so that they use one range equally. The operators between the layers must satisfy f(s x) = s f(x)
for s > 0. A scale is accepted only if a model of the rounding noise, from the ranges and mean squares of
calibration inputs, improves.

Scales are powers of two: float results stay bit-exact unless a channel under- or overflows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node
from torchao.quantization.pt2e.utils import _fuse_conv_bn_, _fuse_linear_bn_

from rushlight.quantize.config import Static
from rushlight.quantize.parameters import is_read_once, parameter, replace_parameter
from rushlight.quantize.quantizer import RushlightQuantizer

aten = torch.ops.aten
CONVOLUTIONS = (
    aten.conv1d.default,
    aten.conv1d.padding,
    aten.conv2d.default,
    aten.conv2d.padding,
    aten.conv3d.default,
    aten.conv3d.padding,
)
LINEAR = aten.linear.default
_GROUPS = 6  # index in (input, weight, bias, stride, padding, dilation, groups)
_ELEMENTWISE = (aten.relu.default, aten.relu_.default, aten.leaky_relu.default, aten.leaky_relu_.default)
_POOLS = (
    aten.dropout.default,
    aten.max_pool1d.default,
    aten.max_pool2d.default,
    aten.max_pool3d.default,
    aten.avg_pool1d.default,
    aten.avg_pool2d.default,
    aten.avg_pool3d.default,
    aten.adaptive_avg_pool1d.default,
    aten.adaptive_avg_pool2d.default,
    aten.adaptive_avg_pool3d.default,
)
_ROUNDS = 16
_MOST = 8  # the largest exponent of a scale in one round
_GAIN = 0.98  # a round must reduce the noise to at most this share
_STEPS = 255
_TINY = torch.finfo(torch.float32).tiny


@dataclass
class _Link:
    """Two layers, and the node between them whose tensor is quantized. `largest` and `power` are its largest
    magnitude and mean square per channel."""

    first: Node
    tensor: Node
    second: Node
    largest: torch.Tensor
    power: torch.Tensor


def equalize(graph: GraphModule, batches: Sequence[Sequence[Any]], quantizer: RushlightQuantizer) -> int:
    """Equalizes all pairs of layers in a captured graph, after folding batch norms. Returns the number of
    pairs.

    Args: `batches` are inputs in the order of the graph's placeholders.
    """
    _fuse_conv_bn_(graph)
    _fuse_linear_bn_(graph)
    links = list(_links(graph, quantizer))
    if not links:
        return 0
    measured = {link.tensor.name: link for link in links}
    with torch.no_grad():
        for inputs in batches:
            _Measure(graph, measured).run(*inputs)
        for link in links:
            link.power = link.power / max(len(batches), 1)
        for _ in range(_ROUNDS):
            changed = [_balance(graph, link, quantizer) for link in links]
            if not any(changed):
                break
    return len(links)


def _links(graph: GraphModule, quantizer: RushlightQuantizer) -> Iterator[_Link]:
    for node in graph.graph.nodes:
        if not _is_layer(graph, node, quantizer) or not _may_scale_result(graph, node):
            continue
        tensor, second = node, _only_reader(node)
        if second is not None and second.target in _ELEMENTWISE:
            tensor, second = second, _only_reader(second)
        while second is not None and _keeps_channels(second):
            second = _only_reader(second)
        if (
            second is None
            or not _is_layer(graph, second, quantizer)
            or not is_read_once(graph, second.args[1])
        ):
            continue
        weight, channels = parameter(graph, second.args[1]), parameter(graph, node.args[1]).shape[0]
        if _fits(second, weight, channels) and (_axis(node) == 1 or second.target is node.target is LINEAR):
            yield _Link(node, tensor, second, torch.zeros(channels), torch.zeros(channels))


def _fits(second: Node, weight: torch.Tensor, channels: int) -> bool:
    """True if the second layer's inputs are exactly these channels, or several elements of each."""
    return weight.shape[1] * _groups(second) % channels == 0 and (
        second.target is LINEAR or weight.shape[1] * _groups(second) == channels
    )


def _is_layer(graph: GraphModule, node: Node, quantizer: RushlightQuantizer) -> bool:
    if node.target not in (*CONVOLUTIONS, LINEAR) or not isinstance(quantizer.scheme_of(node), Static):
        return False
    return parameter(graph, node.args[1]) is not None


def _may_scale_result(graph: GraphModule, node: Node) -> bool:
    """True if no other node reads the layer's weight and bias."""
    bias = node.args[2] if len(node.args) > 2 else None
    return is_read_once(graph, node.args[1]) and (bias is None or is_read_once(graph, bias))


def _only_reader(node: Node) -> Node | None:
    """The only reader of a node, if it reads it as its first argument; else None."""
    readers = list(node.users)
    alone = len(readers) == 1 and readers[0].op == "call_function" and readers[0].all_input_nodes[0] is node
    return readers[0] if alone else None


def _keeps_channels(node: Node) -> bool:
    """True for pools, means over spatial positions, and views that keep a channel's elements adjacent."""
    if node.target in _POOLS or node.target in _ELEMENTWISE:
        return True
    source = node.all_input_nodes[0].meta["val"]
    if node.target is aten.mean.dim:
        dims = node.args[1]
        return isinstance(dims, (list, tuple)) and all(int(dim) % source.dim() > 1 for dim in dims)  # type: ignore[arg-type]
    if node.target is aten.flatten.using_ints:
        return list(node.args[1:]) in ([1], [1, -1], [1, source.dim() - 1])
    result = node.meta["val"]
    views = (aten.view.default, aten.reshape.default)
    return (
        node.target in views and result.dim() == 2 and source.dim() > 2 and result.shape[0] == source.shape[0]
    )


def _balance(graph: GraphModule, link: _Link, quantizer: RushlightQuantizer) -> bool:
    """Scales a pair once, by the factors that equalize the shares of the activation's range and of the second
    layer's, if that reduces the noise. Returns True if it did."""
    state = _State(
        parameter(graph, link.first.args[1]),
        _blocks(link.second, parameter(graph, link.second.args[1]), len(link.largest)),
        link.largest,
        link.power,
    )
    apart = _per_channel(quantizer, link.first), _per_channel(quantizer, link.second)
    exponents = state.exponents(*apart)
    noise = state.noise(*apart)
    for strength in (1.0, 0.5):
        scale = (exponents * strength).round().exp2()
        if bool((scale != scale[0]).any()) and state.scaled(scale).noise(*apart) < _GAIN * noise:
            _apply(graph, link, scale)
            return True
    return False


@dataclass(frozen=True)
class _State:
    """Two layers and the activation between them: the first weight, the second one as [groups, outputs,
    channels, taps], and per channel the largest magnitude and the mean square."""

    first: torch.Tensor
    second: torch.Tensor
    largest: torch.Tensor
    power: torch.Tensor

    def scaled(self, scale: torch.Tensor) -> _State:
        """The state after dividing the channels by a scale."""
        groups = len(self.second)
        return _State(
            self.first / scale.reshape(-1, *[1] * (self.first.dim() - 1)),
            self.second * scale.reshape(groups, 1, -1, 1),
            self.largest / scale,
            self.power / scale.square(),
        )

    def exponents(self, first_by_channel: bool, second_by_channel: bool) -> torch.Tensor:
        """The exponents of the scales that balance both layers; 0 for channels that are always zero."""
        share = _shares(self.largest)
        if not first_by_channel:
            share = torch.maximum(share, _shares(self.first.abs().flatten(1).amax(1)))
        columns = self.second.abs().amax(3)
        rows = columns.amax(2, keepdim=True) if second_by_channel else columns.amax()
        other = (columns / rows.clamp_min(_TINY)).amax(1).flatten()
        alive = (share > 0) & (other > 0)
        return torch.where(alive, (share / other).sqrt().log2(), 0.0).nan_to_num(0, 0, 0).clamp(-_MOST, _MOST)

    def noise(self, first_by_channel: bool, second_by_channel: bool) -> float:
        """The power of the rounding errors in the second layer's outputs relative to the outputs' power, up
        to a constant factor. A step of size d has the noise power d^2 / 12."""
        power = self.power.reshape(len(self.second), 1, -1)
        energy = self.second.square().sum(3)
        signal = (energy * power).sum(2).clamp_min(_TINY)
        activation = (self.largest.amax() / _STEPS).square() * energy.sum(2)
        widths = self.second.abs().amax((2, 3)) if second_by_channel else self.second.abs().amax()
        weight = (2 * widths / _STEPS).square() * power.sum(2) * self.second.shape[3]
        total = (activation + weight) / signal
        if not first_by_channel:
            rows = self.first.flatten(1)
            coarse = (2 * rows.abs().amax() / _STEPS).square() * rows.shape[1]
            shares = (coarse / rows.square().sum(1).clamp_min(_TINY)).reshape(power.shape)
            total = total + (energy * power * shares).sum(2) / signal
        return float(total.mean())


def _apply(graph: GraphModule, link: _Link, scale: torch.Tensor) -> None:
    first, second = parameter(graph, link.first.args[1]), parameter(graph, link.second.args[1])
    link.largest, link.power = link.largest / scale, link.power / scale.square()
    replace_parameter(graph, link.first.args[1], first / scale.reshape(-1, *[1] * (first.dim() - 1)))
    if len(link.first.args) > 2 and link.first.args[2] is not None:
        replace_parameter(graph, link.first.args[2], parameter(graph, link.first.args[2]) / scale)
    blocks = _blocks(link.second, second, len(scale)) * scale.reshape(_groups(link.second), 1, -1, 1)
    replace_parameter(graph, link.second.args[1], blocks.reshape(second.shape))


def _shares(magnitudes: torch.Tensor) -> torch.Tensor:
    return magnitudes / magnitudes.amax().clamp_min(_TINY)


def _blocks(node: Node, weight: torch.Tensor, channels: int) -> torch.Tensor:
    """A weight as [groups, outputs per group, channels per group, taps]."""
    groups = _groups(node)
    return weight.reshape(groups, len(weight) // groups, channels // groups, -1)


def _groups(node: Node) -> int:
    return int(node.args[_GROUPS]) if node.target is not LINEAR and len(node.args) > _GROUPS else 1  # type: ignore[arg-type]


def _per_channel(quantizer: RushlightQuantizer, node: Node) -> bool:
    scheme = quantizer.scheme_of(node)
    return isinstance(scheme, Static) and scheme.per_channel


def _axis(node: Node) -> int:
    """The channel dimension of a layer's result."""
    dims: int = node.meta["val"].dim()
    return dims - 1 if node.target is LINEAR else 1


class _Measure(Interpreter):
    """Measures each channel of the tensors between the pairs."""

    def __init__(self, graph: GraphModule, links: dict[str, _Link]) -> None:
        super().__init__(graph)
        self.links = links

    def run_node(self, n: Node) -> Any:
        """See Interpreter."""
        result = super().run_node(n)
        link = self.links.get(n.name)
        if link is not None:
            channels = result.detach().float().movedim(_axis(link.first), 0).flatten(1)
            link.largest = torch.maximum(link.largest, channels.abs().amax(1))
            link.power = link.power + channels.square().mean(1)
        return result
