# SPDX-License-Identifier: BSD-3-Clause
"""Writes one method, slot by slot as method.py reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rushlight.errors import InvalidArgument
from rushlight.program.dtypes import NUMBERS
from rushlight.program.flatbuffer_writer import OFFSET, FlatbufferWriter
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

Place = tuple[int, int]
"""Where a delegate's payload is: location (0 inline, 1 segment) and index."""


def write_method(flat: FlatbufferWriter, method: Method, place_of: Callable[[Delegate], Place]) -> int:
    """The offset of a method's table; `place_of` says where a delegate's payload went.

    Errors: InvalidArgument for what the format cannot hold.
    """
    what = f"method '{method.name}'"
    values = [_value(flat, value, f"{what}: value {index}") for index, value in enumerate(method.values)]
    chains = [_chain(flat, chain, what) for chain in method.chains]
    operators = [_operator(flat, name) for name in method.operators]
    delegates = [_delegate(flat, delegate, place_of(delegate), what) for delegate in method.delegates]
    return flat.table(
        (0, "name", OFFSET, flat.name(method.name, what)),
        (1, "container_meta_type", OFFSET, _structure(flat, method)),
        (2, "values", OFFSET, flat.offsets(values)),
        (3, "inputs", OFFSET, flat.numbers("i", method.inputs, f"{what}: inputs")),
        (4, "outputs", OFFSET, flat.numbers("i", method.outputs, f"{what}: outputs")),
        (5, "chains", OFFSET, flat.offsets(chains)),
        (6, "operators", OFFSET, flat.offsets(operators)),
        (7, "delegates", OFFSET, flat.offsets(delegates)),
        (
            8,
            "non_const_buffer_sizes",
            OFFSET,
            flat.numbers("q", method.buffer_sizes or (0,), f"{what}: sizes"),
        ),
        (9, "non_const_buffer_device", OFFSET, _buffer_devices(flat, method.buffer_devices)),
    )


def _structure(flat: FlatbufferWriter, method: Method) -> int:
    inputs, outputs = flat.string(method.input_structure), flat.string(method.output_structure)
    return flat.table((0, "encoded_inp_str", OFFSET, inputs), (1, "encoded_out_str", OFFSET, outputs))


def _value(flat: FlatbufferWriter, value: Value, what: str) -> int:
    """Equal values that are no tensors share a table; they are values of their own all the same."""
    if value.kind is Kind.TENSOR:
        if not isinstance(value.data, TensorInfo):
            raise InvalidArgument(f"{what}: a TensorInfo expected, got {type(value.data).__name__}")
        return _union(flat, value.kind.value, _tensor(flat, value.data, what))
    return flat.shared(
        ("value", value.kind, repr(value.data)),  # by repr: 0.0 is not -0.0
        lambda: _union(flat, value.kind.value, _plain(flat, value.kind, value.data, what)),
    )


def _union(flat: FlatbufferWriter, kind: int, content: int) -> int:
    return flat.table((1, "val", OFFSET, content), (0, "val type", "B", kind))


def _plain(flat: FlatbufferWriter, kind: Kind, data: object, what: str) -> int:
    match kind:
        case Kind.NONE:
            return flat.table()
        case Kind.INT:
            return flat.table((0, f"{what}: int_val", "q", data))
        case Kind.BOOL:
            return flat.table((0, f"{what}: bool_val", "?", bool(data)))
        case Kind.DOUBLE:
            return flat.table((0, f"{what}: double_val", "d", data))
        case Kind.STRING:
            return flat.table((0, f"{what}: string_val", OFFSET, flat.string(str(data))))
    if not isinstance(data, tuple):
        raise InvalidArgument(f"{what}: a tuple expected, got {type(data).__name__}")
    form = {Kind.INT_LIST: "q", Kind.DOUBLE_LIST: "d", Kind.BOOL_LIST: "?"}.get(kind, "i")
    return flat.table((0, "items", OFFSET, flat.numbers(form, data, what)))


