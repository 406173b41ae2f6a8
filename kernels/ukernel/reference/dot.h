// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/dot.h in a wider type W, for tests: double, or long double for float64. Tests
// allow 4e-7 for each element of the depth, or 1e-15, with operands in [-1, 1].
#pragma once

#include "kernels/ukernel/dot.h"

namespace rushlight::ukernel::reference {

// c[i][j] = the product of rows a[i] and b[j], rounded once.
template <class W, class T>
void dot_products_in(const DotProductsOf<T>& dots) {
  for (size_t i = 0; i < dots.rows; ++i) {
    for (size_t j = 0; j < dots.columns; ++j) {
      const T* a = dots.a + static_cast<ptrdiff_t>(i) * dots.a_stride;
      const T* b = dots.b + static_cast<ptrdiff_t>(j) * dots.b_stride;
      W sum = 0;
      for (size_t p = 0; p < dots.depth; ++p) sum += static_cast<W>(a[p]) * static_cast<W>(b[p]);
      dots.c[static_cast<ptrdiff_t>(i) * dots.c_stride + static_cast<ptrdiff_t>(j)] = static_cast<T>(sum);
    }
  }
}
inline void dot_products(const DotProducts& dots) { dot_products_in<double>(dots); }
inline void dot_products_f64(const DotProductsF64& dots) { dot_products_in<long double>(dots); }

}  // namespace rushlight::ukernel::reference
