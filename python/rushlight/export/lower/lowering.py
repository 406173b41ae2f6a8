# SPDX-License-Identifier: BSD-3-Clause
"""Lowers an edge-dialect graph to instructions: each node becomes the call of a row of the operator table.

Exceptions: views that need no kernel become aliases (views.py), symbolic arithmetic becomes prim operators
(symbols.py), control flow becomes jumps (control_flow.py). A node that cannot be lowered is recorded and
lowering continues, so that one export reports all problems.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import GraphModule, Node

from rushlight.export.delegate import call_delegate
from rushlight.export.frontend.operators import bind
from rushlight.export.graph.nodes import attribute, input_of, overload_of, value_of
from rushlight.export.lower import control_flow, views
from rushlight.export.lower.builder import Builder, Environment, Failed
from rushlight.export.lower.operands import Unbounded, constant_scalar, new_operand
from rushlight.export.lower.problems import Problem
from rushlight.export.lower.symbols import PREVIOUS, expanded, prim_row
from rushlight.export.order.orders import stored_order
from rushlight.lowered.instructions import DelegateCall, NumberOperand, Operand, leaves


class Lowering(Builder):
    """Lowers graphs node by node in graph order."""

    def lower(self, module: GraphModule, environment: Environment) -> list[Operand]:
        """See Builder."""
        for node in module.graph.nodes:
            if node.op == "call_function":
                self._lower_node(node, module, environment)
            elif node.op == "get_attr":
                environment[node] = attribute(module, str(node.target))
            elif node.op == "output":
                returned = node.args[0]
                items = returned if isinstance(returned, (tuple, list)) else [returned]
                return [self.operand(item, environment) for item in items]
        return []

    def _lower_node(self, node: Node, module: GraphModule, environment: Environment) -> None:
        try:
            environment[node] = self._lowered(node, environment)
        except Unbounded as error:
            step = "give the dimension an upper bound: Dim(..., max=...) or torch._check(size <= ...)"
            self.problems.append(Problem.of_node(node, str(node.target), str(error), step))
            environment[node] = Failed(node)

    def _lowered(self, node: Node, environment: Environment) -> Operand:
        target = node.target
        if any(isinstance(environment.get(n), Failed) for n in node.all_input_nodes):
            return Failed(node)  # already reported
        if target is operator.getitem:
            return environment[input_of(node)][node.args[1]]
        number = constant_scalar(value_of(node))
        if isinstance(number, (bool, int, float)):
            return number
        if target is call_delegate:
            return self._delegate(node, environment)
        if isinstance(target, torch._ops.HigherOrderOperator):
            return control_flow.lower(self, node, environment)
        view = views.elided(self, node, environment)
        if view is not None:
            return view
        if not isinstance(target, torch._ops.OpOverload) or expanded_overload(target):
            return self._symbolic(node, environment)
        row = self.library.find_or_serve(target)
        if row is None:
            return self.missing(node)
        return self._call_row(node, row, environment)

    def _symbolic(self, node: Node, environment: Environment) -> Operand:
        arguments = [self.operand(argument, environment) for argument in node.args]
        row = prim_row(node.target)
        steps = [(row, arguments)] if row else expanded(node.target, arguments)
        if steps is None:
            return self.missing(node)
        kind = new_operand(value_of(node), node.name)
        result: Operand = None
        for index, (name, step) in enumerate(steps):
            is_last = index == len(steps) - 1
            given = [result if argument is PREVIOUS else argument for argument in step]
            result = kind if is_last else NumberOperand(float if kind.kind is float else int)
            self.emit(name, [*given, result], [result], node)
        return result

    def _call_row(self, node: Node, row: str, environment: Environment) -> Operand:
        schema = self.library.schema(row)
        given = bind(schema, overload_of(node), node.args, node.kwargs)
        result = new_operand(value_of(node), node.name, stored_order(node))
        if self.library.is_in_place(row):
            first = next(argument.name for argument in schema.arguments if argument.mutable)
            result = self.operand(given[first], environment)
        outs = list(result) if isinstance(result, list) else [result]
        pending = list(outs)
        arguments: list[Operand] = []
        for argument in schema.arguments:
            if argument.name in given:
                value = self.operand(given[argument.name], environment)
                arguments.append(self._coerced(value, argument, node))
            elif argument.is_list:
                arguments.append(pending)
            elif pending:
                arguments.append(pending.pop(0))
        self.emit(row, arguments, [out for out in outs if out is not None], node)
        return result

    def _coerced(self, value: Operand, argument: Any, node: Node) -> Operand:
        """Converts a scalar to the type in the schema."""
        if argument.base == "float" and not argument.is_list:
            if isinstance(value, NumberOperand) and value.kind is not float:
                result = NumberOperand(float)
                self.emit("executorch_prim::sym_float.Scalar", [value, result], [result], node)
                return result
            return float(value) if isinstance(value, (bool, int)) else value
        if argument.base == "float" and isinstance(value, list):
            return [float(item) for item in value]
        if argument.base == "int" and isinstance(value, bool):
            return int(value)
        if argument.is_list and argument.base in ("int", "SymInt") and isinstance(value, int):
            return [value]
        return value

    def _delegate(self, node: Node, environment: Environment) -> Operand:
        module, *inputs = [self.operand(argument, environment) for argument in node.args]
        result = new_operand(value_of(node), node.name, stored_order(node))
        results = list(leaves(result))
        flat = [*leaves(inputs), *results]
        self.method.code.append(DelegateCall(module, flat, results, self.origin(node)))
        return result


def expanded_overload(target: torch._ops.OpOverload) -> bool:
    """True if an overload computes on scalars alone and is lowered like the Python function."""
    return target is torch.ops.aten.pow.Scalar
