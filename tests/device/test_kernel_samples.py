# SPDX-License-Identifier: BSD-3-Clause
"""Samples of PyTorch's OpInfo database on a board: the same kernels as on the host, compiled for size."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from harness import DTYPE_NUMBERS, MEMORY_FORMAT_NUMBERS, Kernels, dim_order
from judging import judge
from matching import Rows
from opinfo_pairs import Pair, all_pairs, samples
from replay import Replay, arguments_of, described

from rushlight import targets

pytestmark = [pytest.mark.device, pytest.mark.cortex_m33]

SOURCE = Path(__file__).parent / "kernel_samples"
DTYPES = {torch.float32, torch.int64, torch.bool}
SAMPLES_OF_A_PAIR = 2
MAX_ELEMENTS = 400
"""Of all tensors of a call together: an emulated board runs some 50 million instructions a second."""

MAX_FILE_BYTES = 4 << 20

NONE, TENSOR, STRING, DOUBLE, INT, BOOL, LIST_BOOL, LIST_DOUBLE, LIST_INT, LIST_TENSOR = range(10)
LIST_OPTIONAL_TENSOR = 11
LISTS = {"n": LIST_INT, "l": LIST_TENSOR, "k": LIST_TENSOR, "p": LIST_OPTIONAL_TENSOR}


@dataclass
class RecordedCall:
    """A call that PyTorch made, and what it returned."""

    row: str
    function: Any
    given: dict[str, Any]
    arguments: list[Any]
    outs: list[torch.Tensor]
    expected: list[torch.Tensor]

    @property
    def tensors(self) -> list[torch.Tensor]:
        """All tensors of the call, in the order a call stream has them."""
        leaves = torch.utils._pytree.tree_leaves(self.arguments)
        return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


class Record(Replay):
    """Keeps the calls instead of making them."""

    def __init__(self, kernels: Kernels, rows: Rows, decompositions: dict[Any, Any]) -> None:
        super().__init__(kernels, rows, decompositions)
        self.calls: list[RecordedCall] = []

    def make_call(self, row: str, given: dict[str, Any], expected: list[torch.Tensor], function: Any) -> None:
        arguments, outs = arguments_of(self.rows, row, given, expected)
        call = RecordedCall(row, function, given, arguments, outs, expected)
        if sum(tensor.numel() for tensor in call.tensors) <= MAX_ELEMENTS:
            self.calls.append(call)


def recorded(kernels: Kernels) -> list[RecordedCall]:
    """The calls of a few samples of every operator, in a few dtypes."""
    rows = Rows(kernels.signatures)
    record = Record(kernels, rows, {})
    for pair in all_pairs():
        if pair.dtype in DTYPES:
            record_pair(pair, record)
    return record.calls


def record_pair(pair: Pair, record: Record) -> None:
    """Runs the first samples of a pair, as far as PyTorch takes them."""
    torch.manual_seed(0)
    for at, sample in enumerate(samples(pair)):
        if at == SAMPLES_OF_A_PAIR:
            return
        try:
            with record:
                pair.info(sample.input, *sample.args, **sample.kwargs)
        except (RuntimeError, ValueError, NotImplementedError, IndexError, AttributeError):
            continue


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


def value(code: str, item: Any) -> bytes:
    """One argument; see kernel_samples.cpp for the form."""
    if item is None:
        return struct.pack("<II", NONE, 0)
    if isinstance(item, torch.Tensor):
        return tensor_bytes(item)
    if isinstance(item, torch.dtype):
        item = DTYPE_NUMBERS[item]
    if isinstance(item, torch.memory_format):
        item = MEMORY_FORMAT_NUMBERS[item]
    if isinstance(item, (torch.layout, torch.device)):
        item = 0
    kind = code.lower()
    if kind in "nlkpof":
        items = item if isinstance(item, (list, tuple)) else [item]
        if kind == "o":
            return struct.pack("<II", LIST_BOOL, len(items)) + padded(bytes(map(bool, items)))
        if kind == "f":
            return struct.pack(f"<II{len(items)}d", LIST_DOUBLE, len(items), *items)
        return struct.pack("<II", LISTS[kind], len(items)) + b"".join(value("i", i) for i in items)
    if isinstance(item, str):
        return struct.pack("<II", STRING, len(item)) + padded(item.encode() + b"\0")
    if kind == "d" or isinstance(item, float):
        return struct.pack("<IId", DOUBLE, 0, float(item))
    if isinstance(item, bool):
        return struct.pack("<IIq", BOOL, 0, item)
    return struct.pack("<IIq", INT, 0, item)


def tensor_bytes(tensor: torch.Tensor) -> bytes:
    order = dim_order(tensor)
    data = raw(tensor)
    head = struct.pack("<IIII", TENSOR, tensor.dim(), DTYPE_NUMBERS[tensor.dtype], len(data))
    sizes = struct.pack(f"<{tensor.dim()}i", *tensor.shape)
    return head + padded(sizes) + padded(bytes(order)) + padded(data)


def raw(tensor: torch.Tensor) -> bytes:
    """The elements in the tensor's own dim order."""
    flat = tensor.permute(dim_order(tensor)).contiguous().reshape(-1)
    return bytes(flat.view(torch.uint8).numpy()) if flat.numel() else b""


