// SPDX-License-Identifier: BSD-3-Clause
// Float32 matrix products for cores with few registers and little memory. The right factor is a panel
// [depth][kPanelColumns], contiguous, which the caller copies a block at a time onto the stack and pads with
// zeros. The left factor is read in place. Copies pay off as soon as a panel serves several tiles of rows:
// then the inner loop advances one pointer for all columns.
//
// Memory: accesses only the described elements; alignment of float. Strides are in elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// Columns and rows of the register tile of sums: from 4 columns by 4 rows to 32 by 6 with RVV
// (variants.yaml). Rows left over cost more instructions each.
inline constexpr size_t kPanelColumns = native::kPanelColumns;
inline constexpr size_t kPanelRows = native::kPanelRows;
// The deepest panel that callers build, which bounds their stack; products accept any depth.
inline constexpr size_t kPanelDepth = native::kPanelDepth;
// True if products can apply ReLU to the tile before it is stored.
inline constexpr bool kPanelRectifies = native::kPanelRectifies;
// True if the sums of a row can start from one value (initial_of_rows).
inline constexpr bool kPanelSpreads = native::kPanelSpreads;

struct PanelProduct {
  const float* left;        // rows x parts x depth; the elements of a part are contiguous
  ptrdiff_t left_stride;    // from row to row
  const float* panel;       // (parts x depth) x kPanelColumns
  size_t rows;              // any number
  size_t depth;             // elements of a part, any number
  float* out;               // rows x columns
  ptrdiff_t out_stride;     // from row to row
  ptrdiff_t column_stride;  // from column to column
  size_t columns;           // columns of the panel that are used: 1 to kPanelColumns
  size_t parts = 1;         // at least 1
  ptrdiff_t part_stride = 0;
  const float* initial = nullptr;          // kPanelColumns elements
  bool rectify = false;                    // only if kPanelRectifies
  const float* initial_of_rows = nullptr;  // one value for each row; only if kPanelSpreads
};

// out[i][j] = initial[j] + sum over k of left[i][k] * panel[k][j], in the order of k. With
// initial_of_rows instead of `initial` the sum starts from initial_of_rows[i]; at most one of them is set. If
// both are null, it starts from out[i][j], so that blocks of a longer depth add up in place. `rectify`
// applies ReLU; NaN passes. `out` overlaps neither factor; columns past `columns` are neither read nor
// written.
RL_UKERNEL_NATIVE(void, multiply_panel, (const PanelProduct& product), (product))

// out[i * out_stride] += sum over k of left[i * left_stride + k] * right[k]. Both factors are contiguous
// along k. A product with a single column, for which a panel would be mostly padding.
struct RowProduct {
  const float* left;
  ptrdiff_t left_stride;
  const float* right;
  size_t rows;
  size_t depth;
  float* out;
  ptrdiff_t out_stride;
};
RL_UKERNEL_NATIVE(void, multiply_rows, (const RowProduct& product), (product))

// to[i * to_stride + j] = from[i * from_stride + j], for i < rows, j < kPanelColumns.
RL_UKERNEL_NATIVE(void, copy_panel,
                  (float* to, ptrdiff_t to_stride, const float* from, ptrdiff_t from_stride, size_t rows),
                  (to, to_stride, from, from_stride, rows))

// to[k * kPanelColumns + j] = from[j * from_stride + k * depth_stride] for j < columns, else 0: packs rows
// that are contiguous along k into columns of a panel, for k < depth.
RL_UKERNEL_NATIVE(void, pack_panel,
                  (float* to, const float* from, ptrdiff_t from_stride, ptrdiff_t depth_stride,
                   size_t columns, size_t depth),
                  (to, from, from_stride, depth_stride, columns, depth))

// The top left corner of kPanelColumns windows over an image: row, column and element offset. It may be
// outside of the image. Computed once for a block of output pixels, for all channels and kernel positions.
struct PanelWindows {
  int32_t row[kPanelColumns];
  int32_t column[kPanelColumns];
  int32_t offset[kPanelColumns];
};

// One kernel position, over some channels.
struct PanelPosition {
  const float* from;  // the element at this kernel position of a window with offset 0, channel 0
  ptrdiff_t channel_stride;
  size_t channels;
  int32_t row;  // position in the window
  int32_t column;
  uint32_t height;  // image size in pixels
  uint32_t width;
};

// to[i * to_stride + j] = the element of window j at the kernel position in channel i; 0 outside of the
// image. One comparison for each window and axis, as unsigned, covers both borders. No address outside of the
// image is read.
RL_UKERNEL_NATIVE(void, gather_panel,
                  (float* to, ptrdiff_t to_stride, const PanelWindows& windows,
                   const PanelPosition& position),
                  (to, to_stride, windows, position))

}  // namespace rushlight::ukernel
