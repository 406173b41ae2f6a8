# SPDX-License-Identifier: BSD-3-Clause
"""The rule for bilinear interpolation. Positions are computed at conversion, in float32 as PyTorch does, and
stored in fixed point.

It uses the rounding "float" for the same reason as averages: upsampling by two keeps the scale, and one
result in sixteen is an exact tie.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rushlight.integers.arithmetic import requantization
from rushlight.integers.graph import Array, Call, Graph, dequantized
from rushlight.integers.rules.base import Rule, Settings, need, requantized, result_of, shared_dtype

FRACTION = 18  # fraction bits of a position
_LARGEST = 1 << 13  # larger sizes overflow int32 positions
_WEIGHTS = 22  # fraction bits of a sum of four elements before requantization


def positions(size: int, wanted: int, align_corners: bool, factor: float | None) -> Array:
    """The positions of `wanted` outputs among `size` inputs, int32 in steps of 2^-FRACTION. `factor`: the
    magnification of the axis if it is not wanted / size."""
    index = np.arange(wanted, dtype=np.float32)
    if align_corners:
        ratio = np.float32((size - 1) / (wanted - 1) if wanted > 1 else 0)
        at = index * ratio
    else:
        ratio = np.float32(1 / factor if factor else size / wanted)
        at = np.maximum((index + np.float32(0.5)) * ratio - np.float32(0.5), np.float32(0))
    steps = np.rint(at.astype(np.float64) * (1 << FRACTION))
    bounded: Array = np.clip(steps, 0, (size - 1) << FRACTION).astype(np.int32)
    return bounded


def bilinear(graph: Graph, call: Call, _: Settings) -> bool:
    """dequantize -> upsample_bilinear2d -> [clamp] -> quantize."""
    given = call.arguments
    first = "input" if "input" in given else "self"
    source, result = dequantized(graph, given[first]), result_of(graph, call.result)
    if source is None or result is None:
        return False
    dtype = shared_dtype(graph, source, result)
    operator = "rushlight::quantized_interpolate2d"
    need(graph.can_call(operator, dtype), f"no kernel interpolates {dtype}")
    before, after = graph.sizes(given[first])[-2:], graph.sizes(call.result)[-2:]
    need(all(isinstance(n, int) and n > 0 for n in (*before, *after)), "its sizes are not static")
    need(max(before) <= _LARGEST, "its image is too large")
    to = requantization(np.array([source.scale / result.to.scale * 2.0**-_WEIGHTS]), "float")
    need(to is not None, "its scales are out of range")
    assert to is not None
    factors = given.get("scale_factors") or [given.get("scales_h"), given.get("scales_w")]
    rows, columns = (
        positions(size, wanted, bool(given["align_corners"]), factor)
        for size, wanted, factor in zip(before, after, factors, strict=True)
    )
    arguments = {
        "input": source.value,
        "input_zero_point": source.zero_point,
        "rows": rows,
        "columns": columns,
        **requantized(to, result),
    }
    graph.replace(result.last, operator, arguments)
    return True


RULES: Mapping[str, Rule] = {"aten::upsample_bilinear2d": bilinear}
