// SPDX-License-Identifier: BSD-3-Clause
// Tiles of four columns share the loads of a row; where vectors exist, compilers vectorize the loop over the
// depth. Parts of the depth are summed in 32 bits and joined in 64 by int16_tiles.inl, so that the loop has
// no 64-bit arithmetic.
#include "kernels/ukernel/int16_product.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kColumns = 4;
// A multiple of all vector lengths here: only the last part of a depth has a remainder.
constexpr size_t kPart = kInt16Products / 32 * 32;

template <size_t kRows, size_t kWidth>
void sum_tile(const int16_t* left, ptrdiff_t left_stride, const int8_t* right, ptrdiff_t right_stride,
              size_t depth, int32_t* sums) {
  for (size_t i = 0; i < kRows; ++i, left += left_stride, sums += kWidth) {
    if constexpr (kWidth == kColumns) {
      const int8_t* b = right + right_stride;
      const int8_t* c = b + right_stride;
      const int8_t* d = c + right_stride;
      int32_t sum[kColumns] = {};
      for (size_t k = 0; k < depth; ++k) {
        sum[0] += left[k] * right[k];
        sum[1] += left[k] * b[k];
        sum[2] += left[k] * c[k];
        sum[3] += left[k] * d[k];
      }
      for (size_t j = 0; j < kColumns; ++j) sums[j] = sum[j];
    } else {
      int32_t sum = 0;
      for (size_t k = 0; k < depth; ++k) sum += left[k] * right[k];
      sums[0] = sum;
    }
  }
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/int16_tiles.inl"
