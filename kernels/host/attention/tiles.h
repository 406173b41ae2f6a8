// SPDX-License-Identifier: BSD-3-Clause
// The two products of attention, of a block of queries and a block of keys, tile by tile.
#pragma once

#include <cstddef>

namespace rushlight::kernels::host {

// Rows of float32, in floats: `row` from row to row, `column` within one.
struct FloatRows {
  const float* data = nullptr;
  ptrdiff_t row = 0;
  ptrdiff_t column = 1;
};

// Packs `count` keys of `depth` numbers in panels of ukernel::gemm_columns() keys.
void pack_keys(const FloatRows& keys, size_t count, size_t depth, float* packed);

// scores[i * stride + j] = query i times packed key j, for i < rows, j < count.
void score_tiles(const FloatRows& queries, size_t rows, const float* packed, size_t count, size_t depth,
                 float* scores, size_t stride);

// out[i * out_stride + c] = the sum of weights[i * stride + j] * value j, column c, over j < count, for
// i < rows, c < width; added to what is there unless `begins`.
void add_value_tiles(const float* weights, size_t stride, size_t rows, const FloatRows& values, size_t count,
                     size_t width, bool begins, float* out, ptrdiff_t out_stride);

}  // namespace rushlight::kernels::host
