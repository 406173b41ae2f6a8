// SPDX-License-Identifier: BSD-3-Clause
// Tiles of float32, see gemm.inl.
#include "kernels/ukernel/generic/gemm.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

size_t gemm_rows() { return kRows; }
size_t gemm_rows_of(size_t columns) {
  return columns <= kNarrow * kLanes && has_tile<float>(kMostRows, columns) ? kMostRows : kRows;
}
size_t gemm_columns() { return kColumns<float>; }
size_t gemm_lanes() { return kLanes; }

void gemm_tile(const GemmTile& tile) { compute_tile(tile); }

void gemm_strip(const GemmStrip& given) {
  GemmStrip strip = given;
  const size_t most = gemm_rows_of(strip.columns);
  while (strip.rows > 0) {
    // Tiles of about equal rows; the first `count` tiles have one row more.
    const size_t tiles = (strip.rows + most - 1) / most;
    const size_t rows = (strip.rows + tiles - 1) / tiles;
    const size_t count = tiles - (rows * tiles - strip.rows);
    if (!has_tile<float>(rows, strip.columns)) {
      GemmStrip row = strip;
      row.rows = 1;
      compute_copied(row);
      step(strip, 1);
      continue;
    }
    if (kMasks || strip.columns % kLanes == 0) {
      function_for<ManyTiles<float>>(rows, strip.columns)(strip, count);
      continue;
    }
    for (size_t i = 0; i < count; ++i) {
      GemmStrip tile = strip;
      tile.rows = rows;
      compute_padded(tile);
      step(strip, rows);
    }
  }
}

void gemm_pack(float* panel, const float* b, ptrdiff_t row_stride, ptrdiff_t column_stride, size_t depth,
               size_t columns, size_t width) {
  pack_panel(panel, b, row_stride, column_stride, depth, columns, width);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
