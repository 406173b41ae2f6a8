// SPDX-License-Identifier: BSD-3-Clause
// Products of int8 matrices for processors with wide vectors. The right factor is packed once; rows of the
// left one are brought into the form that the variant multiplies, some at a time.
//
//   out[i][j] = quantized(bias[j] + row_bias[i] + sum over k < depth of left[i][k] * right[k][j])
//
// for i < rows, j < columns. Sums have 32 bits; the caller knows that none overflows. See requantize.h for
// what quantized() is.
//
//   int8_gemm_depth(depth)    depth, filled up to what the variant takes at once: the numbers of a column
//                             that is packed, and of a spread row
//   int8_gemm_columns()       columns of a packed panel
//   int8_gemm_rows()          rows that are computed together; fewer cost more for each
//   int8_spread_bytes()       bytes that a number of a spread row takes: 1 or 2
//   int8_panel_bytes(depth)   bytes of a packed panel, a multiple of 64
//   spread_int8(...)          brings numbers of a row into the form that is multiplied
//   pack_int8(...)            packs one panel
//   multiply_int8_gemm(...)   multiplies rows with one panel
//
// Promises: nothing is read or written but what is described; panels are aligned to 64 bytes, nothing else
// needs more alignment than its type. All variants make the same bits. `out` overlaps nothing that is read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/requantize.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

inline constexpr bool kInt8GemmParts = native::kInt8GemmParts;

RL_UKERNEL_INTEGER(size_t, int8_gemm_depth, (size_t depth), (depth))
RL_UKERNEL_INTEGER(size_t, int8_gemm_columns, (), ())
RL_UKERNEL_INTEGER(size_t, int8_gemm_rows, (), ())
RL_UKERNEL_INTEGER(size_t, int8_spread_bytes, (), ())
RL_UKERNEL_INTEGER(size_t, int8_panel_bytes, (size_t depth), (depth))

// Numbers `from` on to `to`, int8_spread_bytes() each. A spread row is of int8_gemm_depth(depth) numbers;
// what is behind `depth` may be anything, as panels have zeros there.
RL_UKERNEL_INTEGER(void, spread_int8, (void* to, const int8_t* from, size_t count), (to, from, count))

// Columns j < columns <= int8_gemm_columns(): right[k][j] is from[k * depth_stride + j * column_stride].
// Columns that are left over are zeros.
RL_UKERNEL_INTEGER(void, pack_int8,
                   (void* panel, const int8_t* from, ptrdiff_t depth_stride, ptrdiff_t column_stride,
                    size_t depth, size_t columns),
                   (panel, from, depth_stride, column_stride, depth, columns))

struct Int8Gemm {
  size_t rows = 0;     // any number
  size_t columns = 0;  // 1 to int8_gemm_columns()
  size_t depth = 0;    // any number, as in pack_int8

  const void* left = nullptr;  // spread rows
  ptrdiff_t left_stride = 0;   // bytes from row to row
  // Rows may lie anywhere, and in parts of equal depth that int8_gemm_depth() does not fill up; variants
  // without kInt8GemmParts take neither.
  const ptrdiff_t* row_offsets = nullptr;  // bytes from `left` to each row; null: left_stride apart
  size_t parts = 1;
  ptrdiff_t part_stride = 0;  // bytes from part to part

  const void* panel = nullptr;

  const int32_t* bias = nullptr;      // of each column; null: zeros
  const int32_t* row_bias = nullptr;  // of each row; null: zeros
  Requantization to;                  // by columns

  int8_t* out = nullptr;     // the numbers of a row are adjacent
  ptrdiff_t out_stride = 0;  // from row to row
};
RL_UKERNEL_INTEGER(void, multiply_int8_gemm, (const Int8Gemm& product), (product))

}  // namespace rushlight::ukernel
