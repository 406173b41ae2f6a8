# SPDX-License-Identifier: BSD-3-Clause
"""Methods of files as lowered methods: which write a read sees, and what leaves a method as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rushlight.convert.api import convert
from rushlight.convert.files import own_operators
from rushlight.convert.graph import ProgramGraph
from rushlight.convert.reading import ReadMethod, Unread, read
from rushlight.lowered.instructions import Call
from rushlight.program import Method, ProgramParts, TensorInfo, Value, read_program, write_program
from rushlight.program.dim_order import row_major
from rushlight.program.model import Dynamism, Free, JumpFalse, KernelCall, Kind, Move, Storage

RELU, ADD, COPY = "aten::relu.out", "aten::add.out", "aten::copy_"
QUANTIZE = "quantized_decomposed::quantize_per_tensor.out"
DEQUANTIZE = "quantized_decomposed::dequantize_per_tensor.out"
SPLIT = "aten::split_copy.Tensor_out"
OPERATORS = (RELU, ADD, COPY, QUANTIZE, DEQUANTIZE, SPLIT)
FLOAT, INT8 = 6, 1
"""Numbers of dtypes in files."""


def tensor(offset: int, *sizes: int, dtype: str = "float32", **fields: Any) -> Value:
    """A planned tensor at an offset."""
    info = TensorInfo(dtype, sizes, row_major(len(sizes)), Dynamism.STATIC, Storage.PLANNED, memory_id=1)
    return Value(Kind.TENSOR, replace(info, memory_offset=offset, **fields))


def method(
    values: Sequence[Value], calls: Sequence[Any], inputs: Sequence[int], outputs: Sequence[int]
) -> Method:
    """`calls` are operators with the indices of their arguments, or instructions."""
    code = [
        call if not isinstance(call, tuple) else KernelCall(OPERATORS.index(call[0]), call[1])
        for call in calls
    ]
    return Method(
        "forward", tuple(values), tuple(inputs), tuple(outputs), (tuple(code),), OPERATORS, (), (0, 4096)
    )


def as_read(*given: Any) -> ReadMethod:
    return read(method(*given), own_operators(), lambda _: memoryview(b""))


def calls_of(found: ReadMethod) -> list[Call]:
    return [each for each in found.lowered.code if isinstance(each, Call)]


def test_bytes_that_are_written_again_hold_another_tensor() -> None:
    values = [tensor(0, 4), tensor(16, 4), tensor(0, 4), tensor(16, 4)]
    relus = [(RELU, (0, 1, 1)), (RELU, (1, 2, 2)), (RELU, (2, 3, 3))]
    found = calls_of(as_read(values, relus, [0], [3]))
    results = [call.results[0] for call in found]
    assert len({each.storage for each in results}) == 3
    assert [call.arguments[0] for call in found[1:]] == results[:2]


def test_a_value_that_is_written_twice_is_two_tensors() -> None:
    values = [tensor(0, 4), tensor(16, 4), tensor(32, 4), tensor(48, 4)]
    relus = [(RELU, (0, 1, 1)), (RELU, (1, 2, 2)), (RELU, (2, 1, 1)), (RELU, (1, 3, 3))]
    first, second, third, fourth = calls_of(as_read(values, relus, [0], [3]))
    assert second.arguments[0] is first.results[0]
    assert fourth.arguments[0] is third.results[0]
    assert first.results[0] is not third.results[0]


def test_each_tensor_of_a_list_that_is_written_is_a_result() -> None:
    values = [tensor(0, 4), tensor(16, 2), tensor(24, 2), Value(Kind.TENSOR_LIST, (1, 2)), tensor(32, 2)]
    numbers = [Value(Kind.INT, 2), Value(Kind.INT, 0)]
    calls = [(SPLIT, (0, 5, 6, 3, 3)), (RELU, (2, 4, 4))]
    found = as_read([*values, *numbers], calls, [0], [1, 4])
    split, relu = calls_of(found)
    assert [each.sizes for each in split.results] == [(2,), (2,)]
    assert relu.arguments[0] is split.results[1] and not found.written_again


def test_another_shape_of_the_same_bytes_is_a_view() -> None:
    values = [tensor(0, 2, 2), tensor(16, 2, 2), tensor(16, 4), tensor(32, 4)]
    found = calls_of(as_read(values, [(RELU, (0, 1, 1)), (RELU, (2, 3, 3))], [0], [3]))
    assert [call.row for call in found] == [RELU, "aten::view_copy.out", RELU]
    assert found[1].arguments[:2] == [found[0].results[0], [4]]


def test_a_part_of_a_tensor_keeps_its_place_in_it() -> None:
    values = [tensor(0, 2, 8), tensor(64, 2, 8), tensor(96, 8), tensor(128, 8)]
    found = as_read(values, [(RELU, (0, 1, 1)), (RELU, (2, 3, 3))], [0], [3])
    whole, part = (call for call in calls_of(found))
    assert part.arguments[0].storage is whole.results[0].storage
    assert part.arguments[0].offset == 32
    assert whole.results[0].storage in found.fixed


@pytest.mark.parametrize(
    ("values", "calls", "reason"),
    [
        ([tensor(0, 4), tensor(16, 4)], [(RELU, (1, 0, 0))], "value 1 is read, but no single"),
        ([tensor(0, 4), tensor(8, 4), tensor(64, 4)], [(RELU, (0, 1, 1))], "overwrites its input"),
        (
            [tensor(0, 4), tensor(16, 4), tensor(24, 4), tensor(64, 4)],
            [(RELU, (0, 1, 1)), (RELU, (0, 2, 2)), (RELU, (1, 3, 3))],
            "value 1 is read, but no single",
        ),
        ([tensor(0, 4), tensor(0, 4, dtype="int32")], [(RELU, (1, 0, 0))], "is read as int32"),
        ([tensor(0, 4), Value(Kind.BOOL, True)], [JumpFalse(1, 0)], "instructions of the kind JumpFalse"),
        ([tensor(0, 4), Value(Kind.INT, 1)], [Move(1, 1)], "instructions of the kind Move"),
        ([tensor(0, 4)], [Free(0)], "instructions of the kind Free"),
        ([tensor(0, 4), tensor(16, 4)], [(RELU, (0,))], "has 1 arguments"),
        ([tensor(0, 4), Value(Kind.INT, 1)], [(RELU, (1, 0, 0))], "has a INT as 'self'"),
    ],
)
def test_what_is_not_proven_leaves_the_method_as_it_is(
    values: list[Value], calls: list[Any], reason: str
) -> None:
    with pytest.raises(Unread, match=reason):
        as_read(values, calls, [0], [0])


def test_a_result_may_lie_over_an_input_where_its_kernel_says_so() -> None:
    values = [tensor(0, 4), tensor(0, 4)]
    (call,) = calls_of(as_read(values, [(RELU, (0, 1, 1))], [0], [1]))
    assert call.arguments[0] is not call.results[0]


def integers_of_state(changes_state: bool) -> bytes:
    """Dequantizes its state and quantizes it again, as new numbers come in between or do not."""
    constants = [0.5, 0, -128, 127]
    state = replace(
        tensor(0, 16, dtype="int8", storage=Storage.MUTABLE, buffer_index=1).data,
        name="state",  # type: ignore[type-var]
    )
    values = [
        Value(Kind.TENSOR, state),
        tensor(16, 16, dtype="int8"),
        tensor(64, 16),
        tensor(128, 16, dtype="int8"),
    ]
    values += [Value(Kind.DOUBLE, 0.5), *(Value(Kind.INT, n) for n in (*constants[1:], INT8))]
    values += [Value(Kind.NONE), Value(Kind.BOOL, False)]
    calls: list[Any] = [
        (DEQUANTIZE, (0, 4, 5, 6, 7, 8, 9, 2, 2)),
        (COPY, (0, 1, 10, 0)),
        (QUANTIZE, (2, 4, 5, 6, 7, 8, 3, 3)),
    ]
    if not changes_state:
        del calls[1]
    parts = ProgramParts((method(values, calls, [1], [3]),), mutable=[np.zeros(16, np.int8)])
    return write_program(parts).tobytes()


def test_numbers_of_state_are_not_read_after_it_changed() -> None:
    assert not convert(read_program(integers_of_state(True)), own_operators()).is_changed


def test_calls_that_change_state_have_no_name_for_rules() -> None:
    program = read_program(integers_of_state(True))
    found = read(program.plans[0], own_operators(), program.constant)
    names = [call.operator for call in ProgramGraph(found, own_operators()).calls()]
    assert names == ["", "", "quantized_decomposed::quantize_per_tensor"]
