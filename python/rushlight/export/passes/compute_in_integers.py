# SPDX-License-Identifier: BSD-3-Clause
"""Replaces quantized subgraphs by integer operators, with the rules of rushlight.integers."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import getitem
from typing import Any

import numpy as np
import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.arithmetic import arithmetic_of
from rushlight.export.dialect import (  # noqa: F401  # they define the operators
    grouped,
    integer_attention,
    integer_images,
    integer_norm,
    integers,
)
from rushlight.export.graph.constants import Constants
from rushlight.export.graph.nodes import source_line, value_of
from rushlight.export.graph.rewrite import insert_before, is_pure, replace
from rushlight.export.passes.base import Pass, PassContext
from rushlight.integers.graph import Array, Call
from rushlight.integers.match import Report, apply, rewrite_graph
from rushlight.integers.names import QUANTIZE
from rushlight.integers.rules import RULES, WHOLE_RULES, Refusal, Settings
from rushlight.runtime.arrays import as_array, as_tensor


class ComputeInIntegers(Pass):
    """Rewrites `dequantize -> convolution -> clamp -> quantize` and similar patterns to integer operators
    that the runtime has. Calls of a quantized graph that stay in float are remarked with their source
    line."""

    name = "compute_in_integers"
    requires = frozenset({"views are copies"})
    breaks = frozenset({"dim orders"})

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass. Does not change bodies of control flow, which receive constants as operands."""
        graph = FxGraph(program, context)
        report = rewrite_graph(graph, self.settings)
        is_changed = _conclude(self.name, graph, report)
        reasons = {_node(call).name: reason for call, reason in report.refused}
        context.arithmetic += arithmetic_of(
            program.graph, reasons, lambda node: graph.constants.get(node) is not None
        )
        return is_changed


class WholeLayers(Pass):
    """Rewrites linear layers to operators that read integer weights, in graphs as torch.export leaves them:
    torchao's layers, and layers whose weights have group scales."""

    name = "whole_layers"

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        graph, report = FxGraph(program, context), Report()
        apply(graph, WHOLE_RULES, Settings(), report)
        return _conclude(self.name, graph, report)


def _conclude(name: str, graph: FxGraph, report: Report) -> bool:
    """Remarks the refused calls. Returns True if anything was changed."""
    for call, reason in report.refused:
        assert isinstance(call, FxCall)
        line = source_line(call.node)
        location = f" ({line.file}:{line.line})" if line else ""
        graph.context.remarks.append(f"{name}: {call.node.name}{location} computes in float: {reason}")
    graph.constants.remove_unused()
    return bool(report.replaced)


def rewrite_quantize(program: ExportedProgram, context: PassContext, node: Node) -> None:
    """Replaces a quantize after a dequantize by an integer operator, if the runtime has one."""
    with contextlib.suppress(Refusal):
        RULES[QUANTIZE](FxGraph(program, context), FxCall(node), Settings())


@dataclass(frozen=True)
class FxCall:
    """A node that calls an operator, as the integer rules see it."""

    node: Node

    @property
    def operator(self) -> str:
        target = self.node.target
        return target._schema.name if isinstance(target, OpOverload) else ""

    @property
    def arguments(self) -> Mapping[str, Any]:
        if not isinstance(self.node.target, OpOverload):
            return {}
        declared = self.node.target._schema.arguments
        values: dict[str, Any] = {a.name: a.default_value for a in declared if a.has_default_value()}
        values.update(zip((a.name for a in declared), self.node.args, strict=False))
        values.update(self.node.kwargs)
        return {a.name: values[a.name] for a in declared if a.name in values}

    @property
    def result(self) -> Node:
        return self.node


