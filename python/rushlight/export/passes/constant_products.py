# SPDX-License-Identifier: BSD-3-Clause
"""Converts products with constant matrices to linear layers with transposed weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.dialect.fused import linear_act
from rushlight.export.graph.constants import Constants
from rushlight.export.graph.nodes import arguments_of, input_of, value_of
from rushlight.export.graph.rewrite import calls, insert_before, replace
from rushlight.export.graph.sizes import same_sizes
from rushlight.export.passes.base import Pass, PassContext

aten = torch.ops.aten


class ConstantProducts(Pass):
    """Rewrites `x @ w + b` and `addmm(b, x, w)` to `linear(x, w.T, b)` if nothing else reads the weight:
    kernels of linear layers pack their weight in advance, and can fuse the operators that follow."""

    name = "constant_products"
    requires = frozenset({"views are copies"})
    ensures = frozenset({"constant products are linear layers"})
    breaks = frozenset({"dim orders"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        if context.library.find(linear_act) is None:
            return False
        constants = Constants(program)
        modified = False
        for module, node in calls(program):
            if module is program.graph_module and _product(node, constants) is not None:
                _rewrite(program, constants, node)
                modified = True
        return constants.remove_unused() or modified


def _product(node: Node, constants: Constants) -> tuple[Node, Node, Node | None] | None:
    """(rows, weight, bias) of a product whose constant weight nothing else reads; else None."""
    if node.target is aten.mm.default and not node.kwargs:
        (rows, weight), bias = arguments_of(node), None
    elif node.target is aten.addmm.default and not node.kwargs and len(node.args) == 3:
        bias, rows, weight = arguments_of(node)
        if not same_sizes(value_of(bias).shape, value_of(node).shape[1:]):
            return None
    else:
        return None
    tensor = constants.get(weight)
    if tensor is None or not tensor.is_floating_point() or len(weight.users) != 1:
        return None
    return (rows, weight, bias) if weight is not rows and weight is not bias else None


def _rewrite(program: ExportedProgram, constants: Constants, node: Node) -> None:
    found = _product(node, constants)
    assert found is not None
    rows, weight, bias = found
    tensor = constants.get(weight)
    assert tensor is not None
    transposed_weight = constants.add(
        tensor.detach().t().contiguous(), f"{constants.name_of(weight)}_transposed"
    )
    last = node
    around = _views_around(rows, node)
    if around is not None:
        rows, last = around
    added = _bias_after(last) if bias is None else None
    if added is not None:
        last, bias = added
    inner, user = [], node
    while user is not last:
        inner.append(user)
        (user,) = user.users
    made = insert_before(
        last, aten.linear.default, (rows, transposed_weight, bias), value=value_of(last), origin=node
    )
    replace(program, last, made)
    for dead in reversed(inner):
        dead.graph.erase_node(dead)


def _views_around(rows: Node, node: Node) -> tuple[Node, Node] | None:
    """The source of the rows' view, and the single view of the product with the same leading dimensions."""
    after = _only_user(node)
    if after is None or {rows.target, after.target} != {aten.view_copy.default}:
        return None
    source = input_of(rows)
    before, behind = value_of(source).shape, value_of(after).shape
    if not before or not same_sizes(before[:-1], behind[:-1]) or not _ends_alike(source, rows, after, node):
        return None
    return source, after


def _ends_alike(source: Node, rows: Node, after: Node, node: Node) -> bool:
    """True if both views keep the last dimension."""

    def last(each: Node) -> Sequence[Any]:
        sizes: Sequence[Any] = value_of(each).shape[-1:]
        return sizes

    return same_sizes(last(source), last(rows)) and same_sizes(last(after), last(node))


def _bias_after(node: Node) -> tuple[Node, Node] | None:
    """The sum of the result and a vector, and the vector; None if there is no such sum."""
    total = _only_user(node)
    if total is None or total.target is not aten.add.Tensor or total.kwargs.get("alpha", 1) != 1:
        return None
    first, second = arguments_of(total)[:2]
    other = second if first is node else first
    value, own = value_of(other), value_of(node)
    if not isinstance(value, torch.Tensor) or value.dtype != own.dtype:
        return None
    return (total, other) if same_sizes(value.shape, own.shape[-1:]) else None


def _only_user(node: Node) -> Node | None:
    if len(node.users) != 1:
        return None
    (user,) = node.users
    return user if user.op == "call_function" and sum(each is node for each in user.args) == 1 else None
