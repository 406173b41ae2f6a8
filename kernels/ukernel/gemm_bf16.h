// SPDX-License-Identifier: BSD-3-Clause
// Tiles of products of bfloat16 with sums in float32, for processors that multiply groups of bfloat16: pairs
// (AVX512-BF16), or four elements of two rows by two columns (Arm's BF16).
//
//   c[i][j] = clamp(sum over p < depth of A[i][p] * B[p][j], low, high)      for i < rows, j < columns
//
// A tile is that of gemm.h with these differences:
//
//   variants   functions other than gemm_has_bf16() are called only if that is true
//   elements   bits in uint16_t; C is float32
//   rows       1 to gemm_rows_bf16()
//   A          a_step is 1
//   B          a packed panel, in groups along the depth: [depth / group][gemm_columns_bf16()][group], with
//              zeros after the last element of the depth. The strides of B are not read
//   C          whole vectors are written: rows have gemm_columns_bf16() floats. There are one tap, no initial
//              values, no residual and no sums to add to
//   order      the products of a group are added to the sum by one instruction, which may round each of them
//              or all at once, to nearest or to odd, and may flush subnormals to zero
#pragma once

#include "kernels/ukernel/gemm.h"

namespace rushlight::ukernel {

// False if no variant of the build has these products.
inline constexpr bool kMayHaveBf16 = RL_HAS_BFLOAT16 != 0 || native::kBf16Products;
// True if the variant in use multiplies faster than gemm_tile() multiplies converted operands.
RL_UKERNEL_BFLOAT16(bool, gemm_has_bf16, (), ())
RL_UKERNEL_BFLOAT16(size_t, gemm_rows_bf16, (), ())
RL_UKERNEL_BFLOAT16(size_t, gemm_columns_bf16, (), ())
// Elements of a group.
RL_UKERNEL_BFLOAT16(size_t, gemm_group_bf16, (), ())
RL_UKERNEL_BFLOAT16(void, gemm_tile_bf16, (const GemmTile16& tile), (tile))
// Packs one panel of `columns` columns, as gemm_pack() does. Writes gemm_columns_bf16() * depth elements,
// depth rounded up to whole groups; zeros past `columns`.
RL_UKERNEL_BFLOAT16(void, gemm_pack_bf16,
                    (uint16_t* panel, const uint16_t* b, ptrdiff_t row_stride, ptrdiff_t column_stride,
                     size_t depth, size_t columns),
                    (panel, b, row_stride, column_stride, depth, columns))

}  // namespace rushlight::ukernel
