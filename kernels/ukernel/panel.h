// SPDX-License-Identifier: BSD-3-Clause
// Products of float matrices for cores with few registers and little memory. The right factor comes as a
// panel: [depth][kPanelColumns], contiguous, which the caller copies together a piece at a time, with zeros
// where there is nothing. The left one is read where it is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// A tile of sums has so many columns and rows; rows that are left over take more instructions.
inline constexpr size_t kPanelColumns = native::kPanelColumns;
inline constexpr size_t kPanelRows = native::kPanelRows;
// As deep as panels are made, for the stack's sake; products take any depth.
inline constexpr size_t kPanelDepth = native::kPanelDepth;
// Whether a tile's sums can be rectified before they are stored.
inline constexpr bool kPanelRectifies = native::kPanelRectifies;
// Whether sums of a row can begin with one number.
inline constexpr bool kPanelSpreads = native::kPanelSpreads;

struct PanelProduct {
  const float* left;        // rows x parts x depth; the numbers of a part are adjacent
  ptrdiff_t left_stride;    // from row to row, in elements
  const float* panel;       // (parts x depth) x kPanelColumns
  size_t rows;              // any number
  size_t depth;             // of a part, any number
  float* out;               // rows x columns
  ptrdiff_t out_stride;     // from row to row
  ptrdiff_t column_stride;  // from column to column
  size_t columns;           // 1 to kPanelColumns of the panel's are used
  size_t parts = 1;         // any number but 0
  ptrdiff_t part_stride = 0;
  const float* initial = nullptr;          // kPanelColumns numbers
  bool rectify = false;                    // only if kPanelRectifies
  const float* initial_of_rows = nullptr;  // a number for each row; only if kPanelSpreads
};

// out[i][j] = initial[j] + sum over k of left[i][k] * panel[k][j], in the order of k; where `initial` is
// null, initial_of_rows[i] stands for it, and where that is null, too, out[i][j]. With `rectify` a sum below
// zero becomes zero, and NaN stays. `out` overlaps neither factor. Nothing beyond `columns` of `out` is read
// or written.
RL_UKERNEL_NATIVE(void, multiply_panel, (const PanelProduct& product), (product))

// out[i * out_stride] += sum over k of left[i * left_stride + k] * right[k]; both factors are contiguous
// along k.
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

// to[i * to_stride + j] = from[i * from_stride + j], j < kPanelColumns.
RL_UKERNEL_NATIVE(void, copy_panel,
                  (float* to, ptrdiff_t to_stride, const float* from, ptrdiff_t from_stride, size_t rows),
                  (to, to_stride, from, from_stride, rows))

// to[k * kPanelColumns + j] = from[j * from_stride + k * depth_stride], 0 from column `columns` on.
RL_UKERNEL_NATIVE(void, pack_panel,
                  (float* to, const float* from, ptrdiff_t from_stride, ptrdiff_t depth_stride,
                   size_t columns, size_t depth),
                  (to, from, from_stride, depth_stride, columns, depth))

// Where windows over an image begin, which may be outside: row, column, and the offset of that place.
struct PanelWindows {
  int32_t row[kPanelColumns];
  int32_t column[kPanelColumns];
  int32_t offset[kPanelColumns];
};

// One place of the windows, in some channels.
struct PanelPlace {
  const float* from;  // that place of a window with offset 0, in the first channel
  ptrdiff_t channel_stride;
  size_t channels;
  int32_t row;  // the place in the window
  int32_t column;
  uint32_t height;  // of the image
  uint32_t width;
};

// to[i * to_stride + j] = what window j has at the place in channel i, 0 where that is outside of the image.
RL_UKERNEL_NATIVE(void, gather_panel,
                  (float* to, ptrdiff_t to_stride, const PanelWindows& windows, const PanelPlace& place),
                  (to, to_stride, windows, place))

}  // namespace rushlight::ukernel
