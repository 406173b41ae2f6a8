// SPDX-License-Identifier: BSD-3-Clause
// Memory in separate blocks, each exactly as long as requested, so that AddressSanitizer sees an access to
// the first byte beyond. An arena would hide it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "runtime/base/span.h"

namespace rushlight::fuzz {

// Blocks live as long as the heap.
class Heap {
 public:
  // A limit for the total: larger programs are not typical of boards, and only slow.
  static constexpr size_t kLimit = size_t{4} << 20;

  Heap() = default;
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap() {
    for (void* block : blocks_) std::free(block);
  }

  // Zeroed bytes, aligned to 16. Null data beyond the limit.
  Span<uint8_t> allocate(size_t size) {
    // Not added first: the sum could overflow.
    if (size > kLimit - used_) return {};
    void* block = nullptr;
    if (posix_memalign(&block, 16, size) != 0) return {};
    blocks_.push_back(block);
    used_ += size;
    std::memset(block, 0, size);
    return {static_cast<uint8_t*>(block), size};
  }

 private:
  std::vector<void*> blocks_;
  size_t used_ = 0;
};

}  // namespace rushlight::fuzz
