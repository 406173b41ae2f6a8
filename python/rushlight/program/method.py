# SPDX-License-Identifier: BSD-3-Clause
"""Reads one method: its values, instructions, operators and delegates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rushlight.errors import InvalidProgram
from rushlight.program.arrays import check_shape
from rushlight.program.dtypes import NAMES
from rushlight.program.flatbuffer import Table
from rushlight.program.model import (
    Delegate,
    DelegateCall,
    Device,
    Dynamism,
    Free,
    Instruction,
    JumpFalse,
    KernelCall,
    Kind,
    Method,
    Move,
    Storage,
    TensorInfo,
    Value,
)
from rushlight.program.schema import PROGRAM

_KINDS = dict(zip(PROGRAM.unions["KernelTypes"], Kind, strict=True))
_EXTERNAL = PROGRAM.enums["TensorDataLocation"].index("EXTERNAL")

Payloads = Mapping[int, Sequence[memoryview]]


def read_method(table: Table, payloads: Payloads) -> Method:
    """Reads a method; `payloads` are the delegates' payloads by DataLocation and index.

    Errors: InvalidProgram.
    """
    structure = table.table("container_meta_type")
    method = Method(
        name=table.name("name"),
        values=table.tables("values", _read_value),
        inputs=table.numbers("inputs"),
        outputs=table.numbers("outputs"),
        chains=table.tables("chains", _read_chain),
        operators=table.tables("operators", _read_operator),
        delegates=table.tables("delegates", lambda delegate: _read_delegate(delegate, payloads)),
        buffer_sizes=table.numbers("non_const_buffer_sizes"),
        buffer_devices=dict(table.tables("non_const_buffer_device", _read_buffer_device)),
        input_structure=structure.string("encoded_inp_str") if structure else "",
        output_structure=structure.string("encoded_out_str") if structure else "",
    )
    what = f"method '{method.name}'"
    check_method(method, what)
    for index in _uses(method):
        data = method.values[index].data
        table.buffer.charge(len(data) if isinstance(data, tuple) else 1, what)
    return method


def _read_chain(table: Table) -> tuple[Instruction, ...]:
    for unused in ("inputs", "outputs"):  # read only to reject the same files as the runtime
        table.numbers(unused)
    return table.tables("instructions", _read_instruction)


def _read_value(table: Table) -> Value:
    name, content = table.union("val")
    if content is None:
        return Value(Kind.NONE)
    kind = _KINDS[name]
    return Value(kind, _read_data(kind, content))


def _read_data(kind: Kind, table: Table) -> object:
    match kind:
        case Kind.NONE:
            return None
        case Kind.INT:
            return table.number("int_val")
        case Kind.BOOL:
            return bool(table.number("bool_val"))
        case Kind.DOUBLE:
            return table.double("double_val")
        case Kind.TENSOR:
            return _read_tensor(table)
        case Kind.STRING:
            return table.string("string_val")
        case Kind.INT_LIST:
            return table.numbers("items")
        case Kind.DOUBLE_LIST:
            return table.doubles("items")
        case Kind.BOOL_LIST:
            return tuple(map(bool, table.numbers("items")))
        case _:
            return table.numbers("items")


def _read_tensor(table: Table) -> TensorInfo:
    number = table.number("scalar_type")
    if number not in NAMES:
        raise InvalidProgram(f"{table.what}: expected an element type of at most {max(NAMES)}, got {number}")
    if offset := table.number("storage_offset"):
        raise InvalidProgram(f"{table.what}: expected storage offset 0, got {offset}")
    if layout := table.number("layout"):
        raise InvalidProgram(f"{table.what}: expected layout 0 (strided), got {layout}")
    table.number("requires_grad")  # unused; read to reject the same files as the runtime
    dynamism = table.number("shape_dynamism")
    if not 0 <= dynamism < len(Dynamism):
        highest = len(Dynamism) - 1
        raise InvalidProgram(f"{table.what}: expected a shape dynamism from 0 to {highest}, got {dynamism}")
    sizes = table.numbers("sizes")
    dim_order = table.numbers("dim_order")
    check_shape(sizes, dim_order, table.what)
    index, allocation = table.number("data_buffer_idx"), table.table("allocation_info")
    extra = table.table("extra_tensor_info")
    external = extra is not None and extra.number("location") == _EXTERNAL
    return TensorInfo(
        dtype=NAMES[number],
        sizes=sizes,
        dim_order=dim_order,
        dynamism=Dynamism(dynamism),
        storage=Storage.EXTERNAL if external else _storage(index, allocation is not None),
        buffer_index=index,
        memory_id=allocation.number("memory_id") if allocation else 0,
        memory_offset=_memory_offset(allocation) if allocation else 0,
        mutable_group=extra.number("mutable_data_segments_idx") if extra else 0,
        name=extra.name("fully_qualified_name") if extra else "",
        device=_read_device(extra) if extra else Device(),
    )


def _read_device(table: Table) -> Device:
    return Device(table.number("device_type"), table.number("device_index"))


def _read_buffer_device(table: Table) -> tuple[int, Device]:
    return table.number("buffer_idx"), _read_device(table)


def _memory_offset(allocation: Table) -> int:
    return allocation.number("memory_offset_low") | allocation.number("memory_offset_high") << 32


def _storage(buffer_index: int, allocated: bool) -> Storage:
    if allocated:
        return Storage.MUTABLE if buffer_index else Storage.PLANNED
    return Storage.CONSTANT if buffer_index else Storage.INPUT


def _read_instruction(table: Table) -> Instruction:
    kind, content = table.union("instr_args")
    if content is None:
        raise InvalidProgram(f"{table.what}: expected an instruction, got none")
    match kind:
        case "KernelCall":
            return KernelCall(content.number("op_index"), content.numbers("args"))
        case "DelegateCall":
            return DelegateCall(content.number("delegate_index"), content.numbers("args"))
        case "MoveCall":
            return Move(content.number("move_from"), content.number("move_to"))
        case "JumpFalseCall":
            return JumpFalse(content.number("cond_value_index"), content.number("destination_instruction"))
    return Free(content.number("value_index"))


def _read_operator(table: Table) -> str:
    name, overload = table.name("name"), table.name("overload")
    if not name:
        raise InvalidProgram(f"{table.what}: expected an operator name, got none")
    return f"{name}.{overload}" if overload else name


def _read_delegate(table: Table, payloads: Payloads) -> Delegate:
    processed = table.table("processed")
    if processed is None:
        raise InvalidProgram(f"{table.what}: expected a reference to its data, got none")
    location, index = processed.number("location"), processed.number("index")
    if location not in payloads or index >= len(payloads[location]):
        known = {where: len(items) for where, items in payloads.items()}
        raise InvalidProgram(
            f"{table.what}: data at location {location}, index {index}; the program has inline {known[0]}, "
            f"segments {known[1]}"
        )
    specs = table.tables("compile_specs", lambda spec: (spec.name("key"), spec.bytes("value")))
    return Delegate(table.name("id"), payloads[location][index], specs)


def check_method(method: Method, what: str) -> None:
    """Errors: InvalidProgram for an index, or a range of planned memory, that does not exist."""
    _check_indices(method.inputs, len(method.values), f"{what}: inputs")
    _check_indices(method.outputs, len(method.values), f"{what}: outputs")
    for index, value in enumerate(method.values):
        _check_value(method, value, f"{what}: value {index}")
        if isinstance(value.data, TensorInfo):
            _check_planned(method, value.data, f"{what}: tensor {index}")
    for chain in method.chains:
        for index, instruction in enumerate(chain):
            _check_instruction(method, instruction, len(chain), f"{what}: instruction {index}")
    if any(size < 0 for size in method.buffer_sizes):
        raise InvalidProgram(
            f"{what}: planned memory: expected at least 0 bytes, got {min(method.buffer_sizes)}"
        )


def _uses(method: Method) -> Iterator[int]:
    """Each reference to a value: readers visit a list's items once per reference."""
    yield from method.inputs
    yield from method.outputs
    for instruction in method.instructions:
        if isinstance(instruction, (KernelCall, DelegateCall)):
            yield from instruction.arguments


