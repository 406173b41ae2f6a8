# SPDX-License-Identifier: BSD-3-Clause
"""Rules for functions of one quantized value: a table has the result for each of its 256 values.

The operators between dequantize and quantize (a requantization, or several pointwise operators) are
evaluated at conversion for all values, in float32 as the graph would, so the results are bit-exact.
Functions of 16-bit values use piecewise cubics with at most one step of error (rushlight.integers.curves).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rushlight.integers.curves import fit
from rushlight.integers.graph import Array, Call, Graph, Quantized, Value, quantization
from rushlight.integers.names import DEQUANTIZE, QUANTIZE
from rushlight.integers.rules.base import BYTES, NUMBERS, Result, Rule, Settings, need

LOOKUP = "rushlight::quantized_lookup"
CURVE = "rushlight::quantized_curve"
_MOST_CALLS = 64


def can_look_up(graph: Graph, dtype: str) -> bool:
    """True if the runtime has lookup tables of that dtype."""
    return graph.can_call(LOOKUP, dtype)


def values_of_dtype(dtype: str) -> Array:
    """All values of a dtype in ascending order, the order of table entries."""
    limits = np.iinfo(dtype)
    return np.arange(limits.min, limits.max + 1, dtype=dtype)


def _function(graph: Graph, last: Value) -> tuple[Value, list[Call]] | None:
    """The single integer tensor from which a value is computed element by element, and the calls that compute
    it, in order; None if there is no such tensor."""
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
    """The last call's result for each value of the source; None if it cannot be evaluated."""
    every = values_of_dtype(graph.dtype(source))
    known: dict[Value, Array] = {source: every}
    for call in calls:
        found = graph.compute(call, known)
        if found is None or found.shape != every.shape:
            return None
        known[call.result] = found
    return known[calls[-1].result]


def _steps(graph: Graph, source: Value, calls: list[Call], to: Quantized) -> Array:
    """The same before the final quantize: in steps of the result, neither rounded nor clamped."""
    real = _tabulate(graph, source, calls)
    assert real is not None
    steps: Array = real.astype(np.float64) / to.scale + to.zero_point
    return np.nan_to_num(steps)


def _arguments(
    graph: Graph, source: Value, calls: list[Call], numbers: Array, to: Result
) -> tuple[str, dict[str, Any]]:
    """The operator that maps the source's values to `numbers`, and its arguments."""
    source, composed = _composed(graph, source, numbers)
    if graph.dtype(source) in BYTES:
        need(can_look_up(graph, composed.dtype.name), f"no kernel has tables of {composed.dtype.name}")
        return LOOKUP, {"input": source, "table": composed}
    need(graph.can_call(CURVE, composed.dtype.name), f"no kernel has curves of {composed.dtype.name}")
    table = fit(_steps(graph, source, calls, to.to), to.low, to.high)
    need(table is not None, "no table of allowed size is accurate to one step")
    dtype = to.last.arguments["dtype"]
    return CURVE, {
        "input": source,
        "table": table,
        "output_min": to.low,
        "output_max": to.high,
        "dtype": dtype,
    }


def _is_identity(graph: Graph, calls: list[Call], source: Value, table: Array) -> bool:
    """True if the table maps every value in the source's quantized range to itself."""
    if table.dtype.name != graph.dtype(source):
        return False
    same = table == values_of_dtype(table.dtype.name)
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
    """Composes a table with the table that produced its source."""
    maker = graph.maker(source)
    if maker is None or maker.operator != LOOKUP:
        return source, table
    first = graph.constant(maker.arguments["table"])
    if first is None:
        return source, table
    return maker.arguments["input"], table[first.astype(np.int64) - np.iinfo(first.dtype).min]


def tabulated(graph: Graph, call: Call, settings: Settings) -> bool:
    """dequantize -> any number of pointwise operators -> quantize."""
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
    need(graph.sizes(source) == graph.sizes(call.result), "its result and input have different sizes")
    table = _tabulate(graph, source, [*calls, call])
    need(table is not None, "an operator cannot be evaluated for single values")
    assert table is not None
    if _is_identity(graph, calls, source, table):
        graph.substitute(call.result, source)
        return True
    graph.replace(call, *_arguments(graph, source, calls, table, Result(call, to, to.low, to.high)))
    return True


def converted(graph: Graph, before: Call, value: Value, to: Result) -> Value | None:
    """Converts a dequantized value to integers with the quantization and range of a result; None if that
    cannot be evaluated."""
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
