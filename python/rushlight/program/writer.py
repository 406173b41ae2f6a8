# SPDX-License-Identifier: BSD-3-Clause
"""Writes a program's parts as a file: the program as a flatbuffer, then constants, initial state, payloads
and named data as segments."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from rushlight.errors import InvalidArgument, InvalidProgram
from rushlight.program.container import HEADER_MAGIC, HEADER_OFFSET, IDENTIFIER
from rushlight.program.file_image import FileImage, SegmentList, bytes_view, check_alignment, padding
from rushlight.program.flatbuffer_writer import FlatbufferWriter, write_segment
from rushlight.program.method import check_method
from rushlight.program.method_writer import PayloadPosition, write_method
from rushlight.program.model import Delegate, Method, Storage, TensorInfo
from rushlight.program.parts import ProgramParts
from rushlight.program.schema import PROGRAM

_HEADER_LENGTH = 32
# Tensors from this size begin at a cache line: vector loads that cross lines take half as long again.
_LONG = 2048
_LINE = 64


def write_program(
    parts: ProgramParts, *, tensor_alignment: int = 16, segment_alignment: int = 128
) -> FileImage:
    """The file image of a program. Constants and payloads are not copied: the image refers to the caller's
    bytes.

    Args:
        parts: methods, constants, initial state and named data.
        tensor_alignment: the alignment in bytes of tensors in their segment, a power of 2. Tensors of 2048
            bytes and more are always aligned to 64.
        segment_alignment: the alignment in bytes of segments in the file, a power of 2.

    Errors: InvalidArgument for inconsistent parts, naming the value.
    """
    check_alignment("tensor", tensor_alignment)
    check_alignment("segment", segment_alignment)
    constants = [bytes_view(data, f"constant {i}") for i, data in enumerate(parts.constants, 1)]
    mutable = [bytes_view(data, f"initial state {i}") for i, data in enumerate(parts.mutable, 1)]
    _check(parts.methods, constants, mutable)
    flat, segments = FlatbufferWriter(PROGRAM), SegmentList(max(segment_alignment, tensor_alignment))
    constant_slices = _slices(flat, segments, constants, tensor_alignment)
    mutable_groups = [_slices(flat, segments, mutable, tensor_alignment)] if mutable else []
    payloads = _Payloads(segments)
    plans = [write_method(flat, method, payloads) for method in parts.methods]
    named = [
        _named(flat, key, segments.add_once(bytes_view(data, f"named data '{key}'")))
        for key, data in parts.named_data.items()
    ]
    inline = [flat.table("BackendDelegateInlineData")] if payloads.has_empty else []
    root = flat.table(
        PROGRAM.root,
        execution_plan=flat.offsets(plans),
        backend_delegate_data=flat.offsets(inline),
        segments=flat.offsets([write_segment(flat, segment) for segment in segments.segments]),
        constant_segment=constant_slices,
        mutable_data_segments=flat.offsets(mutable_groups) if mutable_groups else 0,
        named_data=flat.offsets(named) if named else 0,
    )
    program = flat.finish(root, IDENTIFIER, _HEADER_LENGTH)
    return _file(program, segments.image, max(segment_alignment, tensor_alignment))


class _Payloads:
    """Stores delegates' payloads in segments, without duplicates; an empty payload needs no segment."""

    def __init__(self, segments: SegmentList) -> None:
        self._segments = segments
        self.has_empty = False

    def __call__(self, delegate: Delegate) -> PayloadPosition:
        payload = bytes_view(delegate.payload, f"delegate '{delegate.id}': payload")
        if len(payload):
            return "SEGMENT", self._segments.add_once(payload)
        self.has_empty = True
        return "INLINE", 0


def _check(methods: Sequence[Method], constants: list[memoryview], mutable: list[memoryview]) -> None:
    if not methods:
        raise InvalidArgument("program: expected at least one method, got none")
    names = [method.name for method in methods]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidArgument(f"program: expected methods with unique names, got two of '{twice[0]}'")
    data = {Storage.CONSTANT: constants, Storage.MUTABLE: mutable}
    for method in methods:
        what = f"method '{method.name}'"
        try:
            check_method(method, what)
        except InvalidProgram as error:
            raise InvalidArgument(error.message) from None
        for index, value in enumerate(method.values):
            if isinstance(value.data, TensorInfo):
                _check_data(value.data, data.get(value.data.storage), f"{what}: tensor {index}")


def _check_data(tensor: TensorInfo, data: list[memoryview] | None, what: str) -> None:
    """Checks that a tensor's data exists and matches its storage kind."""
    index = tensor.buffer_index
    if data is None:
        if index and tensor.storage is not Storage.EXTERNAL:
            raise InvalidArgument(f"{what}: {tensor.storage.value}: expected buffer index 0, got {index}")
        if tensor.storage is Storage.EXTERNAL and not tensor.name:
            raise InvalidArgument(f"{what}: expected a name, the key of its data in a data file, got none")
        return
    kind = "constants" if tensor.storage is Storage.CONSTANT else "initial states"
    if not 1 <= index <= len(data):
        raise InvalidArgument(f"{what}: expected one of {len(data)} {kind}, got index {index}")
    if tensor.mutable_group:
        raise InvalidArgument(f"{what}: expected mutable data group 0, got {tensor.mutable_group}")
    if len(data[index - 1]) < tensor.nbytes:
        raise InvalidArgument(f"{what}: expected {tensor.nbytes} bytes of data, got {len(data[index - 1])}")


def _slices(flat: FlatbufferWriter, segments: SegmentList, data: list[memoryview], alignment: int) -> int:
    """Stores tensors in one segment at aligned offsets; returns the position of the table with the
    offsets."""
    image, offsets = FileImage(), [0]
    for view in data:
        image.align(max(alignment, _LINE) if view.nbytes >= _LONG else alignment)
        offsets.append(image.nbytes)
        image.append(view)
    if data and not image.nbytes:
        image.append(bytes(alignment))  # the official runtime loads no empty segment
    index = segments.add(image)
    listed = flat.numbers("SubsegmentOffsets", "offsets", offsets, "offsets")
    return flat.table("SubsegmentOffsets", offsets=listed, segment_index=index)


def _named(flat: FlatbufferWriter, key: str, segment: int) -> int:
    return flat.table("NamedData", key=flat.string(key), segment_index=segment)


def _file(program: bytearray, data: FileImage, alignment: int) -> FileImage:
    """The program with its extended header filled in, then the segments."""
    size = len(program)
    base = size + padding(size, alignment) if data.nbytes else 0
    header = (HEADER_MAGIC, _HEADER_LENGTH, size, base, data.nbytes)
    struct.pack_into("<4sIQQQ", program, HEADER_OFFSET, *header)
    image = FileImage()
    image.append(program)
    if data.nbytes:
        image.align(alignment)
        image.extend(data)
    return image
