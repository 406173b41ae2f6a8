// SPDX-License-Identifier: BSD-3-Clause
// The tile of gemm.h for products of float64: the same contract for elements of double. A tile has as many
// rows and vectors as in float32, thus half as many columns.
#pragma once

#include "kernels/ukernel/gemm.h"

namespace rushlight::ukernel {

using GemmTileF64 = GemmTileOf<double>;

RL_UKERNEL(size_t, gemm_columns_f64, (), ())
RL_UKERNEL(void, gemm_tile_f64, (const GemmTileF64& tile), (tile))
// As gemm_pack().
RL_UKERNEL(void, gemm_pack_f64,
           (double* panel, const double* b, ptrdiff_t row_stride, ptrdiff_t column_stride, size_t depth,
            size_t columns, size_t width),
           (panel, b, row_stride, column_stride, depth, columns, width))

}  // namespace rushlight::ukernel
