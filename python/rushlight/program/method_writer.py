# SPDX-License-Identifier: BSD-3-Clause
"""Writes one method, field by field as method.py reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rushlight.errors import InvalidArgument
from rushlight.program.dtypes import NUMBERS
from rushlight.program.flatbuffer_writer import FlatbufferWriter
from rushlight.program.model import (
    Delegate,
    DelegateCall,
    Device,
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

PayloadPosition = tuple[str, int]
"""The position of a delegate's payload: the name of a DataLocation, and the index there."""

_KINDS = dict(zip(Kind, PROGRAM.unions["KernelTypes"], strict=True))


def write_method(
    flat: FlatbufferWriter, method: Method, payload_position: Callable[[Delegate], PayloadPosition]
) -> int:
    """Writes a method's table and returns its position; `place_of` returns the position of a delegate's
    payload.

    Errors: InvalidArgument for values that the format cannot hold.
    """
    what = f"method '{method.name}'"
    values = [_value(flat, value, f"{what}: value {index}") for index, value in enumerate(method.values)]
    chains = [_chain(flat, chain, what) for chain in method.chains]
    operators = [_operator(flat, name) for name in method.operators]
    delegates = [_delegate(flat, delegate, payload_position(delegate), what) for delegate in method.delegates]
    table = "ExecutionPlan"
    return flat.table(
        table,
        name=flat.name(method.name, what),
        container_meta_type=_structure(flat, method),
        values=flat.offsets(values),
        inputs=flat.numbers(table, "inputs", method.inputs, f"{what}: inputs"),
        outputs=flat.numbers(table, "outputs", method.outputs, f"{what}: outputs"),
        chains=flat.offsets(chains),
        operators=flat.offsets(operators),
        delegates=flat.offsets(delegates),
        non_const_buffer_sizes=flat.numbers(
            table, "non_const_buffer_sizes", method.buffer_sizes or (0,), f"{what}: sizes"
        ),
        non_const_buffer_device=_buffer_devices(flat, method.buffer_devices),
    )


def _structure(flat: FlatbufferWriter, method: Method) -> int:
    inputs, outputs = flat.string(method.input_structure), flat.string(method.output_structure)
    return flat.table("ContainerMetadata", encoded_inp_str=inputs, encoded_out_str=outputs)


def _value(flat: FlatbufferWriter, value: Value, what: str) -> int:
    """Writes a value. Equal values that are no tensors share a table, but remain separate values."""
    if value.kind is Kind.TENSOR:
        if not isinstance(value.data, TensorInfo):
            raise InvalidArgument(f"{what}: expected a TensorInfo, got {type(value.data).__name__}")
        return flat.union("EValue", "val", "Tensor", _tensor(flat, value.data, what))
    return flat.shared(
        ("value", value.kind, repr(value.data)),  # repr distinguishes 0.0 from -0.0
        lambda: flat.union("EValue", "val", _KINDS[value.kind], _plain(flat, value.kind, value.data, what)),
    )


def _plain(flat: FlatbufferWriter, kind: Kind, data: object, what: str) -> int:
    table = _KINDS[kind]
    match kind:
        case Kind.NONE:
            return flat.table(table)
        case Kind.INT:
            return flat.table(table, what, int_val=data)
        case Kind.BOOL:
            return flat.table(table, what, bool_val=bool(data))
        case Kind.DOUBLE:
            return flat.table(table, what, double_val=data)
        case Kind.STRING:
            return flat.table(table, what, string_val=flat.string(str(data)))
    if not isinstance(data, tuple):
        raise InvalidArgument(f"{what}: expected a tuple, got {type(data).__name__}")
    return flat.table(table, items=flat.numbers(table, "items", data, what))


def _tensor(flat: FlatbufferWriter, tensor: TensorInfo, what: str) -> int:
    dtype = NUMBERS.get(tensor.dtype)
    if dtype is None:
        raise InvalidArgument(f"{what}: expected a dtype of PyTorch, got '{tensor.dtype}'")
    return flat.table(
        "Tensor",
        what,
        sizes=flat.numbers("Tensor", "sizes", tensor.sizes, f"{what}: sizes"),
        dim_order=flat.numbers("Tensor", "dim_order", tensor.dim_order, f"{what}: dim_order"),
        data_buffer_idx=tensor.buffer_index,
        allocation_info=_allocation(flat, tensor, what),
        extra_tensor_info=_extra(flat, tensor, what),
        scalar_type=dtype,
        shape_dynamism=tensor.dynamism.value,
    )


