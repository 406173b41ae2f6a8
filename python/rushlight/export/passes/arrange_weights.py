# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the storage order of the weights of integer convolutions and linear layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.dialect import integers as dialect
from rushlight.export.graph.constants import Constants
from rushlight.export.graph.nodes import input_of, named_argument, value_of
from rushlight.export.graph.rewrite import calls
from rushlight.export.order.orders import is_channels_last, is_either
from rushlight.export.passes.base import Pass, PassContext
from rushlight.integers.order import order_of_convolution
from rushlight.program.dim_order import DimOrder


class ArrangeWeights(Pass):
    """Integer convolutions multiply weights in their stored order. Stored in the order in which an output
    reads its inputs, the weights are a matrix: channels innermost if the input is channels-last. A
    depthwise convolution processes adjacent channels together, so its weights have channels innermost:
    [taps][channels]. The kernels accept any order but are fastest in these."""

    name = "arrange_weights"
    requires = frozenset({"dim orders"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        constants = Constants(program)
        modified = False
        for _, node in calls(program):
            weight = named_argument(node, "weight") if node.target in _ORDERS else None
            if not isinstance(weight, Node) or constants.get(weight) is None:
                continue
            wanted = {self._order(user, weight) for user in weight.users}
            order = wanted.pop()
            if order is not None and not wanted:
                modified |= weight.meta["dim_order"] != order
                weight.meta["dim_order"] = order
        return modified

    def _order(self, user: Node, weight: Node) -> DimOrder | None:
        """The order that a reader wants for its weight; None for a reader that is no integer operator."""
        find = _ORDERS.get(user.target)
        if find is None or named_argument(user, "weight") is not weight:
            return None
        return find(user, weight)


def _order_of_linear(linear: Node, weight: Node) -> DimOrder:
    return (0, 1)


def _order_of_convolution(convolution: Node, weight: Node) -> DimOrder:
    source, sizes = input_of(convolution), value_of(weight).shape
    by_channel = is_channels_last(source.meta["dim_order"]) or is_either(value_of(source))
    return order_of_convolution(sizes, named_argument(convolution, "groups"), by_channel)


_ORDERS: dict[Any, Callable[[Node, Node], DimOrder]] = {
    dialect.overload("rushlight::quantized_convolution"): _order_of_convolution,
    dialect.overload("rushlight::quantized_linear"): _order_of_linear,
}
