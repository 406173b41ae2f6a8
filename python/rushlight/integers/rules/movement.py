# SPDX-License-Identifier: BSD-3-Clause
"""Rules for operators that only move elements, which work on integers too.

`dequantize -> view` becomes `view -> dequantize`, so that dequantize reaches the computing operator or the
quantize that cancels it. Maxima are included, because dequantize is monotonic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rushlight.integers.graph import Call, Graph, Quantized, Value, dequantized, has_one_reader, quantization
from rushlight.integers.names import DEQUANTIZE, QUANTIZE
from rushlight.integers.rules.base import NUMBERS, Result, Rule, Settings, need, result_of
from rushlight.integers.rules.tables import can_look_up, converted

# Operators that keep all elements of their single input, and their number.
_REORDERING = (
    "alias_copy", "channel_shuffle", "clone", "detach_copy", "flip", "lift_fresh_copy", "permute_copy",
    "pixel_shuffle", "pixel_unshuffle", "roll", "rot90", "squeeze_copy", "t_copy", "transpose_copy",
    "unsqueeze_copy", "view_copy", "_unsafe_view", "_reshape_copy",
)  # fmt: skip
# Operators that select or repeat elements of their first input, or of its list.
_CHOOSING = (
    "adaptive_max_pool2d", "adaptive_max_pool3d", "amax", "amin", "diagonal_copy", "expand_copy", "gather",
    "index", "index_select", "max_pool2d_with_indices", "max_pool3d_with_indices", "narrow_copy",
    "reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "repeat", "replication_pad1d",
    "replication_pad2d", "replication_pad3d", "select_copy", "slice_copy", "split_copy",
    "split_with_sizes_copy", "unbind_copy", "unfold_copy", "upsample_nearest1d", "upsample_nearest2d",
    "upsample_nearest3d",
)  # fmt: skip
_REORDERINGS = frozenset(
    (*(f"aten::{name}" for name in _REORDERING), "rushlight_dim_order::_clone_dim_order",
     "dim_order_ops::_clone_dim_order")
)  # fmt: skip
_PAD = "aten::constant_pad_nd"
# Copies that may also change the dtype; they only move elements if they do not.
_COPIES = frozenset(("rushlight_dim_order::_to_dim_order_copy", "dim_order_ops::_to_dim_order_copy"))
# The arguments whose elements move; by default the first one.
_MOVED: Mapping[str, tuple[str, ...]] = {
    "aten::cat": ("tensors",),
    "aten::stack": ("tensors",),
    "aten::maximum": ("self", "other"),
    "aten::minimum": ("self", "other"),
    "aten::where": ("self", "other"),
}


def _moved(call: Call) -> dict[str, Any]:
    names = _MOVED.get(call.operator) or (next(iter(call.arguments)),)
    return {name: call.arguments[name] for name in names}


def _flat(moved: Mapping[str, Any]) -> list[Value]:
    values: list[Value] = []
    for each in moved.values():
        values.extend(each if isinstance(each, (list, tuple)) else [each])
    return values


def raise_quantizations(graph: Graph) -> list[str]:
    """Moves quantize before operators that reorder elements, if nothing else reads them. Returns the
    operators passed."""
    raised = []
    for last in reversed(list(graph.calls())):
        quantize: Call | None = last
        while quantize is not None and quantize.operator == QUANTIZE:
            call = graph.maker(quantize.arguments["input"])
            if call is None or call.operator not in _REORDERINGS:
                break
            name, source = next(iter(call.arguments.items()))
            dtype = graph.dtype(quantize.result)
            alone = has_one_reader(graph, call.result) and has_one_reader(graph, source)
            if not alone or quantization(quantize) is None or not graph.can_repeat(call, dtype):
                break
            arguments = {**quantize.arguments, "input": source}
            made = graph.insert(call, QUANTIZE, arguments, source, dtype)
            raised.append(call.operator)
            graph.substitute(quantize.result, graph.repeat(call, {name: made}, dtype)[0])
            quantize = graph.maker(made)
    return raised


def _changes(call: Call, source: Quantized, dtype: str) -> dict[str, Any] | None:
    """The arguments that differ for integers: the fill value of a pad, and the dtype of a copy. None if the
    fill value has no exact quantized value."""
    if call.operator in _COPIES:
        return {"dtype": None} if "dtype" in call.arguments else {}
    if call.operator != _PAD:
        return {}
    value, limits = call.arguments["value"], np.iinfo(dtype)
    if not isinstance(value, (int, float)) or not np.isfinite(value) or abs(value) > 65536 * source.scale:
        return None
    steps = round(value / source.scale)
    exact = np.float32(steps) * np.float32(source.scale) == np.float32(value)
    fits = limits.min <= steps + source.zero_point <= limits.max
    return {"value": steps + source.zero_point} if exact and fits else None


def _agree(graph: Graph, sources: Sequence[Quantized]) -> bool:
    def numbers(source: Quantized) -> tuple[Any, ...]:
        return source.scale, source.zero_point, graph.dtype(source.value)

    return all(numbers(source) == numbers(sources[0]) for source in sources)


def movement(graph: Graph, call: Call, settings: Settings) -> bool:
    """Rewrites dequantize -> call to call -> dequantize, and inputs of different scales -> call -> quantize
    to tables -> call."""
    if call.operator in _COPIES and graph.dtype(call.result) != graph.dtype(call.arguments["self"]):
        return False
    moved = _moved(call)
    values = _flat(moved)
    sources = [dequantized(graph, value) for value in values]
    known = [source for source in sources if source is not None]
    if all(graph.constant(source.value) is not None for source in known):
        return False
    results = graph.results(call)
    wanted = any(
        reader.operator == QUANTIZE
        for result in results
        if result is not None and not graph.is_output(result)
        for reader in graph.readers(result)
    )
    if len(known) < len(sources):
        need(not wanted, "one of its inputs is not quantized")
        return False
    dtype = graph.dtype(known[0].value)
    if not graph.can_repeat(call, dtype):
        need(not wanted, f"no kernel takes {dtype}")
        return False
    if not _agree(graph, known):
        to = result_of(graph, call.result)
        return to is not None and _meet(graph, call, moved, to)
    changes = _changes(call, known[0], dtype)
    if changes is None:
        need(not wanted, f"it pads with {call.arguments['value']}, which has no exact quantized value")
        return False
    integers = [source.value for source in known]
    _move(graph, call, {**_replaced(moved, integers), **changes}, dtype)
    return True


def _replaced(moved: Mapping[str, Any], values: Sequence[Value]) -> dict[str, Any]:
    """The moved arguments with other values, in the order of _flat()."""
    rest = iter(values)
    return {
        name: [next(rest) for _ in each] if isinstance(each, (list, tuple)) else next(rest)
        for name, each in moved.items()
    }


def _move(graph: Graph, call: Call, changes: Mapping[str, Any], dtype: str) -> None:
    """Makes the call move integers, and dequantizes its results."""
    first = _flat(_moved(call))[0]
    real, dequantize = graph.dtype(first), graph.maker(first)
    assert dequantize is not None
    numbers = dict(dequantize.arguments)
    results = graph.results(call)
    for old, new in zip(results, graph.repeat(call, changes, dtype), strict=True):
        if old is None or new is None:
            continue
        if graph.dtype(old) == real:
            new = graph.insert(call, DEQUANTIZE, {**numbers, "input": new}, old, real)
        graph.substitute(old, new)


def _meet(graph: Graph, call: Call, moved: Mapping[str, Any], to: Result) -> bool:
    """Converts all inputs to the result's quantization before they are moved."""
    dtype = graph.dtype(to.last.result)
    values = _flat(moved)
    types = {dtype, *(graph.dtype(graph.maker(v).arguments["input"]) for v in values)}  # type: ignore[union-attr]
    need(types <= set(NUMBERS), f"its tensors are {', '.join(sorted(types))}")
    need(graph.can_repeat(call, dtype) and can_look_up(graph, dtype), f"no kernel takes {dtype}")
    integers = [converted(graph, call, value, to) for value in values]
    need(all(each is not None for each in integers), "its scales are unknown")
    made = graph.repeat(call, _replaced(moved, integers), dtype)[0]
    graph.substitute(to.last.result, made)
    return True


_OPERATORS = (
    *_REORDERINGS,
    *_COPIES,
    *(f"aten::{name}" for name in _CHOOSING),
    "rushlight::max_pool2d",
    *_MOVED,
    _PAD,
)
RULES: Mapping[str, Rule] = dict.fromkeys(_OPERATORS, movement)
