// SPDX-License-Identifier: BSD-3-Clause
// Stores the constants of all delegates of a program, equal ones once. Kernels pack constants by address, so
// a constant that several delegates or methods share is packed once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/base/span.h"
#include "runtime/program/data_loader.h"

namespace rushlight {

// Thread-safe.
class ConstantPool {
 public:
  using Bytes = Span<const uint8_t>;

  // Constants up to this size are copied: used in place between larger weights in a file, each would keep the
  // pages around it resident, 2 MiB on systems with large pages.
  static constexpr size_t kSmall = size_t{16} << 10;

  // Returns equal bytes of the same alignment that were added before; otherwise these bytes, which must
  // outlive the pool, or a copy of them.
  [[nodiscard]] Bytes refer(Bytes bytes);
  // The same for bytes that the pool takes over, unless it has equal ones.
  [[nodiscard]] Bytes keep(std::vector<uint8_t> bytes);
  [[nodiscard]] Bytes keep(FreeableBuffer buffer);

  // Bytes of memory that the pool owns.
  [[nodiscard]] size_t kept_bytes() const;

 private:
  [[nodiscard]] Bytes find_or_add(Bytes bytes);
  // Returns null if there are none.
  [[nodiscard]] const Bytes* find(Bytes bytes, uint64_t key) const;

  mutable std::mutex mutex_;
  std::unordered_multimap<uint64_t, Bytes> known_;
  std::deque<std::vector<uint8_t>> made_;
  std::deque<FreeableBuffer> read_;
  size_t kept_bytes_ = 0;
};

}  // namespace rushlight
