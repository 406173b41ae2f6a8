# SPDX-License-Identifier: BSD-3-Clause
"""Functions of one quantized number: a table has the result for each of its 256 values.

Whatever stands between dequantize and quantize, a requantization or several operators, is computed once for
all values, in float32 as the graph would. So the result has the graph's own bits. Of numbers of 16 bits the
table has cubic pieces, which are a step off at most (rushlight.integers.curves).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rushlight.integers.curves import fit
from rushlight.integers.graph import DEQUANTIZE, QUANTIZE, Array, Call, Graph, Quantized, Value, quantization
from rushlight.integers.rules.base import BYTES, NUMBERS, Result, Rule, Settings, need

LOOKUP = "rushlight::quantized_lookup"
CURVE = "rushlight::quantized_curve"
_MOST_CALLS = 64


def can_look_up(graph: Graph, dtype: str) -> bool:
    """Whether the runtime has tables of that dtype."""
    return graph.can_call(LOOKUP, dtype)


def numbers_of(dtype: str) -> Array:
    """All values of a dtype, from the least on: as tables count them."""
    limits = np.iinfo(dtype)
    return np.arange(limits.min, limits.max + 1, dtype=dtype)


def _function(graph: Graph, last: Value) -> tuple[Value, list[Call]] | None:
    """The one tensor of integers that a value is computed from, element by element, and the calls that do
    so, in order; None if there is no such tensor."""
    order: list[Call] = []
    done: set[Value] = set()
    source: Value | None = None
    waiting: list[tuple[Value, bool]] = [(last, False)]
    while waiting:
        value, has_inputs = waiting.pop()
        if value in done:
            continue
        call = graph.maker(value)
        if has_inputs:
            assert call is not None
            done.add(value)
            order.append(call)
            continue
        if call is None:
            known = graph.constant(value)
            if known is None or known.size != 1:
                return None
            done.add(value)
            continue
        if call.operator == DEQUANTIZE:
            given = call.arguments["input"]
            if quantization(call) is None or graph.constant(given) is not None:
                return None
            if source is not None and source != given:
                return None
            source = given
            done.add(value)
            order.append(call)
            continue
        if not graph.is_pointwise(call) or len(order) > _MOST_CALLS:
            return None
        waiting.append((value, True))
        waiting += [(each, False) for each in graph.inputs(call)]
    return None if source is None else (source, order)


def _tabulate(graph: Graph, source: Value, calls: list[Call]) -> Array | None:
    """What the last call returns for each value of the source."""
    every = numbers_of(graph.dtype(source))
    known: dict[Value, Array] = {source: every}
    for call in calls:
        found = graph.compute(call, known)
        if found is None or found.shape != every.shape:
            return None
        known[call.result] = found
    return known[calls[-1].result]


def _steps(graph: Graph, source: Value, calls: list[Call], to: Quantized) -> Array:
    """The same before the last call, which quantizes it: in steps of the result, neither rounded nor
    clamped."""
    real = _tabulate(graph, source, calls)
    assert real is not None
    steps: Array = real.astype(np.float64) / to.scale + to.zero_point
    return np.nan_to_num(steps)


def _arguments(
    graph: Graph, source: Value, calls: list[Call], numbers: Array, to: Result
) -> tuple[str, dict[str, Any]]:
    """The operator that computes `numbers` of the values of the source, and its arguments."""
    source, composed = _composed(graph, source, numbers)
    if graph.dtype(source) in BYTES:
        need(can_look_up(graph, composed.dtype.name), f"no kernel has tables of {composed.dtype.name}")
        return LOOKUP, {"input": source, "table": composed}
    need(graph.can_call(CURVE, composed.dtype.name), f"no kernel has curves of {composed.dtype.name}")
    table = fit(_steps(graph, source, calls, to.to), to.low, to.high)
    need(table is not None, "a table that is a step off at most would be too large")
    dtype = to.last.arguments["dtype"]
    return CURVE, {
        "input": source,
        "table": table,
        "output_min": to.low,
        "output_max": to.high,
        "dtype": dtype,
    }


def _is_identity(graph: Graph, calls: list[Call], source: Value, table: Array) -> bool:
    """Whether the table changes no number that the source may have, as its quantization says."""
    if table.dtype.name != graph.dtype(source):
        return False
    same = table == numbers_of(table.dtype.name)
    if same.all():
        return True
    found = [quantization(call) for call in calls if call.operator == DEQUANTIZE]
    limits = np.iinfo(table.dtype)
    low = max((each.low for each in found if each is not None), default=limits.min)
    high = min((each.high for each in found if each is not None), default=limits.max)
    maker = graph.maker(source)
    ranged = maker is not None and {"quant_min", "output_min"} & set(maker.arguments)
    return bool(ranged) and bool(same[low - limits.min : high - limits.min + 1].all())


def _composed(graph: Graph, source: Value, table: Array) -> tuple[Value, Array]:
    """The table of a value that a table made, as a table of what that was made from."""
    maker = graph.maker(source)
    if maker is None or maker.operator != LOOKUP:
        return source, table
    first = graph.constant(maker.arguments["table"])
    if first is None:
        return source, table
    return maker.arguments["input"], table[first.astype(np.int64) - np.iinfo(first.dtype).min]


def tabulated(graph: Graph, call: Call, settings: Settings) -> bool:
    """dequantize -> pointwise operators, or none -> quantize."""
    to = quantization(call)
    dtype = graph.dtype(call.result)
    if to is None or dtype not in NUMBERS:
        return False
    found = _function(graph, call.arguments["input"])
    if found is None:
        return False
    source, calls = found
    need(graph.dtype(source) in NUMBERS, f"its input is {graph.dtype(source)}, not int8, uint8 or int16")
    need(dtype != "int16" or to.zero_point == 0, "a zero point of int16 is not 0")
    need(graph.sizes(source) == graph.sizes(call.result), "its result has other sizes than its input")
    table = _tabulate(graph, source, [*calls, call])
    need(table is not None, "an operator is not known for single numbers")
    assert table is not None
    if _is_identity(graph, calls, source, table):
        graph.substitute(call.result, source)
        return True
    graph.replace(call, *_arguments(graph, source, calls, table, Result(call, to, to.low, to.high)))
    return True


def converted(graph: Graph, before: Call, value: Value, to: Result) -> Value | None:
    """The integers of a dequantized value, with the numbers and in the range of a result."""
    call = graph.maker(value)
    if call is None:
        return None
    source = call.arguments["input"]
    table = _tabulate(graph, source, [call])
    if table is None:
        return None
    quantize = graph.compute(to.last, {to.last.arguments["input"]: table})
    if quantize is None:
        return None
    numbers = np.clip(quantize, to.low, to.high).astype(graph.dtype(to.last.result))
    if _is_identity(graph, [call], source, numbers):
        return source
    operator, arguments = _arguments(graph, source, [call], numbers, to)
    return graph.insert(before, operator, arguments, arguments["input"], numbers.dtype.name)


RULES: Mapping[str, Rule] = {QUANTIZE: tabulated}
