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

class ValueUses {
 public:
  // `flags` has a byte for each value of the plan. `kernels` are those of its operators.
  ValueUses(flatbuffer::Table plan, const MethodValues& values, const KernelEntry* const* kernels,
            uint8_t* flags);

  // Whether an instruction gives the value another number or tensor, or its tensor another shape or memory.
  // Of a list, whether it does so to one of the list's values.
  [[nodiscard]] bool changes(size_t value) const;

  // Whether one call writes the value, before all others read it, and nobody else has a part in its memory:
  // it is no input, output or initial state, no delegate has it, and there are no views of it.
  [[nodiscard]] bool is_written_once(size_t value) const { return (flags_[value] & ~kRead) == kWritten; }

  // Whether a tensor that nothing writes lies in the planned memory of this one: a view that needs no
  // instruction.
  [[nodiscard]] bool has_views(size_t value) const;

 private:
  enum Flag : uint8_t {
    kRead = 1,
    kWritten = 2,
    kTaken = 4,    // used in another way
    kChanges = 8,  // see changes()
    kGiven = 16,   // there before the method runs
  };

  void take(flatbuffer::Table plan);
  void follow(flatbuffer::Table instruction);
  void follow_call(flatbuffer::Table call);
  void write(size_t value);
  void mark(size_t value, uint8_t flags);

  const MethodValues& values_;
  const KernelEntry* const* kernels_;
  uint8_t* flags_;
  size_t count_;
};

}  // namespace rushlight
