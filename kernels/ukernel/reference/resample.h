// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/resample.h, for tests: the formulas of the contract in float32, which variants
// may fuse. Copies are compared by equality, interpolated values to 1e-6 or, between four pixels, 2e-6.
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

// Weights of 1 - share and share, in float32: both products and the sum are rounded.
inline void resample_blend(size_t n, const float* a, const float* b, float share, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = a[i] * (1 - share) + b[i] * share;
}

// Across first, then down: the contract fixes the order of the two interpolations.
inline void resample_pixel(size_t n, const float* a, const float* b, const float* c, const float* d,
                           float across, float down, float* out) {
  for (size_t i = 0; i < n; ++i) {
    const float upper = a[i] * (1 - across) + b[i] * across;
    const float lower = c[i] * (1 - across) + d[i] * across;
    out[i] = upper * (1 - down) + lower * down;
  }
}

// The neighbours are given by index and may be equal, at the border.
inline void resample_between(size_t n, const float* row, const int32_t* first, const int32_t* second,
                             const float* share, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = row[first[i]] * (1 - share[i]) + row[second[i]] * share[i];
}

}  // namespace rushlight::ukernel::reference
