# SPDX-License-Identifier: BSD-3-Clause
"""Executes a calibrated graph with a chosen set of layers quantized, for sensitivity and mixed precision.

Each observer either rounds its tensor to quantized values or returns it unchanged. It rounds if a layer
that owns it is quantized: a layer owns the observers of its inputs and its result. With all layers
quantized the result equals that of the converted graph, without a conversion per choice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.utils._pytree import tree_leaves
from torchao.quantization.pt2e import ObserverBase, PlaceholderObserver

from rushlight.quantize.observers import GroupedWeightObserver, PerTokenObserver
from rushlight.quantize.patterns.base import annotation, is_annotated
from rushlight.quantize.patterns.moving import moves_elements
from rushlight.quantize.scope import module_stack

ops = torch.ops.quantized_decomposed
Round = Callable[[torch.Tensor], torch.Tensor]
Inputs = Sequence[Any]


@dataclass
class Layer:
    """The quantized operators of one module: their names, the bytes of their float weights, and the first
    node."""

    name: str
    head: Node
    operators: list[str] = field(default_factory=list)
    weight_bytes: int = 0


@dataclass(frozen=True)
class _Observed:
    round: Round
    owners: frozenset[str]
    is_weight: bool


class QuantizedLayers:
    """A prepared and calibrated graph. `layers` has the layers with a scheme, by name; "" has the operators
    of the model itself.

    Args:
        keep_weights: a layer left in float still has quantized weights.
    """

    def __init__(self, prepared: GraphModule, *, keep_weights: bool = False) -> None:
        self.graph = prepared
        self.layers: dict[str, Layer] = {}
        self._observed = self._observers(keep_weights)

    def run(self, inputs: Inputs, quantized: Collection[str]) -> list[torch.Tensor]:
        """The float tensors that the graph returns with these layers quantized."""
        found = _Rounding(self.graph, self._observed, frozenset(quantized)).run(*inputs)
        leaves = [leaf for leaf in tree_leaves(found) if isinstance(leaf, torch.Tensor)]
        return [leaf for leaf in leaves if leaf.is_floating_point()]

    def _observers(self, keep_weights: bool) -> dict[str, _Observed]:
        owners: dict[str, set[str]] = {}
        weights: set[str] = set()
        for node in self.graph.graph.nodes:
            if not is_annotated(node):
                continue
            read = [each for each in node.all_input_nodes if self._is_observer(each)]
            given = [each for each in node.users if self._is_observer(each)]
            if moves_elements(node):
                names = {name for each in read for name in owners.get(str(each.target), ())}
            else:
                names = {self._layer(node, read).name}
            for each in (*read, *given):
                owners.setdefault(str(each.target), set()).update(names)
            weights.update(str(each.target) for each in read if each.all_input_nodes[0].op == "get_attr")
        return {
            name: _Observed(
                _rounding(self.graph.get_submodule(name)),
                frozenset(names),
                is_weight=keep_weights and name in weights,
            )
            for name, names in owners.items()
        }

    def _layer(self, node: Node, read: Sequence[Node]) -> Layer:
        """The layer of a node; a fused activation belongs to the layer of the operator before it."""
        head = node
        while not _inputs_of(head) and is_annotated(head.all_input_nodes[0]):
            head = head.all_input_nodes[0]
        stack = module_stack(head)
        name = stack[-1][0] if stack else ""
        layer = self.layers.setdefault(name, Layer(name, head))
        if head is node:
            layer.operators.append(str(node.target).partition(".")[2].partition(".")[0])
            for each in read:
                source = each.all_input_nodes[0]
                if source.op == "get_attr":
                    value = source.meta["val"]
                    layer.weight_bytes += value.numel() * value.element_size()
        return layer

    def _is_observer(self, node: Node) -> bool:
        return node.op == "call_module" and isinstance(
            self.graph.get_submodule(str(node.target)), ObserverBase
        )


class _Rounding(Interpreter):
    """Executes a prepared graph; the observers of quantized layers round."""

    def __init__(self, graph: GraphModule, observed: dict[str, _Observed], quantized: frozenset[str]) -> None:
        super().__init__(graph)
        self.observed, self.quantized = observed, quantized

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        found = self.observed.get(str(target))
        if found is None:
            return (
                args[0]
                if str(target).startswith("activation_post_process")
                else super().call_module(target, args, kwargs)
            )
        return found.round(args[0]) if found.is_weight or found.owners & self.quantized else args[0]


def _inputs_of(node: Node) -> bool:
    found = annotation(node)
    return found is not None and bool(found.input_qspec_map)


def _rounding(observer: Any) -> Round:
    """The function that quantizes and dequantizes a tensor as an observer specifies."""
    if isinstance(observer, GroupedWeightObserver):
        return observer.rounded
    if isinstance(observer, PerTokenObserver):
        return _per_token
    if isinstance(observer, PlaceholderObserver):
        return lambda x: _by_own_range(x, observer)
    scale, zero_point = observer.calculate_qparams()
    low, high, dtype = observer.quant_min, observer.quant_max, observer.dtype
    if observer.qscheme in (torch.per_channel_affine, torch.per_channel_symmetric):
        form = (scale, zero_point, observer.ch_axis, low, high, dtype)
        return lambda x: ops.dequantize_per_channel(ops.quantize_per_channel(x, *form), *form)
    one = (float(scale), int(zero_point), low, high, dtype)
    return lambda x: ops.dequantize_per_tensor(ops.quantize_per_tensor(x, *one), *one)


def _by_own_range(x: torch.Tensor, observer: Any) -> torch.Tensor:
    limits = (observer.quant_min, observer.quant_max)
    scale, zero_point = ops.choose_qparams.tensor(x, *limits, observer.eps, observer.dtype)
    form = (scale, zero_point, *limits, observer.dtype)
    real: torch.Tensor = ops.dequantize_per_tensor.tensor(ops.quantize_per_tensor.tensor(x, *form), *form)
    return real


def _per_token(x: torch.Tensor) -> torch.Tensor:
    scale, zero_point = ops.choose_qparams_per_token_asymmetric(x, torch.int8)
    form = (scale, zero_point, -128, 127, torch.int8)
    real: torch.Tensor = ops.dequantize_per_token(ops.quantize_per_token(x, *form), *form, x.dtype)
    return real