def _check_indices(indices: Iterable[int], count: int, what: str, lowest: int = 0) -> None:
    for index in indices:
        if not lowest <= index < count:
            raise InvalidProgram(f"{what}: expected an index from {lowest} to {count - 1}, got {index}")


def _check_value(method: Method, value: Value, what: str) -> None:
    items = {
        Kind.INT_LIST: (Kind.INT,),
        Kind.TENSOR_LIST: (Kind.TENSOR,),
        Kind.OPTIONAL_TENSOR_LIST: (Kind.TENSOR, Kind.NONE),
    }.get(value.kind)
    if items is None:
        return
    assert isinstance(value.data, tuple)
    lowest = -1 if value.kind is Kind.OPTIONAL_TENSOR_LIST else 0
    _check_indices(value.data, len(method.values), what, lowest)
    for index in value.data:
        kind = method.values[index].kind if index >= 0 else Kind.NONE
        # A value that an instruction writes may be empty until then.
        if kind not in (*items, Kind.NONE):
            raise InvalidProgram(f"{what}: item {index}: expected {items[0].name}, got {kind.name}")


def _check_planned(method: Method, tensor: TensorInfo, what: str) -> None:
    if tensor.storage not in (Storage.PLANNED, Storage.MUTABLE):
        return
    sizes = method.buffer_sizes
    if not 0 < tensor.memory_id < len(sizes):
        raise InvalidProgram(
            f"{what}: expected a memory id from 1 to {max(len(sizes) - 1, 0)}, got {tensor.memory_id}"
        )
    end = tensor.memory_offset + tensor.nbytes
    if end > sizes[tensor.memory_id]:
        raise InvalidProgram(
            f"{what}: ends at byte {end} of planned memory {tensor.memory_id}, "
            f"which has {sizes[tensor.memory_id]}"
        )


def _check_instruction(method: Method, instruction: Instruction, length: int, what: str) -> None:
    match instruction:
        case KernelCall(operator, arguments):
            _check_indices([operator], len(method.operators), f"{what}: operator")
            _check_indices(arguments, len(method.values), f"{what}: arguments")
        case DelegateCall(delegate, arguments):
            _check_indices([delegate], len(method.delegates), f"{what}: delegate")
            _check_indices(arguments, len(method.values), f"{what}: arguments")
        case Move(source, destination):
            _check_indices([source, destination], len(method.values), f"{what}: values")
        case JumpFalse(condition, target):
            _check_indices([condition], len(method.values), f"{what}: condition")
            _check_indices([target], length + 1, f"{what}: target")
        case Free(value):
            _check_indices([value], len(method.values), f"{what}: value")
