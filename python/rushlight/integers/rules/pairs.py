# SPDX-License-Identifier: BSD-3-Clause
"""Rules for sums, differences, products and quotients of two quantized tensors.

A sum is (a * ma + b * mb + offset) >> shift: one shift for both scales, with zero points and rounding
folded into the offset. A product is requantized as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from rushlight.integers.arithmetic import MOST_SHIFT, requantization
from rushlight.integers.graph import Call, Graph
from rushlight.integers.rules.base import (
    Rule,
    Settings,
    need,
    requantized,
    two_and_result,
)

# Bits of a multiplier: as in XNNPACK for int8, one less for uint8, whose magnitudes are twice as large. Sums
# of int16 have 64 bits.
_BITS = {"int8": 21, "uint8": 20, "int16": 30}
_MOST_SHIFT = {"int8": 30, "uint8": 30, "int16": 62}
_LARGEST = {"int8": 128, "uint8": 255, "int16": 1 << 15}
_SUM_BITS = {"int8": 31, "uint8": 31, "int16": 62}


def _sum(graph: Graph, call: Call, sign: int) -> bool:
    """dequantize, dequantize -> add or sub -> [clamp] -> quantize."""
    found = two_and_result(graph, call, ("self", "other"))
    if found is None:
        return False
    a, b, result = found
    dtype = graph.dtype(a.value)
    need(graph.can_call("rushlight::quantized_add", dtype), f"no kernel adds {dtype}")
    factor = call.arguments.get("alpha", 1)
    need(isinstance(factor, (int, float)) and math.isfinite(factor), "its alpha is no finite number")
    scales = [a.scale / result.to.scale, sign * factor * b.scale / result.to.scale]
    largest = max(abs(scale) for scale in scales)
    need(0 < largest < math.inf, "its scales are out of range")
    # The larger multiplier uses all bits, unless the shift would exceed its limit.
    shift = min(_BITS[dtype] - math.frexp(largest)[1], _MOST_SHIFT[dtype])
    need(shift >= 1, "its scales are out of range")
    multipliers = [round(scale * 2.0**shift) for scale in scales]
    half = 1 << (shift - 1)
    offset = half - multipliers[0] * a.zero_point - multipliers[1] * b.zero_point
    most = _LARGEST[dtype] * sum(abs(each) for each in multipliers) + abs(offset)
    need(most < 2 ** _SUM_BITS[dtype], "its sums may have more than 32 bits")
    arguments = {
        "self": a.value,
        "other": b.value,
        "self_multiplier": multipliers[0],
        "other_multiplier": multipliers[1],
        "offset": offset,
        "shift": shift,
        "output_zero_point": result.to.zero_point,
        "output_min": result.low,
        "output_max": result.high,
    }
    graph.replace(result.last, "rushlight::quantized_add", arguments)
    return True


def add(graph: Graph, call: Call, _: Settings) -> bool:
    """self + alpha * other."""
    return _sum(graph, call, 1)


def subtract(graph: Graph, call: Call, _: Settings) -> bool:
    """self - alpha * other."""
    return _sum(graph, call, -1)


def multiply(graph: Graph, call: Call, settings: Settings) -> bool:
    """dequantize, dequantize -> mul -> [clamp] -> quantize."""
    found = two_and_result(graph, call, ("self", "other"))
    if found is None:
        return False
    a, b, result = found
    dtype = graph.dtype(a.value)
    need(graph.can_call("rushlight::quantized_mul", dtype), f"no kernel multiplies {dtype}")
    # A product of two int16 has 31 bits, which leaves "double" no bit to shift left.
    most_shift = 0 if dtype == "int16" and settings.rounding == "double" else MOST_SHIFT
    to = requantization(np.array([a.scale * b.scale / result.to.scale]), settings.rounding, most_shift)
    need(to is not None, "its scales are out of range")
    assert to is not None
    arguments = {
        "self": a.value,
        "self_zero_point": a.zero_point,
        "other": b.value,
        "other_zero_point": b.zero_point,
        **requantized(to, result),
    }
    graph.replace(result.last, "rushlight::quantized_mul", arguments)
    return True


def divide(graph: Graph, call: Call, _: Settings) -> bool:
    """dequantize, dequantize -> div -> [clamp] -> quantize. Rounds once, ties to even, after an exact integer
    division: no approximation would be more accurate or cheaper."""
    found = two_and_result(graph, call, ("self", "other"))
    if found is None or call.arguments.get("rounding_mode") is not None:
        return False
    a, b, result = found
    dtype = graph.dtype(a.value)
    need(graph.can_call("rushlight::quantized_div", dtype), f"no kernel divides {dtype}")
    to = requantization(np.array([a.scale / (b.scale * result.to.scale)]))
    need(to is not None, "its scales are out of range")
    assert to is not None and to.shifts is not None
    arguments = {
        "self": a.value,
        "self_zero_point": a.zero_point,
        "other": b.value,
        "other_zero_point": b.zero_point,
        "multiplier": int(to.multipliers[0]),
        "shift": int(to.shifts[0]),
        "output_zero_point": result.to.zero_point,
        "output_min": result.low,
        "output_max": result.high,
    }
    graph.replace(result.last, "rushlight::quantized_div", arguments)
    return True


RULES: Mapping[str, Rule] = {
    "aten::add": add,
    "aten::div": divide,
    "aten::mul": multiply,
    "aten::sub": subtract,
}
