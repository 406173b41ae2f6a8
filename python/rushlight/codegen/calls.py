# SPDX-License-Identifier: BSD-3-Clause
"""The calls of a program as far as they are fixed before it runs: sizes, strides and numbers. Kernels ask at
compile time which of their methods these calls reach (kernels/checks/selected_calls.h)."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rushlight.codegen.schema import Argument
from rushlight.documents import parse_json
from rushlight.errors import InvalidArgument
from rushlight.program import Method, TensorInfo, Value
from rushlight.program.model import Dynamism, KernelCall, Kind, Move

MOST_NUMBERS = 8
"""The largest rank and the longest list that the generated header can hold."""
MOST_ARGUMENTS = 32
"""The most arguments of a call in it."""

_KINDS = {"numbers": "Numbers", "tensor": "Tensor", "other": "Other"}


@dataclass(frozen=True, order=True)
class Fact:
    """One argument: a tensor's sizes and strides, or numbers. Other values have kind "other"."""

    name: str
    kind: str
    numbers: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()


CallFacts = tuple[Fact, ...]
"""A call: its arguments in the order of the schema."""


def facts_text(call: CallFacts) -> str:
    """A call as JSON, for read_facts()."""
    return json.dumps([[f.name, f.kind, f.numbers, f.strides] for f in call], separators=(",", ":"))


def read_facts(text: str) -> CallFacts | None:
    """The call of facts_text(); None for other text, and for what the generated header cannot hold."""
    try:
        rows = parse_json(text, what="call")
    except InvalidArgument:
        return None
    if not isinstance(rows, list) or not 0 < len(rows) <= MOST_ARGUMENTS or not all(map(_is_row, rows)):
        return None
    return tuple(Fact(name, kind, tuple(numbers), tuple(strides)) for name, kind, numbers, strides in rows)


def _is_row(row: Any) -> bool:
    if not isinstance(row, list) or len(row) != 4 or not all(isinstance(item, str) for item in row[:2]):
        return False
    name, kind, *lists = row
    if not (name.isidentifier() and name.isascii() and kind in _KINDS):
        return False
    for each in lists:
        if not isinstance(each, list) or len(each) > MOST_NUMBERS:
            return False
        if not all(type(item) is int and -(2**63) <= item < 2**63 for item in each):
            return False
    numbers, strides = lists
    return len(strides) == (len(numbers) if kind == "tensor" else 0)


def changing_values(method: Method) -> frozenset[int]:
    """The indices of values that may change: inputs, and the values that instructions write last."""
    written = set(method.inputs)
    for instruction in method.instructions:
        if isinstance(instruction, KernelCall) and instruction.arguments:
            written.add(instruction.arguments[-1])
        elif isinstance(instruction, Move):
            written.add(instruction.destination)
    return frozenset(written)


def call_facts(
    method: Method, arguments: Sequence[Argument], indices: Sequence[int], changing: Collection[int]
) -> CallFacts | None:
    """The facts of one call; None if a shape or a number may change from call to call, or the generated
    header cannot hold it."""
    if len(arguments) > MOST_ARGUMENTS or len(indices) < len(arguments):
        return None
    facts = []
    for argument, index in zip(arguments, indices, strict=False):
        fact = _fact(method, argument.name, index, changing)
        if fact is None:
            return None
        facts.append(fact)
    return tuple(facts)


def _fact(method: Method, name: str, index: int, changing: Collection[int]) -> Fact | None:
    value = method.values[index]
    if value.kind is Kind.TENSOR:
        assert isinstance(value.data, TensorInfo)
        return _tensor(name, value.data)
    if any(tensor.dynamism is not Dynamism.STATIC for tensor in method.tensors_of(value)):
        return None
    if value.kind is Kind.INT_LIST:
        assert isinstance(value.data, tuple)
        items = [method.values[item] for item in value.data]
        if any(item in changing for item in value.data) or len(items) > MOST_NUMBERS:
            return None
        return Fact(name, "numbers", tuple(map(_number, items)))
    if value.kind in (Kind.INT, Kind.BOOL):
        return None if index in changing else Fact(name, "numbers", (_number(value),))
    return Fact(name, "other")


def _number(value: Value) -> int:
    return int(value.data) if isinstance(value.data, int) else 0


def _tensor(name: str, tensor: TensorInfo) -> Fact | None:
    if tensor.dynamism is not Dynamism.STATIC or len(tensor.sizes) > MOST_NUMBERS:
        return None
    strides, stride = [0] * len(tensor.sizes), 1
    for dim in reversed(tensor.dim_order):
        strides[dim] = stride
        stride *= max(tensor.sizes[dim], 1)
    return Fact(name, "tensor", tensor.sizes, tuple(strides))


