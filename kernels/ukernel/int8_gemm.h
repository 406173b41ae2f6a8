// SPDX-License-Identifier: BSD-3-Clause
// Products of int8 matrices for processors with wide vectors. The right factor (weights) is packed once; rows
// of the left factor are spread into the layout that the variant multiplies, a few at a time.
//
//   out[i][j] = quantized(bias[j] + row_bias[i] + sum over k < depth of left[i][k] * right[k][j])
//
// for i < rows, j < columns. Sums have 32 bits; the caller ensures that they fit. quantized() is requantize()
// of requantize.h.
//
//   int8_gemm_depth(depth)    depth, rounded up to the elements that the variant multiplies at once: the
//                             elements of a packed column and of a spread row
//   int8_gemm_columns()       columns of a packed panel
//   int8_gemm_rows()          rows that are computed together; a call with fewer costs more for each
//   int8_spread_bytes()       bytes of an element in a spread row: 1 or 2
//   int8_panel_bytes(depth)   bytes of a packed panel, a multiple of 64
//   spread_int8(...)          spreads elements of a row
//   pack_int8(...)            packs one panel
//   multiply_int8_gemm(...)   multiplies rows with one panel
//
// Memory: accesses only the described elements. Panels are aligned to 64 bytes, other arrays as their type
// requires. `out` overlaps no operand. All variants give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/requantize.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

inline constexpr bool kInt8GemmParts = native::kInt8GemmParts;

// A panel is opaque and belongs to the variant that packed it. The layouts, with rows of int8 unless stated:
//
//   generic             [depth][16 columns]
//   Neon                [depth / 4][4 groups of columns][2 pairs of the depth][4 columns][2]
//   SDOT, SMMLA         [depth / 4][16 columns][4], [depth / 8][16 columns][8]
//   AVX2, AVX-512       [depth / 2][columns][2] for two vectors of columns; rows of int16
//   VNNI                int32 [columns], -128 times their sums, then [depth / 4][columns][4]; rows plus 128
//   WebAssembly         [depth / 2][8 columns][2]; rows of int16
//   RISC-V              [depth][columns] with vectors, [columns][depth] without
RL_UKERNEL_INTEGER(size_t, int8_gemm_depth, (size_t depth), (depth))
RL_UKERNEL_INTEGER(size_t, int8_gemm_columns, (), ())
RL_UKERNEL_INTEGER(size_t, int8_gemm_rows, (), ())
RL_UKERNEL_INTEGER(size_t, int8_spread_bytes, (), ())
RL_UKERNEL_INTEGER(size_t, int8_panel_bytes, (size_t depth), (depth))

// Spreads `count` elements to `to`, int8_spread_bytes() each. A spread row has int8_gemm_depth(depth)
// elements; those past `depth` may have any value, since panels are padded with zeros.
RL_UKERNEL_INTEGER(void, spread_int8, (void* to, const int8_t* from, size_t count), (to, from, count))

// Packs columns j < columns <= int8_gemm_columns(): right[k][j] is from[k * depth_stride + j *
// column_stride]. Pads with zeros.
RL_UKERNEL_INTEGER(void, pack_int8,
                   (void* panel, const int8_t* from, ptrdiff_t depth_stride, ptrdiff_t column_stride,
                    size_t depth, size_t columns),
                   (panel, from, depth_stride, column_stride, depth, columns))

struct Int8Gemm {
  size_t rows = 0;     // any number
  size_t columns = 0;  // 1 to int8_gemm_columns()
  size_t depth = 0;    // any number, as in pack_int8

  const void* left = nullptr;  // spread rows
  ptrdiff_t left_stride = 0;   // in bytes from row to row
  // Rows may lie anywhere (row_offsets), and consist of parts of equal depth d with int8_gemm_depth(d) == d,
  // for d = depth / parts. Variants without kInt8GemmParts support neither.
  const ptrdiff_t* row_offsets = nullptr;  // in bytes from `left` to each row; null: multiples of left_stride
  size_t parts = 1;
  ptrdiff_t part_stride = 0;  // in bytes from part to part

  const void* panel = nullptr;

  const int32_t* bias = nullptr;      // for each column; null: zeros
  const int32_t* row_bias = nullptr;  // for each row; null: zeros
  Requantization to;                  // by column

  int8_t* out = nullptr;     // the elements of a row are contiguous
  ptrdiff_t out_stride = 0;  // in elements from row to row
};
RL_UKERNEL_INTEGER(void, multiply_int8_gemm, (const Int8Gemm& product), (product))

}  // namespace rushlight::ukernel
