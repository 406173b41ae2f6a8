// SPDX-License-Identifier: BSD-3-Clause
// Block copies from and to float16 with scalars.
#include "kernels/ukernel/generic/half.inl"
#include "kernels/ukernel/patch.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

template <class To, class From, class Convert>
[[gnu::always_inline]] inline void convert_block(To* to, BlockStrides to_strides, const From* from,
                                                 BlockStrides from_strides, size_t rows, size_t columns,
                                                 Convert convert) {
  for (; rows > 0; --rows, to += to_strides.row, from += from_strides.row) {
    const From* at = from;
    To* target = to;
    for (size_t i = columns; i > 0; --i, at += from_strides.column, target += to_strides.column) {
      *target = convert(*at);
    }
  }
}

}  // namespace

void widen_block(float* to, BlockStrides to_strides, const uint16_t* from, BlockStrides from_strides,
                 size_t rows, size_t columns) {
  convert_block(to, to_strides, from, from_strides, rows, columns, half_value);
}

void narrow_block(uint16_t* to, BlockStrides to_strides, const float* from, BlockStrides from_strides,
                  size_t rows, size_t columns) {
  convert_block(to, to_strides, from, from_strides, rows, columns, half_pattern);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
