// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/resample.h, for tests: the formulas of the contract in float32, which variants
// may fuse. Copies are compared by equality, interpolated values to 1e-6 of the sum of their products.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/resample.h"

namespace rushlight::ukernel::reference {

inline void resample_gather(size_t n, const float* row, const int32_t* index, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = row[index[i]];
}

// Row i of the result comes from row i / down, element j from element j / across.
inline void resample_repeat(const RepeatedRows& r) {
  for (size_t i = 0; i < r.rows * r.down; ++i) {
    const float* const from = r.from + static_cast<ptrdiff_t>(i / r.down) * r.from_stride;
    float* const to = r.to + static_cast<ptrdiff_t>(i) * r.to_stride;
    for (size_t j = 0; j < r.n * r.across; ++j) to[j] = from[j / r.across];
  }
}

// All products and sums are rounded.
inline void resample_sum(size_t n, size_t taps, const float* const* rows, const float* weights, float* out) {
  for (size_t i = 0; i < n; ++i) {
    float sum = 0;
    for (size_t t = 0; t < taps; ++t) sum += rows[t][i] * weights[t];
    out[i] = sum;
  }
}

inline void resample_along(const ResampledRow& r) {
  for (size_t i = 0; i < r.n; ++i) {
    float sum = 0;
    for (size_t t = 0; t < r.taps; ++t) {
      sum += r.row[static_cast<size_t>(r.first[i]) + t] * r.weights[t * r.weight_stride + i];
    }
    r.out[i] = sum;
  }
}

}  // namespace rushlight::ukernel::reference
