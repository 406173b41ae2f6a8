// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/dot.h in double, for tests. Products are exact and sums have 29 more bits than
// a variant's: tests allow 4e-7 for each element of the depth, with operands in [-1, 1].
#pragma once

#include "kernels/ukernel/dot.h"

namespace rushlight::ukernel::reference {

// c[i][j] = the product of rows a[i] and b[j], rounded once.
inline void dot_products(const DotProducts& dots) {
  for (size_t i = 0; i < dots.rows; ++i) {
    for (size_t j = 0; j < dots.columns; ++j) {
      const float* a = dots.a + static_cast<ptrdiff_t>(i) * dots.a_stride;
      const float* b = dots.b + static_cast<ptrdiff_t>(j) * dots.b_stride;
      double sum = 0.0;
      for (size_t p = 0; p < dots.depth; ++p) sum += static_cast<double>(a[p]) * static_cast<double>(b[p]);
      dots.c[static_cast<ptrdiff_t>(i) * dots.c_stride + static_cast<ptrdiff_t>(j)] = static_cast<float>(sum);
    }
  }
}

}  // namespace rushlight::ukernel::reference
