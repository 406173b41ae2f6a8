# SPDX-License-Identifier: BSD-3-Clause
"""Moves connected groups of convolutions and the operators between them to channels-last.

Groups are connected components. A group is converted if it has enough convolutions for the copies at its
borders (`is_worth_converting`).
"""

from __future__ import annotations

import operator

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from rushlight.export.graph.constants import Constants
from rushlight.export.graph.nodes import graph_modules, input_of, named_argument, value_of
from rushlight.export.graph.rewrite import insert_before
from rushlight.export.order.operators import clone_dim_order
from rushlight.export.order.orders import channels_last, is_either, order_of_strides
from rushlight.export.order.rules import OrderRules, permutation
from rushlight.export.passes.base import Pass, PassContext
from rushlight.integers.order import IMAGE_CHANNELS, connected, is_worth_converting
from rushlight.program.dim_order import DimOrder, row_major


class ChannelsLast(Pass):
    """Inserts copies at the borders of each group of connected operators that can be channels-last, if the
    group has at least as many convolutions as borders. Outputs of the program keep their order.

    If the runtime accepts any order, tensors with one channel or one pixel do not count as borders.
    DimOrders has to run afterwards: it propagates the order inside the group and cancels conversions.
    """

    name = "channels_last"
    requires = frozenset({"views are copies"})
    breaks = frozenset({"dim orders"})

    def __init__(self, which: str = "all") -> None:
        """`which`: "all" counts every convolution of a group, "integers" only integer ones."""
        self.which = which

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        modified = False
        constants, rules = Constants(program), OrderRules(context.library)
        for module in graph_modules(program.graph_module):
            for group in _groups(module, rules):
                modified |= _Group(group, module, constants, rules, self.which).convert()
        return modified


def _groups(module: GraphModule, rules: OrderRules) -> list[list[Node]]:
    """Connected components of the nodes that can be channels-last."""
    members = [node for node in module.graph.nodes if _can_be_channels_last(node, rules)]
    return connected(members, lambda node: _read_in_order(node, rules))


def _can_be_channels_last(node: Node, rules: OrderRules) -> bool:
    if node.op != "call_function":
        return False
    if node.target is operator.getitem:
        return _can_be_channels_last(input_of(node), rules)
    value = value_of(node)
    first = value[0] if isinstance(value, (tuple, list)) and value else value
    if not isinstance(first, torch.Tensor) or first.dim() != 4 or is_either(first):
        return False
    return bool(_read_in_order(node, rules))


def _read_in_order(node: Node, rules: OrderRules) -> list[Node]:
    """The inputs whose dim order the node's results have."""
    return [input_of(node)] if node.target is operator.getitem else rules.deciding_inputs(node)


def _reads_planes(convolution: Node, read: Node) -> bool:
    """True if the float convolution's kernel itself gathers the few channels of an image: no copy is needed
    before it."""
    transposed, groups = (named_argument(convolution, name) for name in ("transposed", "groups"))
    channels = value_of(read).shape[1]
    return (
        convolution.args[0] is read
        and value_of(read).dtype.is_floating_point
        and not transposed
        and groups == 1
        and isinstance(channels, int)
        and channels <= IMAGE_CHANNELS
    )


class _Group:
    """Connected nodes that can be channels-last."""

    def __init__(
        self, nodes: list[Node], module: GraphModule, constants: Constants, rules: OrderRules, which: str
    ) -> None:
        self.which, self.module = which, module
        self.constants, self.rules, self.any_order = constants, rules, rules.any_order
        self.nodes = [node for node in nodes if not self._narrows(node, set(nodes))]
        self.members = set(self.nodes)

    def convert(self) -> bool:
        """Converts at the borders if that is worth its copies. Returns True if it did."""
        entries = [(node, read) for node in self.nodes for read in self._entries(node)]
        exits = [node for node in self.nodes if _is_tensor(node) and self._is_exit(node)]
        convolutions = sum(self._counts(n) for n in self.nodes)
        borders = {read for _, read in entries if not self._has_one_layout(read)}
        if not is_worth_converting(convolutions, len(borders) + len(exits), self.which == "integers"):
            return False
        copies: dict[Node, Node] = {}
        for node, read in entries:
            if self._is_free(node, read):
                if self.rules.is_convolution(node) and node.args[0] is read:
                    node.meta["channels_last"] = True
                continue
            if read not in copies:
                copies[read] = _copied(node, read, channels_last(4))
            node.replace_input_with(read, copies[read])
        output = self.module.graph.output_node()
        for node in exits:
            if output in node.users:
                self._restore(node, output)
        return True

    def _narrows(self, node: Node, members: set[Node]) -> bool:
        """True if the node's elements are smaller than its outside input's, as after quantizing: it is
        cheaper to copy its result."""
        reads = _read_in_order(node, self.rules)
        if len(reads) != 1 or reads[0] in members or not (_is_tensor(node) and _is_tensor(reads[0])):
            return False
        return bool(value_of(node).element_size() < value_of(reads[0]).element_size())

    def _counts(self, node: Node) -> bool:
        """True if the node is a convolution that should run channels-last."""
        is_integer = not value_of(node).dtype.is_floating_point if _is_tensor(node) else False
        return self.rules.is_convolution(node) and (self.which == "all" or is_integer)

    def _entries(self, node: Node) -> list[Node]:
        """The node's inputs from outside the group, without constants."""
        return [
            read
            for read in _read_in_order(node, self.rules)
            if read not in self.members and self.constants.get(read) is None
        ]

    def _has_one_layout(self, read: Node) -> bool:
        return self.any_order and is_either(value_of(read))

    def _is_free(self, node: Node, read: Node) -> bool:
        """True if the node accepts the input in its present order."""
        planes = self.any_order and self.rules.is_convolution(node) and _reads_planes(node, read)
        return planes or self._has_one_layout(read)

    def _is_exit(self, node: Node) -> bool:
        """True if a user outside the group needs the result in another order."""
        return any(user not in self.members and not self._takes(user, node) for user in node.users)

    def _takes(self, user: Node, node: Node) -> bool:
        return self.any_order and (
            is_either(value_of(node))
            or self.rules.reads_any_order(user)
            or permutation(user) is not None
            or self._ends(user)
        )

    def _ends(self, user: Node) -> bool:
        """True if the result has one pixel, as after global pooling: its memory is the same in both
        orders."""
        value = value_of(user)
        pooled = user.op == "call_function" and isinstance(value, torch.Tensor) and value.dim() == 4
        return pooled and is_either(value) and bool(self.rules.deciding_inputs(user))

    def _restore(self, node: Node, output: Node) -> None:
        """Inserts a copy so that the program's output keeps its order."""
        program = self.constants.program
        order = order_of_strides(value_of(node))
        if order != row_major(4):
            return
        made = _copied(output, node, order)
        output.replace_input_with(node, made)
        if self.module is program.graph_module:
            program.graph_signature.replace_all_uses(node.name, made.name)


def _is_tensor(node: Node) -> bool:
    return isinstance(value_of(node), torch.Tensor)


def _copied(before: Node, source: Node, order: DimOrder) -> Node:
    return insert_before(
        before, clone_dim_order, (source,), {"dim_order": list(order)}, value=value_of(source), origin=source
    )
