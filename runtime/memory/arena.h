// SPDX-License-Identifier: BSD-3-Clause
// A bump allocator over memory the caller gives. Nothing is freed one by one; reset() frees all.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/span.h"

namespace rushlight {

class Arena {
 public:
  static constexpr size_t kDefaultAlignment = alignof(int64_t);

  Arena() = default;
  explicit Arena(Span<uint8_t> memory) : memory_(memory) {}

  // Memory for `size` bytes, or null when it does not fit; logs how many bytes were short.
  // `alignment` is a power of two.
  [[nodiscard]] void* allocate(size_t size, size_t alignment = kDefaultAlignment);

  // Uninitialised memory for `count` objects of T, or null.
  template <class T>
  [[nodiscard]] T* allocate_array(size_t count) {
    if (count > SIZE_MAX / sizeof(T)) return nullptr;
    return static_cast<T*>(allocate(count * sizeof(T), alignof(T)));
  }

  void reset() { used_ = 0; }

  [[nodiscard]] size_t used() const { return used_; }
  [[nodiscard]] size_t peak() const { return peak_; }  // the most that was ever in use, in bytes
  [[nodiscard]] size_t size() const { return memory_.size(); }

 private:
  Span<uint8_t> memory_;
  size_t used_ = 0;
  size_t peak_ = 0;
};

}  // namespace rushlight
