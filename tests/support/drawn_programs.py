# SPDX-License-Identifier: BSD-3-Clause
"""Programs of every shape that the format can hold, as hypothesis draws them."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from rushlight.program import Device, Method, ProgramParts, Storage, TensorInfo, Value
from rushlight.program.dtypes import NUMBERS, element_size
from rushlight.program.model import Delegate, DelegateCall, Dynamism, Free, JumpFalse, KernelCall, Kind, Move

SIZES = st.lists(st.integers(0, 9), max_size=5).map(tuple)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)


@st.composite
def tensors(draw: st.DrawFn, constants: list[bytes], mutable: list[bytes], planned: int) -> Value:
    sizes = draw(SIZES)
    dtype = draw(st.sampled_from(sorted(NUMBERS)))
    storage = draw(st.sampled_from(Storage))
    fields: dict[str, Any] = {"name": draw(NAMES)}
    if storage in (Storage.PLANNED, Storage.MUTABLE):
        fields |= {"memory_id": draw(st.integers(1, 2)), "memory_offset": draw(st.integers(0, planned // 2))}
    if storage in (Storage.CONSTANT, Storage.MUTABLE):
        data = constants if storage is Storage.CONSTANT else mutable
        byte = draw(st.integers(0, 255))
        data.append(bytes([byte]) * (math.prod(sizes) * element_size(dtype)))
        fields["buffer_index"] = len(data)
    if storage is Storage.EXTERNAL:
        fields["name"] = "key"
    order = tuple(draw(st.permutations(range(len(sizes)))))
    return Value(
        Kind.TENSOR, TensorInfo(dtype, sizes, order, draw(st.sampled_from(Dynamism)), storage, **fields)
    )


@st.composite
def parts(draw: st.DrawFn, planned: int = 1 << 40) -> ProgramParts:
    """Any program that the format can hold, with jumps and lists within bounds, and twice `planned` bytes (at
    least 2 MiB) of planned memory."""
    constants: list[bytes] = []
    mutable: list[bytes] = []
    methods = [
        draw(methods_of(name, constants, mutable, planned))
        for name in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    ]
    named = draw(st.dictionaries(NAMES, st.binary(max_size=40), max_size=3))
    return ProgramParts(tuple(methods), constants, mutable, named)


@st.composite
def methods_of(
    draw: st.DrawFn, name: str, constants: list[bytes], mutable: list[bytes], planned: int
) -> Method:
    held = draw(st.lists(tensors(constants, mutable, planned), min_size=1, max_size=5))
    numbers = [Value(Kind.INT, draw(st.integers(-(2**63), 2**63 - 1))) for _ in range(3)]
    some = st.integers(0, len(held) - 1)
    index = st.integers(0, len(held) + 2)
    rest = st.one_of(
        st.just(Value(Kind.NONE)),
        st.booleans().map(lambda item: Value(Kind.BOOL, item)),
        st.floats(allow_nan=False).map(lambda item: Value(Kind.DOUBLE, item)),
        TEXTS.map(lambda item: Value(Kind.STRING, item)),
        st.lists(st.integers(0, 2)).map(lambda i: Value(Kind.INT_LIST, tuple(len(held) + n for n in i))),
        st.lists(st.floats(allow_nan=False)).map(lambda items: Value(Kind.DOUBLE_LIST, tuple(items))),
        st.lists(st.booleans()).map(lambda items: Value(Kind.BOOL_LIST, tuple(items))),
        st.lists(some).map(lambda items: Value(Kind.TENSOR_LIST, tuple(items))),
        st.lists(some | st.just(-1)).map(lambda items: Value(Kind.OPTIONAL_TENSOR_LIST, tuple(items))),
    )
    arguments = st.lists(index, max_size=6).map(tuple)
    instruction = st.one_of(
        st.builds(KernelCall, st.integers(0, 1), arguments),
        st.builds(DelegateCall, st.just(0), arguments),
        st.builds(Move, index, index),
        st.builds(JumpFalse, index, st.just(0)),
        st.builds(Free, index),
    )
    specs = draw(st.lists(st.tuples(NAMES, st.binary(max_size=20).map(memoryview)), max_size=2))
    return Method(
        name=name,
        values=(*held, *numbers, *draw(st.lists(rest, max_size=6))),
        inputs=draw(arguments),
        outputs=draw(arguments),
        chains=tuple(map(tuple, draw(st.lists(st.lists(instruction, max_size=6), max_size=3)))),
        operators=("aten::add.out", "a::b"),
        delegates=(Delegate(draw(NAMES), memoryview(draw(st.binary(max_size=20))), tuple(specs)),),
        buffer_sizes=(0, planned, planned),
        buffer_devices=draw(
            st.dictionaries(st.integers(1, 2), st.builds(Device, st.integers(0, 1)), max_size=2)
        ),
    )
