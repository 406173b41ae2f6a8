// SPDX-License-Identifier: BSD-3-Clause
// Interpolation of rows of float32 images. Accesses only the described elements; alignment of float; results
// overlap no operand. Strides are in floats. The caller computes the indices and shares of an axis once, for
// all rows and channels, by PyTorch's rules (align_corners, half pixels).
//
// Sums of two products may be fused: variants differ in the last bit.
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

// Linear, between two rows: out[i] = a[i] * (1 - share) + b[i] * share. One share for the whole row.
RL_UKERNEL(void, resample_blend, (size_t n, const float* a, const float* b, float share, float* out),
           (n, a, b, share, out))

// Bilinear, between four pixels of n channels, the upper two and the lower two:
//
//   out[i] = (a[i] * (1 - across) + b[i] * across) * (1 - down)
//            + (c[i] * (1 - across) + d[i] * across) * down
RL_UKERNEL(void, resample_pixel,
           (size_t n, const float* a, const float* b, const float* c, const float* d, float across,
            float down, float* out),
           (n, a, b, c, d, across, down, out))

// Linear, along one row: out[i] = row[first[i]] * (1 - share[i]) + row[second[i]] * share[i].
RL_UKERNEL(void, resample_between,
           (size_t n, const float* row, const int32_t* first, const int32_t* second, const float* share,
            float* out),
           (n, row, first, second, share, out))

}  // namespace rushlight::ukernel
