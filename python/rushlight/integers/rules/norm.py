# SPDX-License-Identifier: BSD-3-Clause
"""Layer normalization. Its weight and bias are constants, in steps of the result."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from rushlight.integers.graph import Array, Call, Graph, Value, dequantized
from rushlight.integers.rules.base import Rule, Settings, need, result_of, shared_dtype

OPERATOR = "rushlight::quantized_layer_norm"
FRACTION = 19  # bits behind the point of a normalized element
_MOST_ELEMENTS = 1 << 22
_MOST_SHIFT = 62
_SPREAD_BITS = 14  # the squares of n elements are below n^2 * 2^14
_MOST_BIAS_SHIFT = 30
_RANGE = "its scales are out of range"


def _parameter(graph: Graph, value: Value | None, shape: list[int], absent: float) -> Array:
    if value is None:
        return np.full(shape, absent)
    found = graph.constant(value)
    need(found is not None, "its weight or bias is no constant")
    assert found is not None
    return found.astype(np.float64)


def _bits(numbers: Array) -> int:
    """The exponent above the largest magnitude."""
    largest = float(np.abs(numbers).max(initial=0))
    need(math.isfinite(largest), _RANGE)
    return math.frexp(largest)[1] if largest > 0 else -100


def fixed_point(weight: Array, bias: Array) -> tuple[Array, Array, int, int] | None:
    """Weight and bias, in steps, as int32 of as many bits as there are: weight * 2^(shift - FRACTION) and
    bias * 2^(shift - bias_shift), with the two shifts; None where they do not fit together."""
    # 31 bits of the weight, and at most 31 + 30 of the bias.
    shift = min(FRACTION + 30 - _bits(weight), 30 + _MOST_BIAS_SHIFT - _bits(bias), _MOST_SHIFT)
    if shift < 1:
        return None
    bias_shift = max(0, shift + _bits(bias) - 30)
    weights = np.rint(weight * 2.0 ** (shift - FRACTION)).astype(np.int32)
    return weights, np.rint(bias * 2.0 ** (shift - bias_shift)).astype(np.int32), shift, bias_shift


def epsilon_of(eps: float, count: int, scale: float) -> tuple[int, int] | None:
    """eps in squares of n numbers, as an integer and the even number of bits behind its point: as many as
    fit beside the squares; None where none do."""
    real = eps * (count / scale) ** 2
    if not 0 <= real < 2.0**_MOST_SHIFT:
        return None
    squares = (count * count).bit_length() + _SPREAD_BITS
    shift = _MOST_SHIFT - max(squares, math.frexp(real)[1])
    shift -= shift % 2
    return round(real * 2.0**shift), shift


def layer_norm(graph: Graph, call: Call, _: Settings) -> bool:
    """dequantize -> native_layer_norm -> [clamp] -> quantize, if nobody reads mean and deviation."""
    given = call.arguments
    source, results = dequantized(graph, given["input"]), graph.results(call)
    if source is None or not results or results[0] is None or len(results) > 1:
        return False
    result = result_of(graph, results[0])
    if result is None:
        return False
    dtype = shared_dtype(graph, source, result)
    need(graph.can_call(OPERATOR, dtype), f"no kernel normalizes {dtype}")
    shape = list(given["normalized_shape"])
    need(all(isinstance(size, int) for size in shape), "its normalized sizes are not known")
    count = math.prod(shape)
    need(0 < count <= _MOST_ELEMENTS, "it normalizes too many elements")
    need(0 < source.scale < math.inf and result.to.scale > 0, _RANGE)
    epsilon = epsilon_of(float(given["eps"]), count, source.scale)
    need(epsilon is not None, _RANGE)
    weight = _parameter(graph, given.get("weight"), shape, 1.0) / result.to.scale
    numbers = fixed_point(weight, _parameter(graph, given.get("bias"), shape, 0.0) / result.to.scale)
    need(numbers is not None, _RANGE)
    assert numbers is not None and epsilon is not None
    arguments = {
        "input": source.value,
        "weight": numbers[0],
        "bias": numbers[1],
        "epsilon": epsilon[0],
        "epsilon_shift": epsilon[1],
        "shift": numbers[2],
        "bias_shift": numbers[3],
        "output_zero_point": result.to.zero_point,
        "output_min": result.low,
        "output_max": result.high,
    }
    graph.replace(result.last, OPERATOR, arguments)
    return True


RULES: Mapping[str, Rule] = {"aten::native_layer_norm": layer_norm}
