# SPDX-License-Identifier: BSD-3-Clause
"""Rules for means and average pools, which always use the rounding "float", whatever the settings.

If input and output have the same scale, a mean of an even number of elements is often an exact tie. PT2E
rounds ties to even in float32, unless the error of its sum has moved them; "float" rounds all of them to
even. A 2 x 2 pool with equal scales then agrees with PT2E in 93 % of its results, all except ties;
"single", which rounds ties up, agrees in 87 %. "double" rounds a sum before shifting it: sums of few
elements lose decisive bits, and a tenth of the results differ. Averages have far fewer results than
inputs, so a float32 multiplication per result costs little even without an FPU.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rushlight.integers.arithmetic import requantization
from rushlight.integers.graph import Call, Graph, Quantized, dequantized
from rushlight.integers.rules.base import (
    Result,
    Rule,
    Settings,
    need,
    requantized,
    result_of,
    shared_dtype,
)

_MOST_SUMMED = {"int8": (2**31 - 1) // 255, "uint8": (2**31 - 1) // 255, "int16": (2**31 - 1) // 2**15}


def _ends(graph: Graph, call: Call, name: str) -> tuple[Quantized, Result] | None:
    """The input and result of a call, if both are quantized; else None."""
    source, result = dequantized(graph, call.arguments[name]), result_of(graph, call.result)
    return None if source is None or result is None else (source, result)


def _averaged(graph: Graph, operator: str, ends: tuple[Quantized, Result], how: Mapping[str, Any]) -> bool:
    """Replaces the float computation between the ends by the operator."""
    source, result = ends
    dtype = shared_dtype(graph, source, result)
    need(graph.can_call(operator, dtype), f"no kernel averages {dtype}")
    to = requantization(np.array([source.scale / result.to.scale]), "float")
    need(to is not None, "its scales are out of range")
    assert to is not None
    arguments = {
        "input": source.value,
        "input_zero_point": source.zero_point,
        **how,
        **requantized(to, result),
    }
    graph.replace(result.last, operator, arguments)
    return True


def _need_few(graph: Graph, source: Quantized, sizes: list[Any]) -> None:
    known = [size for size in sizes if isinstance(size, int)]
    most = _MOST_SUMMED.get(graph.dtype(source.value), 0)
    need(int(np.prod(known, dtype=np.float64)) <= most, "its sums may have more than 32 bits")
    need(0 not in known, "it averages no elements")


def mean(graph: Graph, call: Call, _: Settings) -> bool:
    """dequantize -> mean -> [clamp] -> quantize."""
    given = call.arguments
    ends = _ends(graph, call, "self")
    if ends is None:
        return False
    sizes = graph.sizes(given["self"])
    dims = list(given.get("dim") or range(len(sizes)))
    _need_few(graph, ends[0], [sizes[dim] for dim in dims])
    how = {"dim": dims, "keepdim": bool(given.get("keepdim", False))}
    return _averaged(graph, "rushlight::quantized_mean", ends, how)


def _window(
    kernel: list[int], stride: list[int], padding: list[int], given: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The arguments of quantized_avg_pool2d and quantized_avg_pool3d."""
    divisor = given.get("divisor_override")
    need(divisor is None or 1 <= divisor < 2**31, "its divisor is below 1")
    return {
        "kernel_size": kernel,
        "stride": stride or kernel,
        "padding": padding,
        "ceil_mode": bool(given.get("ceil_mode", False)),
        "count_include_pad": bool(given.get("count_include_pad", True)),
        "divisor_override": divisor,
    }


def avg_pool2d(graph: Graph, call: Call, _: Settings) -> bool:
    """dequantize -> avg_pool2d -> [clamp] -> quantize."""
    given = call.arguments
    ends = _ends(graph, call, "self")
    if ends is None:
        return False
    kernel, stride, padding = (_several(given[name]) for name in ("kernel_size", "stride", "padding"))
    _need_few(graph, ends[0], kernel)
    how = _window(kernel, stride, padding, given)
    return _averaged(graph, "rushlight::quantized_avg_pool2d", ends, how)


