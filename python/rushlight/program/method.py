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

Payloads = Mapping[int, Sequence[memoryview]]


def read_method(table: Table, payloads: Payloads) -> Method:
    """Read a method; `payloads` are delegate data by location (0 inline, 1 segment) and index.

    Errors: InvalidProgram.
    """
    structure = table.table(1, "container_meta_type")
    method = Method(
        name=table.name(0, "name"),
        values=table.tables(2, "values", _read_value),
        inputs=table.numbers(3, "inputs", "i"),
        outputs=table.numbers(4, "outputs", "i"),
        chains=table.tables(5, "chains", _read_chain),
        operators=table.tables(6, "operators", _read_operator),
        delegates=table.tables(7, "delegates", lambda delegate: _read_delegate(delegate, payloads)),
        buffer_sizes=table.numbers(8, "non_const_buffer_sizes", "q"),
        buffer_devices=dict(table.tables(9, "non_const_buffer_device", _read_buffer_device)),
        input_structure=structure.string(0, "encoded_inp_str") if structure else "",
        output_structure=structure.string(1, "encoded_out_str") if structure else "",
    )
    what = f"method '{method.name}'"
    check_method(method, what)
    for index in _uses(method):
        data = method.values[index].data
        table.buffer.charge(len(data) if isinstance(data, tuple) else 1, what)
    return method


def _read_chain(table: Table) -> tuple[Instruction, ...]:
    for slot, unused in enumerate(("inputs", "outputs")):  # read as the runtime does, to be refused alike
        table.numbers(slot, unused, "i")
    return table.tables(2, "instructions", _read_instruction)


def _read_value(table: Table) -> Value:
    number, content = table.union(0, "val", len(Kind))
    if number == 0 or content is None:
        return Value(Kind.NONE)
    kind = Kind(number)
    return Value(kind, _read_data(kind, content))


def _read_data(kind: Kind, table: Table) -> object:
    match kind:
        case Kind.NONE:
            return None
        case Kind.INT:
            return table.number(0, "int_val", "q")
        case Kind.BOOL:
            return bool(table.number(0, "bool_val", "B"))
        case Kind.DOUBLE:
            return table.double(0, "double_val")
        case Kind.TENSOR:
            return _read_tensor(table)
        case Kind.STRING:
            return table.string(0, "string_val")
        case Kind.INT_LIST:
            return table.numbers(0, "items", "q")
        case Kind.DOUBLE_LIST:
            return table.doubles(0, "items")
        case Kind.BOOL_LIST:
            return tuple(map(bool, table.numbers(0, "items", "B")))
        case _:
            return table.numbers(0, "items", "i")


def _read_tensor(table: Table) -> TensorInfo:
    number = table.number(0, "scalar_type", "b")
    if number not in NAMES:
        raise InvalidProgram(f"{table.what}: element type at most {max(NAMES)} expected, found {number}")
    if offset := table.number(1, "storage_offset", "i"):
        raise InvalidProgram(f"{table.what}: storage offset 0 expected, found {offset}")
    if layout := table.number(7, "layout", "b"):
        raise InvalidProgram(f"{table.what}: layout 0 (strided) expected, found {layout}")
    table.number(4, "requires_grad", "B")  # nobody's
    dynamism = table.number(8, "shape_dynamism", "b")
    if not 0 <= dynamism < len(Dynamism):
        highest = len(Dynamism) - 1
        raise InvalidProgram(f"{table.what}: shape dynamism 0 to {highest} expected, found {dynamism}")
    sizes = table.numbers(2, "sizes", "i")
    dim_order = table.numbers(3, "dim_order", "B")
    check_shape(sizes, dim_order, table.what)
    index, place = table.number(5, "data_buffer_idx", "I"), table.table(6, "allocation_info")
    extra = table.table(9, "extra_tensor_info")
    external = extra is not None and extra.number(2, "location", "b") == 1
    return TensorInfo(
        dtype=NAMES[number],
        sizes=sizes,
        dim_order=dim_order,
        dynamism=Dynamism(dynamism),
        storage=Storage.EXTERNAL if external else _storage(index, place is not None),
        buffer_index=index,
        memory_id=place.number(0, "memory_id", "I") if place else 0,
        memory_offset=_memory_offset(place) if place else 0,
        mutable_group=extra.number(0, "mutable_data_segments_idx", "Q") if extra else 0,
        name=extra.name(1, "fully_qualified_name") if extra else "",
        device=_read_device(extra, 3) if extra else Device(),
    )


