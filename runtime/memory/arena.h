// SPDX-License-Identifier: BSD-3-Clause
// A bump allocator over memory that the caller provides. Allocation adds to an offset; single objects are
// never freed, reset() frees all.
//
//   alignas(16) static uint8_t bytes[16384];
//   Arena arena({bytes, sizeof bytes});
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/span.h"

namespace rushlight {

// Not thread-safe. The memory must outlive the arena and all that was allocated from it.
class Arena {
 public:
  // In bytes; suffices for every object that the runtime allocates.
  static constexpr size_t kDefaultAlignment = alignof(int64_t);

  Arena() = default;
  explicit Arena(Span<uint8_t> memory) : memory_(memory) {}

  // Returns `size` uninitialised bytes aligned to `alignment` (a power of two), or null if they do not fit;
  // logs the number of missing bytes then.
  [[nodiscard]] void* allocate(size_t size, size_t alignment = kDefaultAlignment);

  // Returns uninitialised memory for `count` objects of T, or null.
  template <class T>
  [[nodiscard]] T* allocate_array(size_t count) {
    if (count > SIZE_MAX / sizeof(T)) return nullptr;
    return static_cast<T*>(allocate(count * sizeof(T), alignof(T)));
  }

  // Frees everything. Pointers from before are invalid; peak() stays.
  void reset() { used_ = 0; }

  // Bytes in use, with padding.
  [[nodiscard]] size_t used() const { return used_; }
  [[nodiscard]] size_t peak() const { return peak_; }  // the maximum of used() so far
  // Bytes of the underlying memory.
  [[nodiscard]] size_t size() const { return memory_.size(); }

 private:
  Span<uint8_t> memory_;
  size_t used_ = 0;
  size_t peak_ = 0;
};

}  // namespace rushlight
