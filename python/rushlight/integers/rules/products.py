# SPDX-License-Identifier: BSD-3-Clause
"""Rules for products with constant weights: convolutions and linear layers.

With zero points zx of the input and 0 of the weight, sum(w * (x - zx)) + bias = sum(w * x) + folded, where
folded = bias / (sx * sw) - zx * sum(w) is computed at conversion. The sum is requantized with sx * sw /
sy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rushlight.integers.arithmetic import folded_bias, most_shift_of_products, requantization
from rushlight.integers.graph import (
    Array,
    Call,
    Graph,
    Quantized,
    Value,
    Weights,
    dequantized,
    quantization,
    weights,
)
from rushlight.integers.rules.base import (
    Result,
    Rule,
    Settings,
    need,
    requantized,
    result_of,
    shared_dtype,
)

_NO_WEIGHT = "its weight is not constant int8 with zero points of 0"


def _real_bias(graph: Graph, value: Value | None, scale: Array) -> Array | None:
    """The bias as real values, from a constant or from dequantized integers; None without bias. Errors:
    Refusal."""
    if value is None:
        return None
    known = graph.constant(value)
    if known is not None:
        return known
    call = graph.maker(value)
    need(call is not None and "dequantize" in call.operator, "its bias is not constant")
    assert call is not None
    numbers = graph.constant(call.arguments.get("input"))
    need(numbers is not None, "its bias is not constant")
    assert numbers is not None
    if call.operator == "quantized_decomposed::dequantize_per_tensor":
        found = quantization(call)
        need(found is not None and found.zero_point == 0, "its bias has a zero point")
        assert found is not None
        return numbers.astype(np.float64) * found.scale
    scales = graph.constant(call.arguments.get("scales"))
    points = call.arguments.get("zero_points")
    zeros = points is None or not np.any(graph.constant(points))
    need(scales is not None and zeros, "its bias has zero points")
    assert scales is not None
    need(scales.shape == numbers.shape, "its bias does not have one scale per output")
    return numbers.astype(np.float64) * scales.astype(np.float64)


def _products(
    graph: Graph, settings: Settings, source: Quantized, weight: Weights, bias: Value | None, result: Result,
    numbers: Array, dtype: str,
) -> dict[str, Any]:  # fmt: skip
    """Bias and requantization arguments; `numbers` has the weights with outputs in its first dimension."""
    scale = source.scale * weight.scales
    real = _real_bias(graph, bias, scale)
    need(real is None or real.shape == (len(numbers),), "its bias is not one value per output")
    if result.offset:
        real = (np.zeros(len(numbers)) if real is None else real) + result.offset / result.gain
    folded = folded_bias(real, numbers, source.zero_point, scale, dtype)
    need(folded is not None, f"its sums may have more than {48 if dtype == 'int16' else 32} bits")
    with np.errstate(over="ignore"):
        most_shift = most_shift_of_products(dtype, settings.rounding)
        to = requantization(scale * result.gain / result.to.scale, settings.rounding, most_shift)
    need(to is not None, "its scales are out of range")
    assert to is not None
    return {"bias": folded, **requantized(to, result)}


def convolution(graph: Graph, call: Call, settings: Settings) -> bool:
    """dequantize, dequantize of constant weights -> convolution -> [clamp] -> quantize."""
    given = call.arguments
    source, result = dequantized(graph, given["input"]), result_of(graph, call.result, takes_lines=True)
    if source is None or result is None:
        return False
    transposed = bool(given["transposed"])
    weight = weights(graph, given["weight"], axis=1 if transposed else 0)
    need(weight is not None, _NO_WEIGHT)
    assert weight is not None
    dtype = shared_dtype(graph, source, result)
    need(graph.can_call("rushlight::quantized_convolution", dtype), f"no kernel convolves {dtype}")
    numbers = weight.numbers
    if transposed:
        fits = numbers.ndim > 1 and int(given["groups"]) > 0 and not numbers.shape[0] % int(given["groups"])
        need(fits, "its groups do not divide its channels")
        groups, channels = int(given["groups"]), numbers.shape[1]
        per_group = numbers.reshape(groups, numbers.shape[0] // groups, channels, -1)
        numbers = per_group.transpose(0, 2, 1, 3).reshape(groups * channels, -1)
        need(groups == 1 or weight.scales.size == 1, "its groups share per-channel scales")
    names = ("stride", "padding", "dilation", "transposed", "output_padding", "groups")
    arguments = {
        "input": source.value,
        "input_zero_point": source.zero_point,
        "weight": weight.value,
        **_products(graph, settings, source, weight, given.get("bias"), result, numbers, dtype),
        **{name: given[name] for name in names},
    }
    graph.replace(result.last, "rushlight::quantized_convolution", arguments)
    return True


def linear(graph: Graph, call: Call, settings: Settings) -> bool:
    """dequantize, dequantize of constant weights -> linear -> [clamp] -> quantize."""
    given = call.arguments
    source = dequantized(graph, given["input"])
    weight = weights(graph, given["weight"])
    return _linear(graph, call, settings, source, weight, given.get("bias"))


def matrix_product(graph: Graph, call: Call, settings: Settings) -> bool:
    """The same with transposed weights: addmm and mm, to which PyTorch decomposes linear."""
    given = call.arguments
    is_sum = "mat1" in given
    source = dequantized(graph, given["mat1" if is_sum else "self"])
    weight = _transposed(graph, given["mat2"])
    if weight is None and not is_sum and dequantized(graph, given["mat2"]) is not None:
        return False  # a product of two activations
    if source is not None and weight is not None:
        factors = [given.get(name, 1) for name in ("beta", "alpha")]
        need(factors == [1, 1], "its alpha or beta is not 1")
    return _linear(graph, call, settings, source, weight, given["self"] if is_sum else None)


def _transposed(graph: Graph, value: Value) -> Weights | None:
    """The weights [outputs, inputs] of which a value is the transpose; else None."""
    call = graph.maker(value)
    if call is not None and _swaps(call):
        known = weights(graph, next(iter(call.arguments.values())))
        fits = known is not None and tuple(graph.sizes(value)) == known.numbers.shape[::-1]
        return known if fits else None
    found = weights(graph, value, axis=1)
    if found is None or found.numbers.ndim != 2:
        return None
    transposed_weight = np.ascontiguousarray(found.numbers.T)
    return Weights(transposed_weight, transposed_weight, found.scales)


def _swaps(call: Call) -> bool:
    """True if a call transposes a matrix."""
    given = call.arguments
    match call.operator:
        case "aten::t_copy":
            return True
        case "aten::permute_copy":
            return list(given["dims"]) in ([1, 0], [-1, 0], [1, -2], [-1, -2])
        case "aten::transpose_copy":
            return (given["dim0"], given["dim1"]) in ((0, 1), (1, 0), (-1, -2), (-2, -1))
    return False


def _linear(
    graph: Graph, call: Call, settings: Settings, source: Quantized | None, weight: Weights | None,
    bias: Value | None,
) -> bool:  # fmt: skip
    result = result_of(graph, call.result, takes_lines=True)
    if source is None or result is None:
        return False
    need(weight is not None and weight.numbers.ndim == 2, _NO_WEIGHT)
    assert weight is not None
    dtype = shared_dtype(graph, source, result)
    need(graph.can_call("rushlight::quantized_linear", dtype), f"no kernel multiplies {dtype}")
    arguments = {
        "input": source.value,
        "weight": weight.value,
        **_products(graph, settings, source, weight, bias, result, weight.numbers, dtype),
    }
    graph.replace(result.last, "rushlight::quantized_linear", arguments)
    return True


RULES: Mapping[str, Rule] = {
    "aten::addmm": matrix_product,
    "aten::convolution": convolution,
}
