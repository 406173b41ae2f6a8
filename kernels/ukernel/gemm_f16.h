// SPDX-License-Identifier: BSD-3-Clause
// Tiles of products of float16 with sums in float32, for processors that add the exact product of two float16
// to a float32 (Arm's FHM). The contract is that of gemm_bf16.h with float16 for bfloat16, with groups of one
// element. Order: the products are added one after the other, each sum rounded once, as in gemm.h.
#pragma once

#include "kernels/ukernel/gemm.h"

namespace rushlight::ukernel {

// False if no variant of the build has these products.
inline constexpr bool kMayHaveF16 = RL_HAS_HALF != 0 || native::kF16Products;
// True if the variant in use multiplies faster than gemm_tile() multiplies converted operands.
RL_UKERNEL_HALF(bool, gemm_has_f16, (), ())
RL_UKERNEL_HALF(size_t, gemm_rows_f16, (), ())
RL_UKERNEL_HALF(size_t, gemm_columns_f16, (), ())
RL_UKERNEL_HALF(void, gemm_tile_f16, (const GemmTile16& tile), (tile))
RL_UKERNEL_HALF(void, gemm_pack_f16,
                (uint16_t* panel, const uint16_t* b, ptrdiff_t row_stride, ptrdiff_t column_stride,
                 size_t depth, size_t columns),
                (panel, b, row_stride, column_stride, depth, columns))

}  // namespace rushlight::ukernel
