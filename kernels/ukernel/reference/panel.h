// SPDX-License-Identifier: BSD-3-Clause
// What kernels/ukernel/panel.h describes, in the plainest words.
#pragma once

#include "kernels/ukernel/panel.h"

namespace rushlight::ukernel::reference {

inline void multiply_panel(const PanelProduct& product) {
  for (size_t i = 0; i < product.rows; ++i) {
    for (size_t j = 0; j < product.columns; ++j) {
      const float* left = product.left + static_cast<ptrdiff_t>(i) * product.left_stride;
      double sum = 0;
      for (size_t k = 0; k < product.depth; ++k)
        sum += double{left[k]} * product.panel[k * kPanelColumns + j];
      product.out[static_cast<ptrdiff_t>(i) * product.out_stride +
                  static_cast<ptrdiff_t>(j) * product.column_stride] += static_cast<float>(sum);
    }
  }
}

inline void multiply_rows(const RowProduct& product) {
  for (size_t i = 0; i < product.rows; ++i) {
    const float* left = product.left + static_cast<ptrdiff_t>(i) * product.left_stride;
    double sum = 0;
    for (size_t k = 0; k < product.depth; ++k) sum += double{left[k]} * product.right[k];
    product.out[static_cast<ptrdiff_t>(i) * product.out_stride] += static_cast<float>(sum);
  }
}

}  // namespace rushlight::ukernel::reference
