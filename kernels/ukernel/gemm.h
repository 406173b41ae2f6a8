// SPDX-License-Identifier: BSD-3-Clause
// One tile of a product in float32: what matrix products, linear layers and convolutions have in common.
//
//   c[i][j] = clamp(initial[i][j] + sum over taps t and p < depth of A[t][i][p] * B[t][p][j]
//                   + [c[i][j] if adds_to_c] + residual[i][j], low, high)          for i < rows, j < columns
//
// Columns run along vectors: those of B, of the initial values, the residual and C are contiguous. Elements
// of A are read one by one and broadcast, so A may lie anywhere: row i of tap t begins at a[t * a_tap_stride
// + i] + a_offset, its next element follows a_step floats later. That makes
//
//   a product of matrices        taps 1, a pointer a row; a_step 1, or the row stride of a transposed A
//   a product with packed A      blocks of [depth][rows]: pointers to the first row, a_step = rows
//   convolution, channels last   taps = positions of the kernel, rows = pixels: a pointer for each position
//   and
//                                pixel, to zeros where that is outside; depth = input channels, B = packed
//                                weights. C is contiguous from pixel to pixel of an image. A list of pointers
//                                [taps][all pixels] serves every tile, with a_tap_stride = all pixels
//   convolution, channels first  rows = output channels, columns = pixels: A = the weights as they are
//   (a_step
//                                1, a pointer an output channel), B = the image itself for 1 x 1 (b_stride =
//                                its pixels), else rows of shifted pixels; bias along rows
//
// B is packed in panels of gemm_columns() columns, [taps * depth][gemm_columns()], each 64 bytes aligned if
// the first is, the last one filled up with zeros, to gemm_columns() or to a multiple of gemm_lanes(): then
// b_stride = b_columns = that, and b_tap_stride depth times as much. Or it is used as it lies, with rows
// b_stride apart of which b_columns floats may be read.
//
// Promises: nothing is read or written but what is described, nothing needs more alignment than a float. Each
// sum goes through taps and depth in order, with one rounding for each product where the machine has that
// instruction: it depends neither on the size of the tile nor on the place in it. NaN stays NaN through the
// clamp. C may be the residual; otherwise it overlaps nothing that is read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

enum class GemmInitial : uint8_t {
  kZero,
  kColumns,  // initial[j]: a bias of columns
  kRows,     // initial[i]: a bias of rows
  kC,        // what C holds: the sum goes on
};

struct GemmTile {
  size_t rows = 0;     // 1 to gemm_rows_of(columns)
  size_t columns = 0;  // 1 to gemm_columns()
  size_t taps = 1;
  size_t depth = 0;

  const float* const* a = nullptr;
  size_t a_tap_stride = 0;  // pointers from tap to tap
  ptrdiff_t a_step = 1;     // floats from one of the depth to the next
  ptrdiff_t a_offset = 0;   // floats, added to each pointer: a block of the depth, say

  const float* b = nullptr;
  ptrdiff_t b_stride = 0;      // floats from row to row
  ptrdiff_t b_tap_stride = 0;  // floats from tap to tap
  size_t b_columns = 0;        // floats of each row that may be read, at least `columns`

  GemmInitial initial_from = GemmInitial::kZero;
  const float* initial = nullptr;

  float* c = nullptr;
  ptrdiff_t c_stride = 0;  // floats from row to row
  bool adds_to_c =
      false;  // what C holds is added after the products: sums of blocks, rounded less than one long sum

  const float* residual = nullptr;  // null: none
  ptrdiff_t residual_stride = 0;

  float low = -__builtin_inff();
  float high = __builtin_inff();
};

// Any number of rows below each other, those of A at equal steps: what a tile of so many rows would be whose
// row i of tap t begins at a[t] + a_offset + i * a_stride, and whose B of tap t is b[t]. Whole vectors of
// each row of B may be read. Tiles of one strip cost nothing between them.
struct GemmStrip {
  size_t rows = 0;
  size_t columns = 0;  // 1 to gemm_columns()
  size_t taps = 1;
  size_t depth = 0;

  const float* const* a = nullptr;  // for each tap
  ptrdiff_t a_stride = 0;           // floats from row to row
  ptrdiff_t a_step = 1;
  ptrdiff_t a_offset = 0;

  const float* const* b = nullptr;  // for each tap
  ptrdiff_t b_stride = 0;
  // As much as B, behind what is B of the last tap, is brought near: the next panel. It need not be memory.
  bool looks_ahead = false;

  GemmInitial initial_from = GemmInitial::kZero;
  const float* initial = nullptr;

  float* c = nullptr;
  ptrdiff_t c_stride = 0;
  bool adds_to_c = false;

  const float* residual = nullptr;
  ptrdiff_t residual_stride = 0;

  float low = -__builtin_inff();
  float high = __builtin_inff();
};

// The largest tile of the variant in use, and the columns of a vector. Columns up to a multiple of a vector
// cost as much as that multiple; fewer rows cost less, but more for each.
RL_UKERNEL(size_t, gemm_rows, (), ())
// The largest for tiles of at most so many columns: gemm_rows() or more, at most 16.
RL_UKERNEL(size_t, gemm_rows_of, (size_t columns), (columns))
RL_UKERNEL(size_t, gemm_columns, (), ())
RL_UKERNEL(size_t, gemm_lanes, (), ())

RL_UKERNEL(void, gemm_tile, (const GemmTile& tile), (tile))
RL_UKERNEL(void, gemm_strip, (const GemmStrip& strip), (strip))

// Packs a panel: `columns` (1 to `width`) columns of `depth` rows, element (p, j) at
// b[p * row_stride + j * column_stride], rows of the panel `width` floats apart: gemm_columns(), or as many
// whole vectors as the columns need. Writes depth * width floats.
RL_UKERNEL(void, gemm_pack,
           (float* panel, const float* b, ptrdiff_t row_stride, ptrdiff_t column_stride, size_t depth,
            size_t columns, size_t width),
           (panel, b, row_stride, column_stride, depth, columns, width))

// How many rows to give each tile, of `most` at most, so that those of `rows` rows are about equal.
inline size_t gemm_split(size_t rows, size_t most) {
  if (rows <= most) return rows;
  const size_t tiles = (rows + most - 1) / most;
  return (rows + tiles - 1) / tiles;
}
inline size_t gemm_split(size_t rows) { return gemm_split(rows, gemm_rows()); }

}  // namespace rushlight::ukernel
