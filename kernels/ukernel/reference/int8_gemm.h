// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/int8_gemm.h for factors that are neither packed nor spread, bit-exact, for
// tests. Spreading, packing and multiplying of a variant are checked together.
#pragma once

#include "kernels/ukernel/int8_gemm.h"

namespace rushlight::ukernel::reference {

// left[i][k] is left[i * left_stride + k], right[k][j] is right[k * depth_stride + j * column_stride].
// Ignores the product's own left and panel, and its parts: the test arranges the left factor so that a row's
// parts adjoin. Strides are in elements.
inline void multiply_int8_gemm(const Int8Gemm& p, const int8_t* left, ptrdiff_t left_stride,
                               const int8_t* right, ptrdiff_t depth_stride, ptrdiff_t column_stride) {
  for (size_t i = 0; i < p.rows; ++i) {
    for (size_t j = 0; j < p.columns; ++j) {
      int32_t sum = p.bias == nullptr ? 0 : p.bias[j];
      if (p.row_bias != nullptr) sum += p.row_bias[i];
      for (size_t k = 0; k < p.depth; ++k) {
        const auto depth = static_cast<ptrdiff_t>(k);
        sum += left[static_cast<ptrdiff_t>(i) * left_stride + depth] *
               right[depth * depth_stride + static_cast<ptrdiff_t>(j) * column_stride];
      }
      p.out[static_cast<ptrdiff_t>(i) * p.out_stride + static_cast<ptrdiff_t>(j)] =
          static_cast<int8_t>(requantize(p.to, sum, j));
    }
  }
}

}  // namespace rushlight::ukernel::reference
