# SPDX-License-Identifier: BSD-3-Clause
"""Writes bundled programs (.bpte): a program with calls of its methods and expected outputs."""

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
from rushlight.program.dim_order import row_major
from rushlight.program.dtypes import NUMBERS
from rushlight.program.file_image import FileImage, bytes_view, padding
from rushlight.program.flatbuffer_writer import FlatbufferWriter
from rushlight.program.schema import BUNDLED_PROGRAM

_TENSOR_ALIGNMENT = 16
_PROGRAM_ALIGNMENT = 32
_NOT_YET = 1
_MOST = 0xFFFFFFFF
_KINDS = {int: ("Int", "int_val"), bool: ("Bool", "bool_val"), float: ("Double", "double_val")}


def bundled_value(value: Any) -> BundledValue:
    """Converts a scalar or an array (of numpy, or with its interface) to a value of a bundled program.

    Errors: InvalidArgument for anything else.
    """
    if type(value) in _KINDS or isinstance(value, BundledTensor):
        known: BundledValue = value
        return known
    try:
        import numpy as np

        array = np.asarray(value)
        dtype, sizes = array.dtype.name, tuple(array.shape)
        data = bytes_view(array if array.flags.c_contiguous else np.ascontiguousarray(array), "array")
    except (AttributeError, TypeError, ValueError, ImportError):
        dtype = ""
    if dtype not in NUMBERS:
        raise InvalidArgument(f"bundled value: expected a number or an array, got {type(value).__name__}")
    return BundledTensor(dtype, sizes, row_major(len(sizes)), data)


def bundled_case(inputs: Sequence[Any], outputs: Sequence[Any] = ()) -> BundledCase:
    """One call with scalars and arrays; without outputs none are expected. Errors: as for `bundled_value`."""
    return BundledCase(tuple(map(bundled_value, inputs)), tuple(map(bundled_value, outputs)))


def write_bundled_program(program: FileImage | Any, suites: Iterable[BundledSuite]) -> FileImage:
    """A bundled program around a program file (its image or bytes), which is not copied.

    Errors: InvalidArgument for a value that the format cannot hold.
    """
    flat = FlatbufferWriter(BUNDLED_PROGRAM)
    written = [_suite(flat, suite) for suite in suites]
    suites_at = flat.offsets(written)
    root = flat.table(BUNDLED_PROGRAM.root, method_test_suites=suites_at, program=_NOT_YET, version=VERSION)
    return _around(flat.finish(root, IDENTIFIER), program)


def _around(head: bytearray, program: FileImage | Any) -> FileImage:
    """The cases, then the program as the last vector: at the end it can be appended without copying."""
    image = FileImage()
    slot = BUNDLED_PROGRAM.tables[BUNDLED_PROGRAM.root]["program"].slot
    (root,) = struct.unpack_from("<I", head)
    (vtable,) = struct.unpack_from("<i", head, root)
    (field,) = struct.unpack_from("<H", head, root - vtable + 4 + 2 * slot)
    position = root + field
    start = len(head) + padding(len(head) + 4, _PROGRAM_ALIGNMENT)
    struct.pack_into("<I", head, position, start - position)
    content = program if isinstance(program, FileImage) else FileImage([bytes_view(program, "program")])
    if content.nbytes > _MOST:
        raise InvalidArgument(f"bundled program: expected at most {_MOST} bytes, got {content.nbytes}")
    image.append(head)
    image.append(bytes(start - len(head)) + struct.pack("<I", content.nbytes))
    image.extend(content)
    return image


def _suite(flat: FlatbufferWriter, suite: BundledSuite) -> int:
    cases = [_case(flat, case, f"{suite.method}, case {i}") for i, case in enumerate(suite.cases)]
    name = flat.name(suite.method, "method")
    return flat.table("BundledMethodTestSuite", method_name=name, test_cases=flat.offsets(cases))


def _case(flat: FlatbufferWriter, case: BundledCase, what: str) -> int:
    sides = [
        flat.offsets([_value(flat, value, f"{what}: {side} {i}") for i, value in enumerate(values)])
        for side, values in (("input", case.inputs), ("output", case.outputs))
    ]
    return flat.table("BundledMethodTestCase", inputs=sides[0], expected_outputs=sides[1])


def _value(flat: FlatbufferWriter, value: BundledValue, what: str) -> int:
    if isinstance(value, BundledTensor):
        kind, content = "Tensor", _tensor(flat, value, what)
    else:
        kind, name = _KINDS[type(value)]
        content = flat.table(kind, what, **{name: value})
    return flat.union("Value", "val", kind, content)


def _tensor(flat: FlatbufferWriter, tensor: BundledTensor, what: str) -> int:
    if tensor.dtype not in NUMBERS:
        raise InvalidArgument(f"{what}: expected a dtype of PyTorch, got '{tensor.dtype}'")
    try:
        check_shape(tensor.sizes, tensor.dim_order, what)
    except InvalidProgram as error:
        raise InvalidArgument(error.message) from None
    data = bytes_view(tensor.data, what)
    if (needed := tensor_bytes(tensor.dtype, tensor.sizes)) != len(data):
        raise InvalidArgument(f"{what}: expected {needed} bytes of data, got {len(data)}")
    return flat.table(
        "Tensor",
        sizes=flat.numbers("Tensor", "sizes", tensor.sizes, what),
        data=flat.blob(data, _TENSOR_ALIGNMENT),
        dim_order=flat.numbers("Tensor", "dim_order", tensor.dim_order, what),
        scalar_type=NUMBERS[tensor.dtype],
    )
