// SPDX-License-Identifier: BSD-3-Clause
// The values that an instruction uses, and how.
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/executor/method_values.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/program/flatbuffer.h"
#include "runtime/program/schema.h"

namespace rushlight {

// How an instruction uses a value.
enum class ValueAccess : uint8_t {
  Read,      // its number or elements
  Shown,     // read by a call that may make one of its other arguments an alias of it
  Written,   // its elements, and its sizes if they are dynamic
  Replaced,  // its number, or its tensor's sizes and memory
  Any,       // by a delegate, which may read and write it, or by a move
};

inline schema::InstructionKind kind_of(flatbuffer::Table instruction) {
  return static_cast<schema::InstructionKind>(
      instruction.scalar<uint8_t>(schema::instruction::kInstrArgsType));
}

// Calls f for a value's index and, if it is a list of values, for the indices of its items.
template <class F>
inline void for_each_named(const MethodValues& values, size_t index, F f) {
  f(index);
  const EValue value = values.make(index);
  if (value.tag == Tag::ListInt) {
    const auto* numbers = static_cast<const int64_t*>(value.payload.as_indices);
    for (uint32_t i = 0; i < value.length; ++i) f(static_cast<size_t>(numbers[i]));
  } else if (value.tag == Tag::ListTensor || value.tag == Tag::ListOptionalTensor) {
    const auto* numbers = static_cast<const int32_t*>(value.payload.as_indices);
    for (uint32_t i = 0; i < value.length; ++i) {
      if (numbers[i] >= 0) f(static_cast<size_t>(numbers[i]));
    }
  }
}

// Returns true for a tensor whose initial contents the program or a data file stores.
inline bool has_initial_state(flatbuffer::Table value) {
  if (value.scalar<uint8_t>(schema::evalue::kValType) != static_cast<uint8_t>(schema::ValueKind::Tensor))
    return false;
  const flatbuffer::Table tensor = value.table(schema::evalue::kVal);
  const flatbuffer::Table extra = tensor.table(schema::tensor::kExtraTensorInfo);
  return tensor.scalar<uint32_t>(schema::tensor::kDataBufferIdx) != 0 ||
         extra.string(schema::extra::kFullyQualifiedName)[0] != '\0';
}

// Calls visit(value, access) for each value that an instruction names, reads before writes, because a call
// that writes in place reads the old contents. Lists are values; see for_each_named(). `kernels` belong to
// the plan's operators.
template <class F>
inline void for_each_use(flatbuffer::Table instruction, const KernelEntry* const* kernels, F visit) {
  using schema::InstructionKind;
  const flatbuffer::Table arguments = instruction.table(schema::instruction::kInstrArgs);
  switch (kind_of(instruction)) {
    case InstructionKind::KernelCall: {
      const char* signature = kernels[arguments.scalar<int32_t>(schema::kernel_call::kOpIndex)]->signature;
      const auto indices = arguments.vector<int32_t>(schema::kernel_call::kArgs);
      // An 'e' argument may become an alias of any argument that the call reads.
      const ValueAccess read =
          std::strchr(signature, 'e') != nullptr ? ValueAccess::Shown : ValueAccess::Read;
      for (const bool writes : {false, true}) {
        for (size_t i = 0; signature[i] != '\0'; ++i) {
          if (is_written(signature[i]) != writes) continue;
          const ValueAccess access = writes                ? ValueAccess::Written
                                     : signature[i] == 'e' ? ValueAccess::Replaced
                                                           : read;
          visit(static_cast<size_t>(indices[i]), access);
        }
      }
      break;
    }
    case InstructionKind::DelegateCall:
      // The program does not tell which arguments a delegate writes.
      for (const int32_t index : arguments.vector<int32_t>(schema::delegate_call::kArgs))
        visit(static_cast<size_t>(index), ValueAccess::Any);
      break;
    case InstructionKind::MoveCall:
      visit(static_cast<size_t>(arguments.scalar<int32_t>(schema::move_call::kMoveFrom)), ValueAccess::Any);
      visit(static_cast<size_t>(arguments.scalar<int32_t>(schema::move_call::kMoveTo)),
            ValueAccess::Replaced);
      break;
    case InstructionKind::JumpFalseCall:
      visit(static_cast<size_t>(arguments.scalar<int32_t>(schema::jump_false_call::kCondValueIndex)),
            ValueAccess::Read);
      break;
    case InstructionKind::FreeCall:
      break;
  }
}

}  // namespace rushlight
