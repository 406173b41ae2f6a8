# SPDX-License-Identifier: BSD-3-Clause
"""Converts groups of integer convolutions to channels-last, and stores weights in the order in which kernels
read them, with the same decisions as the exporter (rushlight.integers.order)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rushlight.codegen.table import Operator
from rushlight.convert.graph import ProgramCall, ProgramGraph
from rushlight.integers.graph import DEQUANTIZE, QUANTIZE
from rushlight.integers.order import (
    connected,
    is_either,
    is_worth_converting,
    order_of_convolution,
)
from rushlight.lowered.instructions import Call, MemoryKind, TensorOperand
from rushlight.program.dim_order import DimOrder, is_row_major, row_major

_LAST: DimOrder = (0, 2, 3, 1)
_CLONE = "dim_order_ops::_clone_dim_order"
_CONVOLUTION, _LINEAR = "rushlight::quantized_convolution", "rushlight::quantized_linear"


def arrange(graph: ProgramGraph) -> None:
    """Assigns the dim orders of all tensors that integer operators read and write, and of their weights."""
    orders = _Orders(graph)
    for group in orders.groups():
        orders.convert(group)
    _arrange_weights(graph)


class _Orders:
    def __init__(self, graph: ProgramGraph) -> None:
        self.graph = graph
        self.copies: dict[tuple[TensorOperand, DimOrder], TensorOperand] = {}

    def groups(self) -> list[list[Call]]:
        """Connected components of the calls that can be channels-last."""
        calls = [seen.call for seen in self.graph.calls() if self._can_be_last(seen.call)]
        return connected(calls, lambda call: self._makers(self._deciding(call)))

    def convert(self, group: Sequence[Call]) -> None:
        """Inserts copies at the borders of a group if that is worth it."""
        members = set(group)
        entries = [(call, read) for call in group for read in self._entries(call, members)]
        results = [result for call in group for result in _tensors(call.results)]
        exits = [result for result in results if self._is_exit(result, members)]
        borders = {read for _, read in entries if not is_either(read.sizes)}
        convolutions = sum(_operator(call) == _CONVOLUTION for call in group)
        if not is_worth_converting(convolutions, len(borders) + len(exits), True):
            return
        for call, read in entries:
            if not is_either(read.sizes):
                self._let_read(call, read, _LAST)
        for result in results:
            if not is_either(result.sizes):
                result.dim_order = _LAST
        for result in exits:
            self._restore(result, members)

    def _row(self, call: Call) -> Operator:
        return self.graph.operators[call.row]

    def _can_be_last(self, call: Call) -> bool:
        if _operator(call) in (QUANTIZE, DEQUANTIZE):
            return False  # borders: copying integers moves a quarter of the bytes of floats
        results = _tensors(call.results)
        read = self._deciding(call)
        fixed = self.graph.method.fixed
        plain = all(each.storage not in fixed and is_row_major(each.dim_order) for each in [*results, *read])
        rank = all(len(each.sizes) == 4 for each in [*results, *read])
        return bool(read and results) and plain and rank and not is_either(results[0].sizes)

    def _deciding(self, call: Call) -> list[TensorOperand]:
        """The inputs whose order the results have."""
        row = self._row(call)
        given = ProgramCall(call).arguments
        if "keeps_order" in row.traits:
            first = next(iter(given.values()), None)
            return _tensors([first, given.get("residual")])
        if "pointwise" in row.traits:
            sizes = call.results[0].sizes
            return [each for each in _tensors(given.values()) if each.sizes == sizes]
        return []

    def _makers(self, values: Sequence[TensorOperand]) -> list[Call]:
        found = [self.graph.maker(value) for value in values]
        return [each.call for each in found if each is not None]

    def _entries(self, call: Call, members: set[Call]) -> list[TensorOperand]:
        """The inputs of a call from outside its group that must have the order of its result."""
        return [
            read
            for read in self._deciding(call)
            if read.storage.kind is not MemoryKind.CONSTANT and not members & set(self._makers([read]))
        ]

    def _is_exit(self, value: TensorOperand, members: set[Call]) -> bool:
        """True if something outside the group needs a value row-major."""
        if is_either(value.sizes):
            return False
        return self.graph.is_output(value) or bool(self._askers(value, members))

    def _askers(self, value: TensorOperand, members: set[Call]) -> list[Call]:
        readers = [reader.call for reader in self.graph.readers(value)]
        return [each for each in readers if each not in members and not self._takes(each)]

    def _takes(self, call: Call) -> bool:
        """True if a call reads each tensor in its own order and writes a row-major result."""
        traits, results = self._row(call).traits, _tensors(call.results)
        if len(results) != 1:
            return False
        if traits & {"reads_any_order", "any_order"}:
            return "any_order" in traits or is_either(results[0].sizes)
        ends = len(results[0].sizes) == 4 and is_either(results[0].sizes)
        return ends and bool(self._deciding(call))

    def _restore(self, value: TensorOperand, members: set[Call]) -> None:
        """Makes readers outside the group read a row-major copy."""
        for call in self._askers(value, members):
            self._let_read(call, value, row_major(4))
        if self.graph.is_output(value):
            self.graph.replace_output(value, lambda last: self._copied(last, value, row_major(4)))

    def _let_read(self, call: Call, value: TensorOperand, order: DimOrder) -> None:
        """Makes a call read a copy of a value in another order."""
        key = (value, order)
        if key not in self.copies:
            self.copies[key] = self._copied(ProgramCall(call), value, order)
        self.graph.replace_input(call, value, self.copies[key])

    def _copied(self, before: ProgramCall | None, value: TensorOperand, order: DimOrder) -> TensorOperand:
        arguments: dict[str, Any] = {"self": value, "non_blocking": False, "dim_order": list(order)}
        copy = self.graph.insert(before, _CLONE, arguments, value, value.dtype)
        copy.dim_order = order
        return copy


def _arrange_weights(graph: ProgramGraph) -> None:
    wanted: dict[TensorOperand, set[DimOrder | None]] = {}
    for seen in graph.calls():
        for value in _tensors(seen.arguments.values()):
            if value.storage.kind is MemoryKind.CONSTANT and value.storage.data is not None:
                wanted.setdefault(value, set()).add(_weight_order(seen, value))
    for value, orders in wanted.items():
        order = orders.pop()
        if order is not None and not orders and not graph.is_output(value):
            value.dim_order = order


def _weight_order(call: ProgramCall, value: TensorOperand) -> DimOrder | None:
    """The order that a call wants for its weights; None for operators other than integer products."""
    given: Mapping[str, Any] = call.arguments
    if call.operator not in (_CONVOLUTION, _LINEAR) or given["weight"] is not value:
        return None
    if call.operator == _LINEAR:
        return (0, 1)
    source = given["input"]
    by_channel = not is_row_major(source.dim_order) or is_either(source.sizes)
    return order_of_convolution(value.sizes, given["groups"], by_channel)


def _operator(call: Call) -> str:
    return call.row.partition(".")[0]


def _tensors(values: Any) -> list[TensorOperand]:
    found = []
    for value in values:
        found += [value] if isinstance(value, TensorOperand) else []
        found += (
            [each for each in value if isinstance(each, TensorOperand)] if isinstance(value, list) else []
        )
    return found
