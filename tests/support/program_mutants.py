# SPDX-License-Identifier: BSD-3-Clause
"""Programs with one or two errors: wrong values, wrong arguments of calls, calls left out or swapped. The
files are well-formed, so readers must check their contents."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from rushlight.errors import RushlightError
from rushlight.program import ProgramParts, write_program
from rushlight.program.model import Dynamism, KernelCall, Kind, Method, Storage, TensorInfo, Value

LIMITS: dict[str, Any] = {"max_instructions": 1000, "max_memory": 1 << 26, "threads": 1, "prepare": False}
"""Limits for loading programs that may ask for anything."""

INTEGERS = (0, 1, -1, 2, 4, -128, 127, 128, 255, 2**31 - 1, -(2**31), 2**31, 2**62, -(2**63))
FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-45, 1e-38, 1e38, 1e300, float("inf"), -float("inf"), float("nan"), 0.02)
DTYPES = ("int8", "uint8", "int16", "int32", "int64", "float32", "float64", "bfloat16", "bool", "qint8")
SHIFTS = (-4096, -16, 1, 16, 64, 4096)


def mutants(parts: ProgramParts, seed: int, count: int) -> list[bytes]:
    """Files of mutants; mutants that cannot be written are skipped."""
    choices, files = random.Random(seed), []
    while len(files) < count:
        changed = replace(parts, methods=tuple(mutated(each, choices) for each in parts.methods))
        try:
            files.append(write_program(changed).tobytes())
        except RushlightError:
            continue
    return files


def mutated(method: Method, choices: random.Random) -> Method:
    """The method with one or two changes."""
    values = list(method.values)
    calls: list[KernelCall] = [call for call in method.instructions if isinstance(call, KernelCall)]
    used = [index for call in calls for index in call.arguments]
    for _ in range(choices.randint(1, 2)):
        what = choices.choices(["value", "argument", "drop", "operator", "swap"], [60, 20, 7, 6, 7])[0]
        at, other = choices.randrange(len(calls)), choices.randrange(len(calls))
        if what == "value":
            index = choices.choice(used)
            values[index] = _value(values[index], method, choices)
        elif what == "argument":
            arguments = list(calls[at].arguments)
            arguments[choices.randrange(len(arguments))] = choices.choice(used)
            calls[at] = replace(calls[at], arguments=tuple(arguments))
        elif what == "drop" and len(calls) > 1:
            del calls[at]
        elif what == "operator":
            calls[at] = replace(calls[at], operator=choices.randrange(len(method.operators)))
        else:
            calls[at], calls[other] = calls[other], calls[at]
    return replace(method, values=tuple(values), chains=(tuple(calls),))


def _value(value: Value, method: Method, choices: random.Random) -> Value:
    data: Any = value.data
    match value.kind:
        case Kind.INT:
            return replace(value, data=choices.choice([*INTEGERS, data + 1, data - 1]))
        case Kind.DOUBLE:
            return replace(value, data=choices.choice([*FLOATS, data * 2, data * 1.01]))
        case Kind.BOOL:
            return replace(value, data=not data)
        case Kind.TENSOR:
            return replace(value, data=_tensor(data, method, choices))
        case Kind.INT_LIST if data:
            items = list(data)
            integers = [index for index, each in enumerate(method.values) if each.kind is Kind.INT]
            items[choices.randrange(len(items))] = choices.choice(integers)
            return replace(value, data=tuple(items[: choices.choice([len(items), len(items) - 1])]))
    return value


def _tensor(tensor: TensorInfo, method: Method, choices: random.Random) -> TensorInfo:
    sizes, order = list(tensor.sizes), list(tensor.dim_order)
    index = choices.randrange(len(sizes)) if sizes else 0
    match choices.choice(["size", "dtype", "order", "offset", "dynamism", "other", "sizes"]):
        case "size" if sizes:
            sizes[index] = max(0, sizes[index] + choices.choice([-1, 1, -sizes[index], sizes[index]]))
            return replace(tensor, sizes=tuple(sizes))
        case "dtype":
            return replace(tensor, dtype=choices.choice(DTYPES))
        case "order":
            choices.shuffle(order)
            return replace(tensor, dim_order=tuple(order))
        case "offset" if tensor.storage is Storage.PLANNED:
            return replace(tensor, memory_offset=max(0, tensor.memory_offset + choices.choice(SHIFTS)))
        case "dynamism":
            return replace(tensor, dynamism=choices.choice(list(Dynamism)))
        case "other":
            others = [each.data for each in method.values if isinstance(each.data, TensorInfo)]
            return choices.choice(others)
        case "sizes":
            choices.shuffle(sizes)
            return replace(tensor, sizes=tuple(sizes))
    return tensor
