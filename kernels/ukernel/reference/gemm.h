// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/gemm.h in a type W that is wider than the sums: double, or long double for
// float64. Products of float32 are exact, and the sum is rounded once, at the end. Tests allow 4e-7 for each
// product and the final steps, with operands in [-1, 1]. A separate test checks the order of sums: tiles of
// any size must give the same bits.
#pragma once

#include "kernels/ukernel/gemm.h"

namespace rushlight::ukernel::reference {

// Element (i, j) of a tile. Reads C for kC and adds_to_c, so that it must come before the element is stored.
// The clamp lets NaN pass.
template <class W, class T>
T gemm_element(const GemmTileOf<T>& tile, size_t i, size_t j) {
  const auto at = [](const T* matrix, ptrdiff_t stride, size_t row, size_t column) {
    return static_cast<W>(matrix[static_cast<ptrdiff_t>(row) * stride + static_cast<ptrdiff_t>(column)]);
  };
  W sum = 0;
  if (tile.initial_from == GemmInitial::kColumns) sum = tile.initial[j];
  if (tile.initial_from == GemmInitial::kRows) sum = tile.initial[i];
  if (tile.initial_from == GemmInitial::kC) sum = at(tile.c, tile.c_stride, i, j);
  for (size_t t = 0; t < tile.taps; ++t) {
    const T* a = tile.a[t * tile.a_tap_stride + i] + tile.a_offset;
    const T* b = tile.b + static_cast<ptrdiff_t>(t) * tile.b_tap_stride;
    for (size_t p = 0; p < tile.depth; ++p) {
      sum += static_cast<W>(a[static_cast<ptrdiff_t>(p) * tile.a_step]) * at(b, tile.b_stride, p, j);
    }
  }
  if (tile.adds_to_c) sum += at(tile.c, tile.c_stride, i, j);
  if (tile.residual != nullptr) sum += at(tile.residual, tile.residual_stride, i, j);
  if (sum < tile.low) return tile.low;
  return sum > tile.high ? tile.high : static_cast<T>(sum);
}

// Computes a tile in place. B is read at `columns` elements of each row only, whatever b_columns allows.
template <class W, class T>
void gemm_tile_in(const GemmTileOf<T>& tile) {
  for (size_t i = 0; i < tile.rows; ++i) {
    T* row = tile.c + static_cast<ptrdiff_t>(i) * tile.c_stride;
    for (size_t j = 0; j < tile.columns; ++j) row[j] = gemm_element<W>(tile, i, j);
  }
}
inline void gemm_tile(const GemmTile& tile) { gemm_tile_in<double>(tile); }

}  // namespace rushlight::ukernel::reference
