// SPDX-License-Identifier: BSD-3-Clause
// The tile of gemm.h for products of bfloat16 with sums in float32, for processors that multiply pairs of
// bfloat16 (AVX512-BF16). The contract is that of gemm.h, with these differences:
//
//   elements   bits in uint16_t; C, initial values and residual are float32
//   A          a_step is 1
//   B          always packed, in pairs along the depth: [depth / 2][b_columns][2], with zeros after the last
//              element of an odd depth. b_stride leads from pair to pair: 2 * b_columns
//   order      the two products of a pair are added to the sum in one instruction where the processor has it,
//              which may round once or twice and may flush subnormals to zero
#pragma once

#include "kernels/ukernel/gemm.h"

namespace rushlight::ukernel {

using GemmTileBf16 = GemmTileOf<uint16_t, float>;

// True if the variant in use multiplies faster than gemm_tile() multiplies converted operands.
RL_UKERNEL_BFLOAT16(bool, gemm_has_bf16, (), ())
RL_UKERNEL_BFLOAT16(size_t, gemm_columns_bf16, (), ())
RL_UKERNEL_BFLOAT16(void, gemm_tile_bf16, (const GemmTileBf16& tile), (tile))
// As gemm_pack(); `width` is gemm_columns_bf16(). Writes width * depth elements, depth rounded up to even.
RL_UKERNEL_BFLOAT16(void, gemm_pack_bf16,
                    (uint16_t* panel, const uint16_t* b, ptrdiff_t row_stride, ptrdiff_t column_stride,
                     size_t depth, size_t columns, size_t width),
                    (panel, b, row_stride, column_stride, depth, columns, width))

}  // namespace rushlight::ukernel
