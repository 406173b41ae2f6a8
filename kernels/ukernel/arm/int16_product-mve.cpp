// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M55: two rows by two columns, eight elements of the depth at a time, the last ones masked. Loads
// widen the weights to int16. Four sums in general registers, which VMLADAVA adds to, need no horizontal
// additions at the end.
#include <arm_mve.h>

#include "kernels/ukernel/int16_product.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kColumns = 2;
constexpr size_t kLanes = 8;
constexpr size_t kPart = kInt16Products / kLanes * kLanes;

// VMLADAVA adds eight products to a sum in a general register. Masked lanes are 0 in both factors.
template <size_t kRows, size_t kWidth>
void sum_tile(const int16_t* left, ptrdiff_t left_stride, const int8_t* right, ptrdiff_t right_stride,
              size_t depth, int32_t* sums) {
  int32_t tile[kRows][kWidth] = {};
  for (size_t k = 0; k < depth; k += kLanes, left += kLanes, right += kLanes) {
    const mve_pred16_t lanes = vctp16q(static_cast<uint32_t>(depth - k));
    int16x8_t rows[kRows];
    for (size_t i = 0; i < kRows; ++i) {
      rows[i] = vldrhq_z_s16(left + static_cast<ptrdiff_t>(i) * left_stride, lanes);
    }
    for (size_t j = 0; j < kWidth; ++j) {
      const int16x8_t column = vldrbq_z_s16(right + static_cast<ptrdiff_t>(j) * right_stride, lanes);
      for (size_t i = 0; i < kRows; ++i) tile[i][j] = vmladavaq_s16(tile[i][j], rows[i], column);
    }
  }
  for (size_t i = 0; i < kRows; ++i) {
    for (size_t j = 0; j < kWidth; ++j) sums[i * kWidth + j] = tile[i][j];
  }
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/int16_tiles.inl"
