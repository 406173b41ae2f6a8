// SPDX-License-Identifier: BSD-3-Clause
// The memory of a method's arena, by part (runtime/program/layout.h).
#pragma once

#include "runtime/executor/method_values.h"
#include "runtime/program/layout.h"

namespace rushlight {

// Finds the parts of an arena in a block of memory. Both must outlive it.
class ArenaBlock {
 public:
  ArenaBlock(const ArenaLayout& layout, uint8_t* memory) : layout_(layout), memory_(memory) {}

  template <ArenaPart kPart, class T>
  void assign(T** start) const {
    // The layout computes sizes without the types, also for targets other than the host; here they meet.
    static_assert(arena_element_size(kPart, sizeof(void*)) == sizeof(T));
    static_assert(arena_element_alignment(kPart, sizeof(void*)) % alignof(T) == 0);
    *start = reinterpret_cast<T*>(memory_ + static_cast<size_t>(layout_.offset[static_cast<size_t>(kPart)]));
  }

 private:
  const ArenaLayout& layout_;
  uint8_t* memory_;
};

// Assigns the parts that one call uses at a time. Threads that make calls at once need a block of their own
// for them.
inline void assign_frame(const ArenaBlock& block, MethodValues::ValueTables* values, EValue*** arguments) {
  block.assign<ArenaPart::Made>(&values->made);
  block.assign<ArenaPart::IntLists>(&values->ints.lists);
  block.assign<ArenaPart::IntListItems>(&values->ints.items);
  block.assign<ArenaPart::TensorLists>(&values->tensor_lists.lists);
  block.assign<ArenaPart::TensorListItems>(&values->tensor_lists.items);
  block.assign<ArenaPart::OptionalTensorLists>(&values->optional_tensor_lists.lists);
  block.assign<ArenaPart::OptionalTensorListItems>(&values->optional_tensor_lists.items);
  block.assign<ArenaPart::Arguments>(arguments);
}

}  // namespace rushlight
