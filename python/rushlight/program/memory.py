# SPDX-License-Identifier: BSD-3-Clause
"""The RAM that a method takes, before it is loaded, for targets of both pointer widths.

The parts of the method arena are those of `ArenaPart` in runtime/program/layout.h, in its order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rushlight.errors import InvalidArgument
from rushlight.program.model import DelegateCall, Dynamism, KernelCall, Kind, Method, Storage, TensorInfo

# Bytes of one element as (pointers, bytes).
_EVALUE = (0, 16)
_TENSOR = (7, 0)
_LIST = (2, 0)
_POINTER = (1, 0)
_INT64 = (0, 8)
_OPTIONAL_TENSOR = (2, 0)
_DELEGATE = (6, 0)
_COMPILE_SPEC = (3, 0)
_FREEABLE_BUFFER = (4, 0)
_INT32 = (0, 4)


@dataclass(frozen=True)
class MethodMemory:
    """Bytes, exact. `method_arena` by pointer width in bits: what the values of the method take, without
    what backends allocate for themselves. `planned` by buffer, memory id 1 first. `temporary` is the most
    that kernels ask for at a time: those of rushlight need none. `caller` is what the caller brings for
    inputs and outputs that the program has not planned, at the upper bounds of their shapes."""

    method_arena: dict[int, int]
    planned: tuple[int, ...]
    temporary: int
    caller: int

    def to_json(self) -> dict[str, Any]:
        arenas = {str(bits): size for bits, size in self.method_arena.items()}
        return {
            "method_arena": arenas,
            "planned": list(self.planned),
            "temporary_peak": self.temporary,
            "caller": self.caller,
            "total": {bits: size + sum(self.planned) + self.temporary for bits, size in arenas.items()},
        }


def method_memory(method: Method) -> MethodMemory:
    """What loading and running the method takes."""
    return MethodMemory(
        {bits: arena_bytes(method, bits) for bits in (32, 64)},
        tuple(method.buffer_sizes[1:]),
        0,
        _caller_bytes(method),
    )


def arena_bytes(method: Method, bits: int) -> int:
    """Bytes of the method arena where pointers have 32 or 64 bits; the arena starts at a multiple of 8."""
    if bits not in (32, 64):
        raise InvalidArgument(f"pointers of 32 or 64 bits expected, got {bits}")
    pointer = bits // 8
    used = 0
    for count, (pointers, plain) in _parts(method):
        size = pointers * pointer + plain
        alignment = 8 if (pointers, plain) in (_EVALUE, _INT64) else min(size, pointer)
        used = -(-used // alignment) * alignment + count * size
    return used


def _parts(method: Method) -> list[tuple[int, tuple[int, int]]]:
    """(number of elements, size of one) of everything in the arena, in its order."""
    tensors = [value.data for value in method.values if isinstance(value.data, TensorInfo)]
    ints = _lists(method, Kind.INT_LIST)
    tensor_lists = _lists(method, Kind.TENSOR_LIST)
    optional_lists = _lists(method, Kind.OPTIONAL_TENSOR_LIST)
    calls = [i for i in method.instructions if isinstance(i, KernelCall | DelegateCall)]
    return [
        (len(method.values), _EVALUE),
        (len(tensors), _TENSOR),
        (len(ints), _LIST),
        (sum(ints), _POINTER),
        (sum(ints), _INT64),
        (len(tensor_lists), _LIST),
        (sum(tensor_lists), _POINTER),
        (sum(tensor_lists), _POINTER),
        (len(optional_lists), _LIST),
        (sum(optional_lists), _POINTER),
        (sum(optional_lists), _OPTIONAL_TENSOR),
        (len(method.operators), _POINTER),
        (len(method.delegates), _DELEGATE),
        (sum(len(delegate.compile_specs) for delegate in method.delegates), _COMPILE_SPEC),
        (sum(tensor.storage is Storage.EXTERNAL for tensor in tensors), _FREEABLE_BUFFER),
        (max((len(call.arguments) for call in calls), default=0), _POINTER),
        (sum(len(tensor.sizes) for tensor in tensors), _INT32),
        (sum(len(t.sizes) for t in tensors if t.dynamism is not Dynamism.STATIC), _INT32),
    ]


def _lists(method: Method, kind: Kind) -> list[int]:
    """The lengths of all lists of a kind."""
    found: Sequence[Any] = [value.data for value in method.values if value.kind is kind]
    return [len(items) for items in found]


def _caller_bytes(method: Method) -> int:
    indices = dict.fromkeys((*method.inputs, *method.outputs))
    values = (method.values[index].data for index in indices)
    return sum(v.nbytes for v in values if isinstance(v, TensorInfo) and v.storage is Storage.INPUT)
