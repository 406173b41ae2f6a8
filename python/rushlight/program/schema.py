# SPDX-License-Identifier: BSD-3-Clause
"""The FlatBuffers schemas of the files that ExecuTorch 1.5.1 writes: .pte, .ptd, .bpte and .etdp.

This is where they stand: Python reads and writes files by these names; slots, descriptions and classes of C++
are generated from them (rushlight.codegen). The order of a table's fields is the format: the first has
slot 0, a union takes two slots (its kind, then its table).

Types: a number, "string", an enum, a union or a table of the same file, and vectors of these in brackets. A
number that a file leaves out is 0, but for those in `defaults`. The enumerators of an enum count up from 0,
the kinds of a union from 1; ScalarType is the table of dtypes (dtypes.py).

Source: the schemas in the wheel of executorch 1.5.1, which tests/compat/test_schema_classes.py compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

FORMS = {
    "int8": "b",
    "uint8": "B",
    "bool": "?",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "float": "f",
    "double": "d",
}
"""Of the types of numbers, the characters of module struct."""

SCALAR_TYPE = "ScalarType"

Tables = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Field:
    """A field of a table. `type` is of its elements where it is a vector; `form` is the character of module
    struct for numbers, empty for what an offset leads to."""

    name: str
    type: str
    is_vector: bool
    slot: int
    form: str
    default: int = 0


@dataclass(frozen=True)
class FileSchema:
    """The schema of one kind of file, in the order of its tables."""

    name: str
    namespace: str
    identifier: bytes
    extension: str
    root: str
    given: Tables
    enums: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    defaults: Mapping[str, int] = field(default_factory=dict)

    @property
    def tables(self) -> Mapping[str, Mapping[str, Field]]:
        """Of each table its fields by name."""
        return _made(self)

    def is_enum(self, type_name: str) -> bool:
        """Whether the type is an enumeration, which is stored as a number."""
        return type_name == SCALAR_TYPE or type_name in self.enums


_MADE: dict[str, Mapping[str, Mapping[str, Field]]] = {}


def _made(schema: FileSchema) -> Mapping[str, Mapping[str, Field]]:
    made = _MADE.get(schema.name)
    if made is None:
        made = {table: {one.name: one for one in _fields(schema, table)} for table in schema.given}
        _MADE[schema.name] = made
    return made


def _fields(schema: FileSchema, table: str) -> Iterator[Field]:
    slot = 0
    for name, stated in schema.given[table].items():
        is_vector = stated.startswith("[")
        type_name = stated.strip("[]")
        form = "b" if schema.is_enum(type_name) else FORMS.get(type_name, "")
        slot += type_name in schema.unions  # its kind is in front of it
        yield Field(name, type_name, is_vector, slot, form, schema.defaults.get(f"{table}.{name}", 0))
        slot += 1


PROGRAM = FileSchema(
    name="program",
    namespace="executorch_flatbuffer",
    identifier=b"ET12",
    extension="pte",
    root="Program",
    enums={
        "TensorShapeDynamism": ("STATIC", "DYNAMIC_BOUND", "DYNAMIC_UNBOUND"),
        "TensorDataLocation": ("SEGMENT", "EXTERNAL"),
        "DeviceType": ("CPU", "CUDA"),
        "DataLocation": ("INLINE", "SEGMENT"),
    },
    unions={
        "KernelTypes": (
            "Null",
            "Int",
            "Bool",
            "Double",
            "Tensor",
            "String",
            "IntList",
            "DoubleList",
            "BoolList",
            "TensorList",
            "OptionalTensorList",
        ),
        "InstructionArguments": ("KernelCall", "DelegateCall", "MoveCall", "JumpFalseCall", "FreeCall"),
    },
    given={
        "Program": {
            "version": "uint32",
            "execution_plan": "[ExecutionPlan]",
            "constant_buffer": "[Buffer]",
            "backend_delegate_data": "[BackendDelegateInlineData]",
            "segments": "[DataSegment]",
            "constant_segment": "SubsegmentOffsets",
            "mutable_data_segments": "[SubsegmentOffsets]",
            "named_data": "[NamedData]",
        },
        "ExecutionPlan": {
            "name": "string",
            "container_meta_type": "ContainerMetadata",
            "values": "[EValue]",
            "inputs": "[int32]",
            "outputs": "[int32]",
            "chains": "[Chain]",
            "operators": "[Operator]",
            "delegates": "[BackendDelegate]",
            "non_const_buffer_sizes": "[int64]",
            "non_const_buffer_device": "[NonConstBufferDevice]",
        },
        "ContainerMetadata": {"encoded_inp_str": "string", "encoded_out_str": "string"},
        "EValue": {"val": "KernelTypes"},
        "Null": {},
        "Int": {"int_val": "int64"},
        "Bool": {"bool_val": "bool"},
        "Double": {"double_val": "double"},
        "Tensor": {
            "scalar_type": "ScalarType",
            "storage_offset": "int32",
            "sizes": "[int32]",
            "dim_order": "[uint8]",
            "requires_grad": "bool",
            "data_buffer_idx": "uint32",
            "allocation_info": "AllocationDetails",
            "layout": "int8",
            "shape_dynamism": "TensorShapeDynamism",
            "extra_tensor_info": "ExtraTensorInfo",
        },
        "AllocationDetails": {
            "memory_id": "uint32",
            "memory_offset_low": "uint32",
            "memory_offset_high": "uint32",
        },
        "ExtraTensorInfo": {
            "mutable_data_segments_idx": "uint64",
            "fully_qualified_name": "string",
            "location": "TensorDataLocation",
            "device_type": "DeviceType",
            "device_index": "int8",
        },
        "String": {"string_val": "string"},
        "IntList": {"items": "[int64]"},
        "DoubleList": {"items": "[double]"},
        "BoolList": {"items": "[bool]"},
        "TensorList": {"items": "[int32]"},
        "OptionalTensorList": {"items": "[int32]"},
        "Chain": {
            "inputs": "[int32]",
            "outputs": "[int32]",
            "instructions": "[Instruction]",
            "stacktrace": "[FrameList]",
        },
        "Instruction": {"instr_args": "InstructionArguments"},
        "KernelCall": {"op_index": "int32", "args": "[int32]"},
        "DelegateCall": {"delegate_index": "int32", "args": "[int32]"},
        "MoveCall": {"move_from": "int32", "move_to": "int32"},
        "JumpFalseCall": {"cond_value_index": "int32", "destination_instruction": "int32"},
        "FreeCall": {"value_index": "int32"},
        "FrameList": {"items": "[Frame]"},
        "Frame": {"filename": "string", "lineno": "int32", "name": "string", "context": "string"},
        "Operator": {"name": "string", "overload": "string"},
        "BackendDelegate": {
            "id": "string",
            "processed": "BackendDelegateDataReference",
            "compile_specs": "[CompileSpec]",
        },
        "BackendDelegateDataReference": {"location": "DataLocation", "index": "uint32"},
        "CompileSpec": {"key": "string", "value": "[uint8]"},
        "NonConstBufferDevice": {"buffer_idx": "int32", "device_type": "DeviceType", "device_index": "int8"},
        "Buffer": {"storage": "[uint8]"},
        "BackendDelegateInlineData": {"data": "[uint8]"},
        "DataSegment": {"offset": "uint64", "size": "uint64"},
        "SubsegmentOffsets": {"segment_index": "uint32", "offsets": "[uint64]"},
        "NamedData": {"key": "string", "segment_index": "uint32"},
    },
)

DATA_FILE = FileSchema(
    name="data_file",
    namespace="flat_tensor_flatbuffer",
    identifier=b"FT01",
    extension="ptd",
    root="FlatTensor",
    given={
        "FlatTensor": {"version": "uint32", "segments": "[DataSegment]", "named_data": "[NamedData]"},
        "DataSegment": {"offset": "uint64", "size": "uint64"},
        "NamedData": {"key": "string", "segment_index": "uint32", "tensor_layout": "TensorLayout"},
        "TensorLayout": {"scalar_type": "ScalarType", "sizes": "[int32]", "dim_order": "[uint8]"},
    },
)

BUNDLED_PROGRAM = FileSchema(
    name="bundled_program",
    namespace="bundled_program_flatbuffer",
    identifier=b"BP08",
    extension="bpte",
    root="BundledProgram",
    unions={
        "ValueUnion": ("Tensor", "Int", "Bool", "Double"),
    },
    given={
        "BundledProgram": {
            "version": "uint32",
            "method_test_suites": "[BundledMethodTestSuite]",
            "program": "[uint8]",
        },
        "BundledMethodTestSuite": {"method_name": "string", "test_cases": "[BundledMethodTestCase]"},
        "BundledMethodTestCase": {"inputs": "[Value]", "expected_outputs": "[Value]"},
        "Value": {"val": "ValueUnion"},
        "Tensor": {
            "scalar_type": "ScalarType",
            "sizes": "[int32]",
            "data": "[uint8]",
            "dim_order": "[uint8]",
        },
        "Int": {"int_val": "int64"},
        "Bool": {"bool_val": "bool"},
        "Double": {"double_val": "double"},
    },
)

EVENT_DUMP = FileSchema(
    name="event_dump",
    namespace="etdump",
    identifier=b"ED00",
    extension="etdp",
    root="ETDump",
    enums={"ValueType": ("Null", "Int", "Bool", "Float", "Double", "Tensor", "TensorList", "String")},
    given={
        "ETDump": {"version": "uint32", "run_data": "[RunData]"},
        "RunData": {
            "name": "string",
            "bundled_input_index": "int32",
            "allocators": "[Allocator]",
            "events": "[Event]",
        },
        "Allocator": {"name": "string"},
        "Event": {
            "profile_event": "ProfileEvent",
            "allocation_event": "AllocationEvent",
            "debug_event": "DebugEvent",
        },
        "ProfileEvent": {
            "name": "string",
            "chain_index": "int32",
            "instruction_id": "int32",
            "delegate_debug_id_int": "int32",
            "delegate_debug_id_str": "string",
            "delegate_debug_metadata": "[uint8]",
            "start_time": "uint64",
            "end_time": "uint64",
        },
        "AllocationEvent": {"allocator_id": "int32", "allocation_size": "uint64"},
        "DebugEvent": {
            "chain_index": "uint64",
            "instruction_id": "int32",
            "debug_entry": "Value",
            "delegate_debug_id_int": "int32",
            "delegate_debug_id_str": "string",
            "name": "string",
        },
        "Value": {
            "val": "ValueType",
            "tensor": "Tensor",
            "tensor_list": "TensorList",
            "int_value": "Int",
            "float_value": "Float",
            "double_value": "Double",
            "bool_value": "Bool",
            "output": "Bool",
        },
        "Null": {},
        "Int": {"int_val": "int64"},
        "Bool": {"bool_val": "bool"},
        "Float": {"float_val": "float"},
        "Double": {"double_val": "double"},
        "Tensor": {"scalar_type": "ScalarType", "sizes": "[int64]", "strides": "[int64]", "offset": "int64"},
        "TensorList": {"tensors": "[Tensor]"},
        "String": {"string_val": "string"},
    },
    defaults={
        "RunData.bundled_input_index": -1,
        "ProfileEvent.instruction_id": -1,
        "ProfileEvent.delegate_debug_id_int": -1,
        "DebugEvent.instruction_id": -1,
        "DebugEvent.delegate_debug_id_int": -1,
    },
)

SCHEMAS = (PROGRAM, DATA_FILE, BUNDLED_PROGRAM, EVENT_DUMP)
