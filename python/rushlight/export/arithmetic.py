# SPDX-License-Identifier: BSD-3-Clause
"""Classifies the operators of a quantized graph by integer or float arithmetic, with the reason for float."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch
from torch._ops import OpOverload
from torch.fx import Graph, Node

from rushlight.export.graph.nodes import module_path, source_line, value_of

_BYTES = (torch.int8, torch.uint8, torch.int16)
_CONVERSIONS = ("quantized_decomposed", "torchao")
_ON_INTEGERS = "rushlight::quantized_"
_DYNAMIC, _WEIGHT_ONLY = "rushlight::dynamic_linear", "rushlight::weight_only_linear"


@dataclass(frozen=True)
class Arithmetic:
    """Calls of one operator with the same arithmetic. For float, `reason` says why, and `module` and `line`
    ("model.py:12") give the origin of the first call."""

    operator: str
    integers: bool
    reason: str = ""
    module: str = ""
    line: str = ""
    calls: int = 1


def arithmetic_of(
    graph: Graph, reasons: Mapping[str, str], is_constant: Callable[[Node], bool]
) -> list[Arithmetic]:
    """The operators of a graph, integer ones first; empty if the graph has no quantized operator.

    `reasons` maps a node's name to the reason why an integer rule refused it.
    """
    nodes = [node for node in graph.nodes if isinstance(node.target, OpOverload)]
    if not any("quantize" in _schema(node) or _schema(node) in (_DYNAMIC, _WEIGHT_ONLY) for node in nodes):
        return []
    counts: Counter[Arithmetic] = Counter()
    first: dict[Arithmetic, Node] = {}
    for node in nodes:
        found = None if _converts(node) else _classified(node, reasons, is_constant)
        if found is not None:
            counts[found] += 1
            first.setdefault(found, node)
    rows = [_counted(each, first[each], count) for each, count in counts.items()]
    return sorted(rows, key=lambda row: not row.integers)


def _counted(found: Arithmetic, first: Node, calls: int) -> Arithmetic:
    if found.integers:
        return replace(found, calls=calls)
    line = source_line(first)
    where = f"{line.file}:{line.line}" if line else ""
    return replace(found, module=module_path(first), line=where, calls=calls)


def _classified(
    node: Node, reasons: Mapping[str, str], is_constant: Callable[[Node], bool]
) -> Arithmetic | None:
    """The row without line and count; None for operators that compute only sizes and indices."""
    operator = _schema(node)
    inputs = [each for each in node.all_input_nodes if _dtype(each) is not None]
    result = _dtype(node)
    if result is None:
        return None
    # dynamic_linear quantizes its float input itself; some other integer operators have float32 scales.
    if operator == _DYNAMIC or operator.startswith(_ON_INTEGERS):
        return Arithmetic(operator, integers=True)
    if not any(_is_float(each) for each in (*inputs, node)):
        in_bytes = result in _BYTES or any(_dtype(each) in _BYTES for each in inputs)
        return Arithmetic(operator, integers=True) if in_bytes else None
    reason = reasons.get(node.name) or _reason(node, inputs, is_constant)
    return Arithmetic(operator, integers=False, reason=reason)


def _reason(node: Node, inputs: list[Node], is_constant: Callable[[Node], bool]) -> str:
    """Why no integer rule applied to a call."""
    if any(_dtype(each) in _BYTES for each in inputs):
        return "only its weights are quantized"
    converted = [each for each in inputs if _is_float(each) and _converts(each)]
    ranged = [each for each in converted if not is_constant(each.all_input_nodes[0])]
    if converted and not ranged:
        return "only its weights are quantized"
    if any(not isinstance(each.args[1], (int, float)) for each in ranged):
        return "its ranges are measured at run time"
    if not ranged:
        return "its inputs are floats"
    if not any(_converts(user) for user in node.users):
        return "its result is not quantized"
    return "it has no integer form"


def _converts(node: Node) -> bool:
    if not isinstance(node.target, OpOverload):
        return False
    namespace, _, name = _schema(node).partition("::")
    return namespace in _CONVERSIONS and ("quantize_" in name or "choose_qparams" in name)


def _dtype(node: Node) -> torch.dtype | None:
    """The dtype of the node's tensor, or of its first tensor if it returns several."""
    value = value_of(node)
    value = value[0] if isinstance(value, (tuple, list)) and value else value
    return value.dtype if isinstance(value, torch.Tensor) else None


def _is_float(node: Node) -> bool:
    dtype = _dtype(node)
    return dtype is not None and dtype.is_floating_point


def _schema(node: Node) -> str:
    assert isinstance(node.target, OpOverload)
    return node.target._schema.name
