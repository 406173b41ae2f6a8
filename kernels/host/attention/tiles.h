// SPDX-License-Identifier: BSD-3-Clause
// The two matrix products of attention for a block of queries and a block of keys, on the tiles of
// kernels/ukernel/gemm.h. All data is float32.
#pragma once

#include <cstddef>

namespace rushlight::kernels::host {

// A matrix of float32; strides in floats.
struct FloatRows {
  const float* data = nullptr;
  ptrdiff_t row = 0;
  ptrdiff_t column = 1;
};

// Packs `count` keys of `depth` floats into panels of ukernel::gemm_columns() keys: [panel][depth][keys], the
// layout of the right factor.
void pack_keys(const FloatRows& keys, size_t count, size_t depth, float* packed);

// scores[i * stride + j] = query i times packed key j, for i < rows, j < count.
void score_tiles(const FloatRows& queries, size_t rows, const float* packed, size_t count, size_t depth,
                 float* scores, size_t stride);

// out[i * out_stride + c] = sum over j < count of weights[i * stride + j] * values[j][c], for i < rows and c
// < width. Adds to `out` unless `begins`. Precondition: values.column is 1.
void add_value_tiles(const float* weights, size_t stride, size_t rows, const FloatRows& values, size_t count,
                     size_t width, bool begins, float* out, ptrdiff_t out_stride);

}  // namespace rushlight::kernels::host
