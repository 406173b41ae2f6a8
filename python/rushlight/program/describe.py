# SPDX-License-Identifier: BSD-3-Clause
"""What a program holds, as plain data for printing and JSON."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rushlight.program.dtypes import NUMBERS
from rushlight.program.model import DelegateCall, Kind, Method, Program, Storage, TensorInfo, Value


def operator_uses(program: Program) -> dict[str, frozenset[str]]:
    """Each operator that instructions call, with the dtypes of all its tensor arguments."""
    uses: dict[str, set[str]] = {}
    for method in program.plans:
        for name, arguments in method.calls():
            dtypes = uses.setdefault(name, set())
            dtypes.update(tensor.dtype for value in arguments for tensor in method.tensors_of(value))
    return {name: frozenset(dtypes) for name, dtypes in sorted(uses.items())}


def describe(program: Program) -> dict[str, Any]:
    """Methods (inputs, outputs, operators, constants, planned memory, delegates), segments, named data."""
    return {
        "version": program.version,
        "file_bytes": len(program.data),
        "program_bytes": program.program_size,
        "methods": [_method(program, method) for method in program.plans],
        "segments": [{"offset": s.offset, "bytes": s.size} for s in program.segments],
        "named_data": [
            {"key": key, "segment": index, "bytes": program.segments[index].size}
            for key, index in program.named_data
        ],
    }


def _method(program: Program, method: Method) -> dict[str, Any]:
    tensors = [value.data for value in method.values if isinstance(value.data, TensorInfo)]
    return {
        "name": method.name,
        "inputs": [_value(method, method.values[index]) for index in method.inputs],
        "outputs": [_value(method, method.values[index]) for index in method.outputs],
        "instructions": len(method.instructions),
        "operators": _operators(method),
        "constants": _stored(tensors, Storage.CONSTANT),
        "mutable": _stored(tensors, Storage.MUTABLE),
        "external": sorted({t.name for t in tensors if t.storage is Storage.EXTERNAL}),
        "planned_memory": [
            {"id": index, "bytes": size} for index, size in enumerate(method.buffer_sizes) if index > 0
        ],
        "delegates": _delegates(method),
    }


def _value(method: Method, value: Value) -> dict[str, Any]:
    if isinstance(value.data, TensorInfo):
        tensor = value.data
        return {
            "kind": "tensor",
            "dtype": tensor.dtype,
            "shape": list(tensor.sizes),
            "dim_order": list(tensor.dim_order),
            "dynamism": tensor.dynamism.name.lower(),
            "storage": tensor.storage.value,
        }
    described: dict[str, Any] = {"kind": value.kind.name.lower()}
    if value.kind in (Kind.TENSOR_LIST, Kind.OPTIONAL_TENSOR_LIST, Kind.INT_LIST):
        assert isinstance(value.data, tuple)
        items = [method.values[index] if index >= 0 else Value(Kind.NONE) for index in value.data]
        described["items"] = [_value(method, item) for item in items]
    elif value.kind is not Kind.NONE:
        described["value"] = value.data
    return described


def _operators(method: Method) -> list[dict[str, Any]]:
    """Per operator the number of calls, and the dtypes of each argument that is or holds tensors."""
    counts: dict[str, int] = {}
    positions: dict[str, dict[int, set[str]]] = {}
    for name, arguments in method.calls():
        counts[name] = counts.get(name, 0) + 1
        for position, value in enumerate(_without_returns(method, arguments)):
            if tensors := method.tensors_of(value):
                dtypes = positions.setdefault(name, {}).setdefault(position, set())
                dtypes.update(tensor.dtype for tensor in tensors)
    return [
        {
            "name": name,
            "calls": counts[name],
            "dtypes": {
                str(position): sorted(dtypes, key=NUMBERS.__getitem__)
                for position, dtypes in sorted(positions.get(name, {}).items())
            },
        }
        for name in sorted(counts)
    ]


def _without_returns(method: Method, arguments: list[Value]) -> list[Value]:
    """The arguments less the return value, which repeats what stands before it."""
    if not arguments:
        return arguments
    before, last = arguments[:-1], arguments[-1]
    repeats = any(value is last or (value.kind is Kind.TENSOR_LIST and value == last) for value in before)
    if last.kind is Kind.TENSOR_LIST and not repeats:
        known = {id(value.data) for value in before}
        repeats = all(id(tensor) in known for tensor in method.tensors_of(last))
    return before if repeats else arguments


def _stored(tensors: list[TensorInfo], storage: Storage) -> dict[str, int]:
    """How many pieces of data in the file the tensors take, and their bytes; shared data counts once."""
    pieces: dict[tuple[int, int], int] = {}
    for tensor in tensors:
        if tensor.storage is storage:
            place = (tensor.mutable_group, tensor.buffer_index)
            pieces[place] = max(pieces.get(place, 0), tensor.nbytes)
    return {"count": len(pieces), "bytes": sum(pieces.values())}


def _delegates(method: Method) -> list[dict[str, Any]]:
    calls = Counter(i.delegate for i in method.instructions if isinstance(i, DelegateCall))
    return [
        {"id": delegate.id, "bytes": len(delegate.payload), "calls": calls[index]}
        for index, delegate in enumerate(method.delegates)
    ]
