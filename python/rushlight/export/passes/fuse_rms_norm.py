# SPDX-License-Identifier: BSD-3-Clause
"""Fuses the operators of a root-mean-square norm, which PyTorch decomposes, to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.dialect.fused import rms_norm
from rushlight.export.graph.nodes import arguments_of, input_of, value_of
from rushlight.export.graph.rewrite import calls, insert_before, replace
from rushlight.export.graph.sizes import is_static, same_sizes
from rushlight.export.passes.base import Pass, PassContext

aten = torch.ops.aten

_SUMS = {aten.add.Scalar, aten.add.Tensor}


@dataclass(frozen=True)
class _Norm:
    """x * rsqrt(mean(x * x, last dimensions) + epsilon), and the node with the product."""

    x: Node
    sizes: list[int]
    epsilon: float
    product: Node


class FuseRmsNorm(Pass):
    """Matches `x * rsqrt((x * x).mean(-1, True) + eps) * weight`, with or without weight, if nothing else
    reads the intermediate results."""

    name = "fuse_rms_norm"
    requires = frozenset({"views are copies"})
    ensures = frozenset({"RMS norms are whole"})
    breaks = frozenset({"dim orders"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        row = context.library.find(rms_norm)
        modified = False
        for _, node in calls(program) if row is not None else ():
            found = _norm(node)
            if found is None:
                continue
            dtype = str(value_of(found.x).dtype).removeprefix("torch.")
            if row is not None and dtype in context.library.operators[row].dtypes:
                _fuse(program, found)
                modified = True
        return modified


def _norm(root: Node) -> _Norm | None:
    if root.target is not aten.rsqrt.default:
        return None
    total, product = input_of(root), _only_user(root)
    if product is None or product.target is not aten.mul.Tensor or total.target not in _SUMS:
        return None
    mean, epsilon = arguments_of(total)[:2]
    if not _is_number(epsilon) or total.kwargs.get("alpha", 1) != 1 or len(total.users) != 1:
        return None
    x = product.args[1] if product.args[0] is root else product.args[0]
    if not isinstance(mean, Node) or not isinstance(x, Node) or not _is_mean_of_squares(mean, x):
        return None
    value = value_of(x)
    sizes = value.shape[value.dim() - len(arguments_of(mean)[1]) :]
    if not is_static(sizes) or not same_sizes(value_of(product).shape, value.shape):
        return None
    dtypes = {value_of(node).dtype for node in (x, mean, root, product)}
    return _Norm(x, [int(n) for n in sizes], float(epsilon), product) if len(dtypes) == 1 else None


def _is_mean_of_squares(mean: Node, x: Node) -> bool:
    """True if `mean` is the mean of x squared over its last dimensions, with keepdim."""
    if mean.target is not aten.mean.dim or mean.kwargs or len(mean.users) != 1:
        return False
    keeps = len(mean.args) > 2 and mean.args[2] is True
    rank, dims = value_of(x).dim(), arguments_of(mean)[1]
    last = bool(dims) and sorted(d % rank for d in dims) == list(range(rank - len(dims), rank))
    squares = input_of(mean)
    if not keeps or not last or len(squares.users) != 1:
        return False
    first, second = (*squares.args, None)[:2]
    if squares.target is aten.pow.Tensor_Scalar:
        return first is x and bool(second == 2)
    if squares.target is aten.square.default:
        return first is x
    return squares.target is aten.mul.Tensor and first is x and second is x


def _fuse(program: ExportedProgram, norm: _Norm) -> None:
    last, weight = norm.product, None
    scaled = _only_user(last)
    if scaled is not None and scaled.target is aten.mul.Tensor:
        other = scaled.args[1] if scaled.args[0] is last else scaled.args[0]
        value = value_of(other)
        fits = isinstance(value, torch.Tensor) and value.dtype == value_of(last).dtype
        if fits and list(value.shape) == norm.sizes:
            last, weight = scaled, other
    args = (norm.x, norm.sizes, weight, norm.epsilon)
    fused = insert_before(last, rms_norm, args, value=value_of(last), origin=norm.product)
    replace(program, last, fused)
    if not norm.product._erased:
        norm.product.graph.erase_node(norm.product)


def _only_user(node: Node) -> Node | None:
    """The only reader of this node, which reads it once; else None."""
    if len(node.users) != 1:
        return None
    (user,) = node.users
    return user if user.op == "call_function" and sum(each is node for each in user.args) == 1 else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
