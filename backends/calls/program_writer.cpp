// SPDX-License-Identifier: BSD-3-Clause
// Writes the tables of a .pte file with one execution plan and one chain. External tensors name their
// constant by key, so the file contains no constant data. Every table is written before the objects that it
// refers to; link() fills in the offsets.
#include "backends/calls/program_writer.h"

#include <cstring>

#include "runtime/base/log.h"
#include "runtime/program/schema.h"

namespace rushlight {

namespace {

// Memory id 0 is reserved for constants.
constexpr uint32_t kMemory = 1;

uint64_t bits_of(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

schema::ValueKind kind_of(CallList::Kind kind) {
  using Kind = CallList::Kind;
  switch (kind) {
    case Kind::None:
      return schema::ValueKind::Null;
    case Kind::Int:
      return schema::ValueKind::Int;
    case Kind::Double:
      return schema::ValueKind::Double;
    case Kind::Bool:
      return schema::ValueKind::Bool;
    case Kind::String:
      return schema::ValueKind::String;
    case Kind::IntList:
      return schema::ValueKind::IntList;
    case Kind::DoubleList:
      return schema::ValueKind::DoubleList;
    case Kind::BoolList:
      return schema::ValueKind::BoolList;
    case Kind::TensorList:
      return schema::ValueKind::TensorList;
    case Kind::OptionalTensorList:
      return schema::ValueKind::OptionalTensorList;
    case Kind::Tensor:
      break;
  }
  return schema::ValueKind::Tensor;
}

}  // namespace

ProgramWriter::ProgramWriter(const CallList& list, uint64_t planned)
    : list_(list), planned_(planned), flat_("ET12") {}

Result<std::vector<uint8_t>> ProgramWriter::write() {
  namespace program = schema::program;
  const Position root = flat_.table(
      {FlatWriter::number(program::kVersion, uint32_t{0}), FlatWriter::offset(program::kExecutionPlan)});
  flat_.link_root(root);
  const Position plans = flat_.offsets(1);
  flat_.link(root, program::kExecutionPlan, plans);
  flat_.link_item(plans, 0, plan());
  // Checked once at the end: offsets that overflowed are never read.
  RL_CHECK(flat_.fits(), Error::OutOfResources, "a program of calls: more than 2 GiB");
  return flat_.take();
}

ProgramWriter::Position ProgramWriter::plan() {
  namespace slot = schema::plan;
  const Position plan =
      flat_.table({FlatWriter::offset(slot::kName), FlatWriter::offset(slot::kValues),
                   FlatWriter::offset(slot::kInputs), FlatWriter::offset(slot::kOutputs),
                   FlatWriter::offset(slot::kChains), FlatWriter::offset(slot::kOperators),
                   FlatWriter::offset(slot::kDelegates), FlatWriter::offset(slot::kNonConstBufferSizes)});
  flat_.link(plan, slot::kName, flat_.string(list_.name_));
  // The index of a value in this vector is its ValueId, so calls need no translation.
  const Position values = flat_.offsets(list_.values_.size());
  flat_.link(plan, slot::kValues, values);
  for (size_t i = 0; i < list_.values_.size(); ++i) flat_.link_item(values, i, value(list_.values_[i]));
  flat_.link(plan, slot::kInputs, flat_.scalars(list_.inputs_));
  flat_.link(plan, slot::kOutputs, flat_.scalars(list_.outputs_));

  const Position chains = flat_.offsets(1);
  flat_.link(plan, slot::kChains, chains);
  // Jumps and moves do not occur: one chain, in the order of the calls.
  const Position chain = flat_.table({FlatWriter::offset(schema::chain::kInstructions)});
  flat_.link_item(chains, 0, chain);
  const Position instructions = flat_.offsets(list_.calls_.size());
  flat_.link(chain, schema::chain::kInstructions, instructions);
  for (size_t i = 0; i < list_.calls_.size(); ++i)
    flat_.link_item(instructions, i, instruction(list_.calls_[i]));

  const Position operators = flat_.offsets(list_.operators_.size());
  flat_.link(plan, slot::kOperators, operators);
  for (size_t i = 0; i < list_.operators_.size(); ++i) {
    namespace part = schema::operator_name;
    const Position name = flat_.table({FlatWriter::offset(part::kName), FlatWriter::offset(part::kOverload)});
    flat_.link_item(operators, i, name);
    flat_.link(name, part::kName, flat_.string(list_.operators_[i].first));
    flat_.link(name, part::kOverload, flat_.string(list_.operators_[i].second));
  }
  flat_.link(plan, slot::kDelegates, flat_.offsets(0));
  // Entry 0 is reserved; entry 1 is the one planned buffer.
  flat_.link(plan, slot::kNonConstBufferSizes,
             flat_.scalars(std::vector<int64_t>{0, static_cast<int64_t>(planned_)}));
  return plan;
}

ProgramWriter::Position ProgramWriter::value(const CallList::Value& value) {
  namespace slot = schema::evalue;
  const auto kind = static_cast<uint8_t>(kind_of(value.kind));
  const Position holder =
      flat_.table({FlatWriter::number(slot::kValType, kind), FlatWriter::offset(slot::kVal)});
  flat_.link(holder, slot::kVal, value.kind == CallList::Kind::Tensor ? tensor(value) : plain(value));
  return holder;
}

// Values other than tensors: a table with one field.
ProgramWriter::Position ProgramWriter::plain(const CallList::Value& value) {
  using Kind = CallList::Kind;
  constexpr unsigned kItem = schema::boxed::kItem;
  switch (value.kind) {
    case Kind::Int:
      return flat_.table({FlatWriter::number(kItem, value.number)});
    case Kind::Bool:
      return flat_.table({FlatWriter::number(kItem, static_cast<uint8_t>(value.number))});
    case Kind::Double:
      return flat_.table({FlatWriter::number(kItem, bits_of(value.real))});
    case Kind::None:
    case Kind::Tensor:
      return flat_.table({});
    default:
      break;
  }
  const Position box = flat_.table({FlatWriter::offset(kItem)});
  if (value.kind == Kind::String) {
    flat_.link(box, kItem, flat_.string(value.text));
  } else if (value.kind == Kind::IntList) {
    // Items of int lists are int64 in the schema, items of tensor lists int32.
    flat_.link(box, kItem, flat_.scalars(value.integers));
  } else if (value.kind == Kind::DoubleList) {
    flat_.link(box, kItem, flat_.scalars(value.reals));
  } else if (value.kind == Kind::BoolList) {
    flat_.link(box, kItem, flat_.scalars(std::vector<uint8_t>(value.integers.begin(), value.integers.end())));
  } else {
    flat_.link(box, kItem, flat_.scalars(std::vector<int32_t>(value.integers.begin(), value.integers.end())));
  }
  return box;
}

// Constants are external tensors, planned tensors have an offset, inputs and outputs have neither.
ProgramWriter::Position ProgramWriter::tensor(const CallList::Value& value) {
  namespace slot = schema::tensor;
  const CallList::Storage& storage = list_.storages_[static_cast<size_t>(value.storage)];
  const bool is_constant = storage.constant >= 0;
  const bool is_planned = !is_constant && !storage.is_external;
  // Constants never change their size; all other tensors may in a dynamic program.
  const auto dynamism = list_.is_dynamic() && !is_constant ? schema::pte::TensorShapeDynamism::DynamicBound
                                                           : schema::pte::TensorShapeDynamism::Static;
  const FlatWriter::Field type = FlatWriter::number(slot::kScalarType, static_cast<uint8_t>(value.dtype));
  const FlatWriter::Field sizes = FlatWriter::offset(slot::kSizes),
                          order = FlatWriter::offset(slot::kDimOrder);
  const FlatWriter::Field dynamic = FlatWriter::number(slot::kShapeDynamism, static_cast<uint8_t>(dynamism));
  Position table = 0;
  if (is_planned) {
    table = flat_.table({type, sizes, order, dynamic, FlatWriter::offset(slot::kAllocationInfo)});
    namespace part = schema::allocation;
    // The offset is stored in two halves of 32 bits.
    flat_.link(table, slot::kAllocationInfo,
               flat_.table({FlatWriter::number(part::kMemoryId, kMemory),
                            FlatWriter::number(part::kMemoryOffsetLow, static_cast<uint32_t>(storage.offset)),
                            FlatWriter::number(part::kMemoryOffsetHigh,
                                               static_cast<uint32_t>(storage.offset >> 32))}));
  } else if (is_constant) {
    table = flat_.table({type, sizes, order, dynamic, FlatWriter::offset(slot::kExtraTensorInfo)});
    namespace part = schema::extra;
    const auto external = static_cast<uint8_t>(schema::TensorDataLocation::External);
    const Position extra = flat_.table(
        {FlatWriter::offset(part::kFullyQualifiedName), FlatWriter::number(part::kLocation, external)});
    flat_.link(table, slot::kExtraTensorInfo, extra);
    flat_.link(extra, part::kFullyQualifiedName,
               flat_.string(list_.constants_[static_cast<size_t>(storage.constant)].key));
  } else {
    table = flat_.table({type, sizes, order, dynamic});
  }
  flat_.link(table, slot::kSizes, flat_.scalars(value.sizes));
  flat_.link(table, slot::kDimOrder, flat_.scalars(value.order));
  return table;
}

ProgramWriter::Position ProgramWriter::instruction(const CallList::Call& call) {
  namespace slot = schema::instruction;
  const auto kind = static_cast<uint8_t>(schema::InstructionKind::KernelCall);
  const Position instruction =
      flat_.table({FlatWriter::number(slot::kInstrArgsType, kind), FlatWriter::offset(slot::kInstrArgs)});
  namespace part = schema::kernel_call;
  const Position arguments =
      flat_.table({FlatWriter::number(part::kOpIndex, call.op), FlatWriter::offset(part::kArgs)});
  flat_.link(instruction, slot::kInstrArgs, arguments);
  flat_.link(arguments, part::kArgs, flat_.scalars(call.arguments));
  return instruction;
}

}  // namespace rushlight
