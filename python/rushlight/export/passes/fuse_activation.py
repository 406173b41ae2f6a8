# SPDX-License-Identifier: BSD-3-Clause
"""Fuses a residual and an activation into the convolution or linear layer before them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.dialect.fused import convolution_act, convolution_clamp, linear_act, linear_clamp
from rushlight.export.graph.nodes import input_of, overload_of, value_of
from rushlight.export.graph.rewrite import calls, fake_mode_of, insert_before, replace
from rushlight.export.graph.sizes import same_sizes
from rushlight.export.passes.base import Pass, PassContext

aten = torch.ops.aten

Activation = tuple[str, float, float]
_NONE: Activation = ("clamp", -math.inf, math.inf)
# Layer to (operator with any activation, operator with bounds only, number of the layer's arguments).
_LAYERS: dict[Any, tuple[OpOverload, OpOverload, int]] = {
    aten.convolution.default: (convolution_act, convolution_clamp, 9),
    aten.linear.default: (linear_act, linear_clamp, 3),
}


class FuseActivation(Pass):
    """Rewrites `relu(conv(x) + y)` to one operator if nothing else reads the intermediate results. The
    residual has the shape and dtype of the layer's result, and is computed before the layer."""

    name = "fuse_activation"
    requires = frozenset({"views are copies"})
    ensures = frozenset({"activations are fused"})
    breaks = frozenset({"dim orders"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        modified = False
        for _, node in calls(program):
            if node.target in _LAYERS and not node.kwargs:
                modified |= _fuse(program, node, context)
        return modified


def _has_dtype(target: OpOverload, node: Node, context: PassContext) -> bool:
    row = context.library.find(target)
    dtype = str(value_of(node).dtype).removeprefix("torch.")
    return row is not None and dtype in context.library.operators[row].dtypes


def _fuse(program: ExportedProgram, layer: Node, context: PassContext) -> bool:
    chain, residual, activation = [layer], None, _NONE
    added = _added(layer)
    if added is not None:
        residual = added[1]
        chain.append(added[0])
    user = _only_user(chain[-1])
    found = None if user is None else _activation(user)
    if user is not None and found is not None:
        chain.append(user)
        activation = found
    if len(chain) == 1:
        return False
    any_activation, clamp, count = _LAYERS[layer.target]
    is_clamp = activation[0] == "clamp" and _has_dtype(clamp, layer, context)
    target, after = (clamp, activation[1:]) if is_clamp else (any_activation, activation)
    if not _has_dtype(target, layer, context):
        return False
    own = (*layer.args, None)[:count]  # a bias may be left out
    last = chain.pop()
    if residual is not None and value_of(residual).dim() != value_of(layer).dim():
        residual = _shaped(residual, last)
    fused = insert_before(last, target, (*own, residual, *after), value=value_of(last), origin=layer)
    replace(program, last, fused)
    for node in reversed(chain):
        node.graph.erase_node(node)
    return True


def _shaped(residual: Node, like: Node) -> Node:
    """The residual unsqueezed to the rank of another node's result; the elements stay the same."""
    value = value_of(residual)
    for _ in range(value_of(like).dim() - value.dim()):
        with fake_mode_of(value):
            value = aten.unsqueeze_copy.default(value, 0)
        residual = insert_before(like, aten.unsqueeze_copy.default, (residual, 0), value=value)
    return residual


def _only_user(node: Node) -> Node | None:
    """The only reader of this node, which reads it once, if its result has the same dtype and sizes; else
    None."""
    user = next(iter(node.users), None)
    if user is None or len(node.users) != 1 or user.op != "call_function":
        return None
    if sum(each is node for each in user.args) != 1 or len(user.all_input_nodes) > 2:
        return None
    own, its = value_of(node), value_of(user)
    alike = isinstance(its, torch.Tensor) and its.dtype == own.dtype and same_sizes(its.shape, own.shape)
    return user if alike else None


def _added(layer: Node) -> tuple[Node, Node] | None:
    """The sum of the layer's result and a residual, and the residual, which may lack leading dimensions of
    size 1; None if there is no such sum."""
    total = _only_user(layer)
    if total is None or total.target is not aten.add.Tensor or total.kwargs.get("alpha", 1) != 1:
        return None
    a, b = total.args[:2]
    other = b if a is layer else a
    own, its = value_of(layer), value_of(other)
    if not isinstance(other, Node) or not isinstance(its, torch.Tensor) or its.dtype != own.dtype:
        return None
    fits = same_sizes([1] * (own.dim() - its.dim()) + list(its.shape), own.shape)
    # A residual computed after the layer is refused: the layer's input would have to stay alive until then.
    return (total, other) if fits and _is_there(other, layer) else None


def _is_there(node: Node, layer: Node) -> bool:
    """True if a node is computed before the layer, or is a view of such a node."""
    return node < layer or (node.target is aten.view_copy.default and _is_there(input_of(node), layer))


def _activation(node: Node) -> Activation | None:
    """(activation, low, high) of the node, if the fused operators support it; else None."""
    find = _FOUND.get(node.target)
    if find is None:
        return None
    declared = overload_of(node)._schema.arguments
    values: dict[str, Any] = {a.name: a.default_value for a in declared if a.has_default_value()}
    values.update(zip((a.name for a in declared), node.args, strict=False))
    values.update(node.kwargs)
    name, low, high = find(values)
    known = all(isinstance(bound, (int, float)) for bound in (low, high))
    return (name, float(low), float(high)) if known else None


def _clamp(low: str | None, high: str | None) -> Callable[[dict[str, Any]], tuple[str, Any, Any]]:
    """Clamps to the values of two arguments, each of which may be absent or None."""

    def find(values: dict[str, Any]) -> tuple[str, Any, Any]:
        bounds = [values.get(name) if name else None for name in (low, high)]
        return (
            "clamp",
            -math.inf if bounds[0] is None else bounds[0],
            math.inf if bounds[1] is None else bounds[1],
        )

    return find


def _plain(name: str) -> Callable[[dict[str, Any]], tuple[str, Any, Any]]:
    return lambda values: (name, 0, 0)


_FOUND: dict[Any, Callable[[dict[str, Any]], tuple[str, Any, Any]]] = {
    aten.relu.default: lambda values: ("clamp", 0, math.inf),
    aten.hardtanh.default: _clamp("min_val", "max_val"),
    aten.clamp.default: _clamp("min", "max"),
    aten.clamp_min.default: _clamp("min", None),
    aten.clamp_max.default: _clamp(None, "max"),
    aten.leaky_relu.default: lambda values: ("leaky_relu", values["negative_slope"], 0),
    aten.gelu.default: lambda values: ("gelu_tanh" if values["approximate"] == "tanh" else "gelu", 0, 0),
    aten.hardsigmoid.default: _plain("hardsigmoid"),
    aten.hardswish.default: _plain("hardswish"),
    aten.sigmoid.default: _plain("sigmoid"),
    aten.silu.default: _plain("silu"),
    aten.tanh.default: _plain("tanh"),
}
