// SPDX-License-Identifier: BSD-3-Clause
// One register tile of a float32 product, shared by matrix products, linear layers and convolutions.
// gemm_f64.h has the tile of doubles.
//
//   c[i][j] = clamp(initial[i][j] + sum over taps t and p < depth of A[t][i][p] * B[t][p][j]
//                   + [c[i][j] if adds_to_c] + residual[i][j], low, high)          for i < rows, j < columns
//
// Columns are in the vector lanes: rows of B, the residual and C are contiguous. Elements of A are loaded one
// at a time and broadcast, so that A may lie anywhere: row i of tap t begins at a[t * a_tap_stride + i] +
// a_offset, and its elements are a_step floats apart. The pointers serve as in the indirect convolution
// algorithm (Dukhan, 2019):
//
//   matrix product               taps 1, one pointer a row; a_step 1, or the row stride of a transposed A
//   product with packed A        blocks of [depth][rows]: pointers to the first row, a_step = rows
//   convolution, channels-last   taps = positions of the kernel, rows = pixels, depth = input channels, B =
//                                packed weights; one pointer for each position and pixel, to zeros outside of
//                                the image. C is contiguous over the pixels of an image. One list of pointers
//                                [taps][all pixels] serves every tile, with a_tap_stride = all pixels
//   convolution, channels-first  rows = output channels, columns = pixels. A = the unpacked weights (a_step
//                                1, one pointer an output channel), B = the image itself for 1 x 1
//                                (b_stride = its pixels), or rows of shifted pixels; bias along rows
//
// B is either packed or used in place. Packed: panels of gemm_columns() columns, [taps * depth][b_columns],
// each aligned to 64 bytes if the first is; the last one is padded with zeros to gemm_columns() or to a
// multiple of gemm_lanes(). Then b_stride = b_columns = that width, and b_tap_stride = depth * b_columns. In
// place: rows are b_stride apart, and b_columns floats of each may be read.
//
// Memory: accesses only the described elements; alignment of float. C may be the residual; otherwise it
// overlaps no operand. Order: each sum adds taps and depth in order, with one rounding a product where the
// processor has fused multiply-adds; it depends neither on the tile's size nor on the position in it. NaN
// passes through the clamp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

enum class GemmInitial : uint8_t {
  kZero,
  kColumns,  // initial[j]: a bias for each column
  kRows,     // initial[i]: a bias for each row
  kC,        // the sum continues from C
};

template <class T, class Sum = T>
struct GemmTileOf {
  size_t rows = 0;     // 1 to gemm_rows_of(columns)
  size_t columns = 0;  // 1 to gemm_columns()
  size_t taps = 1;
  size_t depth = 0;

  const T* const* a = nullptr;
  size_t a_tap_stride = 0;  // in pointers from tap to tap
  ptrdiff_t a_step = 1;     // in elements along the depth
  ptrdiff_t a_offset = 0;  // in elements, added to each pointer, for example to start at a block of the depth

  const T* b = nullptr;
  ptrdiff_t b_stride = 0;      // in elements from row to row
  ptrdiff_t b_tap_stride = 0;  // in elements from tap to tap
  size_t b_columns = 0;        // readable elements of each row, at least `columns`

  GemmInitial initial_from = GemmInitial::kZero;
  const Sum* initial = nullptr;

  Sum* c = nullptr;
  ptrdiff_t c_stride = 0;  // in elements from row to row
  bool adds_to_c =
      false;  // adds C after the products: sums of blocks have smaller rounding errors than one long sum

  const Sum* residual = nullptr;  // null: none
  ptrdiff_t residual_stride = 0;

  Sum low = -__builtin_inff();
  Sum high = __builtin_inff();
};
using GemmTile = GemmTileOf<float>;
using GemmTile16 = GemmTileOf<uint16_t, float>;  // see gemm_bf16.h

