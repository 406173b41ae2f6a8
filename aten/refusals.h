// SPDX-License-Identifier: BSD-3-Clause
// Remembers which dtypes a kernel refused, so that it is asked, and logs its refusal, once for each.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "runtime/tensor/evalue.h"

namespace rushlight::aten {

// A small set of dtype combinations, as hashes. Safe to use from several threads. When it is full, further
// combinations are forgotten, and the kernel refuses them again.
class Refusals {
 public:
  [[nodiscard]] bool contain(uint64_t dtypes) const {
    for (const auto& key : keys_) {
      const uint64_t known = key.load(std::memory_order_relaxed);
      if (known == dtypes) return true;
      if (known == 0) return false;
    }
    return false;
  }
  void add(uint64_t dtypes) {
    for (auto& key : keys_) {
      uint64_t expected = 0;
      if (key.compare_exchange_strong(expected, dtypes, std::memory_order_relaxed)) return;
      if (expected == dtypes) return;
    }
  }
  [[nodiscard]] bool empty() const { return keys_[0].load(std::memory_order_relaxed) == 0; }

 private:
  std::array<std::atomic<uint64_t>, 8> keys_ = {};
};

// A hash, never 0, of all that decides about a dtype: dtypes of tensors, whether they have rank 0, and kinds
// of numbers. FNV-1a.
uint64_t dtypes_of(const char* signature, EValue* const* arguments);

}  // namespace rushlight::aten
