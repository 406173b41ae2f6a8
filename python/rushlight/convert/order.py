# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the integer operators that run channels-last, and stores weights in the order in which kernels read
them, by the same costs as the exporter (rushlight.integers.order)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rushlight.codegen.table import Operator
from rushlight.convert.graph import ProgramCall, ProgramGraph
from rushlight.integers.names import DEQUANTIZE, QUANTIZE
from rushlight.integers.order import OrderCosts, is_either, order_of_convolution
from rushlight.lowered.instructions import Call, MemoryKind, TensorOperand
from rushlight.program.dim_order import DimOrder, is_row_major, row_major

_LAST: DimOrder = (0, 2, 3, 1)
_ROWS: DimOrder = row_major(4)
_CLONE = "dim_order_ops::_clone_dim_order"
_CONVOLUTION, _LINEAR = "rushlight::quantized_convolution", "rushlight::quantized_linear"


def arrange(graph: ProgramGraph) -> None:
    """Assigns the dim orders of all tensors that integer operators read and write, and of their weights."""
    _Orders(graph).arrange()
    _arrange_weights(graph)


class _Orders:
    """The orders of a method's images. Members are the calls whose results may be channels-last."""

    def __init__(self, graph: ProgramGraph) -> None:
        self.graph = graph
        self.copies: dict[tuple[TensorOperand, DimOrder], TensorOperand] = {}
        self.members = {seen.call for seen in graph.calls() if self._can_be_last(seen.call)}

    def arrange(self) -> None:
        """Chooses by the fewest bytes copied, then inserts the copies before their first readers."""
        costs: OrderCosts[Call] = OrderCosts()
        calls = [seen.call for seen in self.graph.calls()]
        readers: dict[TensorOperand, list[Call | None]] = {}
        for call in calls:
            if call in self.members:
                costs.call(call, self._cost_in_rows(call))
            for value in self._reads(call):
                readers.setdefault(value, []).append(call if call in self.members else None)
        for value, found in readers.items():
            outside: list[Call | None] = [None] if self.graph.is_output(value) else []
            costs.read(value, self._maker(value), found + outside, value.nbytes)
        chosen = costs.channels_last()
        for call in calls:
            for value in self._reads(call):
                if (self._maker(value) in chosen) != (call in chosen):
                    self._let_read(call, value, _LAST if call in chosen else _ROWS)
        for call in calls:
            if call in chosen:
                self._write_last(call)

    def _write_last(self, call: Call) -> None:
        for value in _tensors(call.results):
            if not is_either(value.sizes):
                value.dim_order = _LAST
                if self.graph.is_output(value):
                    self._restore(value)

    def _restore(self, value: TensorOperand) -> None:
        """Returns a row-major copy of an output."""
        self.graph.replace_output(value, lambda last: self._copied(last, value, _ROWS))

    def _cost_in_rows(self, call: Call) -> float:
        if _operator(call) != _CONVOLUTION:
            return 0
        moved = sum(each.nbytes for each in _tensors([*call.results, *self._deciding(call)[:1]]))
        return OrderCosts.ROW_MAJOR_CONVOLUTION * moved

    def _reads(self, call: Call) -> list[TensorOperand]:
        """The images that a call needs in the order of its result, or row-major if it is no member."""
        if call not in self.members:
            asked = [] if self._takes(call) else _tensors(ProgramCall(call).arguments.values())
            return [each for each in dict.fromkeys(asked) if self._maker(each) and not is_either(each.sizes)]
        return [
            each
            for each in dict.fromkeys(self._deciding(call))
            if each.storage.kind is not MemoryKind.CONSTANT and not is_either(each.sizes)
        ]

    def _maker(self, value: TensorOperand) -> Call | None:
        """The member that computes a value; None if the value is row-major."""
        made = self.graph.maker(value)
        return made.call if made is not None and made.call in self.members else None

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
        if "follows_order" in row.traits:
            return [each for each in _tensors(given.values()) if len(each.sizes) == 4]
        if "pointwise" in row.traits:
            sizes = call.results[0].sizes
            return [each for each in _tensors(given.values()) if each.sizes == sizes]
        return []

    def _takes(self, call: Call) -> bool:
        """True if a call reads each tensor in its own order and writes a row-major result."""
        traits, results = self._row(call).traits, _tensors(call.results)
        if len(results) != 1:
            return False
        if traits & {"reads_any_order", "any_order"}:
            return "any_order" in traits or is_either(results[0].sizes)
        ends = len(results[0].sizes) == 4 and is_either(results[0].sizes)
        return ends and bool(self._deciding(call))

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
