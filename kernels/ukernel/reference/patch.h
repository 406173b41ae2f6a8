// SPDX-License-Identifier: BSD-3-Clause
// Reference of the convolutions of kernels/ukernel/patch.h with sums in double, for tests, which allow 1e-5.
// Copies and depthwise sums of the family have their expectations in the test.
#pragma once

#include "kernels/ukernel/patch.h"

namespace rushlight::ukernel::reference {

// By the definition: every tap of every column.
inline void add_shifted(const ShiftedSums& s) {
  for (ptrdiff_t i = 0; i < static_cast<ptrdiff_t>(s.rows); ++i) {
    for (ptrdiff_t j = 0; j < static_cast<ptrdiff_t>(s.columns); ++j) {
      float* out = s.out + i * s.out_stride + j;
      double sum = s.initial == nullptr ? *out : s.initial[i];
      const float* weight = s.weight + i * s.weight_stride;
      for (size_t t = 0; t < s.count; ++t) {
        const float* in = s.in + s.taps[t].in / static_cast<int32_t>(sizeof(float)) + j;
        for (int32_t k = 0; k <= s.taps[t].more; ++k) sum += double{*weight++} * in[k];
      }
      *out = static_cast<float>(sum);
    }
  }
}

// The zero padding as a test of each position.
inline void convolve_plane_3x3(const PlaneConvolution& c) {
  const auto rows = static_cast<ptrdiff_t>(c.rows);
  const auto columns = static_cast<ptrdiff_t>(c.columns);
  for (ptrdiff_t y = 0; y < rows; ++y) {
    for (ptrdiff_t x = 0; x < columns; ++x) {
      double sum = c.initial;
      for (ptrdiff_t i = 0; i < 3; ++i) {
        for (ptrdiff_t j = 0; j < 3; ++j) {
          // Kernel element (1, 1) lies on the output's pixel.
          const ptrdiff_t row = y + i - 1, column = x + j - 1;
          if (row < 0 || row >= rows || column < 0 || column >= columns) continue;
          sum += double{c.kernel[i * c.kernel_row_stride + j * c.kernel_column_stride]} *
                 c.in[row * c.in_stride + column];
        }
      }
      c.out[y * c.out_stride + x] = static_cast<float>(sum);
    }
  }
}

}  // namespace rushlight::ukernel::reference
