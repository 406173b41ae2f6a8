// SPDX-License-Identifier: BSD-3-Clause
// Products of rows with one column, with scalars: four rows share the loads of the column.
#include "kernels/ukernel/panel.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

template <size_t kTogether>
void add_rows_together(const RowProduct& product, const float* left, float* out) {
  float sums[kTogether] = {};
  const float* rows[kTogether];
  for (size_t i = 0; i < kTogether; ++i) rows[i] = left + static_cast<ptrdiff_t>(i) * product.left_stride;
  const float* right = product.right;
  const auto step = [&](size_t k) __attribute__((always_inline)) {
    const float number = right[k];
#pragma GCC unroll 4
    for (size_t i = 0; i < kTogether; ++i) sums[i] += rows[i][k] * number;
  };
  size_t depth = product.depth;
  for (; depth >= 4; depth -= 4, right += 4) {
#pragma GCC unroll 4
    for (size_t k = 0; k < 4; ++k) step(k);
#pragma GCC unroll 4
    for (size_t i = 0; i < kTogether; ++i) rows[i] += 4;
  }
  for (size_t k = 0; k < depth; ++k) step(k);
  for (size_t i = 0; i < kTogether; ++i) out[static_cast<ptrdiff_t>(i) * product.out_stride] += sums[i];
}

}  // namespace

void multiply_rows(const RowProduct& product) {
  const float* left = product.left;
  float* out = product.out;
  size_t rows = product.rows;
  for (; rows >= 4; rows -= 4, left += 4 * product.left_stride, out += 4 * product.out_stride) {
    add_rows_together<4>(product, left, out);
  }
  for (; rows > 0; --rows, left += product.left_stride, out += product.out_stride) {
    add_rows_together<1>(product, left, out);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
