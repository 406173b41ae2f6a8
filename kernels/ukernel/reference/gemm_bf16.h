// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/gemm_bf16.h, and of gemm_f16.h: sums in double of the converted factors,
// rounded once. gemm_tile_bf16() takes panels of the variant in use.
#pragma once

#include "kernels/ukernel/gemm_bf16.h"
#include "kernels/ukernel/reference/convert.h"

namespace rushlight::ukernel::reference {

// Factors have `fraction_bits`, see value_of(); the panel of B has groups of `group` elements and `width`
// columns. Writes the tile's columns only.
inline void gemm_tile_narrow(const GemmTile16& tile, int fraction_bits, size_t group, size_t width) {
  for (size_t i = 0; i < tile.rows; ++i) {
    const uint16_t* a = tile.a[i] + tile.a_offset;
    float* c = tile.c + static_cast<ptrdiff_t>(i) * tile.c_stride;
    for (size_t j = 0; j < tile.columns; ++j) {
      double sum = 0;
      for (size_t p = 0; p < tile.depth; ++p) {
        const uint16_t b = tile.b[(p / group * width + j) * group + p % group];
        sum += static_cast<double>(value_of(a[p], fraction_bits)) * value_of(b, fraction_bits);
      }
      c[j] = static_cast<float>(sum);
      if (c[j] < tile.low) c[j] = tile.low;
      if (c[j] > tile.high) c[j] = tile.high;
    }
  }
}

inline void gemm_tile_bf16(const GemmTile16& tile) {
  gemm_tile_narrow(tile, 7, gemm_group_bf16(), gemm_columns_bf16());
}

}  // namespace rushlight::ukernel::reference
