// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/executor/value_uses.h"

#include <cstring>

#include "runtime/program/schema.h"

namespace rushlight {

namespace {

using flatbuffer::Table;
using flatbuffer::TableVector;
using schema::InstructionKind;
using schema::ValueKind;

// The numbers of a value and, if it is a list of values, of those.
template <class F>
void for_each_named(const MethodValues& values, size_t index, F f) {
  f(index);
  const EValue value = values.make(index);
  if (value.tag == Tag::ListInt) {
    const auto* numbers = static_cast<const int64_t*>(value.payload.as_numbers);
    for (uint32_t i = 0; i < value.length; ++i) f(static_cast<size_t>(numbers[i]));
  } else if (value.tag == Tag::ListTensor || value.tag == Tag::ListOptionalTensor) {
    const auto* numbers = static_cast<const int32_t*>(value.payload.as_numbers);
    for (uint32_t i = 0; i < value.length; ++i) {
      if (numbers[i] >= 0) f(static_cast<size_t>(numbers[i]));
    }
  }
}

// A tensor whose first contents the program, or a data file, has.
bool has_initial_state(Table value) {
  if (value.scalar<uint8_t>(schema::evalue::kKind) != static_cast<uint8_t>(ValueKind::Tensor)) return false;
  const Table tensor = value.table(schema::evalue::kValue);
  const Table extra = tensor.table(schema::tensor::kExtraTensorInfo);
  return tensor.scalar<uint32_t>(schema::tensor::kDataBufferIdx) != 0 ||
         extra.string(schema::extra::kFullyQualifiedName)[0] != '\0';
}

bool is_written(char code) { return code == 'w' || code == 'k'; }

}  // namespace

ValueUses::ValueUses(Table plan, const MethodValues& values, const KernelEntry* const* kernels,
                     uint8_t* flags)
    : values_(values), kernels_(kernels), flags_(flags), count_(plan.tables(schema::plan::kValues).size()) {
  take(plan);
  const TableVector chains = plan.tables(schema::plan::kChains);
  for (size_t c = 0; c < chains.size(); ++c) {
    const TableVector instructions = chains[c].tables(schema::chain::kInstructions);
    for (size_t i = 0; i < instructions.size(); ++i) follow(instructions[i]);
  }
}

bool ValueUses::changes(size_t value) const {
  bool found = false;
  for_each_named(values_, value, [&](size_t named) { found = found || (flags_[named] & kChanges) != 0; });
  return found;
}

bool ValueUses::has_views(size_t value) const {
  const Tensor own = values_.tensor(value);
  const auto begin = reinterpret_cast<uintptr_t>(own.const_data_ptr());
  for (size_t i = 0; i < count_; ++i) {
    if (i == value || (flags_[i] & (kWritten | kGiven)) != 0) continue;
    const EValue other = values_.make(i);
    if (other.tag != Tag::Tensor || other.to_tensor().impl()->storage() != Storage::Planned) continue;
    const auto at = reinterpret_cast<uintptr_t>(other.to_tensor().const_data_ptr());
    if (at < begin + own.nbytes() && begin < at + other.to_tensor().nbytes()) return true;
  }
  return false;
}

void ValueUses::mark(size_t value, uint8_t flags) {
  for_each_named(values_, value, [&](size_t named) { flags_[named] |= flags; });
}

void ValueUses::take(Table plan) {
  const TableVector values = plan.tables(schema::plan::kValues);
  for (size_t i = 0; i < values.size(); ++i) flags_[i] = has_initial_state(values[i]) ? kTaken | kGiven : 0;
  for (const int32_t index : plan.vector<int32_t>(schema::plan::kInputs)) {
    mark(static_cast<size_t>(index), kTaken | kGiven);
  }
  for (const int32_t index : plan.vector<int32_t>(schema::plan::kOutputs)) {
    mark(static_cast<size_t>(index), kTaken);
  }
}

void ValueUses::follow(Table instruction) {
  const Table arguments = instruction.table(schema::instruction::kArguments);
  switch (static_cast<InstructionKind>(instruction.scalar<uint8_t>(schema::instruction::kKind))) {
    case InstructionKind::KernelCall:
      follow_call(arguments);
      break;
    case InstructionKind::DelegateCall:
      for (const int32_t index : arguments.vector<int32_t>(schema::delegate_call::kArgs))
        mark(static_cast<size_t>(index), kTaken);
      break;
    case InstructionKind::MoveCall:
      mark(static_cast<size_t>(arguments.scalar<int32_t>(schema::move_call::kFrom)), kTaken);
      mark(static_cast<size_t>(arguments.scalar<int32_t>(schema::move_call::kTo)), kTaken | kChanges);
      break;
    case InstructionKind::JumpFalseCall:
      mark(static_cast<size_t>(arguments.scalar<int32_t>(schema::jump_false_call::kCondValueIndex)), kRead);
      break;
    case InstructionKind::FreeCall:
      break;
  }
}

void ValueUses::follow_call(Table call) {
  const char* signature = kernels_[call.scalar<int32_t>(schema::kernel_call::kOpIndex)]->signature;
  const auto indices = call.vector<int32_t>(schema::kernel_call::kArgs);
  // What writes any value may make it a view of what it reads.
  const bool views = std::strchr(signature, 'e') != nullptr;
  for (size_t i = 0; signature[i] != '\0'; ++i) {
    const auto index = static_cast<size_t>(indices[i]);
    if (signature[i] == 'e') {
      mark(index, kTaken | kChanges);
    } else if (!is_written(signature[i])) {
      mark(index, views ? kRead | kTaken : kRead);
    }
  }
  for (size_t i = 0; signature[i] != '\0'; ++i) {
    if (!is_written(signature[i])) continue;
    for_each_named(values_, static_cast<size_t>(indices[i]), [this](size_t named) { write(named); });
  }
}

void ValueUses::write(size_t value) {
  const bool first = (flags_[value] & (kRead | kWritten)) == 0;
  flags_[value] |= first ? kWritten : kWritten | kTaken;
}

}  // namespace rushlight
