// SPDX-License-Identifier: BSD-3-Clause
// The .pte schema as field slots, under short names. Slots, union kinds and table descriptions are generated
// from python/rushlight/program/schema.py.
#pragma once

#include <cstdint>

#include "runtime/program/flatbuffer.h"
#include "runtime/program/schema_tables.h"

namespace rushlight::schema {

// Short names of the generated tables; each contains the slots of its fields.
namespace program = pte::program_table;
namespace plan = pte::execution_plan_table;
namespace structure = pte::container_metadata_table;
namespace tensor = pte::tensor_table;
namespace allocation = pte::allocation_details_table;
namespace extra = pte::extra_tensor_info_table;
namespace evalue = pte::evalue_table;
namespace chain = pte::chain_table;
namespace instruction = pte::instruction_table;
namespace kernel_call = pte::kernel_call_table;
namespace delegate_call = pte::delegate_call_table;
namespace move_call = pte::move_call_table;
namespace jump_false_call = pte::jump_false_call_table;
namespace free_call = pte::free_call_table;
namespace operator_name = pte::operator_table;
namespace delegate = pte::backend_delegate_table;
namespace delegate_reference = pte::backend_delegate_data_reference_table;
namespace compile_spec = pte::compile_spec_table;
namespace buffer_device = pte::non_const_buffer_device_table;
namespace named_data = pte::named_data_table;
namespace segment = pte::data_segment_table;
namespace subsegment = pte::subsegment_offsets_table;
namespace buffer = pte::buffer_table;

// Int, Bool, Double, String and the lists are tables with one field.
namespace boxed {
constexpr unsigned kItem = pte::int_table::kIntVal;
}

// Kinds of the schema's unions: a value of an EValue table, and an instruction's arguments.
using ValueKind = pte::KernelTypes;
using InstructionKind = pte::InstructionArguments;
// Enumerations: constants in the program or a data file; payloads inline or in a segment.
using TensorDataLocation = pte::TensorDataLocation;
using DelegateDataLocation = pte::DataLocation;

// Descriptions of all tables of a program, root first, for flatbuffer::verify().
extern const flatbuffer::TableType kProgramTables[];
// The same for data files (.ptd) and bundled programs (.bpte); defined beside their readers.
extern const flatbuffer::TableType kDataFileTables[];
extern const flatbuffer::TableType kBundledProgramTables[];

}  // namespace rushlight::schema
