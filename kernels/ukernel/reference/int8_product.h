// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/int8_product.h, bit-exact, for tests. Parts and lines are computed from the
// indices of row and depth for each element, not by stepping pointers as variants do.
#pragma once

#include "kernels/ukernel/int8_product.h"

namespace rushlight::ukernel::reference {

// Row i is row i % line_rows of line i / line_rows; element k is element k % depth of part k / depth.
inline void multiply_int8(const Int8Product& p) {
  for (size_t i = 0; i < p.rows; ++i) {
    const int8_t* left = p.left + static_cast<ptrdiff_t>(i / p.line_rows) * p.line_stride +
                         static_cast<ptrdiff_t>(i % p.line_rows) * p.left_stride;
    for (size_t j = 0; j < p.columns; ++j) {
      int32_t sum = p.bias == nullptr ? 0 : p.bias[j];
      // Columns have their parts one after another, rows of the left factor part_stride apart.
      for (size_t k = 0; k < p.parts * p.depth; ++k) {
        const auto part = static_cast<ptrdiff_t>(k / p.depth), at = static_cast<ptrdiff_t>(k % p.depth);
        sum += left[part * p.part_stride + at] *
               p.right[static_cast<ptrdiff_t>(j) * p.right_stride + static_cast<ptrdiff_t>(k)];
      }
      p.out[static_cast<ptrdiff_t>(i) * p.out_stride + static_cast<ptrdiff_t>(j)] =
          static_cast<int8_t>(requantize(p.to, sum, j));
    }
  }
}

// Sums only, without bias and requantization.
inline void multiply_int8_row(const Int8Row& p) {
  for (size_t j = 0; j < p.columns; ++j) {
    p.sums[j] = 0;
    for (size_t k = 0; k < p.depth; ++k) {
      p.sums[j] +=
          p.left[k] * p.right[static_cast<ptrdiff_t>(j) * p.right_stride + static_cast<ptrdiff_t>(k)];
    }
  }
}

}  // namespace rushlight::ukernel::reference
