# SPDX-License-Identifier: BSD-3-Clause
"""Rules for linear layers with float results: weight-only integers, or inputs quantized with ranges measured
at run time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rushlight.integers.arithmetic import pack_halves
from rushlight.integers.graph import Array, Call, Graph, Value
from rushlight.integers.names import DEQUANTIZE, QUANTIZE
from rushlight.integers.rules.base import Rule, Settings, need

_PREFIX = "quantized_decomposed::"
_BY_GROUP = f"{_PREFIX}dequantize_per_channel_group"
_BY_CHANNEL = f"{_PREFIX}dequantize_per_channel"
_AFFINE = "torchao::dequantize_affine"
_LARGEST_GROUP = (2**31 - 1) // (255 * 128)
_EPSILON = float(np.finfo(np.float32).eps)


@dataclass(frozen=True)
class Weight:
    """Integers int8 [features, depth] and their scales: one for all, [features], or [features, groups]."""

    value: Value
    numbers: Array
    scales: Array
    is_narrow: bool  # 4-bit values

    @property
    def group(self) -> int:
        """The number of elements in a row that share a scale."""
        depth = int(self.numbers.shape[1])
        return depth // self.scales.shape[1] if self.scales.ndim == 2 else depth


@dataclass(frozen=True)
class Source:
    """A float tensor that is quantized with its own range at run time."""

    value: Value
    per_token: bool
    mapping: str
    low: int
    high: int
    least_scale: float


def _scales(graph: Graph, call: Call, rows: int) -> Array:
    """The scales of a weight, float32; a single group per row has no group dimension."""
    name = "scale" if call.operator in (_AFFINE, DEQUANTIZE) else "scales"
    given = call.arguments[name]
    known = np.array(given) if isinstance(given, float) else graph.constant(given)
    need(known is not None, "its weight's scales are not constant")
    assert known is not None
    scales = known.astype(np.float32)
    if call.operator == DEQUANTIZE:
        return scales.reshape(1)
    if call.operator == _BY_CHANNEL:
        return scales.reshape(-1)
    groups = scales.reshape(rows, -1)
    return groups[:, 0] if groups.shape[1] == 1 else groups


def _zero_points(graph: Graph, call: Call) -> bool:
    """True if a weight has zero points other than 0, or unknown ones."""
    name = "zero_point" if call.operator in (_AFFINE, DEQUANTIZE) else "zero_points"
    given = call.arguments.get(name)
    if given is None or isinstance(given, int):
        return bool(given)
    known = graph.constant(given)
    return known is None or bool(known.any())


def _is_by_rows(call: Call, depth: int) -> bool:
    """True if scales belong to rows, or to groups of equal length within a row."""
    given = call.arguments
    if call.operator == _BY_CHANNEL:
        return bool(given["axis"] == 0)
    if call.operator == _AFFINE:
        block = list(given["block_size"])
        return len(block) == 2 and block[0] == 1 and depth % max(block[1], 1) == 0
    return call.operator != _BY_GROUP or depth % max(given["group_size"], 1) == 0


def _weight(graph: Graph, value: Value, dequantizers: Sequence[str]) -> Weight | None:
    """The quantized form of a weight that one of these operators dequantizes; None if it is not constant."""
    call = graph.maker(value)
    if call is None or call.operator not in dequantizers:
        return None
    given = call.arguments
    numbers = graph.constant(given["input"])
    if numbers is None or numbers.ndim != 2 or graph.dtype(value) != "float32":
        return None
    need(numbers.dtype == np.int8, f"its weight is {numbers.dtype}, not int8")
    need(not _zero_points(graph, call), "its weight has zero points")
    need(
        _is_by_rows(call, numbers.shape[1]), "its weight's scales are neither per row nor per group of a row"
    )
    scales = _scales(graph, call, numbers.shape[0])
    narrow = (given["quant_min"], given["quant_max"]) == (-8, 7) and numbers.min(initial=0) >= -8
    weight = Weight(given["input"], numbers, scales, narrow and numbers.max(initial=0) <= 7)
    is_even = weight.group % 2 == 0 or scales.ndim < 2
    return weight if is_even else replace(weight, is_narrow=False)


def _in_bytes(low: int, high: int) -> tuple[int, int]:
    """A uint8 range as an int8 range, where values and zero points are 128 less."""
    return (low - 128, high - 128) if high > 127 else (low, high)


def _chosen_per_tensor(graph: Graph, call: Call) -> Source | None:
    """choose_qparams -> quantize_per_tensor -> dequantize_per_tensor."""
    found = _chain(graph, call, QUANTIZE, f"{_PREFIX}choose_qparams", "scale", "zero_point")
    if found is None:
        return None
    chooser, value = found
    low, high = (int(chooser.arguments[name]) for name in ("quant_min", "quant_max"))
    return Source(value, False, "asymmetric", *_in_bytes(low, high), float(chooser.arguments["eps"]))


def _chosen_per_token(graph: Graph, call: Call) -> Source | None:
    """choose_qparams_per_token_asymmetric -> quantize_per_token -> dequantize_per_token."""
    chooser_name = f"{_PREFIX}choose_qparams_per_token_asymmetric"
    found = _chain(graph, call, f"{_PREFIX}quantize_per_token", chooser_name, "scales", "zero_points")
    if found is None or (call.arguments["quant_min"], call.arguments["quant_max"]) != (-128, 127):
        return None
    return Source(found[1], True, "nearer_end", -128, 127, _EPSILON)


def _dequantized_affine(graph: Graph, call: Call) -> Source | None:
    """torchao's choose_qparams_affine -> quantize_affine -> dequantize_affine."""
    before = graph.maker(call.arguments["input"])
    if before is None or before.operator != "torchao::quantize_affine":
        return None
    names = ("scale", "zero_point", "quant_min", "quant_max")
    same = all(before.arguments[name] == call.arguments[name] for name in names)
    return chosen_affine(graph, before) if same else None


