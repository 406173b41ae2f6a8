# SPDX-License-Identifier: BSD-3-Clause
"""Describes programs, bundled programs and data files as plain data for printing and JSON."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

from rushlight.program.bundled import (
    BundledProgram,
    BundledTensor,
    BundledValue,
    is_bundled_program,
    read_bundled_program,
)
from rushlight.program.container import bytes_of
from rushlight.program.data_file import IDENTIFIER as DATA_FILE
from rushlight.program.data_file import DataEntry, DataFile, read_data_file
from rushlight.program.dtypes import NUMBERS
from rushlight.program.memory import method_memory
from rushlight.program.model import DelegateCall, Device, Kind, Method, Program, Storage, TensorInfo, Value
from rushlight.program.reader import read_program


def operator_uses(program: Program) -> dict[str, frozenset[str]]:
    """Each operator that instructions call, with the dtypes of all its tensor arguments."""
    uses: dict[str, set[str]] = {}
    for method in program.plans:
        for name, arguments in method.calls():
            dtypes = uses.setdefault(name, set())
            dtypes.update(tensor.dtype for value in arguments for tensor in method.tensors_of(value))
    return {name: frozenset(dtypes) for name, dtypes in sorted(uses.items())}


def describe_file(source: str | os.PathLike[str] | bytes | bytearray | memoryview) -> dict[str, Any]:
    """Describes a file of any of the three kinds; "kind" is "program", "bundled program" or "data file".

    Errors: InvalidProgram; InvalidArgument for a file that cannot be opened.
    """
    data = bytes_of(source)
    if is_bundled_program(data):
        return _bundle(read_bundled_program(data))
    if bytes(data[4:8]) == DATA_FILE:
        return _data_file(read_data_file(data))
    return {"kind": "program", **describe(read_program(data))}


def describe(program: Program) -> dict[str, Any]:
    """Describes methods (inputs, outputs, operators, constants, planned memory, delegates), segments and
    named data. Sizes are in bytes."""
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


def _data_file(file: DataFile) -> dict[str, Any]:
    return {
        "kind": "data file",
        "version": file.version,
        "file_bytes": file.file_bytes,
        "data": [_data_entry(entry) for entry in file.entries],
        "segments": [{"offset": s.offset, "bytes": s.size} for s in file.segments],
    }


def _data_entry(entry: DataEntry) -> dict[str, Any]:
    described: dict[str, Any] = {"key": entry.key, "segment": entry.segment, "bytes": len(entry.data)}
    if entry.dtype is not None:
        described |= {
            "dtype": entry.dtype,
            "shape": list(entry.sizes),
            "dim_order": list(entry.dim_order),
        }
    return described


def _bundle(bundle: BundledProgram) -> dict[str, Any]:
    return {
        "kind": "bundled program",
        "version": bundle.version,
        "file_bytes": bundle.file_bytes,
        "suites": [
            {
                "method": suite.method,
                "cases": [
                    {
                        "inputs": [_bundled_value(value) for value in case.inputs],
                        "outputs": [_bundled_value(value) for value in case.outputs],
                    }
                    for case in suite.cases
                ],
            }
            for suite in bundle.suites
        ],
        "program": describe(read_program(bundle.program)),
    }


def _bundled_value(value: BundledValue) -> dict[str, Any]:
    if isinstance(value, BundledTensor):
        order = list(value.dim_order)
        return {"kind": "tensor", "dtype": value.dtype, "shape": list(value.sizes), "dim_order": order}
    kind = {bool: "bool", int: "int", float: "double"}[type(value)]
    return {"kind": kind, "value": value}


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
        "external_bytes": sum({t.name: t.nbytes for t in tensors if t.storage is Storage.EXTERNAL}.values()),
        "devices": sorted({str(d) for d in (*method.buffer_devices.values(), *(t.device for t in tensors))}),
        "planned_memory": [
            {"id": index, "bytes": size, "device": str(method.buffer_devices.get(index, Device()))}
            for index, size in enumerate(method.buffer_sizes)
            if index > 0
        ],
        "memory": method_memory(method).to_json(),
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
            "device": str(tensor.device),
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
    """For each operator the number of calls, and the dtypes of each argument that is or holds tensors."""
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
    """The arguments without the return value, which repeats earlier arguments."""
    if not arguments:
        return arguments
    before, last = arguments[:-1], arguments[-1]
    repeats = any(value is last or (value.kind is Kind.TENSOR_LIST and value == last) for value in before)
    if last.kind is Kind.TENSOR_LIST and not repeats:
        known = {id(value.data) for value in before}
        repeats = all(id(tensor) in known for tensor in method.tensors_of(last))
    return before if repeats else arguments


def _stored(tensors: list[TensorInfo], storage: Storage) -> dict[str, int]:
    """The number of data pieces in the file that the tensors use, and their bytes; shared data counts
    once."""
    pieces: dict[tuple[int, int], int] = {}
    for tensor in tensors:
        if tensor.storage is storage:
            slot = (tensor.mutable_group, tensor.buffer_index)
            pieces[slot] = max(pieces.get(slot, 0), tensor.nbytes)
    return {"count": len(pieces), "bytes": sum(pieces.values())}


def _delegates(method: Method) -> list[dict[str, Any]]:
    calls = Counter(i.delegate for i in method.instructions if isinstance(i, DelegateCall))
    return [
        {"id": delegate.id, "bytes": len(delegate.payload), "calls": calls[index]}
        for index, delegate in enumerate(method.delegates)
    ]
