# SPDX-License-Identifier: BSD-3-Clause
"""Written data files and bundled programs read as what they were written from."""

from __future__ import annotations

import dataclasses
import tracemalloc
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushlight.errors import InvalidArgument
from rushlight.program import (
    BundledCase,
    BundledSuite,
    BundledTensor,
    DataEntry,
    bundled_case,
    bundled_value,
    parts_of,
    read_bundled_program,
    read_data_file,
    read_program,
    write_bundled_program,
    write_data_file,
    write_program,
)
from support.rewriting import contents

INTEROP = Path(__file__).parents[2] / "interop"
WEIGHTS = INTEROP / "external_ptd" / "weights.ptd"
BUNDLE = INTEROP / "bundled" / "model.bpte"


def entries(file: Any) -> list[DataEntry]:
    """The entries, with bytes instead of views."""
    return [dataclasses.replace(entry, data=bytes(entry.data)) for entry in file.entries]


def suites(bundle: Any) -> list[tuple[str, list[tuple[list[Any], list[Any]]]]]:
    """The suites, with bytes instead of views."""

    def plain(value: Any) -> Any:
        if isinstance(value, BundledTensor):
            return dataclasses.replace(value, data=bytes(value.data))
        return type(value).__name__, repr(value)

    return [
        (s.method, [(list(map(plain, c.inputs)), list(map(plain, c.outputs))) for c in s.cases])
        for s in bundle
    ]


def test_the_official_data_file_is_the_same_when_written_again() -> None:
    original = read_data_file(WEIGHTS)
    image = write_data_file(original.entries)
    again = read_data_file(image.tobytes())
    assert entries(again) == entries(original)
    assert image.nbytes == again.file_bytes <= original.file_bytes


def test_data_may_be_arrays_and_no_tensors_and_is_in_the_file_once() -> None:
    array = np.arange(6, dtype=ml_dtypes.bfloat16).reshape(2, 3)
    blob = bytes(range(200))
    data = write_data_file(
        [
            DataEntry("w", array, "bfloat16", (2, 3), (1, 0)),
            DataEntry("blob", blob),
            DataEntry("same", bytearray(blob)),
            DataEntry("", b""),
            DataEntry("scalar", np.float32(2), "float32"),
        ]
    ).tobytes()
    file = read_data_file(data)
    assert file.keys() == ("w", "blob", "same", "", "scalar")
    assert [entry.segment for entry in file.entries] == [0, 1, 1, 2, 3]
    assert data.count(blob) == 1
    assert file.entry("w").array().tolist() == array.reshape(3, 2).T.tolist()
    assert file.entry("scalar").array() == 2 and file.entry("blob").dtype is None


@pytest.mark.parametrize("alignment", [1, 16, 4096])
def test_data_is_aligned_in_the_file(alignment: int) -> None:
    file = [DataEntry(str(n), bytes(n)) for n in (1, 3, 500)]
    segments = read_data_file(write_data_file(file, alignment=alignment).tobytes()).segments
    assert all(segment.offset % alignment == 0 for segment in segments)
    with pytest.raises(InvalidArgument, match="data alignment: expected a power of 2"):
        write_data_file(file, alignment=3)


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (DataEntry("a", b"1234", "float32", (2,), (0,)), "'a': expected 8 bytes of tensor, got 4"),
        (DataEntry("a", b"1234", "float31", (1,), (0,)), "'a': expected a dtype of PyTorch, got 'float31'"),
        (DataEntry("a", b"1234", "float32", (1,), (1,)), "'a': expected a dim order of 1 dimensions"),
        (DataEntry("a", 7), "'a': expected an object with bytes, got int"),
        (DataEntry("key", b""), "expected unique keys, got 'key' twice"),
    ],
)
def test_an_entry_that_cannot_be_is_refused_by_its_key(entry: DataEntry, says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        write_data_file([DataEntry("key", b""), entry])


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=9), st.binary(max_size=300), max_size=8),
    st.sampled_from([1, 16, 128]),
)
def test_any_data_reads_as_what_was_written(data: dict[str, bytes], alignment: int) -> None:
    image = write_data_file([DataEntry(*item) for item in data.items()], alignment=alignment)
    file = read_data_file(image.tobytes())
    assert {entry.key: bytes(entry.data) for entry in file.entries} == data


def test_the_official_bundle_is_the_same_when_written_again() -> None:
    original = read_bundled_program(BUNDLE)
    program = read_program(original.program)
    image = write_bundled_program(write_program(parts_of(program)), original.suites)
    again = read_bundled_program(image.tobytes())
    assert suites(again.suites) == suites(original.suites)
    assert contents(read_program(again.program)) == contents(program)
    same = read_bundled_program(write_bundled_program(original.program, original.suites).tobytes())
    assert bytes(same.program) == bytes(original.program)


def test_arrays_and_numbers_come_back() -> None:
    array = np.arange(24, dtype=np.int16).reshape(2, 3, 4).transpose(2, 0, 1)
    case = bundled_case(
        [array, np.zeros((0, 2), ml_dtypes.bfloat16), np.float64(1.5), True, -(2**63)], [2.5, False, -0.0]
    )
    image = write_bundled_program(b"program", [BundledSuite("run", (case, BundledCase((), ())))])
    bundle = read_bundled_program(image.tobytes())
    (suite,) = bundle.suites
    first, second = suite.cases
    assert first.inputs[0].array().tolist() == array.tolist()
    assert first.inputs[1].sizes == (0, 2) and first.inputs[1].dtype == "bfloat16"
    assert first.inputs[2].array() == 1.5
    assert repr(first.inputs[3:]) == f"(True, {-(2**63)})" and repr(first.outputs) == "(2.5, False, -0.0)"
    assert second == BundledCase((), ())
    assert bytes(bundle.program) == b"program"


@pytest.mark.parametrize("size", range(0, 70, 3))
def test_the_program_is_aligned_whatever_is_before_it(size: int) -> None:
    program = bytes(range(50, 90))
    suite = BundledSuite("f" * size, (bundled_case([np.zeros(size, np.uint8)]),))
    data = write_bundled_program(program, [suite]).tobytes()
    assert data.index(program) % 32 == 0
    assert bytes(read_bundled_program(data).program) == program


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("text", "expected a number or an array, got str"),
        (None, "expected a number or an array, got NoneType"),
        (np.array(["a"]), "expected a number or an array, got ndarray"),
    ],
)
def test_a_value_that_cannot_be_bundled_is_refused(value: Any, says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        bundled_value(value)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (BundledTensor("float32", (2,), (0,), memoryview(b"1234")), "expected 8 bytes of data, got 4"),
        (BundledTensor("float31", (1,), (0,), memoryview(b"1234")), "expected a dtype of PyTorch"),
        (BundledTensor("float32", (1,), (), memoryview(b"1234")), "expected a dim order of 1 dimensions"),
        (2**63, "int_val"),
    ],
)
def test_a_bundled_value_that_cannot_be_is_refused_by_its_place(value: Any, says: str) -> None:
    with pytest.raises(InvalidArgument, match=f"run, case 0: output 1.*{says}"):
        write_bundled_program(b"program", [BundledSuite("run", (BundledCase((), (1, value)),))])


def test_neither_copies_large_data(tmp_path: Path) -> None:
    size = 32 << 20
    data = np.zeros(size, np.uint8)
    tracemalloc.start()
    write_data_file([DataEntry("w", data, "uint8", (size,), (0,))]).save(tmp_path / "weights.ptd")
    write_bundled_program(data, []).save(tmp_path / "model.bpte")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert all(path.stat().st_size > size for path in tmp_path.iterdir())
    assert peak < size / 8
