// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/int16_product.h, bit-exact, for tests. One sum of 64 bits for each result,
// without the parts of kInt16Products that variants add in 32 bits.
#pragma once

#include "kernels/ukernel/int16_product.h"

namespace rushlight::ukernel::reference {

// Requantizes by requantize_wide(), which is itself the definition of the rounding.
inline void multiply_int16(const Int16Product& p) {
  for (size_t i = 0; i < p.rows; ++i) {
    for (size_t j = 0; j < p.columns; ++j) {
      int64_t sum = p.bias == nullptr ? 0 : p.bias[j];
      for (size_t k = 0; k < p.depth; ++k) {
        sum += p.left[static_cast<ptrdiff_t>(i) * p.left_stride + static_cast<ptrdiff_t>(k)] *
               p.right[static_cast<ptrdiff_t>(j) * p.right_stride + static_cast<ptrdiff_t>(k)];
      }
      p.out[static_cast<ptrdiff_t>(i) * p.out_stride + static_cast<ptrdiff_t>(j)] =
          static_cast<int16_t>(requantize_wide(p.to, sum, j));
    }
  }
}

}  // namespace rushlight::ukernel::reference