@dataclass
class BackCalls:
    """The calls of a back's operators, None if not all are known; and the shared sources that it needs."""

    calls: frozenset[CallFacts] | None = frozenset()
    sources: frozenset[str] = frozenset()


def calls_header(known: Mapping[str, BackCalls]) -> str:
    """The text of rushlight/selected_calls.h without its first lines, from the calls of each back."""
    lines = ["#pragma once", "", "namespace rushlight::kernels {", ""]
    rows = []
    for back, held in sorted(known.items()):
        listed = sorted(held.calls) if held.calls is not None else []
        data = "nullptr"
        if listed:
            data = f"kCallsOf_{back}"
            lines.append(f"inline constexpr SelectedCall {data}[] = {{")
            lines += [f"    {{{len(call)}, {{{', '.join(map(_initializer, call))}}}}}," for call in listed]
            lines += ["};", ""]
        are_known = str(held.calls is not None).lower()
        sources = " ".join(sorted(held.sources))
        rows.append(f'    {{"{back}", "{sources}", {are_known}, {data}, {len(listed)}}},')
    rows.append('    {"", "", false, nullptr, 0},')
    lines += ["inline constexpr BackCalls kSelectedCalls[] = {", *rows, "};", ""]
    return "\n".join([*lines, "}  // namespace rushlight::kernels", ""])


def _initializer(fact: Fact) -> str:
    numbers, strides = (", ".join(map(_literal, each)) for each in (fact.numbers, fact.strides))
    kind = f"CallValue::Kind::k{_KINDS[fact.kind]}"
    return f'{{"{fact.name}", {kind}, {len(fact.numbers)}, {{{numbers}}}, {{{strides}}}}}'


def _literal(number: int) -> str:
    # C++ has no literal of the least number: it is the negation of one that is too large.
    return "INT64_MIN" if number == -(2**63) else str(number)


def gemm_shapes(back: str, calls: Iterable[CallFacts]) -> frozenset[tuple[int, int]] | None:
    """Rows (0: any number) and columns of the matrix products in the calls of a back, for which tiles of the
    family gemm are compiled; None if the back's products are not known. A shape too few costs speed only."""
    found: set[tuple[int, int]] = set()
    for call in calls:
        facts = {fact.name: fact for fact in call}
        out = facts["out"].numbers if "out" in facts else ()
        if back in ("convolution", "convolution_act"):
            groups, weight = facts["groups"].numbers[0], facts["weight"].numbers
            if facts["transposed"].numbers[0] or len(weight) < 3 or groups < 1:
                return None
            if weight[1] == 1 and groups > 1:
                continue
            # Pixels are the rows of products in channels-last, and else the columns.
            is_last = facts["out"].strides[1] == 1
            channels, pixels = weight[0] // groups, math.prod(out[2:])
            found.add((0, channels) if is_last else (channels, pixels))
        elif back in ("matmul", "linear", "linear_act") and out:
            found.add((math.prod(out[:-1]), out[-1]))
        else:
            return None
    return frozenset(found)


def plane_taps(calls: Iterable[CallFacts]) -> frozenset[int]:
    """The numbers of taps of depthwise convolutions among the calls."""
    weights = (fact.numbers for call in calls for fact in call if fact.name == "weight")
    return frozenset(math.prod(sizes[2:]) for sizes in weights if len(sizes) > 2 and sizes[1] == 1)


def pixel_strips(calls: Iterable[CallFacts]) -> frozenset[tuple[int, int, int, int, int]]:
    """The strips of pixels (kernels/ukernel/depthwise.h) of convolutions in small groups among the calls:
    channels of a group; rows and taps of the kernel; the stride in taps, 0 if it is no whole number; 1 if
    channels are adjacent and do not fill blocks of 16. Too few cost speed only."""
    found = set()
    for call in calls:
        facts = {fact.name: fact for fact in call}
        weight = facts["weight"].numbers if "weight" in facts else ()
        groups, strides, dilations = (
            facts[name].numbers if name in facts else () for name in ("groups", "stride", "dilation")
        )
        if len(weight) < 3 or not groups or groups[0] <= 1 or not (strides and dilations and all(dilations)):
            continue
        step = strides[-1] // dilations[-1] if strides[-1] % dilations[-1] == 0 else 0
        is_last = "out" in facts and facts["out"].strides[1] == 1
        found.add((weight[1], math.prod(weight[2:-1]), weight[-1], step, int(is_last and weight[0] % 16 > 0)))
    return frozenset(found)
