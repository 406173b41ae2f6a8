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

constexpr uint32_t kEnd = UINT32_MAX;

struct Bytes {
  explicit Bytes(const Tensor& tensor)
      : begin(reinterpret_cast<uintptr_t>(tensor.const_data_ptr())), end(begin + tensor.nbytes()) {}

  [[nodiscard]] bool overlap(const Bytes& other) const { return begin < other.end && other.begin < end; }
  [[nodiscard]] bool contain(const Bytes& other) const { return begin <= other.begin && other.end <= end; }

  uintptr_t begin;
  uintptr_t end;
};

}  // namespace

ValueUses::ValueUses(Table plan, const MethodValues& values, const KernelEntry* const* kernels,
                     ValueUse* uses)
    : values_(values), kernels_(kernels), uses_(uses), count_(plan.tables(schema::plan::kValues).size()) {
  start(plan);
  const TableVector chains = plan.tables(schema::plan::kChains);
  for (size_t c = 0; c < chains.size(); ++c) {
    const TableVector instructions = chains[c].tables(schema::chain::kInstructions);
    for (size_t i = 0; i < instructions.size(); ++i) {
      ++now_;
      follow(instructions[i]);
    }
  }
  now_ = kEnd;
  for (const int32_t index : plan.vector<int32_t>(schema::plan::kOutputs)) {
    mark(static_cast<size_t>(index), kTaken);
  }
}

void ValueUses::start(Table plan) {
  const TableVector values = plan.tables(schema::plan::kValues);
  for (size_t i = 0; i < count_; ++i) {
    const EValue value = values_.make(i);
    const bool planned = value.is_tensor() && value.to_tensor().impl()->storage() == Storage::Planned;
    uses_[i] = {kEnd, 0, 0};
    if (planned) uses_[i].flags = kPlanned;
    if (has_initial_state(values[i])) mark(i, kTaken);
  }
  for (const int32_t index : plan.vector<int32_t>(schema::plan::kInputs)) {
    mark(static_cast<size_t>(index), kTaken);
  }
}

bool ValueUses::changes(size_t value) const {
  bool found = false;
  for_each_named(values_, value,
                 [&](size_t named) { found = found || (uses_[named].flags & kChanges) != 0; });
  return found;
}

bool ValueUses::is_written_once(size_t value) const {
  const ValueUse& own = uses_[value];
  if ((own.flags & ~kRead) != (kWritten | kStarts | kPlanned)) return false;
  const uint32_t end = find_next_write(value);
  if (own.last > end) return false;
  const Bytes memory(values_.tensor(value));
  for (size_t i = 0; i < count_; ++i) {
    const ValueUse& other = uses_[i];
    if (other.first <= own.first && shares(value, i)) return false;
    if (!is_view(value, i, end)) continue;
    const bool is_only_read = (other.flags & ~kPlanned) == kRead && other.last <= end;
    // What lies there where two paths join, their instructions' order does not tell.
    if (!is_only_read || jumps_ || !memory.contain(Bytes(values_.tensor(i)))) return false;
  }
  return true;
}

bool ValueUses::shares(size_t value, size_t other) const {
  if (other == value || uses_[other].last < uses_[value].first || (uses_[other].flags & kPlanned) == 0)
    return false;
  const Tensor tensor = values_.tensor(other);
  return tensor.impl()->storage() == Storage::Planned && Bytes(values_.tensor(value)).overlap(Bytes(tensor));
}

bool ValueUses::is_view(size_t value, size_t other, uint32_t end) const {
  const ValueUse& use = uses_[other];
  return (use.flags & kStarts) == 0 && (use.first <= end || jumps_) && shares(value, other);
}

uint32_t ValueUses::find_next_write(size_t value) const {
  uint32_t next = kEnd;
  for (size_t i = 0; i < count_; ++i) {
    const ValueUse& other = uses_[i];
    if ((other.flags & kStarts) != 0 && other.first < next && shares(value, i)) next = other.first;
  }
  return next;
}

// A value that is read before it is written, or written twice, is another one each time.
void ValueUses::mark(size_t value, uint8_t flags) {
  for_each_named(values_, value, [&](size_t named) {
    ValueUse& use = uses_[named];
    const bool is_first = use.first == kEnd;
    if (is_first) use.first = now_;
    use.last = now_;
    use.flags |= flags;
    if ((flags & kWritten) != 0) use.flags |= is_first ? kStarts : kTaken;
  });
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
      jumps_ = true;
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
    if (is_written(signature[i])) mark(static_cast<size_t>(indices[i]), kWritten);
  }
}

}  // namespace rushlight
