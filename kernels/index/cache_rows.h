// SPDX-License-Identifier: BSD-3-Clause
// Writing new positions into a cache of keys or values: cache [batch, positions, heads, depth], new rows
// [batch, count, heads, depth] of its dtype. Elements move by their width, whatever their dtype.
#pragma once

#include <cstdint>

#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// InvalidArgument unless both have four dimensions and the same sizes but for dimension 1, InvalidType unless
// they have one dtype.
Error check_cache_rows(const Tensor& value, const Tensor& cache);

// Rows of a cache that follow each other.
class CacheRows {
 public:
  // `value` replaces the rows from `start` on. Errors: as above, and InvalidArgument for rows past the end.
  Error plan(const Tensor& value, const Tensor& cache, int64_t start);
  [[nodiscard]] Error write() const;

 private:
  View target_{};
  View source_{};
};

}  // namespace rushlight::kernels