def avg_pool3d(graph: Graph, call: Call, _: Settings) -> bool:
    """dequantize -> avg_pool3d -> [clamp] -> quantize."""
    given = call.arguments
    ends = _ends(graph, call, "self")
    if ends is None:
        return False
    kernel, stride, padding = (_several(given[name], 3) for name in ("kernel_size", "stride", "padding"))
    _need_few(graph, ends[0], kernel)
    how = _window(kernel, stride, padding, given)
    return _averaged(graph, "rushlight::quantized_avg_pool3d", ends, how)


def avg_pool1d(graph: Graph, call: Call, _: Settings) -> bool:
    """dequantize -> avg_pool1d -> [clamp] -> quantize. Treats [batch, channels, length] as one image."""
    given = call.arguments
    ends = _ends(graph, call, "self")
    if ends is None:
        return False
    need(len(graph.sizes(given["self"])) == 3, "it has no batch")
    kernel, stride, padding = (_list(given[name]) for name in ("kernel_size", "stride", "padding"))
    _need_few(graph, ends[0], kernel)
    how = _window([1, *kernel], [1, *(stride or kernel)], [0, *padding], given)
    return _averaged(graph, "rushlight::quantized_avg_pool2d", ends, how)


def _list(numbers: int | list[int]) -> list[int]:
    return [numbers] if isinstance(numbers, int) else list(numbers)


def _several(numbers: int | list[int], count: int = 2) -> list[int]:
    several = _list(numbers)
    return several * count if len(several) == 1 else several


def adaptive_avg_pool2d(graph: Graph, call: Call, _: Settings) -> bool:
    """dequantize -> adaptive_avg_pool2d -> [clamp] -> quantize."""
    ends = _ends(graph, call, "self")
    if ends is None:
        return False
    sizes = list(graph.sizes(call.arguments["self"])[-2:])
    return _adaptive(graph, ends, sizes, _several(call.arguments["output_size"]))


def adaptive_avg_pool1d(graph: Graph, call: Call, _: Settings) -> bool:
    """dequantize -> adaptive_avg_pool1d -> [clamp] -> quantize. Treats [batch, channels, length] as one
    image."""
    ends = _ends(graph, call, "self")
    if ends is None:
        return False
    sizes = graph.sizes(call.arguments["self"])
    need(len(sizes) == 3, "it has no batch")
    return _adaptive(graph, ends, list(sizes[1:]), [sizes[1], *_list(call.arguments["output_size"])])


def _adaptive(graph: Graph, ends: tuple[Quantized, Result], sizes: list[Any], wanted: list[Any]) -> bool:
    """Uses a mean if one window covers all, and a plain pool if all windows have the same static size."""
    if wanted == [1, 1]:
        _need_few(graph, ends[0], sizes)
        return _averaged(graph, "rushlight::quantized_mean", ends, {"dim": [-2, -1], "keepdim": True})
    fits = all(isinstance(n, int) and m > 0 and n % m == 0 for n, m in zip(sizes, wanted, strict=True))
    if fits:
        kernel = [n // m for n, m in zip(sizes, wanted, strict=True)]
        _need_few(graph, ends[0], kernel)
        how = _window(kernel, kernel, [0, 0], {})
        return _averaged(graph, "rushlight::quantized_avg_pool2d", ends, how)
    _need_few(graph, ends[0], sizes)
    how = {"output_size": wanted}
    return _averaged(graph, "rushlight::quantized_adaptive_avg_pool2d", ends, how)


RULES: Mapping[str, Rule] = {
    "aten::mean": mean,
    "aten::avg_pool1d": avg_pool1d,
    "aten::avg_pool2d": avg_pool2d,
    "aten::avg_pool3d": avg_pool3d,
    "aten::adaptive_avg_pool1d": adaptive_avg_pool1d,
    "aten::adaptive_avg_pool2d": adaptive_avg_pool2d,
    "aten::_adaptive_avg_pool2d": adaptive_avg_pool2d,
}