def _allocation(flat: FlatbufferWriter, tensor: TensorInfo, what: str) -> int:
    memory, offset = tensor.memory_id, tensor.memory_offset
    if tensor.storage not in (Storage.PLANNED, Storage.MUTABLE) and not (memory or offset):
        return 0
    return flat.shared(
        ("allocation", memory, offset),
        lambda: flat.table(
            "AllocationDetails",
            what,
            memory_id=memory,
            memory_offset_low=offset & 0xFFFFFFFF,
            memory_offset_high=offset >> 32,
        ),
    )


def _extra(flat: FlatbufferWriter, tensor: TensorInfo, what: str) -> int:
    external = tensor.storage is Storage.EXTERNAL
    if not (external or tensor.name or tensor.mutable_group or tensor.device != Device()):
        return 0
    locations = PROGRAM.enums["TensorDataLocation"]
    return flat.table(
        "ExtraTensorInfo",
        what,
        mutable_data_segments_idx=tensor.mutable_group,
        fully_qualified_name=flat.name(tensor.name, what) if tensor.name else 0,
        location=locations.index("EXTERNAL" if external else "SEGMENT"),
        device_type=tensor.device.type,
        device_index=tensor.device.index,
    )


def _chain(flat: FlatbufferWriter, chain: tuple[Instruction, ...], what: str) -> int:
    written = [_instruction(flat, instruction, what) for instruction in chain]
    none = flat.numbers("Chain", "inputs", (), what)
    return flat.table("Chain", inputs=none, outputs=none, instructions=flat.offsets(written))


def _instruction(flat: FlatbufferWriter, instruction: Instruction, what: str) -> int:
    match instruction:
        case KernelCall(index, arguments):
            listed = flat.numbers("KernelCall", "args", arguments, f"{what}: arguments")
            return _step(flat, "KernelCall", args=listed, op_index=index)
        case DelegateCall(index, arguments):
            listed = flat.numbers("DelegateCall", "args", arguments, f"{what}: arguments")
            return _step(flat, "DelegateCall", args=listed, delegate_index=index)
        case Move(source, destination):
            return _step(flat, "MoveCall", move_from=source, move_to=destination)
        case JumpFalse(condition, target):
            return _step(flat, "JumpFalseCall", cond_value_index=condition, destination_instruction=target)
        case Free(value):
            return _step(flat, "FreeCall", value_index=value)


def _step(flat: FlatbufferWriter, kind: str, **values: int) -> int:
    return flat.union("Instruction", "instr_args", kind, flat.table(kind, **values))


def _operator(flat: FlatbufferWriter, full_name: str) -> int:
    name, _, overload = full_name.partition(".")
    return flat.table("Operator", name=flat.name(name, "operator"), overload=flat.name(overload, "operator"))


def _delegate(flat: FlatbufferWriter, delegate: Delegate, payload: PayloadPosition, what: str) -> int:
    location, index = payload
    specs = [
        flat.table(
            "CompileSpec",
            key=flat.name(key, f"{what}: compile spec"),
            value=flat.blob(memoryview(value)),
        )
        for key, value in delegate.compile_specs
    ]
    processed = flat.table(
        "BackendDelegateDataReference",
        what,
        index=index,
        location=PROGRAM.enums["DataLocation"].index(location),
    )
    return flat.table(
        "BackendDelegate",
        id=flat.name(delegate.id, f"{what}: delegate"),
        processed=processed,
        compile_specs=flat.offsets(specs),
    )


def _buffer_devices(flat: FlatbufferWriter, devices: Mapping[int, Device]) -> int:
    if not devices:
        return 0
    return flat.offsets(
        [
            flat.table("NonConstBufferDevice", buffer_idx=index, device_type=d.type, device_index=d.index)
            for index, d in devices.items()
        ]
    )
