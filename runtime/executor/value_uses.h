// SPDX-License-Identifier: BSD-3-Clause
// Dataflow analysis for constant folding: finds values that do not change once they were computed from
// constants.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/span.h"
#include "runtime/executor/method_values.h"
#include "runtime/executor/slot_set.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/memory/arena.h"
#include "runtime/program/flatbuffer.h"

namespace rushlight {

// Uses of one value. Instructions are numbered from 1, through all chains; inputs and initial states are
// written at 0.
struct ValueUse {
  uint32_t first;      // UINT32_MAX if unused or an output only
  uint32_t last;       // 0 if unused, UINT32_MAX for an output
  uint32_t flags : 8;  // if unused, kPlanned at most
  uint32_t slot : 24;  // index of the range of a tensor with bytes in planned memory
};

// Two passes over the instructions: the first finds the first and last use of each value, the second tracks
// which values own which bytes of planned memory. Cost: n log n for a program of n bytes, for any overlap of
// its tensors.
class ValueUses {
 public:
  // Bytes that the constructor takes from its arena, for any alignment.
  [[nodiscard]] static size_t bytes(size_t values, size_t planned) {
    constexpr size_t kSlotBytes = sizeof(Slot) + (2 * SlotSet::kNodes + 1) * sizeof(uint32_t);
    return values * sizeof(ValueUse) + planned * kSlotBytes + alignof(Slot);
  }

  // `kernels` belong to the plan's operators; `planned` is the number of the plan's tensors in planned
  // memory. Check ok() first: it is false if the arena is too small.
  ValueUses(flatbuffer::Table plan, const MethodValues& values, const KernelEntry* const* kernels,
            size_t planned, Arena* memory);

  [[nodiscard]] bool ok() const { return links_ != nullptr; }

  // Returns true if an instruction changes the value's number or tensor, or that tensor's shape or memory.
  // For a list, if this holds for any of its items.
  [[nodiscard]] bool changes(size_t value) const;

  // Returns true if exactly one call writes the tensor, before all reads, and the result stays in its planned
  // memory until the last use: the tensor is no input, output, initial state or argument of a delegate, its
  // aliases are only read, and no other value uses its memory meanwhile.
  [[nodiscard]] bool is_written_once(size_t value) const { return (uses_[value].flags & kOnce) != 0; }

  // Calls f(view) for each alias of a tensor for which is_written_once() holds: a tensor in its memory that
  // no instruction writes.
  template <class F>
  void for_each_view(size_t value, F f) const {
    for (uint32_t at = links_[uses_[value].slot]; at != SlotSet::kNone; at = links_[at])
      f(static_cast<size_t>(slots_[at].value));
  }

  // The ranges of all tensors in planned memory at construction.
  [[nodiscard]] Span<const Slot> slots() const { return slots_; }

 private:
  enum Flag : uint32_t {
    kRead = 1,
    kWritten = 2,
    kOtherUse = 4,  // used in another way
    kChanges = 8,   // see changes()
    kStarts = 16,   // its first use writes it
    kPlanned = 32,  // a tensor with bytes in planned memory
    kSeen = 64,     // visited by the second pass
    kOnce = 128,    // see is_written_once()
  };
  static constexpr size_t kMaxSlots = size_t{1} << 24;

  // Fills slots_ and sorts it.
  void start();
  // Calls visit(value, flags) for each use, in program order.
  template <class F>
  void walk(flatbuffer::Table plan, F visit);
  template <class F>
  void visit_uses(flatbuffer::Table instruction, F visit);
  void mark(size_t value, uint32_t flags);

  void follow_slots(flatbuffer::Table plan);
  // Handles the first use of a value.
  void begin(size_t value);
  void begin_owner(uint32_t slot);
  void begin_view(uint32_t slot);
  // Ends the ownership of a range: another value is about to be written there.
  void end_owner(uint32_t slot);

  const MethodValues& values_;
  const KernelEntry* const* kernels_;
  ValueUse* uses_ = nullptr;
  size_t count_;
  uint32_t now_ = 0;
  bool jumps_ = false;
  Span<Slot> slots_;
  uint32_t* links_ = nullptr;    // per range: the next alias of the same owner, or an owner's first
  SlotSet live_{{}, nullptr};    // used both before and after now, or right now
  SlotSet owners_{{}, nullptr};  // candidates for is_written_once(); they do not overlap
};

}  // namespace rushlight