class FxGraph:
    """The top graph of a program as the integer rules see it: values are nodes."""

    def __init__(self, program: ExportedProgram, context: PassContext) -> None:
        self.program, self.context = program, context
        self.constants = Constants(program)

    def calls(self) -> Sequence[FxCall]:
        return [FxCall(node) for node in self.program.graph.nodes if node.op == "call_function"]

    def maker(self, value: Any) -> FxCall | None:
        is_call = isinstance(value, Node) and value.op == "call_function"
        if is_call and value.target is getitem:
            return self.maker(value.args[0])
        return FxCall(value) if is_call else None

    def is_present(self, call: Call) -> bool:
        return not _node(call)._erased

    def inputs(self, call: Call) -> Sequence[Node]:
        return _node(call).all_input_nodes

    def results(self, call: Call) -> Sequence[Node | None]:
        if isinstance(value_of(_node(call)), torch.Tensor):
            return [_node(call)]
        items = _items(_node(call))
        return [items.get(position) for position in range(1 + max(items, default=-1))]

    def is_pointwise(self, call: Call) -> bool:
        target = _node(call).target
        tagged = isinstance(target, OpOverload) and torch.Tag.pointwise in target.tags
        known = tagged or "pointwise" in self.context.library.traits(target)
        return known and is_pure(target) and isinstance(value_of(_node(call)), torch.Tensor)

    def readers(self, value: Node) -> Sequence[FxCall]:
        return [
            FxCall(user)
            for user in value.users
            if user.op == "call_function"
            for _ in range(sum(each is value for each in [*user.args, *user.kwargs.values()]) or 1)
        ]

    def is_output(self, value: Node) -> bool:
        return any(user.op != "call_function" for user in value.users)

    def constant(self, value: Any) -> Array | None:
        found = self.constants.get(value)
        return None if found is None else as_array(found.detach().cpu())

    def dtype(self, value: Node) -> str:
        return str(value_of(value).dtype).removeprefix("torch.")

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, Node) and isinstance(value_of(value), torch.Tensor)

    def sizes(self, value: Node) -> tuple[Any, ...]:
        return tuple(value_of(value).shape)

    def can_call(self, operator: str, dtype: str) -> bool:
        row = self.context.library.find(_overload(operator))
        return row is not None and dtype in self.context.library.operators[row].dtypes

    def can_repeat(self, call: Call, dtype: str) -> bool:
        row = self.context.library.find(_node(call).target)
        return row is not None and dtype in self.context.library.operators[row].dtypes

    def replace(self, last: Call, operator: str, arguments: Mapping[str, Any]) -> None:
        node = last.result
        self.substitute(node, self._insert(node, operator, arguments, value_of(node)))

    def repeat(self, call: Call, changes: Mapping[str, Any], dtype: str) -> Sequence[Node | None]:
        node, old = _node(call), value_of(_node(call))
        assert isinstance(node.target, OpOverload)
        arguments = {**call.arguments, **changes}
        declared = [a for a in node.target._schema.arguments if a.name in arguments]
        given = [arguments[a.name] for a in declared if not a.kwarg_only]
        named = {a.name: arguments[a.name] for a in declared if a.kwarg_only}
        items = [old] if isinstance(old, torch.Tensor) else list(old)
        new = [_like(each, dtype) if each.is_floating_point() else each for each in items]
        value = new[0] if isinstance(old, torch.Tensor) else type(old)(new)
        made = insert_before(node, node.target, given, named, value=value, origin=node)
        if isinstance(old, torch.Tensor):
            return [made]
        return [
            None
            if item is None
            else insert_before(node, getitem, (made, position), value=new[position], origin=node)
            for position, item in enumerate(self.results(call))
        ]

    def substitute(self, old: Node, new: Node) -> None:
        makers = old.all_input_nodes
        replace(self.program, old, new)
        while makers:
            node = makers.pop()
            if node._erased or node.users or node.op != "call_function":
                continue
            if node.target is getitem or is_pure(node.target):
                makers += node.all_input_nodes
                node.graph.erase_node(node)

    def compute(self, call: Call, known: Mapping[Any, Array]) -> Array | None:
        tensors = {}
        for node in _node(call).all_input_nodes:
            found = known.get(node)
            tensor = self.constants.get(node) if found is None else as_tensor(found, torch)
            if tensor is None:
                return None
            # A one-element constant becomes a scalar, so that it broadcasts whatever its rank.
            tensors[node] = tensor.detach().cpu().reshape(()) if tensor.numel() == 1 else tensor
        given = _node(call).args, dict(_node(call).kwargs)
        args, kwargs = torch.fx.node.map_arg(given, tensors.__getitem__)
        target: Any = _node(call).target
        with torch.no_grad():
            return as_array(target(*args, **kwargs))

    def insert(
        self, before: Call, operator: str, arguments: Mapping[str, Any], like: Node, dtype: str
    ) -> Node:
        return self._insert(before.result, operator, arguments, _like(value_of(like), dtype))

    def _insert(self, before: Node, operator: str, arguments: Mapping[str, Any], value: Any) -> Node:
        target = _overload(operator)
        nodes = [value for value in arguments.values() if isinstance(value, Node)]
        declared = target._schema.arguments
        constants = [self.constants.name_of(node) for node in nodes if self.constants.get(node) is not None]
        base = constants[0] if constants else before.name
        given = [
            self.constants.add(torch.from_numpy(np.ascontiguousarray(each)), f"{base}_{name}")
            if isinstance(each := arguments[name], np.ndarray)
            else each
            for name in (a.name for a in declared if not a.kwarg_only)
        ]
        named = {a.name: arguments[a.name] for a in declared if a.kwarg_only and a.name in arguments}
        return insert_before(before, target, given, named, value=value, origin=before)


def _node(call: Call) -> Node:
    assert isinstance(call, FxCall)
    return call.node


def _overload(name: str) -> OpOverload:
    namespace, _, base = name.partition("::")
    found: OpOverload = getattr(getattr(torch.ops, namespace), base).default
    return found


def _like(value: Any, dtype: str) -> Any:
    with value.fake_mode:
        return torch.empty_like(value, dtype=getattr(torch, dtype))


def _items(node: Node) -> dict[int, Node]:
    """The results of a call with several, by index, as far as they are read."""
    return {int(str(user.args[1])): user for user in node.users if user.target is getitem}
