# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the operators that run channels-last: those whose choice copies the fewest bytes.

All operators of a graph are decided together, by a minimum cut (rushlight.integers.order). Cost: a copy of
each tensor that a reader needs in another order, and for each row-major convolution most of a copy of what
it reads and writes.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from rushlight.export.graph.constants import Constants
from rushlight.export.graph.nodes import graph_modules, input_of, value_of
from rushlight.export.graph.rewrite import insert_before
from rushlight.export.graph.sizes import estimated_bytes
from rushlight.export.order.operators import clone_dim_order
from rushlight.export.order.orders import (
    channels_last,
    is_channels_last,
    is_either,
    order_of_strides,
    stored_order,
)
from rushlight.export.order.rules import OrderRules, permutation
from rushlight.export.passes.base import Pass, PassContext
from rushlight.integers.order import OrderCosts
from rushlight.program.dim_order import row_major

_LAST = channels_last(4)
_TO_LAST = [0, 3, 1, 2]
"""The permutation whose result is channels-last in the memory of a row-major source."""


class ChannelsLast(Pass):
    """Sets meta["channels_last"] of the operators that may be either: True for channels-last results. Outputs
    of the program keep their order, by copies.

    If the runtime accepts any order, tensors with one channel or one pixel, and permutations from and to
    channels-last, are free. DimOrders has to run afterwards: it inserts all other copies.
    """

    name = "channels_last"
    requires = frozenset({"views are copies"})
    breaks = frozenset({"dim orders"})

    def __init__(self, which: str = "all") -> None:
        """`which`: "all" favors channels-last for every convolution, "integers" only for integer ones."""
        self.which = which

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        modified = False
        constants, rules = Constants(program), OrderRules(context.library)
        for module in graph_modules(program.graph_module):
            modified |= _Choice(module, constants, rules, self.which).make()
        return modified


class _Choice:
    """The choice for the operators of one graph. Members are the calls that may be channels-last."""

    def __init__(self, module: GraphModule, constants: Constants, rules: OrderRules, which: str) -> None:
        self.module, self.constants, self.rules, self.which = module, constants, rules, which
        self.costs: OrderCosts[Node] = OrderCosts()
        self.members = {node for node in module.graph.nodes if self._is_member(node)}

    def make(self) -> bool:
        """Decides, marks the members and restores the order of outputs. True if any is channels-last."""
        for node in self.module.graph.nodes:
            if node in self.members:
                self.costs.call(node, self._cost_in_rows(node))
            elif _is_fixed_last(node):
                self.costs.call(node, _ALWAYS)
            self._add_reads(node)
        chosen = self.costs.channels_last()
        for node in self.members:
            node.meta["channels_last"] = node in chosen
        output = self.module.graph.output_node()
        for node in self.module.graph.nodes:
            if node in output.all_input_nodes and self._maker(node) in chosen:
                self._restore(node, output)
        return any(node in chosen for node in self.members)

    def _is_member(self, node: Node) -> bool:
        """True for a call whose results may be channels-last. Nodes that take results apart are none."""
        if node.op != "call_function" or node.target is operator.getitem:
            return False
        value = value_of(node)
        first = value[0] if isinstance(value, (tuple, list)) and value else value
        if not isinstance(first, torch.Tensor) or first.dim() != 4 or is_either(first):
            return False
        return bool(self.rules.deciding_inputs(node)) or self._is_permuted(node, _TO_LAST)

    def _is_permuted(self, node: Node, dims: list[int]) -> bool:
        return self.rules.any_order and permutation(node) == dims

    def _cost_in_rows(self, node: Node) -> float:
        """The cost of row-major results: the gathering of a convolution, the copy of a permutation."""
        if self._is_permuted(node, _TO_LAST):
            return estimated_bytes(value_of(node))
        value = value_of(node)
        is_float = isinstance(value, torch.Tensor) and value.dtype.is_floating_point
        if not self.rules.is_convolution(node) or (self.which == "integers" and is_float):
            return 0
        moved = estimated_bytes(value)
        # The kernel gathers the planes of an image for results in either order.
        if self._maker(input_of(node)) is not None or not self.rules.gathers_planes(node):
            moved += estimated_bytes(value_of(input_of(node)))
        return OrderCosts.ROW_MAJOR_CONVOLUTION * moved

    def _add_reads(self, node: Node) -> None:
        """Adds the copies of a node's tensor for its readers."""
        value = value_of(node)
        if not isinstance(value, torch.Tensor) or value.dim() != 4 or self._is_free(node):
            return
        readers = list(self._readers(node))
        maker = self._maker(node)
        if maker is not None and any(self._is_permuted(user, [0, 2, 3, 1]) for user in node.users):
            self.costs.call(maker, estimated_bytes(value))  # row-major, the permutation would copy
        if readers:
            self.costs.read(node, maker, readers, estimated_bytes(value))

    def _is_free(self, node: Node) -> bool:
        one_layout = self.rules.any_order and is_either(value_of(node))
        return one_layout or self.constants.get(node) is not None

    def _maker(self, node: Node) -> Node | None:
        """The call that decides about the order of a tensor; None if the tensor is row-major."""
        made = input_of(node) if node.target is operator.getitem else node
        return made if made in self.members or _is_fixed_last(made) else None

    def _readers(self, node: Node) -> Iterator[Node | None]:
        """The readers that need the tensor in one order: members, or None for row-major."""
        for user in node.users:
            if user in self.members and node in self.rules.deciding_inputs(user):
                if not (self._maker(node) is None and self.rules.gathers_planes(user)):
                    yield user
            elif user.op == "output":
                if order_of_strides(value_of(node)) == row_major(4):
                    yield None
            elif user.target is not operator.getitem and not self._takes(user):
                yield user if _is_fixed_last(user) else None

    def _takes(self, user: Node) -> bool:
        """True if a call that is no member reads a tensor in any order."""
        if not self.rules.any_order:
            return False
        if permutation(user) is not None:
            return not self._is_permuted(user, _TO_LAST)
        return self.rules.reads_any_order(user) or self._ends(user)

    def _ends(self, user: Node) -> bool:
        """True if the result has one pixel, as after global pooling: its memory is the same in both
        orders."""
        value = value_of(user)
        pooled = user.op == "call_function" and isinstance(value, torch.Tensor) and value.dim() == 4
        return pooled and is_either(value) and bool(self.rules.deciding_inputs(user))

    def _restore(self, node: Node, output: Node) -> None:
        """Inserts a copy so that the program's output keeps its order."""
        program = self.constants.program
        if order_of_strides(value_of(node)) != row_major(4):
            return
        made = insert_before(
            output, clone_dim_order, (node,), {"dim_order": [0, 1, 2, 3]}, value=value_of(node), origin=node
        )
        output.replace_input_with(node, made)
        if self.module is program.graph_module:
            program.graph_signature.replace_all_uses(node.name, made.name)


_ALWAYS = float(1 << 60)


def _is_fixed_last(node: Node) -> bool:
    """True for an input of the program or a copy that is channels-last."""
    if node.op != "placeholder" and node.target is not clone_dim_order:
        return False
    order = stored_order(node)
    return bool(order) and len(order) == 4 and is_channels_last(order)
