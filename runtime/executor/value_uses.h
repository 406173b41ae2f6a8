// SPDX-License-Identifier: BSD-3-Clause
// How instructions use each value of a method, to know which stay as they are once they have been computed
// from constants.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/span.h"
#include "runtime/executor/method_values.h"
#include "runtime/executor/place_set.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/memory/arena.h"
#include "runtime/program/flatbuffer.h"

namespace rushlight {

// Instructions are counted from 1, through all chains; before the first one, inputs and states are written.
struct ValueUse {
  uint32_t first;  // 0 as well for what nothing uses, which has no flag
  uint32_t last;
  uint32_t flags : 8;
  uint32_t place : 24;  // of a tensor with bytes in planned memory
};

// Two walks over the instructions: the first finds the first and last use of each value, the second one
// follows who owns which bytes of planned memory meanwhile. Both together take n log n steps for a program of
// n bytes, however its tensors overlap.
class ValueUses {
 public:
  // What the constructor takes of its arena, which may begin at any address.
  [[nodiscard]] static size_t bytes(size_t values, size_t planned) {
    constexpr size_t kPlace = sizeof(Place) + (2 * PlaceSet::kNodes + 1) * sizeof(uint32_t);
    return values * sizeof(ValueUse) + planned * kPlace + alignof(Place);
  }

  // `kernels` are those of the plan's operators; `planned` of the plan's tensors lie in planned memory.
  // Before anything else ok() is asked: false where the arena was too small.
  ValueUses(flatbuffer::Table plan, const MethodValues& values, const KernelEntry* const* kernels,
            size_t planned, Arena* memory);

  [[nodiscard]] bool ok() const { return links_ != nullptr; }

  // Whether an instruction gives the value another number or tensor, or its tensor another shape or memory.
  // Of a list, whether it does so to one of the list's values.
  [[nodiscard]] bool changes(size_t value) const;

  // Whether one call writes the tensor, before all others read it, and what it wrote stays in the tensor's
  // planned memory while it is used: it is no input, output or initial state, no delegate has it, views of it
  // are only read, and nothing else lies there meanwhile.
  [[nodiscard]] bool is_written_once(size_t value) const { return (uses_[value].flags & kOnce) != 0; }

  // f(view) for each tensor that lies in the memory of one that is_written_once() and that no instruction
  // writes: a view that needs none.
  template <class F>
  void for_each_view(size_t value, F f) const {
    for (uint32_t at = links_[uses_[value].place]; at != PlaceSet::kNone; at = links_[at])
      f(static_cast<size_t>(places_[at].value));
  }

  // Where all tensors lay in planned memory when this was made.
  [[nodiscard]] Span<const Place> places() const { return places_; }

 private:
  enum Flag : uint32_t {
    kRead = 1,
    kWritten = 2,
    kTaken = 4,     // used in another way
    kChanges = 8,   // see changes()
    kStarts = 16,   // its first use writes it
    kPlanned = 32,  // a tensor with bytes in planned memory
    kSeen = 64,     // by the second walk
    kOnce = 128,    // see is_written_once()
  };
  static constexpr size_t kMostPlaces = size_t{1} << 24;

  // Fills in places_, sorted.
  void start();
  // Calls visit(value, flags) for each use of a value, in the order of time.
  template <class F>
  void walk(flatbuffer::Table plan, F visit);
  template <class F>
  void visit_uses(flatbuffer::Table instruction, F visit);
  void mark(size_t value, uint32_t flags);

  void follow_places(flatbuffer::Table plan);
  // The value's first use is now.
  void begin(size_t value);
  void begin_owner(uint32_t place);
  void begin_view(uint32_t place);
  // Another writes to its memory now.
  void end_owner(uint32_t place);

  const MethodValues& values_;
  const KernelEntry* const* kernels_;
  ValueUse* uses_ = nullptr;
  size_t count_;
  uint32_t now_ = 0;
  bool jumps_ = false;
  Span<Place> places_;
  uint32_t* links_ = nullptr;     // for each place: the next view of the same owner, or an owner's first
  PlaceSet live_{{}, nullptr};    // used before as well as after now, or right now
  PlaceSet owners_{{}, nullptr};  // may still be written once; no two of them overlap
};

}  // namespace rushlight
