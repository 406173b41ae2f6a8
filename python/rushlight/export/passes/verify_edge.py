# SPDX-License-Identifier: BSD-3-Clause
"""Verifies the invariants of the edge dialect on which lowering relies.

Does not check that the runtime has the operators; lowering reports those with remedies.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch._ops import HigherOrderOperator, OpOverload
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from rushlight.errors import ExportFailed
from rushlight.export.graph.constants import is_lifted, stored_tensor
from rushlight.export.graph.nodes import (
    arguments_of,
    attribute,
    graph_modules,
    overload_of,
    source_line,
    value_of,
)
from rushlight.export.graph.rewrite import tensor_arguments
from rushlight.export.graph.sizes import same_sizes
from rushlight.export.order.orders import stored_order
from rushlight.export.passes.base import Pass, PassContext
from rushlight.program.dim_order import is_dim_order
from rushlight.program.dtypes import NUMBERS

_NUMBERS = (bool, int, float, complex, torch.SymInt, torch.SymFloat, torch.SymBool)
_OF_NUMBERS = frozenset({"_operator", "operator", "math", "builtins"})
_SHOWN = 20


class VerifyEdge(Pass):
    """Changes nothing.

    Errors: ExportFailed with one line per wrong node: the node, its source line, expected and actual form;
    and the passes that ran before.
    """

    name = "verify_edge"
    requires = frozenset({"views are copies", "tensors where tensors are expected", "dim orders"})
    ensures = frozenset({"edge dialect"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        problems = [*_signature_problems(program)]
        for module in graph_modules(program.graph_module):
            for node in module.graph.nodes:
                problems += [
                    f"{_location(node)}: {problem}" for problem in _node_problems(node, module, context)
                ]
        if problems:
            more = [f"and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
            lines = "\n".join(f"  {line}" for line in [*problems[:_SHOWN], *more])
            raise ExportFailed(
                f"method '{context.method}': expected the edge dialect, got\n{lines}\n"
                f"passes before: {', '.join(context.history) or 'none'}",
                next_step="Find the pass that created these nodes; check your own passes first.",
            )
        return False


def _location(node: Node) -> str:
    line = source_line(node)
    return f"node '{node.name}' ({line})" if line else f"node '{node.name}'"


def _node_problems(node: Node, module: GraphModule, context: PassContext) -> Iterator[str]:
    if node.op == "call_function":
        yield from _call_problems(node, context)
        yield from _value_problems(node)
    elif node.op == "placeholder":
        yield from _value_problems(node)
    elif node.op == "get_attr":
        found = attribute(module, str(node.target))
        if not isinstance(found, torch.nn.Module):
            yield f"expected a module for get_attr '{node.target}', got {type(found).__name__}"
    elif node.op != "output":
        yield f"expected the call of an operator, got {node.op} '{node.target}'"


def _call_problems(node: Node, context: PassContext) -> Iterator[str]:
    target = node.target
    if isinstance(target, OpOverload):
        yield from _argument_problems(node)
        row = context.library.find(target) if target._schema.is_mutable else None
        if target._schema.is_mutable and (row is None or not context.library.is_in_place(row)):
            yield f"expected an operator that writes no argument, got {target}"
    elif not isinstance(target, HigherOrderOperator) and not _is_on_scalars(target):
        known = "an operator's overload, control flow or arithmetic on numbers"
        yield f"expected {known}, got {getattr(target, '__name__', target)!s}"


def _is_on_scalars(target: Any) -> bool:
    name = getattr(target, "__name__", "")
    module = getattr(target, "__module__", "") or ""
    return (
        module in _OF_NUMBERS or name.startswith("sym_") or (module.startswith("torch") and "sym" in module)
    )


def _argument_problems(node: Node) -> Iterator[str]:
    """Scalars passed for tensors, and memory formats, which the runtime does not know."""
    for index, name, is_list in tensor_arguments(overload_of(node)):
        given: Any = node.args[index] if index < len(node.args) else node.kwargs.get(name)
        for item in (given or ()) if is_list else (given,):
            if isinstance(value_of(item), _NUMBERS):
                yield f"expected a tensor for '{name}' of {node.target}, got the number {item}"
    wanted = node.kwargs.get("memory_format")
    if wanted not in (None, torch.preserve_format, torch.contiguous_format):
        yield f"expected a dim order for {node.target}, got memory_format={wanted}"


def _value_problems(node: Node) -> Iterator[str]:
    if "val" not in node.meta:
        if not isinstance(node.target, OpOverload) or node.target._schema.returns:
            yield 'expected meta["val"], got none'
        return
    value, order = node.meta["val"], stored_order(node)
    if isinstance(value, torch.Tensor):
        yield from _tensor_problems(value, order)
    elif isinstance(value, (tuple, list)) and any(isinstance(v, torch.Tensor) for v in value):
        if not isinstance(order, tuple) or len(order) != len(value):
            yield f'expected {len(value)} dim orders in meta["dim_order"], got {order}'
            return
        for part, its in zip(value, order, strict=True):
            if isinstance(part, torch.Tensor):
                yield from _tensor_problems(part, its)


def _tensor_problems(value: torch.Tensor, order: Any) -> Iterator[str]:
    if str(value.dtype).removeprefix("torch.") not in NUMBERS:
        yield f"expected a dtype of the program format, got {value.dtype}"
    if not isinstance(order, tuple) or not is_dim_order(order, value.dim()):
        yield f'expected the order of {value.dim()} dimensions in meta["dim_order"], got {order}'


def _signature_problems(program: ExportedProgram) -> Iterator[str]:
    """Differences between the signature and the placeholders and outputs."""
    signature = program.graph_signature
    placeholders = [n for n in program.graph.nodes if n.op == "placeholder"]
    told = [getattr(spec.arg, "name", "") for spec in signature.input_specs]
    if told != [n.name for n in placeholders]:
        yield f"signature: expected inputs {', '.join(told)}, got {', '.join(n.name for n in placeholders)}"
        return
    for node, spec in zip(placeholders, signature.input_specs, strict=True):
        if is_lifted(spec):
            yield from _constant_problems(program, node, spec)
    results = arguments_of(program.graph.output_node())[0]
    told = [getattr(spec.arg, "name", None) for spec in signature.output_specs]
    names = [getattr(result, "name", None) for result in results]
    numbers_of = [i for i, result in enumerate(results) if not isinstance(result, Node)]
    names = [told[i] if i in numbers_of and i < len(told) else name for i, name in enumerate(names)]
    if told != names:
        yield f"signature: expected outputs {told}, got {names}"


def _constant_problems(program: ExportedProgram, node: Node, spec: Any) -> Iterator[str]:
    try:
        tensor = stored_tensor(program, spec)
    except KeyError:
        yield f"constant '{spec.target}': expected a tensor in the program, got none"
        return
    value = value_of(node)
    if not isinstance(value, torch.Tensor) or not isinstance(tensor, torch.Tensor):
        return
    if value.dtype != tensor.dtype or not same_sizes(value.shape, tensor.shape):
        found = f"{tensor.dtype} {list(tensor.shape)}"
        yield f"constant '{spec.target}': expected {value.dtype} {list(value.shape)}, got {found}"
