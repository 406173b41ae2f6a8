# SPDX-License-Identifier: BSD-3-Clause
"""Writes data files (.ptd): a directory of keys, then the data as segments."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from rushlight.errors import InvalidArgument, InvalidProgram
from rushlight.program.arrays import check_shape, tensor_bytes
from rushlight.program.data_file import HEADER_LENGTH, HEADER_MAGIC, HEADER_OFFSET, IDENTIFIER, DataEntry
from rushlight.program.dtypes import NUMBERS
from rushlight.program.file_image import FileImage, SegmentList, bytes_view, check_alignment, padding
from rushlight.program.flatbuffer_writer import FlatbufferWriter, write_segment
from rushlight.program.schema import DATA_FILE


def write_data_file(entries: Iterable[DataEntry], *, alignment: int = 128) -> FileImage:
    """A data file with these entries. Equal data is stored once.

    Args:
        entries: keys with their data, which is any object with contiguous bytes. The bytes are not copied,
            and `segment` is ignored.
        alignment: each piece of data starts at a multiple of this many bytes, a power of 2.

    Errors: InvalidArgument for a duplicate key, or data that does not match its layout.
    """
    check_alignment("data", alignment)
    flat, segments = FlatbufferWriter(DATA_FILE), SegmentList(alignment)
    keys: set[str] = set()
    named = []
    for entry in entries:
        if entry.key in keys:
            raise InvalidArgument(f"data file: expected unique keys, got '{entry.key}' twice")
        keys.add(entry.key)
        named.append(_entry(flat, segments, entry))
    tables = [write_segment(flat, segment) for segment in segments.segments]
    root = flat.table(DATA_FILE.root, segments=flat.offsets(tables), named_data=flat.offsets(named))
    return _file(flat.finish(root, IDENTIFIER, HEADER_LENGTH), segments.image, alignment)


def _entry(flat: FlatbufferWriter, segments: SegmentList, entry: DataEntry) -> int:
    data = bytes_view(entry.data, f"'{entry.key}'")
    layout = 0 if entry.dtype is None else _layout(flat, entry, entry.dtype, len(data))
    key, index = flat.string(entry.key), segments.add_once(data)
    return flat.table("NamedData", key=key, segment_index=index, tensor_layout=layout)


def _layout(flat: FlatbufferWriter, entry: DataEntry, dtype: str, held: int) -> int:
    what = f"'{entry.key}'"
    if dtype not in NUMBERS:
        raise InvalidArgument(f"{what}: expected a dtype of PyTorch, got '{dtype}'")
    try:
        check_shape(entry.sizes, entry.dim_order, what)
    except InvalidProgram as error:
        raise InvalidArgument(error.message) from None
    if (needed := tensor_bytes(dtype, entry.sizes)) != held:
        raise InvalidArgument(f"{what}: expected {needed} bytes of tensor, got {held}")
    return flat.table(
        "TensorLayout",
        sizes=flat.numbers("TensorLayout", "sizes", entry.sizes, f"{what}: sizes"),
        dim_order=flat.numbers("TensorLayout", "dim_order", entry.dim_order, f"{what}: dim_order"),
        scalar_type=NUMBERS[dtype],
    )


def _file(directory: bytearray, data: FileImage, alignment: int) -> FileImage:
    """The directory with its header filled in, then the data."""
    begin = HEADER_OFFSET + HEADER_LENGTH
    base = len(directory) + padding(len(directory), alignment)
    header = (HEADER_MAGIC, HEADER_LENGTH, begin, len(directory) - begin, base, data.nbytes)
    struct.pack_into("<4sIQQQQ", directory, HEADER_OFFSET, *header)
    image = FileImage()
    image.append(directory)
    image.align(alignment)
    image.extend(data)
    return image
