// SPDX-License-Identifier: BSD-3-Clause
// Reference of the products of kernels/ukernel/panel.h with sums in double, for tests. Tests allow 2e-5.
// Copies, packing and gathers of the family have their expectations in the test.
#pragma once

#include "kernels/ukernel/panel.h"

namespace rushlight::ukernel::reference {

// At most one of `initial` and `initial_of_rows` is set. Element k of a row is element k % depth of part k /
// depth; the panel has the parts one after another. ReLU lets NaN pass.
inline void multiply_panel(const PanelProduct& product) {
  for (size_t i = 0; i < product.rows; ++i) {
    const float* left = product.left + static_cast<ptrdiff_t>(i) * product.left_stride;
    for (size_t j = 0; j < product.columns; ++j) {
      float& out = product.out[static_cast<ptrdiff_t>(i) * product.out_stride +
                               static_cast<ptrdiff_t>(j) * product.column_stride];
      // The sum starts from C, unless a value of the column or the row replaces it.
      double sum = out;
      if (product.initial != nullptr) sum = product.initial[j];
      if (product.initial_of_rows != nullptr) sum = product.initial_of_rows[i];
      for (size_t k = 0; k < product.parts * product.depth; ++k) {
        const auto part = static_cast<ptrdiff_t>(k / product.depth);
        sum += double{left[part * product.part_stride + static_cast<ptrdiff_t>(k % product.depth)]} *
               product.panel[k * kPanelColumns + j];
      }
      out = static_cast<float>(product.rectify && sum < 0 ? 0 : sum);
    }
  }
}

// The sum is rounded before it is added to `out`, as the variants do.
inline void multiply_rows(const RowProduct& product) {
  for (size_t i = 0; i < product.rows; ++i) {
    const float* left = product.left + static_cast<ptrdiff_t>(i) * product.left_stride;
    double sum = 0;
    for (size_t k = 0; k < product.depth; ++k) sum += double{left[k]} * product.right[k];
    product.out[static_cast<ptrdiff_t>(i) * product.out_stride] += static_cast<float>(sum);
  }
}

}  // namespace rushlight::ukernel::reference
