# SPDX-License-Identifier: BSD-3-Clause
"""Where a program's bytes are used in place."""

from __future__ import annotations

import gc
import mmap
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight
from rushlight.errors import InvalidArgument, OperatorNotFound
from rushlight.runtime import Program

EXTERNAL = Path(__file__).parents[2] / "interop" / "external_ptd"
# Gives a constant of the file back.
CONSTANT = Path(__file__).parents[2] / "interop" / "const_out" / "model.pte"


def constant(program: Program, outputs: Any = "view") -> np.ndarray:
    """The constant where the runtime has it."""
    try:
        method = program.load_method("forward")
    except OperatorNotFound as error:
        pytest.skip(f"this build does not have {', '.join(error.operators)}")
    results = method.execute([np.zeros(3, np.float32)], outputs=outputs)
    kept = [out for out in results if not out.flags.writeable]
    assert kept, "no output is a constant"
    return kept[0]


def is_within(array: np.ndarray, data: Any) -> bool:
    return np.shares_memory(array, np.frombuffer(data, np.uint8))


def mapping_of(array: np.ndarray) -> str:
    """The file that is mapped where the array lies; empty for other memory."""
    address = array.ctypes.data
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, *rest = line.split(maxsplit=5)
        first, last = (int(end, 16) for end in span.split("-"))
        if first <= address < last:
            return rest[4] if len(rest) > 4 else ""
    raise AssertionError(f"no mapping has {address:#x}")


def test_constants_are_used_where_a_bytes_object_has_them() -> None:
    data = CONSTANT.read_bytes()
    assert is_within(constant(rushlight.load(data)), data)
    assert is_within(constant(rushlight.load(memoryview(data))), data)


def test_a_bytes_object_is_kept_as_long_as_its_program_and_methods() -> None:
    data = CONSTANT.read_bytes()
    before = sys.getrefcount(data)
    view = constant(rushlight.load(data))
    gc.collect()
    assert sys.getrefcount(data) > before
    del view
    gc.collect()
    assert sys.getrefcount(data) == before


@pytest.mark.parametrize("refused", [b"", b"\0" * 64])
def test_a_refused_bytes_object_is_let_go(refused: bytes) -> None:
    data = bytes(bytearray(CONSTANT.read_bytes()[:400] + refused))
    before = sys.getrefcount(data)
    with pytest.raises(rushlight.errors.RushlightError):  # type: ignore[attr-defined]
        rushlight.load(data)
    gc.collect()
    assert sys.getrefcount(data) == before


def test_what_may_change_is_copied() -> None:
    data = bytearray(CONSTANT.read_bytes())
    for source in (data, memoryview(data), memoryview(data).toreadonly()):
        assert not is_within(constant(rushlight.load(source)), data)
    whole = bytes(data)
    assert not is_within(constant(rushlight.load(memoryview(b"-" + whole)[1:])), whole)
    with CONSTANT.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        loaded = constant(rushlight.load(memoryview(mapped)))
    np.testing.assert_array_equal(loaded, constant(rushlight.load(whole)))


@pytest.mark.skipif(sys.platform != "linux", reason="/proc/self/maps is Linux's")
@pytest.mark.parametrize(
    ("mode", "in_place"), [("mmap", True), ("mmap-try-locked", True), ("mmap-locked", True), ("file", False)]
)
def test_constants_are_used_where_a_file_is_mapped(mode: Any, in_place: bool) -> None:
    try:
        program = rushlight.load(CONSTANT, load_mode=mode)
    except InvalidArgument as error:
        pytest.skip(f"the system does not lock memory: {error}")
    found = mapping_of(constant(program))
    assert (found == str(CONSTANT)) is in_place


def test_an_unknown_way_to_load_is_refused() -> None:
    with pytest.raises(ValueError, match="mmap-try-locked"):
        rushlight.load(CONSTANT, load_mode="slow")  # type: ignore[arg-type]


def test_a_constant_is_never_writable() -> None:
    program = rushlight.load(CONSTANT)
    given = constant(program, "writable")
    with pytest.raises(ValueError, match="read-only"):
        given[0] = 1
    torch = pytest.importorskip("torch", reason="torch is not installed")
    outputs = program.load_method("forward").execute([torch.zeros(3)], outputs="writable")
    expected = [out.clone() for out in outputs]
    for out in outputs:
        out += 1  # the output copies a constant: the file stays unchanged
    again = program.load_method("forward").execute([torch.zeros(3)])
    assert all(torch.equal(a, b) for a, b in zip(again, expected, strict=True))


@pytest.mark.parametrize("source", [Path, bytes])
def test_weights_come_from_a_data_file(source: Any) -> None:
    model = EXTERNAL / "model.pte"
    given = model if source is Path else model.read_bytes()
    program = rushlight.load(given, data_files=[EXTERNAL / "weights.ptd"])
    info = program.metadata("forward").input_tensor_meta(0)
    try:
        [out] = program.forward(np.ones(info.sizes(), np.float32))
    except OperatorNotFound as error:
        pytest.skip(f"this build does not have {', '.join(error.operators)}")
    assert np.isfinite(out).all() and out.any()


def test_weights_that_are_not_given_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="stored outside the program") as caught:
        rushlight.load(EXTERNAL / "model.pte").load_method("forward")
    assert "data_files" in caught.value.next_step
    with pytest.raises(InvalidArgument, match="No such file"):
        rushlight.load(EXTERNAL / "model.pte", data_files=[tmp_path / "nowhere.ptd"])
