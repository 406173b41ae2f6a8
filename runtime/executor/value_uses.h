// SPDX-License-Identifier: BSD-3-Clause
// How instructions use each value of a method, to know which stay as they are once they have been computed
// from constants.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/span.h"
#include "runtime/executor/method_values.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/program/flatbuffer.h"

namespace rushlight {

// Instructions are counted from 1, through all chains; before the first one, inputs and states are written.
struct ValueUse {
  uint32_t first;  // 0 as well for what nothing uses, which has no flag
  uint32_t last;
  uint8_t flags;
};

class ValueUses {
 public:
  // `uses` has room for each value of the plan. `kernels` are those of its operators.
  ValueUses(flatbuffer::Table plan, const MethodValues& values, const KernelEntry* const* kernels,
            ValueUse* uses);

  // Whether an instruction gives the value another number or tensor, or its tensor another shape or memory.
  // Of a list, whether it does so to one of the list's values.
  [[nodiscard]] bool changes(size_t value) const;

  // Whether one call writes the tensor, before all others read it, and what it wrote stays in the tensor's
  // planned memory while it is used: it is no input, output or initial state, no delegate has it, views of it
  // are only read, and nothing else lies there meanwhile.
  [[nodiscard]] bool is_written_once(size_t value) const;

  // f(view) for each tensor that lies in the memory of one that is_written_once() and that no instruction
  // writes: a view that needs none.
  template <class F>
  void for_each_view(size_t value, F f) const {
    const uint32_t end = find_next_write(value);
    for (size_t i = 0; i < count_; ++i) {
      if (is_view(value, i, end)) f(i);
    }
  }

 private:
  enum Flag : uint8_t {
    kRead = 1,
    kWritten = 2,
    kTaken = 4,     // used in another way
    kChanges = 8,   // see changes()
    kStarts = 16,   // its first use writes it
    kPlanned = 32,  // a tensor in planned memory
  };

  void start(flatbuffer::Table plan);
  void follow(flatbuffer::Table instruction);
  void follow_call(flatbuffer::Table call);
  void mark(size_t value, uint8_t flags);

  // Whether `other`, used no earlier than `value` is written, is a planned tensor with bytes in its memory.
  [[nodiscard]] bool shares(size_t value, size_t other) const;
  // Whether it may show what is in `value` before `end`.
  [[nodiscard]] bool is_view(size_t value, size_t other, uint32_t end) const;
  // The first instruction that writes something else into the memory of `value`.
  [[nodiscard]] uint32_t find_next_write(size_t value) const;

  const MethodValues& values_;
  const KernelEntry* const* kernels_;
  ValueUse* uses_;
  size_t count_;
  uint32_t now_ = 0;
  bool jumps_ = false;
};

}  // namespace rushlight