def chosen_affine(graph: Graph, call: Call) -> Source | None:
    """torchao's choose_qparams_affine -> quantize_affine."""
    found = _chosen(graph, call, "torchao::choose_qparams_affine", "scale", "zero_point")
    if found is None:
        return None
    chooser, value = found
    given = chooser.arguments
    sizes, block = list(graph.sizes(value)), list(given["block_size"])
    per_token = block == [1] * (len(sizes) - 1) + sizes[-1:]
    mapping = {"ASYMMETRIC": "asymmetric", "SYMMETRIC": "symmetric"}.get(given["mapping_type"])
    if mapping is None or not (per_token or block == sizes):
        return None
    least = _EPSILON if given["eps"] is None else float(given["eps"])
    low, high = given["quant_min"], given["quant_max"]
    low, high = (-128 if low is None else int(low)), (127 if high is None else int(high))
    return Source(value, per_token, mapping, low, high, least)


_SOURCES = {
    DEQUANTIZE: _chosen_per_tensor,
    f"{_PREFIX}dequantize_per_token": _chosen_per_token,
    _AFFINE: _dequantized_affine,
}


def _chain(
    graph: Graph, call: Call, quantizer: str, chooser: str, scale: str, zero_point: str
) -> tuple[Call, Value] | None:
    """The call that chooses the parameters with which `quantizer` quantizes and this call dequantizes a
    tensor, and the tensor; else None."""
    before = graph.maker(call.arguments["input"])
    if before is None or before.operator != quantizer:
        return None
    names = (scale, zero_point, "quant_min", "quant_max")
    same = all(before.arguments[name] == call.arguments[name] for name in names)
    return _chosen(graph, before, chooser, scale, zero_point) if same else None


def _chosen(graph: Graph, call: Call, chooser: str, scale: str, zero_point: str) -> tuple[Call, Value] | None:
    """The call that chooses the parameters with which this call quantizes a tensor, and the tensor; else
    None."""
    given = call.arguments
    chosen, value = graph.maker(given[scale]), given["input"]
    if chosen is None or chosen.operator != chooser or chosen.arguments["input"] != value:
        return None
    is_byte = graph.dtype(call.result) in ("int8", "uint8") and graph.dtype(value) == "float32"
    same = list(graph.results(chosen)) == [given[scale], given[zero_point]]
    return (chosen, value) if same and is_byte else None


def _source(graph: Graph, value: Value) -> Source | None:
    """The run-time quantization of a tensor; None if it has none."""
    call = graph.maker(value)
    find = None if call is None else _SOURCES.get(call.operator)
    return None if call is None or find is None else find(graph, call)


def replace_layer(
    graph: Graph, last: Call, value: Value, weight: Weight, bias: Value | None, source: Source | None
) -> None:
    """Replaces a linear layer by one operator that reads the value and, if given, its run-time
    quantization."""
    plain = bias is None or (graph.dtype(bias) == "float32" and len(graph.sizes(bias)) == 1)
    need(plain, "its bias is not a vector of float32")
    operator = "rushlight::weight_only_linear" if source is None else "rushlight::dynamic_linear"
    numbers = pack_halves(weight.numbers) if weight.is_narrow else weight.value
    arguments = {"input": value, "weight": numbers, "weight_scales": weight.scales, "bias": bias}
    if source is not None:
        need(weight.group <= _LARGEST_GROUP, "its sums may have more than 32 bits")
        arguments |= {
            "per_token": source.per_token,
            "mapping": source.mapping,
            "low": source.low,
            "high": source.high,
            "least_scale": source.least_scale,
        }
    graph.replace(last, operator, arguments)


def has_kernels(graph: Graph) -> bool:
    """True if the runtime has the operators for such weights."""
    return all(graph.can_call(f"rushlight::{name}_linear", "float32") for name in ("dynamic", "weight_only"))


def _linear(graph: Graph, call: Call, dequantizers: Sequence[str]) -> bool:
    given = call.arguments
    if not has_kernels(graph):
        return False
    weight = _weight(graph, given["weight"], dequantizers)
    if weight is None:
        need(
            _source(graph, given["input"]) is None,
            "its weight is not constant int8 with one scale per row or group",
        )
        return False
    need(graph.dtype(given["input"]) == "float32", "its input is not float32")
    source = _source(graph, given["input"])
    value = given["input"] if source is None else source.value
    replace_layer(graph, call, value, weight, given.get("bias"), source)
    return True


def linear(graph: Graph, call: Call, settings: Settings) -> bool:
    """[choose, quantize, dequantize,] dequantize of constant weights -> linear."""
    return _linear(graph, call, (DEQUANTIZE, _BY_CHANNEL))


def linear_of_groups(graph: Graph, call: Call, settings: Settings) -> bool:
    """The same, for weights whose dequantization has no separate kernel."""
    weight = graph.maker(call.arguments["weight"])
    known = weight is not None and weight.operator in (_BY_GROUP, _AFFINE)
    return known and _linear(graph, call, (_BY_GROUP, _AFFINE))


RULES: Mapping[str, Rule] = {"aten::linear": linear_of_groups}
