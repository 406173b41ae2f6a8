# SPDX-License-Identifier: BSD-3-Clause
"""Encodes calls for a runner, and decodes its results; runtime/runner/case_stream.h documents the layout."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rushlight.errors import TargetCrashed
from rushlight.program.dim_order import inverse, row_major
from rushlight.program.dtypes import NAMES, NUMBERS

_MAGIC = b"RLIO"
_OUTCOME_MAGIC = b"RLOC"
_ALIGNMENT = 16
_NONE, _TENSOR, _DOUBLE, _INT, _BOOL = 0, 1, 3, 4, 5


@dataclass(frozen=True)
class Report:
    """A runner's measurements: bytes, guest instructions and nanoseconds. A count of 0 means that the
    platform cannot measure it."""

    program_bytes: int
    method_arena_bytes: int
    planned_bytes: int
    temporary_peak_bytes: int
    load_instructions: int
    load_ns: int
    scratch_bytes: int
    prepared_bytes: int


@dataclass(frozen=True)
class CallResult:
    """One call's outputs (arrays, numbers or None) and its cost. `stack_bytes` is the peak of the stack from
    reset to the end of the call; 0 if the platform cannot measure it."""

    outputs: list[Any]
    instructions: int
    ns: int
    stack_bytes: int = 0


@dataclass(frozen=True)
class RunnerOutcome:
    """The end of a run, as in runtime/runner/outcome.h: the status code, the number of trace events and
    values dropped for lack of memory, a flag for builds with logs, and the records of failed checks."""

    code: int
    lost_events: int = 0
    lost_values: int = 0
    has_logs: bool = False
    records: tuple[int, ...] = ()


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % _ALIGNMENT)


def _encode_value(value: Any, dim_order: Sequence[int] | None) -> bytes:
    if value is None:
        return struct.pack("<4I", _NONE, 0, 0, 0)
    if isinstance(value, (bool, np.bool_)):
        return struct.pack("<4I", _BOOL, 0, 0, 1) + _padded(struct.pack("<B", value))
    if isinstance(value, int):
        return struct.pack("<4I", _INT, 0, 0, 8) + _padded(struct.pack("<q", value))
    if isinstance(value, float):
        return struct.pack("<4I", _DOUBLE, 0, 0, 8) + _padded(struct.pack("<d", value))
    array = np.asarray(value)
    order = row_major(array.ndim) if dim_order is None else dim_order
    data = np.ascontiguousarray(array.transpose(order) if array.ndim else array).tobytes()
    header = struct.pack("<4I", _TENSOR, NUMBERS[array.dtype.name], array.ndim, len(data))
    return header + _padded(struct.pack(f"<{array.ndim}i", *array.shape)) + _padded(data)


def encode_request(
    calls: Iterable[tuple[str, Sequence[Any], Sequence[Sequence[int] | None]]], *, fresh_methods: bool = False
) -> bytes:
    """A request from (method name, inputs, dim order of each input or None) for each call; with
    `fresh_methods` each call gets a new instance of its method."""
    listed = list(calls)
    parts = [struct.pack("<4s3I", _MAGIC, len(listed), int(fresh_methods), 0)]
    for name, inputs, orders in listed:
        text = name.encode()
        parts.append(struct.pack("<4I", len(text), len(inputs), 0, 0))
        parts.append(_padded(text + b"\0"))
        parts += [_encode_value(value, order) for value, order in zip(inputs, orders, strict=True)]
    return b"".join(parts)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def take(self, size: int) -> bytes:
        start = -(-self._position // _ALIGNMENT) * _ALIGNMENT
        if start + size > len(self._data):
            raise TargetCrashed(f"runner's response: expected {start + size} bytes, got {len(self._data)}")
        self._position = start + size
        return self._data[start : start + size]

    def unpack(self, layout: str) -> tuple[Any, ...]:
        return struct.unpack(layout, self.take(struct.calcsize(layout)))

    def value(self, dim_order: Sequence[int] | None) -> Any:
        tag, number, rank, size = self.unpack("<4I")
        shape = self.unpack(f"<{rank}i") if tag == _TENSOR else ()
        data = self.take(size)
        if tag == _TENSOR:
            array = np.frombuffer(data, dtype=np.dtype(NAMES[number]))
            order = row_major(rank) if dim_order is None else dim_order
            return array.reshape([shape[d] for d in order]).transpose(inverse(order))
        layouts = {_BOOL: "<?", _INT: "<q", _DOUBLE: "<d"}
        return struct.unpack(layouts[tag], data)[0] if tag in layouts else None


def decode_response(
    data: bytes, orders: Sequence[Sequence[Sequence[int] | None]]
) -> tuple[Report, list[CallResult]]:
    """The report and the result of each call. `orders` has the dim order of each output of each call.

    Error: TargetCrashed if the response is incomplete.
    """
    reader = _Reader(data)
    magic, calls, _, _ = reader.unpack("<4s3I")
    if magic != _MAGIC or calls != len(orders):
        raise TargetCrashed(f"the runner's response is damaged: {calls} calls, expected {len(orders)}")
    # Header and report follow each other without padding.
    report = Report(*reader.unpack("<8Q"))
    results = []
    for output_orders in orders:
        _, values, stack, _, instructions, ns = reader.unpack("<4I2Q")
        if values != len(output_orders):
            raise TargetCrashed(f"runner's response: expected {len(output_orders)} outputs, got {values}")
        outputs = [reader.value(order) for order in output_orders]
        results.append(CallResult(outputs, instructions, ns, stack))
    return report, results


def decode_outcome(data: bytes) -> RunnerOutcome | None:
    """The content of the file --outcome; None if it is incomplete."""
    if len(data) < 24 or len(data) % 4 or data[:4] != _OUTCOME_MAGIC:
        return None
    code, events, values, logs, count, *records = struct.unpack(f"<{len(data) // 4 - 1}I", data[4:])
    if len(records) != count:
        return None
    return RunnerOutcome(code, events, values, bool(logs), tuple(records))
