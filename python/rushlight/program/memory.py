# SPDX-License-Identifier: BSD-3-Clause
"""The RAM of a method, computed without loading it, for 32-bit and 64-bit targets."""

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
    """Exact sizes in bytes. `method_arena` by pointer width in bits: the method's own values, without
    allocations of backends. `planned` by buffer, starting at memory id 1. `temporary` is the peak scratch
    memory of the board's kernels, which is 0; for host kernels see runtime/needs.py. `caller` is the
    memory of inputs and outputs that the program does not plan, at the upper bounds of their shapes."""

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
    """The memory needed to load and execute the method, in bytes."""
    return MethodMemory(
        {bits: arena_bytes(method, bits) for bits in (32, 64)},
        tuple(method.buffer_sizes[1:]),
        0,
        _caller_bytes(method),
    )


def arena_bytes(method: Method, bits: int) -> int:
    """The bytes of the method arena with 32-bit or 64-bit pointers; the arena's start is a multiple of 8.
    Errors: InvalidArgument for another width."""
    if bits not in (32, 64):
        raise InvalidArgument(f"pointer width: expected 32 or 64 bits, got {bits}")
    pointer = bits // 8
    counts = _counts(method, bits)
    used = 0
    for part in PARTS:
        alignment = part.alignment(pointer)
        used = -(-used // alignment) * alignment + counts[part.name] * part.size(pointer)
    return used


def _counts(method: Method, bits: int) -> dict[str, int]:
    """The number of elements in each part of the arena."""
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
    """True for a compact method, as runtime/program/layout.h defines: calls write only tensors, and nothing
    moves or jumps."""
    for instruction in method.instructions:
        if isinstance(instruction, DelegateCall | Move | JumpFalse):
            return False
    calls = [call for call in _calls(method) if call.arguments]
    return all(method.values[call.arguments[-1]].kind not in _NUMBERS for call in calls)


def _calls(method: Method) -> list[KernelCall | DelegateCall]:
    return [i for i in method.instructions if isinstance(i, KernelCall | DelegateCall)]


def _lists(method: Method, kind: Kind, name: str) -> dict[str, int]:
    """The maximum number of lists of a kind that one call names, and of their items."""
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
