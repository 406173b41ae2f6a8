# SPDX-License-Identifier: BSD-3-Clause
"""Bias correction: adds the mean error of each layer's result on the calibration inputs to its bias.

Layers are corrected in order of execution, each on the results of the corrected layers before it (Nagel et
al. 2019, with calibration data instead of batch-norm statistics). Cost: two executions of the model per
batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node
from torchao.quantization.pt2e import ObserverBase

from rushlight.quantize.equalize import CONVOLUTIONS, LINEAR
from rushlight.quantize.parameters import is_read_once, parameter, replace_parameter

Means = dict[str, torch.Tensor]
_Batches = Sequence[Sequence[Any]]
_Visit = Callable[[Node, list[Any]], list[Any]]


def float_means(prepared: GraphModule, batches: _Batches) -> Means:
    """The mean of each channel of the layers' float results, by the node's name."""
    means: Means = {}

    def visit(node: Node, values: list[Any]) -> list[Any]:
        if _is_layer(node):
            means[node.name] = _mean(node, values)
        return values

    _walk(prepared, batches, visit)
    return means


def correct_biases(converted: GraphModule, batches: _Batches, means: Means) -> int:
    """Corrects the layers of a converted graph to the given means. Returns the number of corrected layers."""
    found: list[tuple[Node, torch.Tensor]] = []

    def visit(node: Node, values: list[Any]) -> list[Any]:
        bias = node.args[2] if _is_layer(node) and len(node.args) > 2 else None
        known = node.name in means and _is_layer(node)
        if not known or not (bias is None or is_read_once(converted, bias)):
            return values
        error = means[node.name] - _mean(node, values)
        found.append((node, error))
        return [value + _along_channels(node, error, value.dim()).to(value.dtype) for value in values]

    _walk(converted, batches, visit)
    for node, error in found:
        _add_to_bias(converted, node, error)
    converted.recompile()
    return len(found)


def _is_layer(node: Node) -> bool:
    return node.target in (*CONVOLUTIONS, LINEAR)


def _axis(node: Node, dims: int) -> int:
    return dims - 1 if node.target is LINEAR else 1


def _mean(node: Node, values: list[Any]) -> torch.Tensor:
    """The mean of each channel over all batches and elements, float64."""
    total, count = torch.zeros(()), 0
    for value in values:
        channels = value.detach().movedim(_axis(node, value.dim()), 0).flatten(1).double()
        total, count = total + channels.sum(1), count + channels.shape[1]
    return total / max(count, 1)


def _along_channels(node: Node, error: torch.Tensor, dims: int) -> torch.Tensor:
    return error if node.target is LINEAR else error.reshape(-1, *[1] * (dims - 2))


def _add_to_bias(graph: GraphModule, node: Node, error: torch.Tensor) -> None:
    bias = node.args[2] if len(node.args) > 2 else None
    if bias is not None:
        old = parameter(graph, bias)
        replace_parameter(graph, bias, (old + error).to(old.dtype))
        return
    name = f"_corrected_bias_{node.name}"
    value = node.meta["val"]
    graph.register_buffer(name, error.to(value.dtype))
    with graph.graph.inserting_before(node):
        made = graph.graph.get_attr(name)
    with value.fake_mode:
        made.meta["val"] = torch.empty(len(error), dtype=value.dtype)
    node.args = (*node.args[:2], made, *node.args[3:])


def _walk(graph: GraphModule, batches: _Batches, visit: _Visit) -> None:
    """Executes the graph node by node, each node for all batches before the next node. `visit` may change the
    values. Values without later readers are released."""
    executions = [_Run(graph, inputs) for inputs in batches]
    last = {source: node for node in graph.graph.nodes for source in node.all_input_nodes}
    with torch.no_grad():
        for node in graph.graph.nodes:
            if node.op == "output":
                return
            values = visit(node, [run.run_node(node) for run in executions])
            for run, value in zip(executions, values, strict=True):
                run.env[node] = value
                for source in node.all_input_nodes:
                    if last[source] is node:
                        del run.env[source]


class _Run(Interpreter):
    """One execution of a graph in which observers return their input."""

    def __init__(self, graph: GraphModule, inputs: Sequence[Any]) -> None:
        super().__init__(graph)
        self.args_iter: Iterator[Any] = iter(inputs)

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        """See Interpreter."""
        if isinstance(self.module.get_submodule(str(target)), ObserverBase):
            return args[0]
        return super().call_module(target, args, kwargs)
