# SPDX-License-Identifier: BSD-3-Clause
"""Rules for layer, group and RMS normalization. Weight and bias are constants, in steps of the result.

Over n elements, (n * x - sum(x)) / sqrt(n * sum(x^2) - sum(x)^2 + epsilon) is computed in integers, with
epsilon in the same units; RMS norms omit sum(x). Weight and bias follow in fixed point.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from rushlight.integers.graph import Array, Call, Graph, Quantized, Value, dequantized, has_one_reader
from rushlight.integers.rules.base import Result, Rule, Settings, need, result_of, shared_dtype

FRACTION = 19  # fraction bits of a normalized element
_MOST_ELEMENTS = 1 << 22
_MOST_SHIFT = 62
_SPREAD_BITS = 14  # n * sum of squares - (sum)^2 is below n^2 * 2^14
_SQUARE_BITS = 16  # n * sum of squares alone is below n^2 * 2^16
_MOST_BIAS_SHIFT = 30
_RANGE = "its scales are out of range"


def _parameter(graph: Graph, value: Value | None, shape: list[int], absent: float) -> Array:
    if value is None:
        return np.full(shape, absent)
    found = graph.constant(value)
    need(found is not None, "its weight or bias is not constant")
    assert found is not None
    return found.astype(np.float64)


def _bits(numbers: Array) -> int:
    """The exponent of the largest magnitude, as frexp defines it."""
    largest = float(np.abs(numbers).max(initial=0))
    need(math.isfinite(largest), _RANGE)
    return math.frexp(largest)[1] if largest > 0 else -100


def fixed_point(weight: Array, bias: Array) -> tuple[Array, Array, int, int] | None:
    """Weight and bias in steps, as int32 with the most bits: weight * 2^(shift - FRACTION) and bias *
    2^(shift - bias_shift), with both shifts; None if their magnitudes differ too much."""
    # The weight has 31 bits, the bias at most 31 + 30.
    shift = min(FRACTION + 30 - _bits(weight), 30 + _MOST_BIAS_SHIFT - _bits(bias), _MOST_SHIFT)
    if shift < 1:
        return None
    bias_shift = max(0, shift + _bits(bias) - 30)
    weights = np.rint(weight * 2.0 ** (shift - FRACTION)).astype(np.int32)
    return weights, np.rint(bias * 2.0 ** (shift - bias_shift)).astype(np.int32), shift, bias_shift


def epsilon_of(eps: float, count: int, scale: float, bits: int = _SPREAD_BITS) -> tuple[int, int] | None:
    """Epsilon in squared steps for n elements, as an integer, and its even number of fraction bits: the most
    that fit in 62 bits with the squares, which are below n^2 * 2^bits. None if epsilon is out of range."""
    real = eps * (count / scale) ** 2
    if not 0 <= real < 2.0**_MOST_SHIFT:
        return None
    squares = (count * count).bit_length() + bits
    shift = _MOST_SHIFT - max(squares, math.frexp(real)[1])
    shift -= shift % 2
    return round(real * 2.0**shift), shift


def _normalize(
    graph: Graph, operator: str, source: Quantized, result: Result, weight: Array, bias: Array | None,
    count: int, eps: float, how: Mapping[str, Any],
) -> None:  # fmt: skip
    """Replaces a normalization by one operator over `count` elements; without bias the input has a zero point
    to subtract."""
    dtype = shared_dtype(graph, source, result)
    need(graph.can_call(operator, dtype), f"no kernel normalizes {dtype}")
    need(0 < count <= _MOST_ELEMENTS, "it normalizes too many elements")
    need(0 < source.scale < math.inf and result.to.scale > 0, _RANGE)
    epsilon = epsilon_of(eps, count, source.scale, _SQUARE_BITS if bias is None else _SPREAD_BITS)
    need(epsilon is not None, _RANGE)
    offset = np.zeros(weight.shape) if bias is None else bias
    numbers = fixed_point(weight / result.to.scale, offset / result.to.scale)
    need(numbers is not None, _RANGE)
    assert numbers is not None and epsilon is not None
    arguments = {
        "input": source.value,
        "weight": numbers[0],
        "bias": numbers[1],
        **how,
        "epsilon": epsilon[0],
        "epsilon_shift": epsilon[1],
        "shift": numbers[2],
        "bias_shift": numbers[3],
        "output_zero_point": result.to.zero_point,
        "output_min": result.low,
        "output_max": result.high,
    }
    if bias is None:
        del arguments["bias"], arguments["bias_shift"]
    graph.replace(result.last, operator, arguments)


def _ends(graph: Graph, call: Call) -> tuple[Quantized, Result] | None:
    """The input and result of a normalization, if both are quantized and nothing reads mean and deviation;
    else None."""
    source, results = dequantized(graph, call.arguments["input"]), graph.results(call)
    if source is None or not results or results[0] is None or len(results) > 1:
        return None
    result = result_of(graph, results[0])
    return None if result is None else (source, result)


def layer_norm(graph: Graph, call: Call, _: Settings) -> bool:
    """dequantize -> native_layer_norm -> [clamp] -> quantize."""
    given, ends = call.arguments, _ends(graph, call)
    if ends is None:
        return False
    shape = list(given["normalized_shape"])
    need(all(isinstance(size, int) for size in shape), "its normalized sizes are not static")
    weight = _parameter(graph, given.get("weight"), shape, 1.0)
    bias = _parameter(graph, given.get("bias"), shape, 0.0)
    operator = "rushlight::quantized_layer_norm"
    _normalize(graph, operator, *ends, weight, bias, math.prod(shape), float(given["eps"]), {})
    return True


def group_norm(graph: Graph, call: Call, _: Settings) -> bool:
    """dequantize -> native_group_norm -> [clamp] -> quantize."""
    given, ends = call.arguments, _ends(graph, call)
    if ends is None:
        return False
    channels, positions, groups = (given[name] for name in ("C", "HxW", "group"))
    need(isinstance(channels, int) and isinstance(positions, int), "its normalized sizes are not static")
    need(groups >= 1 and channels % groups == 0, "its groups do not divide its channels")
    weight = _parameter(graph, given.get("weight"), [channels], 1.0)
    bias = _parameter(graph, given.get("bias"), [channels], 0.0)
    count = channels // groups * positions
    operator = "rushlight::quantized_group_norm"
    _normalize(graph, operator, *ends, weight, bias, count, float(given["eps"]), {"groups": groups})
    return True


def _mean_of_squares(graph: Graph, value: Value, x: Value) -> list[int] | None:
    """The sizes over which a value is the mean of x * x, if these are the last dimensions and are kept with
    size 1; else None."""
    mean = graph.maker(value)
    if mean is None or mean.operator != "aten::mean" or not mean.arguments.get("keepdim"):
        return None
    squares = graph.maker(mean.arguments["self"])
    if squares is None or not has_one_reader(graph, value) or not has_one_reader(graph, squares.result):
        return None
    given = squares.arguments
    is_square = {
        "aten::pow": given.get("self") == x and given.get("exponent") == 2,
        "aten::mul": given.get("self") == x and given.get("other") == x,
    }.get(squares.operator, False)
    sizes, dims = list(graph.sizes(x)), mean.arguments.get("dim") or []
    normalized = sorted(dim % len(sizes) for dim in dims)
    is_last = bool(dims) and normalized == list(range(len(sizes) - len(dims), len(sizes)))
    return sizes[len(sizes) - len(dims) :] if is_square and is_last else None


def _root_mean_square(graph: Graph, value: Value, x: Value) -> tuple[list[int], float] | None:
    """Sizes and epsilon if a value is rsqrt(mean(x * x) + epsilon); else None."""
    root = graph.maker(value)
    total = None if root is None else graph.maker(root.arguments.get("self"))
    if (
        root is None
        or total is None
        or not has_one_reader(graph, value)
        or not has_one_reader(graph, total.result)
    ):
        return None
    if (root.operator, total.operator) != ("aten::rsqrt", "aten::add") or total.arguments.get(
        "alpha", 1
    ) != 1:
        return None
    eps = total.arguments["other"]
    known = graph.constant(eps)
    if known is not None and known.size == 1:
        eps = float(known.reshape(()))
    sizes = _mean_of_squares(graph, total.arguments["self"], x)
    return (sizes, float(eps)) if sizes is not None and isinstance(eps, (int, float)) else None


def _weighted(graph: Graph, call: Call, sizes: list[int]) -> tuple[Value, Array]:
    """The result of a norm after its weight, and the weight; ones if it has none."""
    if has_one_reader(graph, call.result):
        (reader,) = graph.readers(call.result)
        if reader.operator == "aten::mul":
            given = reader.arguments
            other = given["other"] if given["self"] == call.result else given["self"]
            known = graph.constant(other)
            if known is not None and list(known.shape) == sizes:
                return reader.result, known.astype(np.float64)
    return call.result, np.ones(sizes)


def rms_norm(graph: Graph, call: Call, _: Settings) -> bool:
    """dequantize -> x * rsqrt(mean(x * x) + epsilon) [* weight] -> [clamp] -> quantize."""
    given = call.arguments
    for x, root in ((given["self"], given["other"]), (given["other"], given["self"])):
        source = dequantized(graph, x)
        found = None if source is None else _root_mean_square(graph, root, x)
        if source is None or found is None:
            continue
        sizes, eps = found
        need(all(isinstance(size, int) for size in sizes), "its normalized sizes are not static")
        value, weight = _weighted(graph, call, sizes)
        result = result_of(graph, value)
        if result is None:
            return False
        operator = "rushlight::quantized_rms_norm"
        how = {"input_zero_point": source.zero_point}
        _normalize(graph, operator, source, result, weight, None, math.prod(sizes), eps, how)
        return True
    return False


RULES: Mapping[str, Rule] = {"aten::native_layer_norm": layer_norm, "aten::native_group_norm": group_norm}
