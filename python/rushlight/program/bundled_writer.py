# SPDX-License-Identifier: BSD-3-Clause
"""Writes bundled programs (.bpte): a program with calls of its methods and what they should give."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

from rushlight.errors import InvalidArgument, InvalidProgram
from rushlight.program.arrays import check_shape, tensor_bytes
from rushlight.program.bundled import (
    IDENTIFIER,
    VERSION,
    BundledCase,
    BundledSuite,
    BundledTensor,
    BundledValue,
)
from rushlight.program.dtypes import NUMBERS
from rushlight.program.file_image import FileImage, bytes_view, padding
from rushlight.program.flatbuffer_writer import OFFSET, FlatbufferWriter

_TENSOR_ALIGNMENT = 16
_PROGRAM_ALIGNMENT = 32
_PROGRAM_SLOT = 2
_NOT_YET = 0xFFFFFFFF
_KINDS = {int: (2, "int_val", "q"), bool: (3, "bool_val", "?"), float: (4, "double_val", "d")}


def bundled_value(value: Any) -> BundledValue:
    """A number or an array (of numpy, or what has its interface) as a bundled program holds it.

    Errors: InvalidArgument for anything else.
    """
    if type(value) in _KINDS or isinstance(value, BundledTensor):
        return value  # type: ignore[no-any-return]
    try:
        import numpy as np

        array = np.asarray(value)
        dtype, sizes = array.dtype.name, tuple(array.shape)
        data = bytes_view(array if array.flags.c_contiguous else np.ascontiguousarray(array), "array")
    except (AttributeError, TypeError, ValueError, ImportError):
        dtype = ""
    if dtype not in NUMBERS:
        raise InvalidArgument(f"bundled value: a number or an array expected, got {type(value).__name__}")
    return BundledTensor(dtype, sizes, tuple(range(len(sizes))), data)


def bundled_case(inputs: Sequence[Any], outputs: Sequence[Any] = ()) -> BundledCase:
    """One call with numbers and arrays; without outputs none are expected."""
    return BundledCase(tuple(map(bundled_value, inputs)), tuple(map(bundled_value, outputs)))


def write_bundled_program(program: FileImage | Any, suites: Iterable[BundledSuite]) -> FileImage:
    """A bundled program around a program file (its image or bytes), which is not copied.

    Errors: InvalidArgument for a value that the format cannot hold.
    """
    flat = FlatbufferWriter()
    written = [_suite(flat, suite) for suite in suites]
    root = flat.table(
        (1, "method_test_suites", OFFSET, flat.offsets(written)),
        (_PROGRAM_SLOT, "program", "I", _NOT_YET),
        (0, "version", "I", VERSION),
    )
    return _around(flat.finish(root, IDENTIFIER), program)


def _around(head: bytearray, program: FileImage | Any) -> FileImage:
    """The cases, then the program as the last vector: behind, so that it need not be copied into place."""
    image = FileImage()
    (root,) = struct.unpack_from("<I", head)
    (vtable,) = struct.unpack_from("<i", head, root)
    (field,) = struct.unpack_from("<H", head, root - vtable + 4 + 2 * _PROGRAM_SLOT)
    position = root + field
    start = len(head) + padding(len(head) + 4, _PROGRAM_ALIGNMENT)
    struct.pack_into("<I", head, position, start - position)
    content = program if isinstance(program, FileImage) else FileImage([bytes_view(program, "program")])
    if content.nbytes > _NOT_YET:
        raise InvalidArgument(f"bundled program: at most {_NOT_YET} bytes expected, got {content.nbytes}")
    image.append(head)
    image.append(bytes(start - len(head)) + struct.pack("<I", content.nbytes))
    image.extend(content)
    return image


def _suite(flat: FlatbufferWriter, suite: BundledSuite) -> int:
    cases = [_case(flat, case, f"{suite.method}, case {i}") for i, case in enumerate(suite.cases)]
    return flat.table(
        (0, "method_name", OFFSET, flat.name(suite.method, "method")),
        (1, "test_cases", OFFSET, flat.offsets(cases)),
    )


def _case(flat: FlatbufferWriter, case: BundledCase, what: str) -> int:
    sides = [
        flat.offsets([_value(flat, value, f"{what}: {side} {i}") for i, value in enumerate(values)])
        for side, values in (("input", case.inputs), ("output", case.outputs))
    ]
    return flat.table((0, "inputs", OFFSET, sides[0]), (1, "expected_outputs", OFFSET, sides[1]))


def _value(flat: FlatbufferWriter, value: BundledValue, what: str) -> int:
    if isinstance(value, BundledTensor):
        kind, content = 1, _tensor(flat, value, what)
    else:
        kind, name, form = _KINDS[type(value)]
        content = flat.table((0, f"{what}: {name}", form, value))
    return flat.table((1, "val", OFFSET, content), (0, "val type", "B", kind))


def _tensor(flat: FlatbufferWriter, tensor: BundledTensor, what: str) -> int:
    if tensor.dtype not in NUMBERS:
        raise InvalidArgument(f"{what}: a dtype of PyTorch expected, got '{tensor.dtype}'")
    try:
        check_shape(tensor.sizes, tensor.dim_order, what)
    except InvalidProgram as error:
        raise InvalidArgument(error.message) from None
    data = bytes_view(tensor.data, what)
    if (needed := tensor_bytes(tensor.dtype, tensor.sizes)) != len(data):
        raise InvalidArgument(f"{what}: {needed} bytes of data expected, got {len(data)}")
    return flat.table(
        (1, "sizes", OFFSET, flat.numbers("i", tensor.sizes, what)),
        (2, "data", OFFSET, flat.blob(data, _TENSOR_ALIGNMENT)),
        (3, "dim_order", OFFSET, flat.numbers("B", tensor.dim_order, what)),
        (0, "scalar_type", "b", NUMBERS[tensor.dtype]),
    )
