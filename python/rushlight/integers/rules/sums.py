# SPDX-License-Identifier: BSD-3-Clause
"""Sums and differences of two quantized tensors."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rushlight.integers.graph import Call, Graph, dequantized
from rushlight.integers.rules.base import Rule, Settings, need, result_of, shared_dtype

# Multipliers of int8 have so many bits, as XNNPACK's; of uint8, which is twice as large, one less.
_BITS = {"int8": 21, "uint8": 20}
_MOST_SHIFT = 30
_LARGEST = {"int8": 128, "uint8": 255}


def _sum(graph: Graph, call: Call, sign: int) -> bool:
    """dequantize, dequantize -> add or sub -> [clamp] -> quantize."""
    given = call.arguments
    operands = [dequantized(graph, given[name]) for name in ("self", "other")]
    result = result_of(graph, call)
    if operands[0] is None or operands[1] is None or result is None:
        return False
    a, b = operands[0], operands[1]
    dtype = shared_dtype(graph, a, result)
    need(graph.dtype(b.value) == dtype, "its inputs have two dtypes")
    need(graph.can_call("rushlight::quantized_add", dtype), f"no kernel adds {dtype}")
    factor = given.get("alpha", 1)
    need(isinstance(factor, (int, float)) and math.isfinite(factor), "its alpha is no number")
    scales = [a.scale / result.to.scale, sign * factor * b.scale / result.to.scale]
    largest = max(abs(scale) for scale in scales)
    need(0 < largest < math.inf, "its scales are out of range")
    # The larger multiplier has all bits, unless more would be shifted out than there are.
    shift = min(_BITS[dtype] - math.frexp(largest)[1], _MOST_SHIFT)
    need(shift >= 1, "its scales are out of range")
    multipliers = [round(scale * 2.0**shift) for scale in scales]
    half = 1 << (shift - 1)
    offset = half - multipliers[0] * a.zero_point - multipliers[1] * b.zero_point
    most = _LARGEST[dtype] * sum(abs(each) for each in multipliers) + abs(offset)
    need(most < 2**31, "its sums may have more than 32 bits")
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


RULES: Mapping[str, Rule] = {"aten::add": add, "aten::sub": subtract}
