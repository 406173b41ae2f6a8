// SPDX-License-Identifier: BSD-3-Clause
// A map from byte ranges to what happened to them last.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace rushlight {

// Disjoint ranges [begin, end) with a value of type T each. Access to a range takes logarithmic time, and
// linear time in the ranges that it overlaps.
template <class T>
class ByteMap {
 public:
  // Calls f(T&, begin, end) for each part of [begin, end) that has a value, after splitting ranges at both
  // ends. Returns true if the parts cover [begin, end).
  template <class F>
  bool visit(uintptr_t begin, uintptr_t end, F f) {
    split(begin);
    split(end);
    uintptr_t covered = begin;
    for (auto at = ranges_.lower_bound(begin); at != ranges_.end() && at->first < end; ++at) {
      if (at->first == covered) covered = at->second.end;
      f(at->second.value, at->first, at->second.end);
    }
    return covered == end;
  }

  // Gives all bytes of [begin, end) the value.
  void set(uintptr_t begin, uintptr_t end, T value) {
    if (begin >= end) return;
    split(begin);
    split(end);
    ranges_.erase(ranges_.lower_bound(begin), ranges_.lower_bound(end));
    ranges_.emplace(begin, Range{end, std::move(value)});
  }

 private:
  struct Range {
    uintptr_t end;
    T value;
  };

  // Makes `at` a boundary of the range that contains it, if any.
  void split(uintptr_t at) {
    auto next = ranges_.upper_bound(at);
    if (next == ranges_.begin()) return;
    auto range = std::prev(next);
    if (range->first == at || range->second.end <= at) return;
    ranges_.emplace_hint(next, at, Range{range->second.end, range->second.value});
    range->second.end = at;
  }

  std::map<uintptr_t, Range> ranges_;
};

}  // namespace rushlight