def _read_device(table: Table, slot: int) -> Device:
    """A device's type and number, at `slot` and the one behind it."""
    return Device(table.number(slot, "device_type", "b"), table.number(slot + 1, "device_index", "b"))


def _read_buffer_device(table: Table) -> tuple[int, Device]:
    return table.number(0, "buffer_idx", "i"), _read_device(table, 1)


def _memory_offset(place: Table) -> int:
    return place.number(1, "memory_offset_low", "I") | place.number(2, "memory_offset_high", "I") << 32


def _storage(buffer_index: int, allocated: bool) -> Storage:
    if allocated:
        return Storage.MUTABLE if buffer_index else Storage.PLANNED
    return Storage.CONSTANT if buffer_index else Storage.INPUT


def _read_instruction(table: Table) -> Instruction:
    kind, content = table.union(0, "instr_args", 5)
    if content is None:
        raise InvalidProgram(f"{table.what}: an instruction expected, found none")
    if kind == 1:
        return KernelCall(content.number(0, "op_index", "i"), content.numbers(1, "args", "i"))
    if kind == 2:
        return DelegateCall(content.number(0, "delegate_index", "i"), content.numbers(1, "args", "i"))
    if kind == 3:
        return Move(content.number(0, "move_from", "i"), content.number(1, "move_to", "i"))
    if kind == 4:
        return JumpFalse(
            content.number(0, "cond_value_index", "i"), content.number(1, "destination_instruction", "i")
        )
    if kind == 5:
        return Free(content.number(0, "value_index", "i"))
    raise InvalidProgram(f"{table.what}: instruction type 1 to 5 expected, found {kind}")


def _read_operator(table: Table) -> str:
    name, overload = table.name(0, "name"), table.name(1, "overload")
    if not name:
        raise InvalidProgram(f"{table.what}: an operator name expected, found none")
    return f"{name}.{overload}" if overload else name


def _read_delegate(table: Table, payloads: Payloads) -> Delegate:
    processed = table.table(1, "processed")
    if processed is None:
        raise InvalidProgram(f"{table.what}: a reference to its data expected, found none")
    location, index = processed.number(0, "location", "b"), processed.number(1, "index", "I")
    if location not in payloads or index >= len(payloads[location]):
        known = {where: len(items) for where, items in payloads.items()}
        raise InvalidProgram(
            f"{table.what}: data at location {location}, index {index}; the program has inline {known[0]}, "
            f"segments {known[1]}"
        )
    specs = table.tables(2, "compile_specs", lambda spec: (spec.name(0, "key"), spec.bytes(1, "value")))
    return Delegate(table.name(0, "id"), payloads[location][index], specs)


def check_method(method: Method, what: str) -> None:
    """Errors: InvalidProgram for an index or a place in planned memory that is not there."""
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
        raise InvalidProgram(f"{what}: planned memory of {min(method.buffer_sizes)} bytes")


def _uses(method: Method) -> Iterator[int]:
    """Each mention of a value; readers of the program visit a list's items as often as it is mentioned."""
    yield from method.inputs
    yield from method.outputs
    for instruction in method.instructions:
        if isinstance(instruction, (KernelCall, DelegateCall)):
            yield from instruction.arguments


def _check_indices(indices: Iterable[int], count: int, what: str, lowest: int = 0) -> None:
    for index in indices:
        if not lowest <= index < count:
            raise InvalidProgram(f"{what}: index {lowest} to {count - 1} expected, found {index}")


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
        # A value that an instruction will write may hold nothing yet.
        if kind not in (*items, Kind.NONE):
            raise InvalidProgram(f"{what}: item {index} expected to be {items[0].name}, found {kind.name}")


def _check_planned(method: Method, tensor: TensorInfo, what: str) -> None:
    if tensor.storage not in (Storage.PLANNED, Storage.MUTABLE):
        return
    sizes = method.buffer_sizes
    if not 0 < tensor.memory_id < len(sizes):
        raise InvalidProgram(f"{what}: in planned memory {tensor.memory_id} of {max(len(sizes) - 1, 0)}")
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
