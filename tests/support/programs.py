# SPDX-License-Identifier: BSD-3-Clause
"""Small programs written field by field, also programs that no exporter writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import flatbuffers

from rushlight.program.dtypes import NUMBERS

Build = Callable[[flatbuffers.Builder], int]


def table(builder: flatbuffers.Builder, slots: int, fields: dict[int, tuple[str, int]]) -> int:
    """A table with `fields` of slot: (Builder's field kind, value)."""
    builder.StartObject(slots)
    for slot, (kind, value) in fields.items():
        if kind == "Offset":
            builder.PrependUOffsetTRelativeSlot(slot, value, 0)
        else:
            getattr(builder, f"Prepend{kind}Slot")(slot, value, None)
    return int(builder.EndObject())


def vector(builder: flatbuffers.Builder, kind: str, size: int, items: Sequence[int | float]) -> int:
    """A vector of scalars or, with kind UOffsetTRelative, of objects built before."""
    builder.StartVector(size, len(items), size)
    for item in reversed(items):
        getattr(builder, f"Prepend{kind}")(item)
    return int(builder.EndVector())


def offsets(builder: flatbuffers.Builder, items: Sequence[int]) -> int:
    """A vector of tables."""
    return vector(builder, "UOffsetTRelative", 4, items)


@dataclass
class Plan:
    """A method: its values, and kernel calls as (operator, arguments) or instructions of other kinds."""

    values: list[Build] = field(default_factory=list)
    operators: list[tuple[str, str]] = field(default_factory=list)
    calls: list[tuple[int, list[int]] | Build] = field(default_factory=list)
    buffer_sizes: list[int] = field(default_factory=lambda: [0, 1 << 20])
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)


def value(number: int, content: Build) -> Build:
    """An EValue of a union type."""

    def build(builder: flatbuffers.Builder) -> int:
        return table(builder, 2, {0: ("Uint8", number), 1: ("Offset", content(builder))})

    return build


def scalar(item: int | float | bool | None) -> Build:
    """An EValue that is a scalar or None."""
    if item is None:
        return value(1, lambda b: table(b, 0, {}))
    number, kind = {bool: (3, "Bool"), int: (2, "Int64"), float: (4, "Float64")}[type(item)]
    return value(number, lambda b: table(b, 1, {0: (kind, item)}))


def string(text: str) -> Build:
    """An EValue that is a string."""
    return value(6, lambda b: table(b, 1, {0: ("Offset", b.CreateString(text))}))


def numbers(kind: type, items: Sequence[int | float | bool]) -> Build:
    """An EValue that is a list of floats or bools; for int, a list of the values with those indices."""
    number, item_kind, size = {int: (7, "Int64", 8), float: (8, "Float64", 8), bool: (9, "Bool", 1)}[kind]
    return value(number, lambda b: table(b, 1, {0: ("Offset", vector(b, item_kind, size, items))}))


def tensors(indices: Sequence[int], *, optional: bool = False) -> Build:
    """An EValue that is a list of the tensors with those indices; in optional lists -1 stands for None."""
    number = 11 if optional else 10
    return value(number, lambda b: table(b, 1, {0: ("Offset", vector(b, "Int32", 4, indices))}))


def tensor(
    dtype: str,
    sizes: Sequence[int] = (2,),
    *,
    memory_id: int = 1,
    offset: int = 0,
    dim_order: Sequence[int] | None = None,
    dynamic: bool = False,
) -> Build:
    """A tensor planned at `offset` in its memory; with memory_id 0 it is not planned."""

    def build(builder: flatbuffers.Builder) -> int:
        shape = vector(builder, "Int32", 4, sizes)
        order = vector(builder, "Uint8", 1, range(len(sizes)) if dim_order is None else dim_order)
        fields = {
            0: ("Int8", NUMBERS[dtype]),
            2: ("Offset", shape),
            3: ("Offset", order),
            8: ("Int8", int(dynamic)),
        }
        if memory_id:
            fields[6] = ("Offset", table(builder, 3, {0: ("Uint32", memory_id), 1: ("Uint32", offset)}))
        return table(builder, 10, fields)

    return value(5, build)


def move(source: int, destination: int) -> Build:
    """An instruction that copies a value to another one."""
    return _instruction(3, lambda b: table(b, 2, {0: ("Int32", source), 1: ("Int32", destination)}))


def jump_false(condition: int, target: int) -> Build:
    """An instruction that jumps to instruction `target` unless the condition holds."""
    return _instruction(4, lambda b: table(b, 2, {0: ("Int32", condition), 1: ("Int32", target)}))


def program(*plans: Plan, version: int = 0) -> bytes:
    """The file."""
    builder = flatbuffers.Builder(1024)
    built = [_plan(builder, plan) for plan in plans]
    root = table(builder, 8, {0: ("Uint32", version), 1: ("Offset", offsets(builder, built))})
    builder.Finish(root, b"ET12")
    return bytes(builder.Output())


def _plan(builder: flatbuffers.Builder, plan: Plan) -> int:
    name = builder.CreateString("forward")
    values = offsets(builder, [build(builder) for build in plan.values])
    operators = offsets(builder, [_operator(builder, *names) for names in plan.operators])
    calls = offsets(
        builder, [call(builder) if callable(call) else _call(builder, *call) for call in plan.calls]
    )
    chain = table(builder, 4, {2: ("Offset", calls)})
    chains = offsets(builder, [chain])
    sizes = vector(builder, "Int64", 8, plan.buffer_sizes)
    inputs, outputs = (vector(builder, "Int32", 4, indices) for indices in (plan.inputs, plan.outputs))
    fields = {0: name, 2: values, 3: inputs, 4: outputs, 5: chains, 6: operators, 8: sizes}
    return table(builder, 10, {slot: ("Offset", offset) for slot, offset in fields.items()})


def _operator(builder: flatbuffers.Builder, name: str, overload: str) -> int:
    strings = [builder.CreateString(name), builder.CreateString(overload)]
    return table(builder, 2, {slot: ("Offset", offset) for slot, offset in enumerate(strings)})


def _call(builder: flatbuffers.Builder, operator: int, arguments: list[int]) -> int:
    indices = vector(builder, "Int32", 4, arguments)
    call = table(builder, 2, {0: ("Int32", operator), 1: ("Offset", indices)})
    return _instruction(1, lambda _: call)(builder)


def _instruction(number: int, content: Build) -> Build:
    return lambda builder: table(builder, 2, {0: ("Uint8", number), 1: ("Offset", content(builder))})
