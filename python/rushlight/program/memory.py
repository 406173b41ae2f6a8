# SPDX-License-Identifier: BSD-3-Clause
"""The RAM that a method takes, before it is loaded, for targets of both pointer widths."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass
from typing import Any, cast

from rushlight.errors import InvalidArgument
from rushlight.program.arena import COMPACT_POINTER, PARTS
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

_NUMBERS = (Kind.INT, Kind.BOOL, Kind.DOUBLE)


@dataclass(frozen=True)
class MethodMemory:
    """Bytes, exact. `method_arena` by pointer width in bits: what the values of the method take, without
    what backends allocate for themselves. `planned` by buffer, memory id 1 first. `temporary` is the most
    that kernels of boards ask for at a time: none; for those of hosts see runtime/needs.py. `caller` is what
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
    counts = _counts(method, bits)
    used = 0
    for part in PARTS:
        alignment = part.alignment(pointer)
        used = -(-used // alignment) * alignment + counts[part.name] * part.size(pointer)
    return used


def _counts(method: Method, bits: int) -> dict[str, int]:
    """How many elements each part of the arena has."""
    tensors = [value.data for value in method.values if isinstance(value.data, TensorInfo)]
    compact = bits == 8 * COMPACT_POINTER and _is_plain(method)
    absent = "kept" if compact else "compact"
    arguments = max((len(call.arguments) for call in _calls(method)), default=0)
    counts = {
        "Values": len(method.values),
        "Ends": len(method.inputs) + len(method.outputs),
        "Made": arguments,
        "Tensors": len(tensors),
        "TensorRanks": -(-len(method.values) // 32),
        **_lists(method, Kind.INT_LIST, "IntList"),
        **_lists(method, Kind.TENSOR_LIST, "TensorList"),
        **_lists(method, Kind.OPTIONAL_TENSOR_LIST, "OptionalTensorList"),
        "Kernels": len(method.operators),
        "Delegates": len(method.delegates),
        "CompileSpecs": sum(len(delegate.compile_specs) for delegate in method.delegates),
        "ExternalData": sum(tensor.storage is Storage.EXTERNAL for tensor in tensors),
        "Arguments": arguments,
        "Strides": sum(len(tensor.sizes) for tensor in tensors),
        "Sizes": sum(len(t.sizes) for t in tensors if t.dynamism is not Dynamism.STATIC),
    }
    return {part.name: 0 if part.only == absent else counts[part.name] for part in PARTS}


def _is_plain(method: Method) -> bool:
    """As runtime/program/layout.h says: calls that write tensors only, nothing moves or jumps."""
    for instruction in method.instructions:
        if isinstance(instruction, DelegateCall | Move | JumpFalse):
            return False
    calls = [call for call in _calls(method) if call.arguments]
    return all(method.values[call.arguments[-1]].kind not in _NUMBERS for call in calls)


def _calls(method: Method) -> list[KernelCall | DelegateCall]:
    return [i for i in method.instructions if isinstance(i, KernelCall | DelegateCall)]


def _lists(method: Method, kind: Kind, name: str) -> dict[str, int]:
    """The most lists of a kind that a call names, and the most items of them."""
    called = [[method.values[index] for index in call.arguments] for call in _calls(method)]
    lengths = [[len(cast(Sized, v.data)) for v in values if v.kind is kind] for values in called]
    return {
        f"{name}s": max(map(len, lengths), default=0),
        f"{name}Items": max(map(sum, lengths), default=0),
    }


def _caller_bytes(method: Method) -> int:
    indices = dict.fromkeys((*method.inputs, *method.outputs))
    values = (method.values[index].data for index in indices)
    return sum(v.nbytes for v in values if isinstance(v, TensorInfo) and v.storage is Storage.INPUT)