def _tensor(flat: FlatbufferWriter, tensor: TensorInfo, what: str) -> int:
    dtype = NUMBERS.get(tensor.dtype)
    if dtype is None:
        raise InvalidArgument(f"{what}: a dtype of PyTorch expected, got '{tensor.dtype}'")
    return flat.table(
        (2, "sizes", OFFSET, flat.numbers("i", tensor.sizes, f"{what}: sizes")),
        (3, "dim_order", OFFSET, flat.numbers("B", tensor.dim_order, f"{what}: dim_order")),
        (5, f"{what}: data_buffer_idx", "I", tensor.buffer_index),
        (6, "allocation_info", OFFSET, _allocation(flat, tensor, what)),
        (9, "extra_tensor_info", OFFSET, _extra(flat, tensor, what)),
        (0, "scalar_type", "b", dtype),
        (8, "shape_dynamism", "b", tensor.dynamism.value),
    )


def _allocation(flat: FlatbufferWriter, tensor: TensorInfo, what: str) -> int:
    memory, offset = tensor.memory_id, tensor.memory_offset
    if tensor.storage not in (Storage.PLANNED, Storage.MUTABLE) and not (memory or offset):
        return 0
    return flat.shared(
        ("allocation", memory, offset),
        lambda: flat.table(
            (0, f"{what}: memory_id", "I", memory),
            (1, f"{what}: memory_offset_low", "I", offset & 0xFFFFFFFF),
            (2, f"{what}: memory_offset_high", "I", offset >> 32),
        ),
    )


def _extra(flat: FlatbufferWriter, tensor: TensorInfo, what: str) -> int:
    external = tensor.storage is Storage.EXTERNAL
    if not (external or tensor.name or tensor.mutable_group or tensor.device != Device()):
        return 0
    return flat.table(
        (0, f"{what}: mutable_data_segments_idx", "Q", tensor.mutable_group),
        (1, "fully_qualified_name", OFFSET, flat.name(tensor.name, what) if tensor.name else 0),
        (2, "location", "b", int(external)),
        (3, f"{what}: device_type", "b", tensor.device.type),
        (4, f"{what}: device_index", "b", tensor.device.index),
    )


def _chain(flat: FlatbufferWriter, chain: tuple[Instruction, ...], what: str) -> int:
    written = [_instruction(flat, instruction, what) for instruction in chain]
    none = flat.numbers("i", (), what)
    return flat.table(
        (0, "inputs", OFFSET, none),
        (1, "outputs", OFFSET, none),
        (2, "instructions", OFFSET, flat.offsets(written)),
    )


def _instruction(flat: FlatbufferWriter, instruction: Instruction, what: str) -> int:
    match instruction:
        case KernelCall(index, arguments) | DelegateCall(index, arguments):
            kind = 1 if isinstance(instruction, KernelCall) else 2
            listed = flat.numbers("i", arguments, f"{what}: arguments")
            return _union(flat, kind, flat.table((1, "args", OFFSET, listed), (0, "index", "i", index)))
        case Move(source, destination):
            return _union(
                flat, 3, flat.table((0, "move_from", "i", source), (1, "move_to", "i", destination))
            )
        case JumpFalse(condition, target):
            return _union(
                flat,
                4,
                flat.table(
                    (0, "cond_value_index", "i", condition), (1, "destination_instruction", "i", target)
                ),
            )
        case Free(value):
            return _union(flat, 5, flat.table((0, "value_index", "i", value)))


def _operator(flat: FlatbufferWriter, full_name: str) -> int:
    name, _, overload = full_name.partition(".")
    return flat.table(
        (0, "name", OFFSET, flat.name(name, "operator")),
        (1, "overload", OFFSET, flat.name(overload, "operator")),
    )


def _delegate(flat: FlatbufferWriter, delegate: Delegate, place: Place, what: str) -> int:
    location, index = place
    specs = [
        flat.table(
            (0, "key", OFFSET, flat.name(key, f"{what}: compile spec")),
            (1, "value", OFFSET, flat.blob(memoryview(value))),
        )
        for key, value in delegate.compile_specs
    ]
    processed = flat.table((1, f"{what}: index", "I", index), (0, "location", "b", location))
    return flat.table(
        (0, "id", OFFSET, flat.name(delegate.id, f"{what}: delegate")),
        (1, "processed", OFFSET, processed),
        (2, "compile_specs", OFFSET, flat.offsets(specs)),
    )


def _buffer_devices(flat: FlatbufferWriter, devices: Mapping[int, Device]) -> int:
    if not devices:
        return 0
    return flat.offsets(
        [
            flat.table(
                (0, "buffer_idx", "i", index),
                (1, "device_type", "b", d.type),
                (2, "device_index", "b", d.index),
            )
            for index, d in devices.items()
        ]
    )
