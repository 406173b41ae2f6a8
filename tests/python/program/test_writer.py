# SPDX-License-Identifier: BSD-3-Clause
"""Written programs read as what they were written from."""

from __future__ import annotations

import dataclasses
import math
import struct
import time
import tracemalloc
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings

from rushlight.errors import FileFailed, InvalidArgument
from rushlight.program import (
    Device,
    Method,
    ProgramParts,
    Storage,
    TensorInfo,
    Value,
    parts_of,
    read_model,
    read_program,
    write_program,
)
from rushlight.program.model import Delegate, DelegateCall, Dynamism, Free, JumpFalse, KernelCall, Kind, Move
from support.drawn_programs import parts
from support.rewriting import contents

INTEROP = Path(__file__).parents[2] / "interop"
PATTERNS = ("*/*.pte", "*/*.bpte", "of_versions/files/*pte")
PROGRAMS = sorted(path for pattern in PATTERNS for path in INTEROP.glob(pattern))


def tensor(storage: Storage, *sizes: int, dtype: str = "float32", **fields: Any) -> Value:
    """A tensor in row major order."""
    order = tuple(range(len(sizes)))
    return Value(Kind.TENSOR, TensorInfo(dtype, sizes, order, Dynamism.STATIC, storage, **fields))


def method(*values: Value, **fields: Any) -> Method:
    """A method of values, without instructions unless they are given."""
    given = {"inputs": (), "outputs": (), "chains": ((),), "operators": (), "delegates": ()}
    return Method(**{"name": "forward", "values": values, "buffer_sizes": (0, 1 << 40), **given, **fields})


def written(*methods: Method, **fields: Any) -> Any:
    """The program that is read back from a file of these methods."""
    return read_program(write_program(ProgramParts(methods, **fields)).tobytes())


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_official_program_is_the_same_when_written_again(path: Path) -> None:
    original = read_model(path)
    again = read_program(write_program(parts_of(original)).tobytes())
    assert contents(again) == contents(original)
    assert again.program_size <= original.program_size + 32, "the official writer's are smaller"


def test_every_kind_of_value_and_instruction_comes_back() -> None:
    values = (
        Value(Kind.NONE),
        Value(Kind.INT, -(2**63)),
        Value(Kind.INT, 2**63 - 1),
        Value(Kind.BOOL, True),
        Value(Kind.BOOL, False),
        Value(Kind.DOUBLE, -0.0),
        Value(Kind.DOUBLE, 0.0),
        Value(Kind.DOUBLE, math.inf),
        Value(Kind.STRING, "größer"),
        Value(Kind.STRING, ""),
        Value(Kind.INT_LIST, (1, 2, 1)),
        Value(Kind.INT_LIST, ()),
        Value(Kind.DOUBLE_LIST, (-0.0, 1e300)),
        Value(Kind.BOOL_LIST, (True, False)),
        tensor(Storage.INPUT),
        tensor(Storage.INPUT, 0, 3, dtype="bfloat16"),
        Value(Kind.TENSOR_LIST, (14, 15)),
        Value(Kind.OPTIONAL_TENSOR_LIST, (14, -1)),
    )
    chains = (
        (KernelCall(0, (1, 14, 14)), JumpFalse(3, 0), Move(14, 15), Free(14), DelegateCall(0, (14,))),
        (KernelCall(1, ()), JumpFalse(4, 2)),
    )
    delegate = Delegate("Somewhere", memoryview(b"payload"), (("key", memoryview(b"\0\1")),))
    original = method(
        *values,
        inputs=(14, 15),
        outputs=(15,),
        chains=chains,
        operators=("aten::add.out", "custom::nothing"),
        delegates=(delegate,),
        buffer_devices={1: Device(1, 3)},
        input_structure="((*, *), {})",
        output_structure="*",
    )
    (again,) = contents(written(original))["methods"]
    assert again == contents(written(again))["methods"][0]
    assert [repr(value) for value in again.values] == [repr(value) for value in values]
    assert dataclasses.replace(again, delegates=()) == dataclasses.replace(original, delegates=())


