// SPDX-License-Identifier: BSD-3-Clause
// Tiles of float64, see gemm.inl.
#include "kernels/ukernel/gemm_f64.h"

#include "kernels/ukernel/generic/gemm.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

size_t gemm_columns_f64() { return kColumns<double>; }

void gemm_tile_f64(const GemmTileF64& tile) { compute_tile(tile); }

void gemm_pack_f64(double* panel, const double* b, ptrdiff_t row_stride, ptrdiff_t column_stride,
                   size_t depth, size_t columns, size_t width) {
  pack_panel(panel, b, row_stride, column_stride, depth, columns, width);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
