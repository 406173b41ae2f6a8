# SPDX-License-Identifier: BSD-3-Clause
"""The FlatBuffers schemas of the files that ExecuTorch 1.5.1 writes: .pte, .ptd, .bpte and .etdp, and the
graph in the payload of an XNNPACK delegate.

This is their only definition: Python reads and writes files by these names; C++ slots, descriptions and
classes are generated from them (rushlight.codegen). The order of a table's fields is the format: the first
has slot 0, a union takes two slots (its kind, then its table).

Types: a number, "string", an enum, a union or a table of the same file, and vectors of these in brackets.
A number missing in a file is 0 unless `defaults` has it. Enumerators count from 0, kinds of a union from
1; a kind "Name: Table" has another name than its table. ScalarType is the table of dtypes (dtypes.py).

Source: the schemas in the wheel of executorch 1.5.1, with which tests/compat/test_schema_classes.py
compares these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

FORMS = {
    "int8": "b",
    "uint8": "B",
    "bool": "?",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "float": "f",
    "double": "d",
}
"""Number types to characters of the module struct."""

SCALAR_TYPE = "ScalarType"

Tables = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Field:
    """A field of a table. `type` is the element type for a vector; `form` is the struct character of a
    number, empty for a field stored as an offset."""

    name: str
    type: str
    is_vector: bool
    slot: int
    form: str
    default: int = 0


@dataclass(frozen=True)
class FileSchema:
    """The schema of one file type, in the order of its tables."""

    name: str
    namespace: str
    identifier: bytes
    extension: str
    root: str
    given: Tables
    enums: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    defaults: Mapping[str, int] = field(default_factory=dict)
    enum_form: str = "b"

    def kinds(self, union: str) -> list[tuple[str, str]]:
        """The kinds of a union, in order: (name, table)."""
        pairs = (kind.partition(":") for kind in self.unions[union])
        return [(name, table.strip() or name) for name, _, table in pairs]

    @property
    def tables(self) -> Mapping[str, Mapping[str, Field]]:
        """The fields of each table, by name."""
        return _made(self)

    def is_enum(self, type_name: str) -> bool:
        """True if the type is an enum, which is stored as a number."""
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
        form = schema.enum_form if schema.is_enum(type_name) else FORMS.get(type_name, "")
        slot += type_name in schema.unions  # the kind precedes the table
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

XNNPACK_GRAPH = FileSchema(
    name="xnnpack_graph",
    namespace="fb_xnnpack",
    identifier=b"XN00",
    extension="xnn",
    root="XNNGraph",
    enum_form="h",
    enums={
        "XNNDatatype": (
            "xnn_datatype_invalid",
            "xnn_datatype_fp32",
            "xnn_datatype_fp16",
            "xnn_datatype_qint8",
            "xnn_datatype_quint8",
            "xnn_datatype_qint32",
            "xnn_datatype_qcint8",
            "xnn_datatype_qcint32",
            "xnn_datatype_qcint4",
            "xnn_datatype_qdint8",
            "xnn_datatype_qbint4",
            "xnn_datatype_qpint8",
            "xnn_datatype_int32",
            "xnn_datatype_pfp32",
            "xnn_datatype_bf16",
        ),
    },
    unions={
        "XNNQuantParams": (
            "PerChannelQuant",
            "PerTensorQuant",
            "PerTokenDynamicQuant",
            "PerChannelGroupQuant",
        ),
        "XNodeUnion": (
            "XNNAdd: _XNNNode2x1",
            "XNNFullyConnected",
            "XNNSoftmax: _XNNNode1x1",
            "XNNSigmoid: _XNNNode1x1",
            "XNNStaticTranspose",
            "XNNClamp: _XNNNode1x1",
            "XNNConv2d: _XNNNodeConv",
            "XNNDiv: _XNNNode2x1",
            "XNNStaticResizeBilinear2D",
            "XNNStaticConstantPad",
            "XNNAvgPooling2d: _XNNPooling2D",
            "XNNMinimum: _XNNNode2x1",
            "XNNDepthwiseConv2d: _XNNNodeConv",
            "XNNMaxPooling2d: _XNNPooling2D",
            "XNNMultiply: _XNNNode2x1",
            "XNNSubtract: _XNNNode2x1",
            "XNNFloor: _XNNNode1x1",
            "XNNConvert: _XNNNode1x1",
            "XNNGlobalAvgPooling2d: _XNNNode1x1",
            "XNNStaticReshape",
            "XNNArgMaxPooling2d",
            "XNNSquareRoot: _XNNNode1x1",
            "XNNCeiling: _XNNNode1x1",
            "XNNHardswish: _XNNNode1x1",
            "XNNLeakyReLU",
            "XNNMaximum: _XNNNode2x1",
            "XNNNegate: _XNNNode1x1",
            "XNNSquare: _XNNNode1x1",
            "XNNELU",
            "XNNAbs: _XNNNode1x1",
            "XNNPReLU: _XNNNode2x1",
            "XNNConcatenate2: _XNNCat",
            "XNNConcatenate3: _XNNCat",
            "XNNConcatenate4: _XNNCat",
            "XNNStaticSlice",
            "XNNScaledDotProductAttention",
            "XNNBatchMatrixMultiply: _XNNNode2x1",
            "XNNConcatenate5: _XNNCat",
            "XNNConvTranspose2d: _XNNNodeConv",
            "XNNReciprocalSquareRoot: _XNNNode1x1",
            "XNNLog: _XNNNode1x1",
            "XNNGelu: _XNNNode1x1",
            "XNNTanh: _XNNNode1x1",
            "XNNExp: _XNNNode1x1",
            "XNNSin: _XNNNode1x1",
            "XNNCopy: _XNNNode1x1",
            "XNNCos: _XNNNode1x1",
        ),
        "XValueUnion": ("XNNTensorValue", "XNNQuantizedTensorValue"),
    },
    given={
        "XNNGraph": {
            "version": "string",
            "xnodes": "[XNode]",
            "xvalues": "[XValue]",
            "num_externs": "uint32",
            "input_ids": "[uint32]",
            "output_ids": "[uint32]",
            "constant_buffer": "[Buffer]",
            "mem_buffer_sizes": "[uint32]",
            "constant_data": "[ConstantDataOffset]",
        },
        "Buffer": {"storage": "[uint8]"},
        "PerChannelQuant": {
            "scale": "[float]",
            "channel_dim": "int32",
            "scale_buffer_idx": "uint32",
            "num_scales": "uint32",
        },
        "PerTokenDynamicQuant": {"num_nonbatch_dims": "int32"},
        "PerTensorQuant": {"scale": "float", "zero_point": "int32"},
        "PerChannelGroupQuant": {
            "scale": "[float]",
            "channel_dim": "int32",
            "group_size": "int32",
            "scale_bf16": "[uint16]",
            "scale_buffer_idx": "uint32",
            "num_scales": "uint32",
        },
        "XNNTensorValue": {
            "datatype": "XNNDatatype",
            "num_dims": "uint32",
            "dims": "[uint32]",
            "constant_buffer_idx": "uint32",
            "external_id": "uint32",
            "flags": "uint32",
            "id_out": "uint32",
            "dq_datatype": "XNNDatatype",
        },
        "XNNQuantizedTensorValue": {"tensor_value": "XNNTensorValue", "quant_params": "XNNQuantParams"},
        "OutputMinMax": {"output_min": "float", "output_max": "float"},
        "XNode": {"xnode_union": "XNodeUnion", "debug_handle": "uint32", "output_min_max": "OutputMinMax"},
        "XValue": {"xvalue_union": "XValueUnion"},
        "XNNStaticTranspose": {
            "num_dims": "uint32",
            "perm": "[uint32]",
            "input_id": "uint32",
            "output_id": "uint32",
            "flags": "uint32",
        },
        "XNNStaticResizeBilinear2D": {
            "new_height": "uint32",
            "new_width": "uint32",
            "input_id": "uint32",
            "output_id": "uint32",
            "flags": "uint32",
        },
        "XNNStaticConstantPad": {
            "pre_paddings": "[uint32]",
            "post_paddings": "[uint32]",
            "padding_value": "float",
            "input_id": "uint32",
            "output_id": "uint32",
            "flags": "uint32",
        },
        "_XNNNode2x1": {
            "input1_id": "uint32",
            "input2_id": "uint32",
            "output_id": "uint32",
            "flags": "uint32",
        },
        "_XNNNode1x1": {"input_id": "uint32", "output_id": "uint32", "flags": "uint32"},
        "_XNNCat": {
            "axis": "uint32",
            "input1_id": "uint32",
            "input2_id": "uint32",
            "input3_id": "uint32",
            "input4_id": "uint32",
            "output_id": "uint32",
            "flags": "uint32",
            "input5_id": "uint32",
        },
        "XNNELU": {"alpha": "float", "input_id": "uint32", "output_id": "uint32", "flags": "uint32"},
        "XNNFullyConnected": {
            "input1_id": "uint32",
            "filter_id": "uint32",
            "bias_id": "uint32",
            "output_id": "uint32",
            "flags": "uint32",
        },
        "_XNNNodeConv": {
            "padding_top": "uint32",
            "padding_right": "uint32",
            "padding_bottom": "uint32",
            "padding_left": "uint32",
            "kernel_height": "uint32",
            "kernel_width": "uint32",
            "subsampling_height": "uint32",
            "subsampling_width": "uint32",
            "dilation_height": "uint32",
            "dilation_width": "uint32",
            "group_input_channels": "uint32",
            "group_output_channels": "uint32",
            "groups": "uint32",
            "adjustment_height": "uint32",
            "adjustment_width": "uint32",
            "input1_id": "uint32",
            "filter_id": "uint32",
            "bias_id": "uint32",
            "output_id": "uint32",
            "flags": "uint32",
        },
        "_XNNPooling2D": {
            "padding_top": "uint32",
            "padding_right": "uint32",
            "padding_bottom": "uint32",
            "padding_left": "uint32",
            "pooling_height": "uint32",
            "pooling_width": "uint32",
            "stride_height": "uint32",
            "stride_width": "uint32",
            "dilation_height": "uint32",
            "dilation_width": "uint32",
            "input_id": "uint32",
            "output_id": "uint32",
            "flags": "uint32",
        },
        "XNNStaticReshape": {
            "num_dims": "uint32",
            "new_shape": "[uint32]",
            "input_id": "uint32",
            "output_id": "uint32",
            "flags": "uint32",
        },
        "XNNStaticSlice": {
            "num_dims": "uint32",
            "offsets": "[uint32]",
            "sizes": "[uint32]",
            "input_id": "uint32",
            "output_id": "uint32",
            "flags": "uint32",
        },
        "XNNScaledDotProductAttention": {
            "query_id": "uint32",
            "key_id": "uint32",
            "value_id": "uint32",
            "scale_id": "uint32",
            "mask_id": "uint32",
            "output_id": "uint32",
            "flags": "uint32",
        },
        "XNNArgMaxPooling2d": {
            "padding_top": "uint32",
            "padding_right": "uint32",
            "padding_bottom": "uint32",
            "padding_left": "uint32",
            "pooling_height": "uint32",
            "pooling_width": "uint32",
            "input_id": "uint32",
            "output_value_id": "uint32",
            "output_index_id": "uint32",
            "flags": "uint32",
        },
        "XNNLeakyReLU": {
            "negative_slope": "float",
            "input_id": "uint32",
            "output_id": "uint32",
            "flags": "uint32",
        },
        "ConstantDataOffset": {"offset": "uint64", "size": "uint64", "named_key": "string"},
    },
)

SCHEMAS = (PROGRAM, DATA_FILE, BUNDLED_PROGRAM, EVENT_DUMP)
