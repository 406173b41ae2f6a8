# SPDX-License-Identifier: BSD-3-Clause
"""The reader of GGUF files: what the package `gguf` writes is read, what is damaged is refused."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

gguf = pytest.importorskip("gguf", reason="gguf is not installed")

from rushlight.errors import InvalidArgument, RushlightError  # noqa: E402
from rushlight.llm.blocks import pack, unpack  # noqa: E402
from rushlight.llm.exporter import open_source  # noqa: E402
from rushlight.llm.weights.gguf import read_gguf  # noqa: E402
from rushlight.llm.weights.gguf_blocks import FORMATS, GgufBlocks  # noqa: E402
from rushlight.llm.weights.gguf_source import open_gguf  # noqa: E402

Type = gguf.GGMLQuantizationType
HALVES = {"Q6_K": (208,), **dict.fromkeys(("Q4_1", "Q5_1", "Q4_K", "Q5_K"), (0, 2))}


def write(path: Path, tensors: dict[str, tuple[np.ndarray, Type]], **facts: object) -> Path:
    """A GGUF file with these tensors, of `llama` unless `facts` say otherwise."""
    writer = gguf.GGUFWriter(path, str(facts.pop("architecture", "llama")))
    for key, value in facts.items():
        name = key.replace("__", ".")
        if isinstance(value, str):
            writer.add_string(name, value)
        elif isinstance(value, list):
            writer.add_array(name, value)
        elif isinstance(value, float):
            writer.add_float32(name, value)
        else:
            writer.add_uint32(name, value)
    for name, (array, kind) in tensors.items():
        writer.add_tensor(name, array, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def blocks_of(kind: str, rows: int, depth: int) -> np.ndarray:
    """Random blocks of a type, with finite scales."""
    generator = np.random.default_rng(6)
    numbers, nbytes = gguf.GGML_QUANT_SIZES[Type[kind]]
    raw = generator.integers(0, 256, (rows * depth // numbers, nbytes), dtype=np.uint8)
    for at in HALVES.get(kind, (0,)):
        raw[:, at : at + 2] = generator.normal(size=(len(raw), 1)).astype(np.float16).view(np.uint8)
    return raw.reshape(rows, -1)


@pytest.mark.parametrize("kind", FORMATS)
def test_blocks_stand_for_the_same_numbers(kind: str, tmp_path: Path) -> None:
    rows, depth = 21, 768
    raw = blocks_of(kind, rows, depth)
    file = read_gguf(write(tmp_path / "t.gguf", {"a": (raw, Type[kind])}))
    assert file.tensors["a"].sizes == (rows, depth)
    matrix = GgufBlocks(file.tensors["a"])
    expected = gguf.dequantize(raw, Type[kind])
    np.testing.assert_array_equal(matrix.rows(0, rows).values(), expected)
    np.testing.assert_array_equal(matrix.rows(3, 9).values(), expected[3:9])
    found = unpack(pack(matrix), matrix.format, rows, depth)
    np.testing.assert_array_equal(found.values(), expected)


def test_metadata_has_numbers_texts_and_lists(tmp_path: Path) -> None:
    facts = {"a__b": 7, "a__c": "wörd", "d": 0.5, "e": [1, 2], "f": ["x", "", "\u2581y"]}
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    file = read_gguf(write(tmp_path / "t.gguf", {"t": (array, Type.F32)}, **facts))
    assert file.metadata["a.b"] == 7 and file.metadata["a.c"] == "wörd" and file.metadata["d"] == 0.5
    assert file.metadata["e"] == [1, 2] and file.metadata["f"] == ["x", "", "\u2581y"]
    np.testing.assert_array_equal(file.tensors["t"].data.view(np.float32), array)


def test_no_file_that_is_cut_off_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "t.gguf", {"t": (blocks_of("Q4_0", 8, 64), Type.Q4_0)}, f=["x", "yz"], n=3)
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(InvalidArgument):
            read_gguf(path)


def test_changed_bytes_are_read_or_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "t.gguf", {"t": (blocks_of("Q4_0", 8, 64), Type.Q4_0)}, f=["x", "yz"], n=3)
    data = path.read_bytes()
    generator = np.random.default_rng(8)
    for position in range(len(data)):
        for value in (255, int(generator.integers(256))):
            path.write_bytes(data[:position] + bytes([value]) + data[position + 1 :])
            try:
                open_gguf(path)
            except RushlightError as error:
                assert str(error).isprintable() or "\n" in str(error)


def test_lists_are_no_longer_than_their_file(tmp_path: Path) -> None:
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, 1)
    key = struct.pack("<Q", 1) + b"k"
    path = tmp_path / "t.gguf"
    for kind in (8, 4):
        path.write_bytes(head + key + struct.pack("<IIQ", 9, kind, 1 << 60) + bytes(40))
        with pytest.raises(InvalidArgument, match=r"key 'k'.*|strings in key 'k'"):
            read_gguf(path)


def test_sizes_that_overflow_are_refused(tmp_path: Path) -> None:
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + struct.pack("<Q", 1) + b"t"
    path = tmp_path / "t.gguf"
    path.write_bytes(head + struct.pack("<IQQIQ", 2, 1 << 33, 1 << 33, 0, 0) + bytes(100))
    with pytest.raises(InvalidArgument, match=f"expected {1 << 68} bytes"):
        read_gguf(path)


def test_names_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    path = write(tmp_path / "t.gguf", {"\x1b[2J": (np.zeros((2, 2), np.float32), Type.F64)})
    with pytest.raises(InvalidArgument, match=r"tensor '\\x1b\[2J': expected a type of F32"):
        read_gguf(path)


def test_an_unknown_architecture_is_refused_by_name(tmp_path: Path) -> None:
    path = write(tmp_path / "t.gguf", {}, architecture="mamba")
    with pytest.raises(InvalidArgument, match=r"general.architecture: expected one of llama, .*got 'mamba'"):
        open_source(path)


def test_other_files_are_no_gguf(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("a text of some length")
    with pytest.raises(InvalidArgument, match="got an empty one"):
        open_source(tmp_path / "empty")
    with pytest.raises(InvalidArgument, match="got bytes b'a te' at its beginning"):
        open_source(tmp_path / "text")
    with pytest.raises(InvalidArgument, match="got nothing"):
        open_source(tmp_path / "none")


def test_texts_are_utf_8(tmp_path: Path) -> None:
    path = write(tmp_path / "t.gguf", {}, f=["abc", "xyz"])
    path.write_bytes(path.read_bytes().replace(b"xyz", b"x\xffz"))
    with pytest.raises(InvalidArgument, match="key 'f': expected UTF-8, got byte 0xff at 1"):
        read_gguf(path)