def encode(calls: list[RecordedCall], signatures: dict[str, str]) -> bytes:
    parts = [struct.pack("<II", len(calls), 0)]
    for call in calls:
        parts += [struct.pack("<II", len(call.row), 0), padded(call.row.encode() + b"\0")]
        parts += [value(code, item) for code, item in zip(signatures[call.row], call.arguments, strict=True)]
    return b"".join(parts)


class Results:
    """Reads a file of calls as the board left it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 8

    def _take(self, size: int) -> bytes:
        taken = self._data[self._at : self._at + size]
        self._at += size + -size % 8
        return taken

    def call(self, call: RecordedCall) -> int:
        """The call's error; fills its outs."""
        length, error = struct.unpack("<II", self._take(8))
        assert self._take(length + 1)[:-1].decode() == call.row
        outs = {id(out) for out in call.outs}
        tensors = iter(call.tensors)
        for _ in call.arguments:
            self._value(tensors, outs)
        return error

    def _value(self, tensors: Iterator[torch.Tensor], outs: set[int]) -> None:
        tag, count = struct.unpack("<II", self._take(8))
        if tag == TENSOR:
            _, size = struct.unpack("<II", self._take(8))
            self._take(4 * count)
            self._take(count)
            data = self._take(size)
            tensor = next(tensors)
            if id(tensor) in outs and size:
                tensor.untyped_storage().copy_(
                    torch.frombuffer(bytearray(data), dtype=torch.uint8).untyped_storage()
                )
        elif tag in (INT, DOUBLE, BOOL):
            self._take(8)
        elif tag == STRING:
            self._take(count + 1)
        elif tag == LIST_BOOL:
            self._take(count)
        elif tag == LIST_DOUBLE:
            self._take(8 * count)
        elif tag != NONE:
            for _ in range(count):
                self._value(tensors, outs)


def batches(
    calls: list[RecordedCall], signatures: dict[str, str]
) -> Iterator[tuple[list[RecordedCall], bytes]]:
    """Calls that go into one file, and the file."""
    batch: list[RecordedCall] = []
    size = 0
    for call in calls:
        length = len(encode([call], signatures))
        if size + length > MAX_FILE_BYTES:
            yield batch, encode(batch, signatures)
            batch, size = [], 0
        batch.append(call)
        size += length
    yield batch, encode(batch, signatures)


@pytest.mark.slow
def test_a_board_computes_what_pytorch_does(
    kernels: Kernels, build: Callable[[targets.Target, Path, str], Path], tmp_path: Path
) -> None:
    target = targets.get("cortex-m33")
    program = build(target, SOURCE, "kernel_samples")
    calls = recorded(kernels)
    assert len({call.row for call in calls}) > 200
    wrong = []
    for batch, data in batches(calls, kernels.signatures):
        (tmp_path / "calls").write_bytes(data)
        result = target.run(program, ["--calls=calls", "--results=results"], cwd=tmp_path, timeout=600)
        assert result.returncode == 0, result.stdout + result.stderr
        results = Results((tmp_path / "results").read_bytes())
        for call in batch:
            error = results.call(call)
            try:
                assert error == 0, f"error {error:#x}"
                judge(call.row, call.function, call.given, call.outs, call.expected)
            except AssertionError as problem:
                wrong.append(f"{call.row}({described(call.given)}): {' '.join(str(problem).split())}")
    assert not wrong, f"{len(wrong)} of {len(calls)} calls:\n" + "\n".join(wrong[:20])
