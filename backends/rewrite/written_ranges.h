// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>

namespace rushlight::rewrite {

// Tracks which value was written last to each byte of one planned buffer. Ranges do not overlap: a new one
// removes the ranges that it touches. Cost: log n per call of a function, amortized.
class WrittenRanges {
 public:
  static constexpr int32_t kNone = -1;

  void write(uint64_t begin, uint64_t end, int32_t value) {
    auto at = ranges_.lower_bound(begin);
    if (at != ranges_.begin() && std::prev(at)->second.end > begin) --at;
    while (at != ranges_.end() && at->first < end) at = ranges_.erase(at);
    ranges_[begin] = {end, value};
  }

  // The value whose bytes are exactly these; kNone if parts were written by others or not at all.
  [[nodiscard]] int32_t written(uint64_t begin, uint64_t end) const {
    const auto at = ranges_.find(begin);
    return at != ranges_.end() && at->second.end == end ? at->second.value : kNone;
  }

 private:
  struct Range {
    uint64_t end;
    int32_t value;
  };
  std::map<uint64_t, Range> ranges_;
};

}  // namespace rushlight::rewrite
