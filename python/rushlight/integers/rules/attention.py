# SPDX-License-Identifier: BSD-3-Clause
"""What attention computes between activations: softmax."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from rushlight.integers.arithmetic import requantization
from rushlight.integers.graph import Array, Call, Graph, dequantized
from rushlight.integers.rules.base import Rule, Settings, need, result_of, shared_dtype

_ONE = 1 << 30


def exponentials(scale: float) -> Array:
    """exp(-distance * scale) for distances of 0 to 255, in steps of 2^-30."""
    return np.rint(np.exp(-scale * np.arange(256)) * _ONE).astype(np.int32)


def softmax(graph: Graph, call: Call, _: Settings) -> bool:
    """dequantize -> softmax -> quantize. It is always rounded by "single": "double" loses the bits of small
    exponentials, and "float" would be float arithmetic."""
    given = call.arguments
    source, result = dequantized(graph, given["self"]), result_of(graph, call)
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
        "table": exponentials(source.scale),
        "multiplier": int(to.multipliers[0]),
        "shift": int(to.shifts[0]),
        "output_zero_point": result.to.zero_point,
        "output_min": result.low,
        "output_max": result.high,
    }
    graph.replace(result.last, "rushlight::quantized_softmax", arguments)
    return True


RULES: Mapping[str, Rule] = {"aten::_softmax": softmax}
