# SPDX-License-Identifier: BSD-3-Clause
"""Data files and bundled programs, as the official package writes them and damaged."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushlight.errors import InvalidArgument, InvalidProgram
from rushlight.program import (
    Device,
    read_bundled_program,
    read_data_file,
    read_model,
    read_program,
)
from rushlight.program.data_file import DataEntry, DataFile

INTEROP = Path(__file__).parents[2] / "interop"
WEIGHTS = (INTEROP / "external_ptd" / "weights.ptd").read_bytes()
BUNDLE = (INTEROP / "bundled" / "model.bpte").read_bytes()


def test_a_data_file_gives_keys_dtypes_shapes_and_arrays() -> None:
    file = read_data_file(WEIGHTS)
    assert set(file.keys()) == {"0.weight", "0.bias", "2.weight", "2.bias"}
    entry = file.entry("0.weight")
    assert (entry.dtype, entry.sizes, entry.dim_order) == ("float32", (32, 16), (0, 1))
    array = entry.array()
    assert array.shape == (32, 16) and array.dtype == np.float32
    assert array.tobytes() == bytes(entry.data)
    with pytest.raises(InvalidArgument, match=r"'1.weight': expected one of .*, got an unknown key"):
        file.entry("1.weight")


class Counted(str):
    """A key that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)


def test_looking_up_all_keys_takes_steps_in_proportion() -> None:
    count = 20_000
    entries = tuple(DataEntry(Counted(f"key {i}"), memoryview(b"")) for i in range(count))
    file = DataFile(0, entries, (), 0)
    Counted.compared = 0
    assert all(file.entry(Counted(f"key {i}")) is entries[i] for i in range(count))
    assert Counted.compared < 4 * count


def test_of_equal_keys_the_first_is_found() -> None:
    entries = tuple(DataEntry("key", memoryview(data)) for data in (b"first", b"second"))
    assert DataFile(0, entries, (), 0).entry("key") is entries[0]


def test_the_weights_make_the_programs_outputs() -> None:
    weights = read_data_file(WEIGHTS)
    tensors = np.load(INTEROP / "external_ptd" / "tensors.npz")
    hidden = tensors["forward.0.input0"] @ weights.entry("0.weight").array().T
    hidden = np.maximum(hidden + weights.entry("0.bias").array(), 0)
    output = hidden @ weights.entry("2.weight").array().T + weights.entry("2.bias").array()
    np.testing.assert_allclose(output, tensors["forward.0.output0"], atol=1e-5)


def test_a_bundled_program_gives_its_program_and_cases() -> None:
    bundle = read_bundled_program(BUNDLE)
    assert bytes(bundle.program) == (INTEROP / "bundled" / "model.pte").read_bytes()
    (suite,) = bundle.suites
    assert suite.method == "forward" and len(suite.cases) == 3
    (given_tensor,) = suite.cases[0].inputs
    assert given_tensor.array().shape == (4, 16)
    assert len({case.inputs[0].array().tobytes() for case in suite.cases}) == 3


def test_a_model_is_a_program_or_the_one_inside_a_bundle() -> None:
    inside = read_model(BUNDLE)
    assert [plan.name for plan in inside.plans] == ["forward"]
    assert read_model(INTEROP / "bundled" / "model.pte").plans == inside.plans


def test_a_program_without_devices_is_on_the_cpu() -> None:
    program = read_program(INTEROP / "model_dscnn" / "model.pte")
    assert program.plans[0].buffer_devices == {} and str(Device()) == "cpu"
    assert str(Device(1, 0)) == "cuda:0" and str(Device(7, 2)) == "device type 7:2"


@pytest.mark.parametrize(
    ("read", "data", "message"),
    [
        (read_data_file, b"", "at least 8 bytes"),
        (read_data_file, BUNDLE, "expected the identifier 'FT01' at byte 4, got b'BP08' .a bundled program."),
        (read_data_file, WEIGHTS[:40], "expected a header of 48 bytes, got a file of 40"),
        (read_data_file, WEIGHTS[:-1], "bytes of data at 512, got a file of 3743"),
        (read_data_file, WEIGHTS[:8] + b"FH02" + WEIGHTS[12:], "expected the header b'FH01'"),
        (read_data_file, WEIGHTS[:12] + struct.pack("<I", 39) + WEIGHTS[16:], "at least 40 bytes"),
        (
            read_bundled_program,
            WEIGHTS,
            "expected the identifier 'BP08' at byte 4, got b'FT01' .a tensor data file",
        ),
        (read_bundled_program, BUNDLE[:200], "bytes"),
        (read_program, BUNDLE, "expected the identifier 'ET12' at byte 4, got b'BP08' .a bundled program."),
    ],
)
def test_what_is_no_such_file_is_refused(read: Callable, data: bytes, message: str) -> None:
    with pytest.raises(InvalidProgram, match=message):
        read(data)


@pytest.mark.parametrize(("read", "data"), [(read_data_file, WEIGHTS), (read_bundled_program, BUNDLE)])
@settings(max_examples=300, deadline=None)
@given(mutation=st.data())
def test_mutated_files_are_read_or_refused(read: Callable, data: bytes, mutation: st.DataObject) -> None:
    mutated = bytearray(data)
    for _ in range(mutation.draw(st.integers(1, 4))):
        at = mutation.draw(st.integers(0, min(len(data), 6000) // 4 - 1)) * 4
        word = mutation.draw(
            st.sampled_from([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]) | st.integers(0, 300)
        )
        struct.pack_into("<I", mutated, at, word)
    try:
        read(bytes(mutated[: mutation.draw(st.integers(0, len(data)) | st.just(len(data)))]))
    except InvalidProgram as error:
        assert error.message
