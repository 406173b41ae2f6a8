// SPDX-License-Identifier: BSD-3-Clause
// The constants of all delegates of a program, equal ones once. Kernels pack constants by their address, so
// that what several delegates or methods share is packed once.
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

// May be used by several threads.
class ConstantPool {
 public:
  using Bytes = Span<const uint8_t>;

  // Constants up to this size are copied: each in the file, between weights that were packed, would keep
  // pages around it in memory, 2 MiB of them on some systems.
  static constexpr size_t kSmall = size_t{16} << 10;

  // Equal bytes that came before, of the same alignment, or these, which outlive the pool, or a copy.
  [[nodiscard]] Bytes refer(Bytes bytes);
  // Likewise of bytes that the pool keeps unless it has equal ones.
  [[nodiscard]] Bytes keep(std::vector<uint8_t> bytes);
  [[nodiscard]] Bytes keep(FreeableBuffer buffer);

  // Memory of all that is kept.
  [[nodiscard]] size_t kept_bytes() const;

 private:
  [[nodiscard]] Bytes find_or_add(Bytes bytes);
  // Null if there are none.
  [[nodiscard]] const Bytes* find(Bytes bytes, uint64_t key) const;

  mutable std::mutex mutex_;
  std::unordered_multimap<uint64_t, Bytes> known_;
  std::deque<std::vector<uint8_t>> made_;
  std::deque<FreeableBuffer> read_;
  size_t kept_bytes_ = 0;
};

}  // namespace rushlight