def test_every_place_of_a_tensor_comes_back() -> None:
    original = method(
        tensor(Storage.INPUT, 2, 3),
        tensor(Storage.CONSTANT, 4, buffer_index=2, name="linear.weight"),
        tensor(Storage.PLANNED, 5, memory_id=1, memory_offset=(3 << 32) + 48),
        tensor(Storage.MUTABLE, 3, buffer_index=1, memory_id=1, memory_offset=16, name="state"),
        tensor(Storage.EXTERNAL, 7, name="elsewhere", buffer_index=9),
        tensor(Storage.PLANNED, 5, memory_id=1, device=Device(1, 2)),
    )
    constants = [b"", np.arange(4, dtype=np.float32)]
    program = written(original, constants=constants, mutable=[np.float32([7, 8, 9])])
    assert program.plans[0] == original
    infos = [value.data for value in program.plans[0].values]
    assert program.constant(infos[1]) == constants[1].tobytes()
    assert np.frombuffer(program.constant(infos[3]), np.float32).tolist() == [7, 8, 9]


@pytest.mark.parametrize("alignment", [1, 16, 64, 4096])
def test_tensors_and_segments_are_aligned_in_the_file(alignment: int) -> None:
    sizes = [1, 17, 0, 300]
    values = [tensor(Storage.CONSTANT, n, dtype="uint8", buffer_index=i) for i, n in enumerate(sizes, 1)]
    image = write_program(
        ProgramParts(
            (method(*values),), [bytes([i]) * n for i, n in enumerate(sizes, 1)], named_data={"k": b"v"}
        ),
        tensor_alignment=alignment,
    )
    data = image.tobytes()
    program = read_program(data)
    assert program.constants is not None
    base = program.segments[program.constants.segment].offset
    assert all((base + offset) % alignment == 0 for offset in program.constants.offsets)
    assert all(segment.offset % max(128, alignment) == 0 for segment in program.segments)
    assert [bytes(program.constant(value.data)) for value in program.plans[0].values] == [
        bytes([i]) * n for i, n in enumerate(sizes, 1)
    ]
    assert len(data) == image.nbytes
    assert struct.unpack_from("<4sI", data, 8) == (b"eh00", 32)


def test_equal_payloads_and_named_data_are_in_the_file_once() -> None:
    payload = bytes(range(256)) * 8
    delegates = tuple(Delegate("Somewhere", memoryview(bytes(payload)), ()) for _ in range(3))
    first, second = method(delegates=delegates), method(name="other", delegates=delegates[:1])
    program = written(first, second, named_data={"a": bytearray(payload), "b": b"else"})
    data = bytes(program.data)
    assert data.count(payload) == 1
    assert [bytes(d.payload) for plan in program.plans for d in plan.delegates] == [payload] * 4
    assert {key: bytes(program.segment(i)) for key, i in program.named_data} == {"a": payload, "b": b"else"}


def test_an_empty_payload_comes_back_empty() -> None:
    program = written(method(delegates=(Delegate("Somewhere", memoryview(b""), ()),)))
    assert bytes(program.plans[0].delegates[0].payload) == b""


def test_constants_may_be_arrays_of_any_dtype() -> None:
    array = np.arange(6, dtype=ml_dtypes.bfloat16).reshape(2, 3)
    program = written(
        method(tensor(Storage.CONSTANT, 2, 3, dtype="bfloat16", buffer_index=1)), constants=[array]
    )
    assert bytes(program.constant(program.plans[0].values[0].data)) == array.tobytes()


def test_saving_and_bytes_are_the_same_and_replace_a_file(tmp_path: Path) -> None:
    path = tmp_path / "model.pte"
    path.write_bytes(b"old" * 10_000)
    image = write_program(ProgramParts((method(),)))
    image.save(path)
    assert path.read_bytes() == image.tobytes()
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.pte"]


def test_a_path_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileFailed, match=r"gone.*: No such file"):
        write_program(ProgramParts((method(),))).save(tmp_path / "gone" / "model.pte")


def test_constants_are_not_copied_while_writing(tmp_path: Path) -> None:
    size = 32 << 20
    constant = np.zeros(size, np.uint8)
    parts = ProgramParts((method(tensor(Storage.CONSTANT, size, dtype="uint8", buffer_index=1)),), [constant])
    tracemalloc.start()
    write_program(parts).save(tmp_path / "model.pte")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (tmp_path / "model.pte").stat().st_size > size
    assert peak < size / 8


