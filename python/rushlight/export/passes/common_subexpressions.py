# SPDX-License-Identifier: BSD-3-Clause
"""Merges equal constants and equal pure calls.

Constants are compared within groups of the same dtype and sizes, first by a sample of elements, then bit
by bit. Calls are hashed by operator and arguments in graph order; cost linear in the graph.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Hashable
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from rushlight.export.graph.constants import Constants
from rushlight.export.graph.nodes import graph_modules
from rushlight.export.graph.rewrite import is_pure, replace
from rushlight.export.passes.base import Pass, PassContext

# An integer dtype for each element size: equal bits include NaN and distinguish -0.0.
_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_SAMPLE = 8


class CommonSubexpressions(Pass):
    """Merges constants with the same dtype, sizes and content, such as tied weights; then pure operators with
    the same arguments. Each body of control flow is processed separately."""

    name = "common_subexpressions"
    requires = frozenset({"views are copies"})
    ensures = frozenset({"no common subexpressions"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        modified = _merge_constants(program)
        for module in graph_modules(program.graph_module):
            modified |= _merge_calls(program, module)
        return modified


def _merge_calls(program: ExportedProgram, module: GraphModule) -> bool:
    first: dict[Hashable, Node] = {}
    modified = False
    for node in list(module.graph.nodes):
        if node.op != "call_function" or not _is_mergeable(node):
            continue
        key = (node.target, _key(node.args), _key(node.kwargs))
        other = first.setdefault(key, node)
        if other is not node:
            replace(program, node, other)
            modified = True
    return modified


def _is_mergeable(node: Node) -> bool:
    target = node.target
    if is_pure(target) or target is operator.getitem:
        return True
    module = getattr(target, "__module__", "")
    return module in ("_operator", "operator", "math") or getattr(target, "__name__", "").startswith("sym_")


def _key(value: Any) -> Hashable:
    """A hashable key, equal for equal arguments; it distinguishes 1, 1.0 and True, and 0.0 and -0.0."""
    if isinstance(value, (list, tuple)):
        return ("list", *map(_key, value))
    if isinstance(value, dict):
        return ("dict", *((name, _key(item)) for name, item in sorted(value.items())))
    if isinstance(value, float):
        return ("float", value, math.copysign(1.0, value))
    return value if isinstance(value, Node) else (type(value), value)


def _merge_constants(program: ExportedProgram) -> bool:
    constants = Constants(program)
    modified = False
    for alike in _of_same_kind(program, constants):
        kept: dict[Hashable, list[Node]] = {}
        for node in alike:
            tensor = constants.get(node)
            assert tensor is not None
            candidates = kept.setdefault(_sample(tensor), [])
            other = next((n for n in candidates if _is_equal(constants.get(n), tensor)), None)
            if other is None:
                candidates.append(node)
            else:
                _read_other(program, node, other)
                modified = True
    return constants.remove_unused() or modified


def _of_same_kind(program: ExportedProgram, constants: Constants) -> list[list[Node]]:
    """Groups of two or more used constants with the same dtype and sizes."""
    groups: dict[Hashable, list[Node]] = {}
    for node in program.graph.nodes:
        tensor = constants.get(node)
        if tensor is not None and node.users and _is_plain(tensor):
            groups.setdefault((tensor.dtype, tensor.shape), []).append(node)
    return [group for group in groups.values() if len(group) > 1]


def _read_other(program: ExportedProgram, node: Node, other: Node) -> None:
    if any(user.op == "output" for user in node.users):
        program.graph_signature.replace_all_uses(node.name, other.name)
    node.replace_all_uses_with(other)


def _is_plain(tensor: torch.Tensor) -> bool:
    return type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.layout is torch.strided


def _sample(tensor: torch.Tensor) -> Hashable:
    """A few elements as bits, at the same positions for tensors of the same sizes."""
    bits = _bits(tensor)
    while bits.dim() > 1:  # along a diagonal, because flattening might copy
        bits = bits.diagonal(dim1=0, dim2=1) if min(bits.shape[:2]) > 1 else bits.flatten(0, 1)
    bits = bits.reshape(-1)
    return tuple(bits[:: max(bits.numel() // _SAMPLE, 1)].tolist())


def _is_equal(a: torch.Tensor | None, b: torch.Tensor) -> bool:
    assert a is not None
    if a.data_ptr() == b.data_ptr() and a.stride() == b.stride():
        return True
    return torch.equal(_bits(a), _bits(b))


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.detach()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    return tensor.view(_BITS[tensor.element_size()])
