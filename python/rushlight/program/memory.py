# SPDX-License-Identifier: BSD-3-Clause
"""The RAM that a method takes, before it is loaded, for targets of both pointer widths.

The parts of the method arena are those of `ArenaPart` in runtime/program/layout.h, in its order.
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass
from typing import Any, cast

from rushlight.errors import InvalidArgument
from rushlight.program.model import (
    DelegateCall,
    Dynamism,
    JumpFalse,
    KernelCall,
    Kind,
    Method,
    Move,
    Storage,
    TensorInfo,
)

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
_TENSOR_RANK = (0, 8)

_NUMBERS = (Kind.INT, Kind.BOOL, Kind.DOUBLE)


@dataclass(frozen=True)
class MethodMemory:
    """Bytes, exact. `method_arena` by pointer width in bits: what the values of the method take, without
    what backends allocate for themselves. `planned` by buffer, memory id 1 first. `temporary` is the most
    that kernels of boards ask for at a time: none; for those of hosts see codegen/needs.py. `caller` is what
    the caller brings for inputs and outputs that the program has not planned, at the upper bounds of their
    shapes."""

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
    for count, (pointers, plain) in _parts(method, bits):
        size = pointers * pointer + plain
        alignment = 8 if (pointers, plain) in (_EVALUE, _INT64) else min(size, pointer)
        used = -(-used // alignment) * alignment + count * size
    return used


def _parts(method: Method, bits: int) -> list[tuple[int, tuple[int, int]]]:
    """(number of elements, size of one) of everything in the arena, in its order."""
    tensors = [value.data for value in method.values if isinstance(value.data, TensorInfo)]
    compact = bits == 32 and _is_plain(method)
    arguments = max((len(call.arguments) for call in _calls(method)), default=0)
    return [
        (0 if compact else len(method.values), _EVALUE),
        (len(method.inputs) + len(method.outputs) if compact else 0, _EVALUE),
        (arguments, _EVALUE),
        (len(tensors), _TENSOR),
        (-(-len(method.values) // 32), _TENSOR_RANK),
        *_lists(method, Kind.INT_LIST, _INT64),
        *_lists(method, Kind.TENSOR_LIST, _POINTER),
        *_lists(method, Kind.OPTIONAL_TENSOR_LIST, _OPTIONAL_TENSOR),
        (len(method.operators), _POINTER),
        (len(method.delegates), _DELEGATE),
        (sum(len(delegate.compile_specs) for delegate in method.delegates), _COMPILE_SPEC),
        (sum(tensor.storage is Storage.EXTERNAL for tensor in tensors), _FREEABLE_BUFFER),
        (arguments, _POINTER),
        (sum(len(tensor.sizes) for tensor in tensors), _INT32),
        (sum(len(t.sizes) for t in tensors if t.dynamism is not Dynamism.STATIC), _INT32),
    ]


def _is_plain(method: Method) -> bool:
    """As runtime/program/layout.h says: calls that write tensors only, nothing moves or jumps."""
    for instruction in method.instructions:
        if isinstance(instruction, DelegateCall | Move | JumpFalse):
            return False
    calls = [call for call in _calls(method) if call.arguments]
    return all(method.values[call.arguments[-1]].kind not in _NUMBERS for call in calls)


def _calls(method: Method) -> list[KernelCall | DelegateCall]:
    return [i for i in method.instructions if isinstance(i, KernelCall | DelegateCall)]


def _lists(method: Method, kind: Kind, item: tuple[int, int]) -> list[tuple[int, tuple[int, int]]]:
    """The most lists of a kind that a call names, and the most items of them."""
    called = [[method.values[index] for index in call.arguments] for call in _calls(method)]
    lengths = [[len(cast(Sized, v.data)) for v in values if v.kind is kind] for values in called]
    return [
        (max(map(len, lengths), default=0), _LIST),
        (max(map(sum, lengths), default=0), item),
    ]


def _caller_bytes(method: Method) -> int:
    indices = dict.fromkeys((*method.inputs, *method.outputs))
    values = (method.values[index].data for index in indices)
    return sum(v.nbytes for v in values if isinstance(v, TensorInfo) and v.storage is Storage.INPUT)
