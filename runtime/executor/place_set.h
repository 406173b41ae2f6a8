// SPDX-License-Identifier: BSD-3-Clause
// Sets of byte ranges that answer "is one of them in the way?" in logarithmic time, in memory of the caller.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/span.h"

namespace rushlight {

// Where a value lies in planned memory; never empty.
struct Place {
  uintptr_t begin;
  uintptr_t end;
  uint32_t value;

  [[nodiscard]] bool contains(const Place& other) const { return begin <= other.begin && other.end <= end; }
};

// By `begin`, in place and without recursion.
void sort(Span<Place> places);

// Some places of a sorted array, by number: a tree whose nodes name the place below that ends last.
class PlaceSet {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr size_t kNodes = 2;  // for each place

  // An empty set. Both arrays outlive it; `nodes` has kNodes for each place.
  PlaceSet(Span<const Place> places, uint32_t* nodes);

  void insert(uint32_t place) { set(place, place); }
  void erase(uint32_t place) { set(place, kNone); }
  [[nodiscard]] bool has(uint32_t place) const { return nodes_[places_.size() + place] != kNone; }
  // One of the set that shares a byte with `with`, or kNone.
  [[nodiscard]] uint32_t find(const Place& with) const;

 private:
  void set(uint32_t place, uint32_t content);
  [[nodiscard]] uint32_t later(uint32_t a, uint32_t b) const;

  Span<const Place> places_;
  uint32_t* nodes_;
};

}  // namespace rushlight
