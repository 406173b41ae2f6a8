# SPDX-License-Identifier: BSD-3-Clause
"""The contents of a program that must stay equal when it is read, written and read again."""

from __future__ import annotations

import dataclasses
from typing import Any

from rushlight.program import Method, Program, Storage, TensorInfo


def contents(program: Program) -> dict[str, Any]:
    """A program without the offsets of its bytes in the file: with the bytes themselves instead."""
    return {
        "methods": [_method(method) for method in program.plans],
        "data": [_data(program, method) for method in program.plans],
        "named": [(key, bytes(program.segment(index))) for key, index in program.named_data],
    }


def _method(method: Method) -> Method:
    delegates = tuple(
        dataclasses.replace(
            delegate,
            payload=bytes(delegate.payload),
            compile_specs=tuple((key, bytes(value)) for key, value in delegate.compile_specs),
        )
        for delegate in method.delegates
    )
    return dataclasses.replace(method, delegates=delegates)


def _data(program: Program, method: Method) -> list[bytes]:
    tensors = [value.data for value in method.values if isinstance(value.data, TensorInfo)]
    return [
        bytes(program.constant(tensor))
        for tensor in tensors
        if tensor.storage in (Storage.CONSTANT, Storage.MUTABLE)
    ]
