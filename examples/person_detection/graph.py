# SPDX-License-Identifier: BSD-3-Clause
"""Reads the constants of a frozen TensorFlow graph without TensorFlow.

The file is a GraphDef of Protocol Buffers. A message is a sequence of fields, each with a key (number of the
field times 8, plus its wire type) and a value. Numbers of fields are from graph.proto, node_def.proto,
attr_value.proto, tensor.proto and tensor_shape.proto.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

NODE, NAME, OPERATION, ATTRIBUTE = 1, 1, 2, 5
KEY, VALUE, TENSOR = 1, 2, 8
DTYPE, SHAPE, CONTENT, FLOAT32 = 1, 2, 4, 1
DIMENSION, SIZE = 2, 1
FIXED_SIZES = {1: 8, 5: 4}
"""Bytes of a value by wire type. The other types: 0 is a varint, 2 is bytes after their count."""


def varint(data: memoryview, at: int) -> tuple[int, int]:
    """An integer in groups of seven bits, lowest first, and the position after it. Error: ValueError."""
    value = shift = 0
    while True:
        if at >= len(data):
            raise ValueError("integer: expected another byte, got the end of the message")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(message: memoryview) -> Iterator[tuple[int, int, memoryview]]:
    """Number, integer (0 if it is none) and bytes of each field. Error: ValueError."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        kind, value, size = key & 7, 0, 0
        if kind == 0:
            value, at = varint(message, at)
        elif kind == 2:
            size, at = varint(message, at)
        elif kind in FIXED_SIZES:
            size = FIXED_SIZES[kind]
        else:
            raise ValueError(f"wire type: expected 0, 1, 2 or 5, got {kind}")
        if at + size > len(message):
            raise ValueError(f"field {key >> 3}: expected {size} bytes, got {len(message) - at}")
        yield key >> 3, value, message[at : at + size]
        at += size


def part(message: memoryview, number: int) -> memoryview:
    """The bytes of the first field of that number; empty if there is none."""
    return next((data for found, _, data in fields(message) if found == number), message[:0])


def array(tensor: memoryview) -> np.ndarray | None:
    """A TensorProto as an array; None if it is not float32 or has another form than raw bytes."""
    if next((value for number, value, _ in fields(tensor) if number == DTYPE), 0) != FLOAT32:
        return None
    content = part(tensor, CONTENT)
    shape = [
        next((size for number, size, _ in fields(data) if number == SIZE), 0)
        for number, _, data in fields(part(tensor, SHAPE))
        if number == DIMENSION
    ]
    return np.frombuffer(content, "<f4").reshape(shape) if len(content) else None


def constants(path: Path) -> dict[str, np.ndarray]:
    """The float32 arrays of a graph by the names of their nodes. Error: ValueError for another file."""
    found = {}
    for number, _, node in fields(memoryview(path.read_bytes())):
        if number != NODE or bytes(part(node, OPERATION)) != b"Const":
            continue
        attributes = [data for kind, _, data in fields(node) if kind == ATTRIBUTE]
        values = [part(data, VALUE) for data in attributes if bytes(part(data, KEY)) == b"value"]
        value = array(part(values[0], TENSOR)) if values else None
        if value is not None:
            found[bytes(part(node, NAME)).decode()] = value
    return found
