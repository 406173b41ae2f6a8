// SPDX-License-Identifier: BSD-3-Clause
// Writes new positions to a key or value cache: cache [batch, positions, heads, depth], new rows [batch,
// count, heads, depth] of the same dtype. Elements are moved by size, so every dtype works. Layouts may be
// any.
#pragma once

#include <cstdint>

#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// InvalidArgument unless both have four dimensions and the same sizes except in dimension 1; InvalidType
// unless they have one dtype.
Error check_cache_rows(const Tensor& value, const Tensor& cache);

// A copy of rows to consecutive positions of a cache. plan() and write() are separate, so that an operator
// with two caches checks both before it writes one. Holds addresses, not the tensors.
class CacheRows {
 public:
  // `value` replaces the positions from `start` on. Errors: as above, and InvalidArgument if they exceed the
  // cache. write() then copies; it may be called again.
  Error plan(const Tensor& value, const Tensor& cache, int64_t start);
  [[nodiscard]] Error write() const;

 private:
  View target_{};
  View source_{};
};

}  // namespace rushlight::kernels
