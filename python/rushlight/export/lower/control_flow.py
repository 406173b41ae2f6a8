# SPDX-License-Identifier: BSD-3-Clause
"""Lowers cond, while_loop, map and scan to jumps.

Each loop keeps its state in separate tensors, which an iteration reads and overwrites once all its results
are computed. Both branches of a cond write to the same results.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch.fx import GraphModule, Node

from rushlight.export.graph.nodes import arguments_of, value_of
from rushlight.export.lower.builder import Builder, Environment
from rushlight.export.lower.operands import is_symbolic, new_operand, upper_bound
from rushlight.export.order.orders import stored_order
from rushlight.lowered.instructions import Label, NumberOperand, Operand, Storage, TensorOperand, leaves


def lower(builder: Builder, node: Node, environment: Environment) -> Operand:
    """Lowers a control-flow node; returns its results. An unknown kind is recorded as missing."""
    kinds = {
        "cond": _cond,
        "while_loop": _while_loop,
        "map_impl": _map,
        "scan": _scan,
        "wrap_with_set_grad_enabled": _inline_second,
        "wrap_with_autocast": _inline_fifth,
    }
    assert isinstance(node.target, HigherOrderOperator)
    name = node.target.name()
    if name not in kinds:
        return builder.missing(node)
    return kinds[name](builder, node, environment)


def _body(builder: Builder, graph: GraphModule, arguments: list[Operand]) -> list[Operand]:
    """Appends the code of a graph, called with `arguments`."""
    placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
    return builder.lower(graph, dict(zip(placeholders, arguments, strict=True)))


def _results(node: Node) -> list[Operand]:
    """New operands for the results of a control-flow node."""
    results = new_operand(value_of(node), node.name, stored_order(node))
    return results if isinstance(results, list) else [results]


def _cond(builder: Builder, node: Node, environment: Environment) -> Operand:
    predicate, if_true, if_false, operands = [builder.operand(a, environment) for a in node.args]
    if isinstance(predicate, bool):
        return _body(builder, if_true if predicate else if_false, operands)
    results = _results(node)
    other, end = Label("else"), Label("end")
    builder.jump_if_false(predicate, other, node)
    _copy_all(builder, _body(builder, if_true, operands), results, node)
    builder.jump_if_false(False, end, node)
    builder.append(other)
    _copy_all(builder, _body(builder, if_false, operands), results, node)
    builder.append(end)
    return results


def _copy_all(builder: Builder, sources: list[Operand], targets: list[Operand], node: Node) -> None:
    for source, target in zip(sources, targets, strict=True):
        builder.copy(source, target, node)


def _replace_state(builder: Builder, sources: list[Operand], state: list[Operand], node: Node) -> None:
    """Overwrites the state with an iteration's results. A result that is itself state is copied first,
    because an earlier copy may overwrite it."""
    storages = {id(tensor.storage) for tensor in state if isinstance(tensor, TensorOperand)}
    numbers = {id(number) for number in state if isinstance(number, NumberOperand)}
    kept: list[Operand] = []
    for source, target in zip(sources, state, strict=True):
        is_state = id(getattr(source, "storage", None)) in storages or id(source) in numbers
        if source is not target and is_state:
            kept.append(_fresh(source))
            builder.copy(source, kept[-1], node)
        else:
            kept.append(source)
    _copy_all(builder, kept, state, node)


def _fresh(operand: Operand) -> Operand:
    if isinstance(operand, NumberOperand):
        return NumberOperand(operand.kind)
    storage = Storage("state", operand.nbytes)
    return TensorOperand(
        operand.dtype, operand.sizes, operand.dim_order, storage, operand.is_dynamic, 0, operand.symbols
    )


def _while_loop(builder: Builder, node: Node, environment: Environment) -> Operand:
    condition, body, carried, additional = [builder.operand(a, environment) for a in node.args]
    state = _results(node)
    _copy_all(builder, carried, state, node)
    start, end = Label("loop"), Label("end")
    builder.append(start)
    (goes_on,) = _body(builder, condition, [*state, *additional])
    builder.jump_if_false(goes_on, end, node)
    _replace_state(builder, _body(builder, body, [*state, *additional]), state, node)
    builder.jump_if_false(False, start, node)
    builder.append(end)
    return state


def _map(builder: Builder, node: Node, environment: Environment) -> Operand:
    body, sequences, additional = [builder.operand(a, environment) for a in node.args]
    results = _stacked(node, 0)
    count = _length(builder, node, arguments_of(node)[1][0], sequences[0])
    with _CountedLoop(builder, node, count) as index:
        items = _items(builder, node.args[1], sequences, index, node)
        _store(builder, _body(builder, body, [*items, *additional]), results, index, node)
    return results


def _scan(builder: Builder, node: Node, environment: Environment) -> Operand:
    body, initial, sequences, additional = [builder.operand(a, environment) for a in node.args[:4]]
    results = _stacked(node, len(initial))
    state, stacked = results[: len(initial)], results[len(initial) :]
    _copy_all(builder, initial, state, node)
    count = _length(builder, node, arguments_of(node)[2][0], sequences[0])
    with _CountedLoop(builder, node, count) as index:
        items = _items(builder, node.args[2], sequences, index, node)
        made = _body(builder, body, [*state, *items, *additional])
        _store(builder, made[len(initial) :], stacked, index, node)
        _replace_state(builder, made[: len(initial)], state, node)
    return results


class _CountedLoop:
    """The code around the body of a loop with `count` iterations; entering the context returns the iteration
    index."""

    def __init__(self, builder: Builder, node: Node, count: Operand) -> None:
        self.builder, self.node, self.count = builder, node, count
        self.index, self.start, self.end = NumberOperand(int), Label("round"), Label("end")

    def __enter__(self) -> NumberOperand:
        self.builder.copy(0, self.index, self.node)
        self.builder.append(self.start)
        if not isinstance(self.count, int) or self.count < 1:
            more = NumberOperand(bool)
            self.builder.emit(_PRIM + "lt.Scalar", [self.index, self.count, more], [more], self.node)
            self.builder.jump_if_false(more, self.end, self.node)
        return self.index

    def __exit__(self, *_: object) -> None:
        done = NumberOperand(bool)
        self.builder.emit(_PRIM + "add.Scalar", [self.index, 1, self.index], [self.index], self.node)
        self.builder.emit(_PRIM + "eq.Scalar", [self.index, self.count, done], [done], self.node)
        self.builder.jump_if_false(done, self.start, self.node)
        self.builder.append(self.end)


_PRIM = "executorch_prim::"


def _stacked(node: Node, from_index: int) -> list[Operand]:
    """The results of a map or scan; stacked ones grow by one element per iteration."""
    results = _results(node)
    for tensor in leaves(results[from_index:]):
        tensor.is_dynamic = True
    return results


def _length(builder: Builder, node: Node, sequence: Node, operand: TensorOperand) -> Operand:
    size = value_of(sequence).shape[0]
    if not is_symbolic(size):
        return int(size)
    number = NumberOperand(int)
    builder.emit("aten::sym_size.int", [operand, 0, number], [number], node)
    return number


def _items(
    builder: Builder, sequences: Any, operands: list[Operand], index: NumberOperand, node: Node
) -> list[Operand]:
    """Selects element `index` of each sequence."""
    items = []
    for sequence, operand in zip(sequences, operands, strict=True):
        shape = value_of(sequence).shape[1:]
        like = torch.empty(
            [upper_bound(size) for size in shape], dtype=value_of(sequence).dtype, device="meta"
        )
        item = new_operand(like, f"{node.name}.item")
        item.is_dynamic = any(map(is_symbolic, shape))
        item.symbols = tuple(map(str, shape)) if item.is_dynamic else ()
        builder.emit("aten::select_copy.int_out", [operand, 0, index, item], [item], node)
        items.append(item)
    return items


def _store(
    builder: Builder, made: list[Operand], stacked: list[Operand], index: NumberOperand, node: Node
) -> None:
    for one, many in zip(made, stacked, strict=True):
        builder.emit(_PRIM + "et_copy_index.tensor", [many, one, index], [many], node)


def _inline_second(builder: Builder, node: Node, environment: Environment) -> Operand:
    return _inline(builder, node, environment, 1)


def _inline_fifth(builder: Builder, node: Node, environment: Environment) -> Operand:
    return _inline(builder, node, environment, 4)


def _inline(builder: Builder, node: Node, environment: Environment, position: int) -> Operand:
    """Inlines a region that only sets PyTorch's mode: the graph is argument `position`, and its own arguments
    follow."""
    arguments = [builder.operand(argument, environment) for argument in node.args]
    return _body(builder, arguments[position], arguments[position + 1 :])
