// SPDX-License-Identifier: BSD-3-Clause
// Sets of byte ranges with overlap queries in logarithmic time, in memory of the caller.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/span.h"

namespace rushlight {

// The byte range of a value in planned memory; never empty.
struct Slot {
  uintptr_t begin;
  uintptr_t end;
  uint32_t value;

  [[nodiscard]] bool contains(const Slot& other) const { return begin <= other.begin && other.end <= end; }
};

// Sorts by `begin`, in place and without recursion.
void sort(Span<Slot> slots);

// A subset of a sorted array of ranges, by index. A segment tree whose nodes name the range below that ends
// last.
class SlotSet {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr size_t kNodes = 2;  // tree nodes per range

  // Creates an empty set. Both arrays must outlive it; `nodes` has kNodes entries per range.
  SlotSet(Span<const Slot> slots, uint32_t* nodes);

  void insert(uint32_t slot) { set(slot, slot); }
  void erase(uint32_t slot) { set(slot, kNone); }
  [[nodiscard]] bool has(uint32_t slot) const { return nodes_[slots_.size() + slot] != kNone; }
  // Returns an element that shares a byte with `with`, or kNone.
  [[nodiscard]] uint32_t find(const Slot& with) const;

 private:
  void set(uint32_t slot, uint32_t content);
  [[nodiscard]] uint32_t later(uint32_t a, uint32_t b) const;

  Span<const Slot> slots_;
  uint32_t* nodes_;
};

}  // namespace rushlight
