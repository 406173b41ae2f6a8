# SPDX-License-Identifier: BSD-3-Clause
"""Helpers of the rules: how results are quantized, and reasons to stay in float."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rushlight.integers.arithmetic import Requantization, quantize
from rushlight.integers.graph import Call, Graph, Quantized, Value, dequantized, has_one_reader, quantization
from rushlight.integers.names import QUANTIZE

BYTES = ("int8", "uint8")
NUMBERS = (*BYTES, "int16")


@dataclass(frozen=True)
class Settings:
    """The settings of a rewrite: the rounding of requantization."""

    rounding: str = "single"


class Refusal(Exception):
    """The reason why a quantized call does not compute in integers. `is_changed`: another rule has replaced
    it by a float operator."""

    def __init__(self, reason: str, is_changed: bool = False) -> None:
        super().__init__(reason)
        self.is_changed = is_changed


@dataclass(frozen=True)
class Result:
    """The quantized result of a float tensor: the quantize call, its parameters, and the range of integers
    that an activation leaves. Before clamping, the activation computes x * gain + offset."""

    last: Call
    to: Quantized
    low: int
    high: int
    gain: float = 1.0
    offset: float = 0.0


_LINES: Mapping[str, tuple[float, float]] = {"aten::hardsigmoid": (1 / 6, 0.5)}
"""Gain and offset of activations that are linear between two bounds."""


def bounds(call: Call) -> tuple[float, float] | None:
    """The bounds to which a call clamps; None for other calls."""
    given = call.arguments
    match call.operator:
        case "aten::relu":
            return 0.0, math.inf
        case "aten::hardsigmoid":
            return 0.0, 1.0
        case "aten::hardtanh":
            low, high = given["min_val"], given["max_val"]
        case "aten::clamp":
            low, high = given["min"], given["max"]
        case _:
            return None
    low, high = (-math.inf if low is None else low), (math.inf if high is None else high)
    if not all(isinstance(each, (int, float)) for each in (low, high)):
        return None
    return float(low), float(high)


def result_of(graph: Graph, value: Value, takes_lines: bool = False) -> Result | None:
    """The quantization of a call's result, possibly after one activation; None if something reads the float
    value. `takes_lines`: the caller applies gain and offset; otherwise such an activation does not match."""
    low, high = -math.inf, math.inf
    line = (1.0, 0.0)
    if not has_one_reader(graph, value):
        return None
    reader = graph.readers(value)[0]
    found = bounds(reader)
    if found is not None:
        low, high = found
        line = _LINES.get(reader.operator, line)
        if line != (1.0, 0.0) and not takes_lines:
            return None
        if not has_one_reader(graph, reader.result):
            return None
        reader = graph.readers(reader.result)[0]
    if reader.operator != QUANTIZE:
        return None
    to = quantization(reader)
    if to is None or not low <= high:
        return None
    return Result(reader, to, _end(low, to), _end(high, to), *line)


def _end(bound: float, to: Quantized) -> int:
    """The quantized value of a bound, which may be infinite."""
    if math.isinf(bound):
        return to.low if bound < 0 else to.high
    return int(quantize(np.float32(bound), to.scale, to.zero_point, to.low, to.high))


def need(condition: bool, reason: str) -> None:
    """Raises Refusal with the reason unless the condition holds."""
    if not condition:
        raise Refusal(reason)


def _need_zero_point(source: Quantized, dtype: str) -> None:
    need(dtype != "int16" or source.zero_point == 0, "a zero point of int16 is not 0")
    limits = np.iinfo(dtype)
    need(limits.min <= source.zero_point <= limits.max, f"a zero point is outside {dtype}")


def shared_dtype(graph: Graph, source: Quantized, to: Result) -> str:
    """The common dtype of input and result. Errors: Refusal."""
    dtype = graph.dtype(source.value)
    need(dtype in NUMBERS, f"its input is {dtype}, not int8, uint8 or int16")
    limits = np.iinfo(dtype)
    _need_zero_point(source, dtype)
    need(dtype != "int16" or to.to.zero_point == 0, "a zero point of int16 is not 0")
    need(limits.min <= to.to.low and to.to.high <= limits.max, f"a quantized range exceeds {dtype}")
    need(graph.dtype(to.last.result) == dtype, f"its result is not {dtype}, as its input is")
    need(to.low <= to.to.zero_point <= to.high, "its activation excludes 0")
    return dtype


def two_and_result(
    graph: Graph, call: Call, names: tuple[str, str]
) -> tuple[Quantized, Quantized, Result] | None:
    """The two input tensors and the result of a call, if all are quantized; else None. Errors: Refusal if the
    dtypes differ."""
    a, b = (dequantized(graph, call.arguments[name]) for name in names)
    result = result_of(graph, call.result)
    if a is None or b is None or result is None:
        return None
    dtype = shared_dtype(graph, a, result)
    need(graph.dtype(b.value) == dtype, "its inputs have different dtypes")
    _need_zero_point(b, dtype)
    return a, b, result


def requantized(to: Requantization, result: Result) -> dict[str, Any]:
    """The operator arguments that define how sums are requantized to the result."""
    return {
        "multipliers": to.multipliers,
        "shifts": to.shifts,
        "rounding": to.rounding,
        "output_zero_point": result.to.zero_point,
        "output_min": result.low,
        "output_max": result.high,
    }


Rule = Callable[[Graph, Call, Settings], bool]
"""A rule returns True if it changed the graph. It raises Refusal if the call is quantized but has to compute
in float."""


def first_of(*rules: Rule) -> Rule:
    """A rule that applies the first of several rules that changes the graph. An earlier rule's refusal is
    still raised, because that rule would have replaced more by integers."""

    def rule(graph: Graph, call: Call, settings: Settings) -> bool:
        refusal = None
        for each in rules:
            try:
                if each(graph, call, settings):
                    if refusal is not None:
                        raise Refusal(str(refusal), is_changed=True)
                    return True
            except Refusal as reason:
                if reason.is_changed:
                    raise
                refusal = refusal or reason
        if refusal is not None:
            raise refusal
        return False

    return rule