// Any number of rows whose A rows have a constant stride: equals a tile of all rows in which row i of tap t
// begins at a[t] + a_offset + i * a_stride and B of tap t is b[t]. Reads whole vectors of each row of B. One
// call for all tiles is cheaper than one call for each.
template <class T>
struct GemmStripOf {
  size_t rows = 0;
  // Rows of each tile but the last, at most gemm_rows(): parts of a strip then have the tiles of the whole
  // one. Other tiles may give other NaN. 0: tiles of about equal size.
  size_t tile_rows = 0;
  size_t columns = 0;  // 1 to gemm_columns()
  size_t taps = 1;
  size_t depth = 0;

  const T* const* a = nullptr;  // for each tap
  ptrdiff_t a_stride = 0;       // in elements from row to row
  ptrdiff_t a_step = 1;
  ptrdiff_t a_offset = 0;

  const T* const* b = nullptr;  // for each tap
  ptrdiff_t b_stride = 0;
  // Prefetches the next panel: as much memory after the last tap's B as B has. That memory need not exist.
  bool looks_ahead = false;

  GemmInitial initial_from = GemmInitial::kZero;
  const T* initial = nullptr;

  T* c = nullptr;
  ptrdiff_t c_stride = 0;
  bool adds_to_c = false;

  const T* residual = nullptr;
  ptrdiff_t residual_stride = 0;

  T low = -__builtin_inff();
  T high = __builtin_inff();
};
using GemmStrip = GemmStripOf<float>;

// Upper limit of the rows of a tile in all variants, for arrays of callers.
inline constexpr size_t kMostGemmRows = 8;

// Rows and columns of the largest tile of the variant in use, and columns of a vector. A tile costs as much
// as its columns rounded up to whole vectors; tiles of fewer rows cost more for each row.
RL_UKERNEL(size_t, gemm_rows, (), ())
// Rows of the largest tile of at most `columns` columns: from gemm_rows() to kMostGemmRows.
RL_UKERNEL(size_t, gemm_rows_of, (size_t columns), (columns))
RL_UKERNEL(size_t, gemm_columns, (), ())
RL_UKERNEL(size_t, gemm_lanes, (), ())

RL_UKERNEL(void, gemm_tile, (const GemmTile& tile), (tile))
RL_UKERNEL(void, gemm_strip, (const GemmStrip& strip), (strip))

// One row of A times packed panels, c[j] = [c[j] if `continues`] + sum over p < depth of a[p] * B[p][j] for j
// < panels * gemm_columns(), in the order of a tile. Panel i begins at b + i * panel_stride. Adds to several
// panels at a time: a tile of one row has too few sums to hide the latency of multiply-adds.
RL_UKERNEL(void, gemm_row,
           (size_t panels, size_t depth, const float* a, const float* b, ptrdiff_t panel_stride,
            bool continues, float* c),
           (panels, depth, a, b, panel_stride, continues, c))

// Packs one panel: `columns` (1 to `width`) columns of `depth` rows, element (p, j) from b[p * row_stride + j
// * column_stride]. The rows of the panel are `width` floats apart: gemm_columns(), or the columns rounded up
// to whole vectors. Writes depth * width floats, zeros past `columns`.
RL_UKERNEL(void, gemm_pack,
           (float* panel, const float* b, ptrdiff_t row_stride, ptrdiff_t column_stride, size_t depth,
            size_t columns, size_t width),
           (panel, b, row_stride, column_stride, depth, columns, width))

// Returns the rows of each tile, at most `most`, so that `rows` rows are split into tiles of about equal
// size.
inline size_t gemm_split(size_t rows, size_t most) {
  if (rows <= most) return rows;
  const size_t tiles = (rows + most - 1) / most;
  return (rows + tiles - 1) / tiles;
}
inline size_t gemm_split(size_t rows) { return gemm_split(rows, gemm_rows()); }

}  // namespace rushlight::ukernel