def test_many_instructions_are_written_in_little_time() -> None:
    count = 2000
    values = [tensor(Storage.PLANNED, 1, i % 9, memory_id=1, memory_offset=16 * i) for i in range(count)]
    calls = tuple(KernelCall(i % 20, (i, i, i)) for i in range(count))
    original = method(*values, chains=(calls,), operators=tuple(f"aten::op{i}.out" for i in range(20)))
    begin = time.process_time()
    image = write_program(ProgramParts((original,)))
    assert time.process_time() - begin < 2  # it takes 0.2 s
    assert image.nbytes < 110 * count


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        (ProgramParts(()), "at least one method"),
        (ProgramParts((method(), method())), "two of 'forward'"),
        (
            ProgramParts((method(tensor(Storage.CONSTANT, 1, buffer_index=1)),)),
            r"'forward': tensor 0: expected one of 0 constants, got index 1",
        ),
        (ProgramParts((method(tensor(Storage.CONSTANT, 1)),), [b"1234"]), "got index 0"),
        (
            ProgramParts((method(tensor(Storage.CONSTANT, 2, buffer_index=1)),), [b"1234"]),
            "expected 8 bytes of data, got 4",
        ),
        (ProgramParts((method(tensor(Storage.INPUT, 1, buffer_index=1)),)), "expected buffer index 0, got 1"),
        (ProgramParts((method(tensor(Storage.EXTERNAL, 1)),)), "expected a name"),
        (
            ProgramParts((method(tensor(Storage.PLANNED, 1, memory_id=2)),)),
            "expected a memory id from 1 to 1, got 2",
        ),
        (ProgramParts((method(tensor(Storage.INPUT, 1, dtype="float31")),)), "expected a dtype of PyTorch"),
        (ProgramParts((method(tensor(Storage.INPUT, 2**31)),)), "value 0: sizes: .*2147483648"),
        (ProgramParts((method(Value(Kind.INT, 2**63)),)), "value 0: int_val"),
        (ProgramParts((method(Value(Kind.INT_LIST, (0,))),)), "item 0: expected INT"),
        (ProgramParts((method(chains=((KernelCall(0, ()),),)),)), "operator: expected an index from 0 to -1"),
        (ProgramParts((method(name="for\0ward"),)), "expected a name without zero bytes"),
        (ProgramParts((method(outputs=(1,)),)), "outputs: expected an index from 0 to -1, got 1"),
        (ProgramParts((method(),), constants=["text"]), "constant 1: expected an object with bytes, got str"),
        (
            ProgramParts((method(),), mutable=[np.zeros((4, 4))[:, 1]]),
            "initial state 1: expected contiguous bytes",
        ),
    ],
)
def test_parts_that_do_not_fit_are_refused_by_name(parts: ProgramParts, says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        write_program(parts)


@pytest.mark.parametrize("name", ["tensor_alignment", "segment_alignment"])
def test_an_alignment_that_is_no_power_of_two_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgument, match="expected a power of 2, got 12"):
        write_program(ProgramParts((method(),)), **{name: 12})


@settings(max_examples=150, deadline=None)
@given(parts())
def test_any_program_reads_as_what_was_written(original: ProgramParts) -> None:
    program = read_program(write_program(original).tobytes())
    assert repr(contents(program)["methods"]) == repr([contents_of(m) for m in original.methods])
    for kind, data in ((Storage.CONSTANT, original.constants), (Storage.MUTABLE, original.mutable)):
        for plan in program.plans:
            for value in plan.values:
                if isinstance(value.data, TensorInfo) and value.data.storage is kind:
                    assert bytes(program.constant(value.data)) == data[value.data.buffer_index - 1]
    assert {key: bytes(program.segment(index)) for key, index in program.named_data} == original.named_data


def contents_of(original: Method) -> Method:
    """A method as `contents` shows it."""
    (delegate,) = original.delegates
    specs = tuple((key, bytes(value)) for key, value in delegate.compile_specs)
    plain = dataclasses.replace(delegate, payload=bytes(delegate.payload), compile_specs=specs)
    return dataclasses.replace(original, delegates=(plain,))
