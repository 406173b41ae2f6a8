// SPDX-License-Identifier: BSD-3-Clause
// Products of rows with one column, with scalars: kRowsTogether rows share the loads of the column. The
// including source defines it in its anonymous namespace.
#include "kernels/ukernel/panel.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// The loops over the rows are unrolled, so that sums and pointers stay in registers.
template <size_t kTogether>
void add_rows_together(const RowProduct& product, const float* left, float* out) {
  float sums[kTogether];
  const float* rows[kTogether];
#pragma GCC unroll 8
  for (size_t i = 0; i < kTogether; ++i) {
    sums[i] = 0;
    rows[i] = left + static_cast<ptrdiff_t>(i) * product.left_stride;
  }
  const float* right = product.right;
  const auto step = [&](size_t k) __attribute__((always_inline)) {
    const float number = right[k];
#pragma GCC unroll 8
    for (size_t i = 0; i < kTogether; ++i) sums[i] += rows[i][k] * number;
  };
  const auto take = [&](size_t count) __attribute__((always_inline)) {
    right += count;
#pragma GCC unroll 8
    for (size_t i = 0; i < kTogether; ++i) rows[i] += count;
  };
  size_t depth = product.depth;
  for (; depth >= 8; depth -= 8) {
#pragma GCC unroll 8
    for (size_t k = 0; k < 8; ++k) step(k);
    take(8);
  }
  for (; depth > 0; --depth) {
    step(0);
    take(1);
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < kTogether; ++i) {
    *out += sums[i];
    out += product.out_stride;
  }
}

}  // namespace

void multiply_rows(const RowProduct& product) {
  const float* left = product.left;
  float* out = product.out;
  size_t rows = product.rows;
  constexpr auto kTogether = static_cast<ptrdiff_t>(kRowsTogether);
  for (; rows >= kRowsTogether; rows -= kRowsTogether) {
    add_rows_together<kRowsTogether>(product, left, out);
    left += kTogether * product.left_stride;
    out += kTogether * product.out_stride;
  }
  for (; rows > 0; --rows, left += product.left_stride, out += product.out_stride) {
    add_rows_together<1>(product, left, out);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
