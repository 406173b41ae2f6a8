# SPDX-License-Identifier: BSD-3-Clause
"""Moves chains of convolutions and what is between them to channels-last. Not in the default pipeline:
give it to export() at the point "edge"."""

from __future__ import annotations

import operator

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from rushlight.export.constants import Constants
from rushlight.export.dialect.dim_order import clone_dim_order
from rushlight.export.dim_orders import DimOrder, channels_last, is_either, order_of_strides, row_major
from rushlight.export.graph import graph_modules, value_of
from rushlight.export.passes.base import Pass, PassContext
from rushlight.export.passes.dim_order import deciding_inputs
from rushlight.export.rewrite import insert_before

_CONVOLUTIONS = frozenset({"aten::convolution", "aten::conv2d", "rushlight::convolution_act"})


class ChannelsLast(Pass):
    """Converts at the borders of each group of connected operators that can be channels-last, where the
    group has at least as many convolutions as borders. Outputs of the program keep their order.

    DimOrders has to run afterwards: it lets the order spread inside, and cancels conversions.
    """

    name = "channels_last"
    requires = frozenset({"views are copies"})
    breaks = frozenset({"dim orders"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        modified = False
        constants = Constants(program)
        for module in graph_modules(program.graph_module):
            for group in _groups(module):
                modified |= _convert(group, module, constants)
        return modified


def _groups(module: GraphModule) -> list[list[Node]]:
    """Connected nodes that can be channels-last."""
    parents: dict[Node, Node] = {}

    def root(node: Node) -> Node:
        while parents[node] is not node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node

    for node in module.graph.nodes:
        if _can_be_channels_last(node):
            parents[node] = node
            for read in _read_in_order(node):
                if read in parents:
                    parents[root(read)] = node
    groups: dict[Node, list[Node]] = {}
    for node in parents:
        groups.setdefault(root(node), []).append(node)
    return list(groups.values())


def _can_be_channels_last(node: Node) -> bool:
    if node.op != "call_function":
        return False
    value = value_of(node)
    first = value[0] if isinstance(value, (tuple, list)) and value else value
    if not isinstance(first, torch.Tensor) or first.dim() != 4 or is_either(first):
        return False
    return bool(_read_in_order(node))


def _read_in_order(node: Node) -> list[Node]:
    """What a node reads in the order that its results have."""
    return [node.args[0]] if node.target is operator.getitem else deciding_inputs(node)


def _convert(group: list[Node], module: GraphModule, constants: Constants) -> bool:
    members = set(group)
    entries = [
        (node, read)
        for node in group
        for read in _read_in_order(node)
        if read not in members and constants.get(read) is None
    ]
    exits = [n for n in group if _is_tensor(n) and any(user not in members for user in n.users)]
    convolutions = sum(_is_convolution(n) for n in group)
    if convolutions < len({read for _, read in entries}) + len(exits):
        return False
    copies: dict[Node, Node] = {}
    for node, read in entries:
        if read not in copies:
            copies[read] = _copied(node, read, channels_last(4))
        node.replace_input_with(read, copies[read])
    output = module.graph.output_node()
    for node in exits:
        if output in node.users:
            _restore(node, output, module, constants)
    return True


def _is_tensor(node: Node) -> bool:
    return isinstance(value_of(node), torch.Tensor)


def _is_convolution(node: Node) -> bool:
    return isinstance(node.target, OpOverload) and node.target._schema.name in _CONVOLUTIONS


def _copied(place: Node, source: Node, order: DimOrder) -> Node:
    return insert_before(
        place, clone_dim_order, (source,), {"dim_order": list(order)}, value=value_of(source), origin=source
    )


def _restore(node: Node, output: Node, module: GraphModule, constants: Constants) -> None:
    """Let the program put the tensor out in the order that it had."""
    program = constants.program
    order = order_of_strides(value_of(node))
    if order != row_major(4):
        return
    made = _copied(output, node, order)
    output.replace_input_with(node, made)
    if module is program.graph_module:
        program.graph_signature.replace_all_uses(node.name, made.name)
