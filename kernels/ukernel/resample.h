// SPDX-License-Identifier: BSD-3-Clause
// Interpolation of rows of float32 images. Accesses only the described elements; alignment of float; results
// overlap no operand. Strides are in floats. The caller computes the indices and shares of an axis once, for
// all rows and channels, by PyTorch's rules (align_corners, half pixels).
//
// Sums of products may be fused: variants differ in the last bit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// Nearest neighbour: out[i] = row[index[i]]. Indices are not checked.
RL_UKERNEL(void, resample_gather, (size_t n, const float* row, const int32_t* index, float* out),
           (n, row, index, out))

// Nearest neighbour by integer factors: repeats each row `down` times and each element `across` times. For i
// < rows, k < down, j < n, l < across:
//
//   to[(i * down + k) * to_stride + j * across + l] = from[i * from_stride + j]
struct RepeatedRows {
  size_t rows = 0;
  size_t n = 0;
  size_t down = 1;
  size_t across = 1;
  const float* from = nullptr;
  ptrdiff_t from_stride = 0;
  float* to = nullptr;
  ptrdiff_t to_stride = 0;
};
RL_UKERNEL(void, resample_repeat, (const RepeatedRows& rows), (rows))

// The weighted sum of rows, in their order: out[i] = sum over t < taps of rows[t][i] * weights[t].
RL_UKERNEL(void, resample_sum,
           (size_t n, size_t taps, const float* const* rows, const float* weights, float* out),
           (n, taps, rows, weights, out))

// Along one row, for i < n:
//
//   out[i] = sum over t < taps of row[first[i] + t] * weights[t * weight_stride + i]
//
// `first` ascends and is not negative. Loads whole vectors: `first` and each span of weights have
// kResampleSlack elements more than n, of any value, and so has the row after its last element.
struct ResampledRow {
  size_t n = 0;
  size_t taps = 0;
  const float* row = nullptr;
  const int32_t* first = nullptr;
  const float* weights = nullptr;
  size_t weight_stride = 0;
  float* out = nullptr;
};
inline constexpr size_t kResampleSlack = 15;
RL_UKERNEL(void, resample_along, (const ResampledRow& row), (row))

}  // namespace rushlight::ukernel
