# SPDX-License-Identifier: BSD-3-Clause
"""Assigns a dim order to each tensor and inserts the copies between orders.

Method: one forward pass over each graph; each call decides its result's order from its inputs' orders.
Copies are cached per (node, order), so that a tensor is converted at most once.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind, TensorArgument
from torch.fx import GraphModule, Node

from rushlight.export.delegate import call_delegate
from rushlight.export.graph.constants import Constants, input_specs, is_lifted
from rushlight.export.graph.nodes import arguments_of, attribute, graph_modules, input_of, value_of
from rushlight.export.graph.rewrite import insert_before, replace
from rushlight.export.graph.sizes import estimated_bytes
from rushlight.export.order.operators import clone_dim_order, empty_dim_order, to_dim_order_copy
from rushlight.export.order.orders import (
    channels_last,
    is_channels_last,
    is_either,
    order_of_format,
    order_of_strides,
    stored_order,
    uses_channels_last,
)
from rushlight.export.order.rules import OrderRules, is_size_of, permutation, tensors_of
from rushlight.export.passes.base import Pass, PassContext
from rushlight.program.dim_order import DimOrder, permuted, row_major

aten = torch.ops.aten

_WRITTEN_BACK = (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION, OutputKind.PARAMETER_MUTATION)
_COPIES = {aten.clone.default, aten._to_copy.default, aten.contiguous.default}


class DimOrders(Pass):
    """Sets meta["dim_order"] of each tensor node, a tuple of orders for nodes with several tensors.

    Inputs have the orders of the example tensors. An operator that keeps an order (OrderRules) gives its
    result the order of most bytes of the inputs that decide; inputs in another order are copied, unless the
    operator follows any order. All other operators,
    and control flow, read and write row-major tensors. Operators with memory formats become operators of
    the dim-order dialect, or disappear.

    A constant has the order that its readers need, whatever the strides of its tensor: storing it permutes
    its elements. The pass may run again to cover nodes added by other passes.

    If the runtime accepts any order (OperatorLibrary.any_order): tensors with one channel or one pixel,
    whose memory is the same in both orders, are row-major and never copied; operators may broadcast in
    channels-last; and permutations for attention keep the memory of their source.

    meta["channels_last"] of a node (ChannelsLast) overrides the order of its inputs.
    """

    name = "dim_orders"
    requires = frozenset({"views are copies"})
    ensures = frozenset({"dim orders"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        modified = False
        rules = OrderRules(context.library)
        for module in graph_modules(program.graph_module):
            asked = uses_channels_last(program) or _has_own(module, rules)
            modified |= _Orders(program, module, not asked, rules).decide()
        return modified


class _Orders:
    """Assigns the orders of one graph, starting at its inputs. In a uniform graph all results are
    row-major."""

    def __init__(
        self, program: ExportedProgram, module: GraphModule, uniform: bool, rules: OrderRules
    ) -> None:
        self.program, self.module, self.uniform = program, module, uniform
        self.rules, self.any_order = rules, rules.any_order
        self.top = module is program.graph_module
        self.modified = False
        self.open: set[Node] = set()  # constants whose order no reader has set yet
        self.copies: dict[tuple[Node, DimOrder], Node] = {}

    def decide(self) -> bool:
        self._inputs()
        for node in list(self.module.graph.nodes):
            if node.op == "call_function":
                self._call(node)
        for node in self.open:
            node.meta["dim_order"] = self._left_open(node)
        self._outputs()
        return self.modified

    def _inputs(self) -> None:
        specs = input_specs(self.program) if self.top else {}
        constants = Constants(self.program) if self.top else None
        for node in self.module.graph.nodes:
            value = value_of(node)
            if node.op != "placeholder" or not isinstance(value, torch.Tensor):
                continue
            node.meta["dim_order"] = row_major(value.dim())
            if constants is not None and constants.get(node) is not None:
                if value.dim() in (4, 5):
                    self.open.add(node)
            elif node.name in specs and not is_lifted(specs[node.name]):
                node.meta["dim_order"] = order_of_strides(value)

    def _left_open(self, node: Node) -> DimOrder:
        """The order of a constant whose order nobody set: by its strides if only convolutions read it, as
        their weight, else row-major."""
        if all(self.rules.convolution_weight(user) is node for user in node.users):
            return order_of_strides(value_of(node))
        return row_major(value_of(node).dim())

    def _outputs(self) -> None:
        output = self.module.graph.output_node()
        results = arguments_of(output)[0]
        if not self.top:
            self._read_as(output, {n: row_major(value_of(n).dim()) for n in tensors_of(output)})
            return
        specs = self.program.graph_signature.output_specs
        kept = list(results)
        placeholders = {n.name: n for n in self.module.graph.nodes if n.op == "placeholder"}
        by_target = {s.target: s.arg.name for s in self.program.graph_signature.input_specs if s.target}
        for index, (result, spec) in enumerate(zip(results, specs, strict=True)):
            if spec.kind in _WRITTEN_BACK and isinstance(result, Node):
                placeholder = placeholders[by_target.get(spec.target, spec.target)]
                kept[index] = self._in_order(result, placeholder.meta["dim_order"], output)
                spec.arg = TensorArgument(name=kept[index].name)
        output.args = (type(results)(kept),)

    def _call(self, node: Node) -> None:
        if node.target in _COPIES:
            self._copy(node)
        elif node.target is clone_dim_order:
            self._clone(node)
        elif node.target is to_dim_order_copy:
            node.meta["dim_order"] = tuple(_options(node)["dim_order"])
        elif node.target in (aten.empty.memory_format, empty_dim_order):
            self._empty(node)
        elif node.target is aten.full_like.default and "memory_format" in node.kwargs:
            node.kwargs = {k: v for k, v in node.kwargs.items() if k != "memory_format"}
            self._compute(node)
        elif node.target is call_delegate:
            self._delegate(node)
        elif self.any_order and not self.uniform and permutation(node) is not None:
            self._permute(node)
        else:
            self._compute(node)

    def _delegate(self, node: Node) -> None:
        """A backend reads and writes tensors in the orders they had when it was lowered to."""
        part = attribute(self.module, str(input_of(node).target)).original_module
        names = set(part.graph_signature.user_inputs)
        inputs = [n for n in part.graph.find_nodes(op="placeholder") if n.name in names]
        pairs = zip(arguments_of(node)[1:], inputs, strict=True)
        wanted = {
            argument: stored_order(source) or row_major(value_of(argument).dim())
            for argument, source in pairs
            if isinstance(value_of(argument), torch.Tensor)
        }
        self._read_as(node, wanted)
        values = value_of(node)
        orders = stored_order(node) or [None] * len(values)
        node.meta["dim_order"] = tuple(
            order or (row_major(value.dim()) if isinstance(value, torch.Tensor) else ())
            for order, value in zip(orders, values, strict=True)
        )

    def _copy(self, node: Node) -> None:
        source, value = input_of(node), value_of(node)
        own = self._order(source)
        wanted = order_of_format(node.kwargs.get("memory_format"), value.dim()) or own
        casts = value.dtype != value_of(source).dtype
        found = None if casts else self._same(source, wanted)
        if found is not None:
            replace(self.program, node, found)
        elif casts and not is_channels_last(wanted) and not is_channels_last(own):
            node.kwargs = {k: v for k, v in node.kwargs.items() if k != "memory_format"}
            node.meta["dim_order"] = wanted
        else:
            options = {"dtype": value.dtype} if casts else {}
            target = to_dim_order_copy if casts else clone_dim_order
            made = insert_before(
                node, target, (source,), {**options, "dim_order": list(wanted)}, value=value, origin=node
            )
            made.meta["dim_order"] = wanted
            replace(self.program, node, made)
        self.modified = True

    def _clone(self, node: Node) -> None:
        """Removes an existing copy if its source, or the source of that copy, already has the order."""
        node.meta["dim_order"] = tuple(_options(node)["dim_order"])
        found = self._same(input_of(node), node.meta["dim_order"])
        if found is not None:
            replace(self.program, node, found)
            self.modified = True

    def _empty(self, node: Node) -> None:
        rank = value_of(node).dim()
        wanted = order_of_format(node.kwargs.get("memory_format"), rank)
        if node.target is empty_dim_order:
            wanted = tuple(_options(node).get("dim_order") or row_major(rank))
        elif wanted is not None and is_channels_last(wanted):
            options = {k: v for k, v in node.kwargs.items() if k != "memory_format"}
            node.target, node.kwargs = empty_dim_order, {**options, "dim_order": list(wanted)}
            self.modified = True
        else:
            node.kwargs = {k: v for k, v in node.kwargs.items() if k != "memory_format"}
        node.meta["dim_order"] = wanted or row_major(rank)

    def _permute(self, node: Node) -> None:
        """A permutation keeps the memory of its source if that makes the result row-major, or if its readers
        accept any order."""
        source, dims = input_of(node), permutation(node)
        assert dims is not None
        if source in self.open:
            self._read_as(node, {source: row_major(len(dims))})
        order = permuted(self._order(input_of(node)), dims)
        stays = bool(node.meta.get("channels_last")) and order == channels_last(len(dims))
        stays |= bool(node.users) and all(self.rules.reads_any_order(user) for user in node.users)
        node.meta["dim_order"] = order if stays else row_major(len(dims))

    def _compute(self, node: Node) -> None:
        value = value_of(node)
        order_of = row_major
        if not self.uniform and not is_size_of(node.target):
            order_of = channels_last if self._keeps_channels_last(node) else row_major
            free = self._read_as_they_are(node)
            self._read_as(node, {n: order_of(value_of(n).dim()) for n in tensors_of(node) if n not in free})
        if node.target is operator.getitem:
            node.meta["dim_order"] = input_of(node).meta["dim_order"][node.args[1]]
        elif isinstance(value, torch.Tensor):
            node.meta["dim_order"] = self._result_order(node, value, order_of(value.dim()))
        elif isinstance(value, (tuple, list)):
            node.meta["dim_order"] = tuple(
                self._result_order(node, v, order_of(v.dim())) if isinstance(v, torch.Tensor) else ()
                for v in value
            )

    def _read_as_they_are(self, node: Node) -> set[Node]:
        """The inputs that the node may read in any order."""
        weight = self.rules.convolution_weight(node)
        free = set() if weight is None else {weight}
        if self.rules.reads_any_order(node):
            free.update(n for n in tensors_of(node) if n not in self.open)
        if self.rules.follows_order(node):
            free.update(n for n in tensors_of(node) if n not in self.open)
        if node.meta.get("channels_last") and self.rules.gathers_planes(node):
            free.add(input_of(node))
        return free

    def _result_order(self, node: Node, value: torch.Tensor, order: DimOrder) -> DimOrder:
        if not self.any_order or self.uniform:
            return order
        dims = self.rules.permuted_next(node)
        if dims is not None:
            return tuple(dims)  # row-major once permuted
        return row_major(value.dim()) if is_either(value) else order

    def _keeps_channels_last(self, node: Node) -> bool:
        """True if the node reads and writes channels-last tensors."""
        if "channels_last" in node.meta:
            return bool(node.meta["channels_last"])
        if self.rules.reads_any_order(node):
            return False
        tensors = self.rules.deciding_inputs(node)
        decided = [n for n in tensors if n not in self.open and not is_either(value_of(n))] or tensors[:1]
        sizes = [estimated_bytes(value_of(n)) for n in decided]
        last = [is_channels_last(self._order(n)) for n in decided]
        moved = sum(size if is_last else -size for size, is_last in zip(sizes, last, strict=True))
        return last[0] if last and moved == 0 else moved > 0

    def _order(self, node: Node) -> DimOrder:
        order: DimOrder = node.meta["dim_order"]
        return order

    def _read_as(self, user: Node, wanted: dict[Node, DimOrder]) -> None:
        for node, order in wanted.items():
            changed = self._in_order(node, order, user)
            if changed is not node:
                user.replace_input_with(node, changed)

    def _in_order(self, node: Node, order: DimOrder, before: Node) -> Node:
        """The node's tensor in `order`: the node itself, the source it was copied from, or a copy made before
        `before`."""
        either = self.any_order and is_either(value_of(node))
        if node in self.open:
            self.open.remove(node)
            node.meta["dim_order"] = row_major(len(order)) if either else order
        if either and not is_channels_last(self._order(node)):
            return node
        found = self._same(node, order)
        if found is not None:
            return found
        if (node, order) not in self.copies:
            made = insert_before(
                before,
                clone_dim_order,
                (node,),
                {"dim_order": list(order)},
                value=value_of(node),
                origin=node,
            )
            made.meta["dim_order"] = order
            self.copies[node, order] = made
            self.modified = True
        return self.copies[node, order]

    def _same(self, node: Node, order: DimOrder) -> Node | None:
        """The node or the source of its copies, whichever has the order; None if neither has."""
        if node in self.open:
            return None
        if self._order(node) == order:
            return node
        return self._same(input_of(node), order) if node.target is clone_dim_order else None


def _options(node: Node) -> dict[str, Any]:
    return node.kwargs


def _has_own(module: GraphModule, rules: OrderRules) -> bool:
    """True if a graph has tensors that may have an order no memory format asks for."""
    return rules.any_order and any(
        node.meta.get("channels_last") or rules.permuted_next(node) or rules.reads_any_order(node)
        for node in module.graph.nodes
        if node.op == "call_function"
    )
