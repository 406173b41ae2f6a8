# SPDX-License-Identifier: BSD-3-Clause
"""Rules for attention: softmax, and products of two activations.

Softmax looks up exp(x - max) in a table by the integer distance to the row's maximum and divides by the
row's sum in fixed point.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from rushlight.integers.arithmetic import most_shift_of_products, requantization
from rushlight.integers.graph import Array, Call, Graph, dequantized
from rushlight.integers.rules.base import (
    Rule,
    Settings,
    need,
    requantized,
    result_of,
    shared_dtype,
    two_and_result,
)

_ONE = 1 << 30
MOST_PRODUCTS = {"int8": (2**31 - 1) // 255**2, "uint8": (2**31 - 1) // 255**2, "int16": 2**17 - 1}


def exponentials(scale: float, dtype: str = "int8") -> Array:
    """exp(-distance * scale) for distances from 0 to 255, in steps of 2^-30, int32 [256]; for int16 followed
    by the values for multiples of 256, [512]."""
    distances = np.arange(256)
    if dtype == "int16":
        distances = np.concatenate([distances, 256 * distances])
    steps: Array = np.rint(np.exp(-scale * distances) * _ONE)
    return steps.astype(np.int32)


def softmax(graph: Graph, call: Call, _: Settings) -> bool:
    """dequantize -> softmax -> quantize. Always uses the rounding "single": "double" loses the bits of small
    exponentials, and "float" would be float arithmetic."""
    given = call.arguments
    source, result = dequantized(graph, given["self"]), result_of(graph, call.result)
    if source is None or result is None:
        return False
    dtype = shared_dtype(graph, source, result)
    need(graph.can_call("rushlight::quantized_softmax", dtype), f"no kernel has a softmax of {dtype}")
    need(0 < source.scale < math.inf and result.to.scale > 0, "its scales are out of range")
    to = requantization(np.array([1 / result.to.scale]))
    need(to is not None and bool(to.multipliers[0]), "its scales are out of range")
    assert to is not None and to.shifts is not None
    arguments = {
        "input": source.value,
        "dim": given["dim"],
        "table": exponentials(source.scale, dtype),
        "multiplier": int(to.multipliers[0]),
        "shift": int(to.shifts[0]),
        "output_zero_point": result.to.zero_point,
        "output_min": result.low,
        "output_max": result.high,
    }
    graph.replace(result.last, "rushlight::quantized_softmax", arguments)
    return True


def matmul(graph: Graph, call: Call, settings: Settings) -> bool:
    """dequantize, dequantize -> mm or bmm -> [clamp] -> quantize."""
    found = two_and_result(graph, call, ("self", "mat2"))
    if found is None:
        return False
    a, b, result = found
    dtype = graph.dtype(a.value)
    need(graph.can_call("rushlight::quantized_matmul", dtype), f"no kernel multiplies {dtype}")
    depth = graph.sizes(call.arguments["self"])[-1]
    need(not isinstance(depth, int) or depth <= MOST_PRODUCTS[dtype], "its sums may have more than 32 bits")
    most_shift = most_shift_of_products(dtype, settings.rounding)
    to = requantization(np.array([a.scale * b.scale / result.to.scale]), settings.rounding, most_shift)
    need(to is not None, "its scales are out of range")
    assert to is not None
    arguments = {
        "self": a.value,
        "self_zero_point": a.zero_point,
        "mat2": b.value,
        "mat2_zero_point": b.zero_point,
        **requantized(to, result),
    }
    graph.replace(result.last, "rushlight::quantized_matmul", arguments)
    return True


RULES: Mapping[str, Rule] = {"aten::_softmax": softmax, "aten::bmm": matmul}
