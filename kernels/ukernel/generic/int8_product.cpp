// SPDX-License-Identifier: BSD-3-Clause
// Scalar products without packing; variants for boards replace this. It defines the results: sums in any
// order, parts and lines, then requantize().
#include "kernels/ukernel/int8_product.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// One sum at a time: the least code.
void multiply_line(const Int8Product& p) {
  const auto depth = static_cast<ptrdiff_t>(p.depth);
  for (size_t i = 0; i < p.rows; ++i) {
    const int8_t* left = p.left + static_cast<ptrdiff_t>(i) * p.left_stride;
    int8_t* out = p.out + static_cast<ptrdiff_t>(i) * p.out_stride;
    for (size_t j = 0; j < p.columns; ++j) {
      const int8_t* right = p.right + static_cast<ptrdiff_t>(j) * p.right_stride;
      int32_t sum = p.bias == nullptr ? 0 : p.bias[j];
      const int8_t* part = left;
      for (size_t n = p.parts; n > 0; --n, part += p.part_stride, right += depth) {
        for (ptrdiff_t k = 0; k < depth; ++k) sum += part[k] * right[k];
      }
      out[j] = static_cast<int8_t>(requantize(p.to, sum, j));
    }
  }
}

}  // namespace

void multiply_int8(const Int8Product& p) { for_each_line(p, multiply_line); }

void multiply_int8_row(const Int8Row& p) {
  const auto depth = static_cast<ptrdiff_t>(p.depth);
  const int8_t* right = p.right;
  for (size_t j = 0; j < p.columns; ++j, right += p.right_stride) {
    int32_t sum = 0;
    for (ptrdiff_t k = 0; k < depth; ++k) sum += p.left[k] * right[k];
    p.sums[j] = sum;
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
