// SPDX-License-Identifier: BSD-3-Clause
// Pools of float32, int8 and uint8 over windows of rows and columns. A call computes `count` adjacent
// results: of adjacent channels, whose windows are one element apart (channels-last), or of adjacent windows
// in a row, which are a pool stride apart (channels-first). Padding is not part of a window: the caller cuts
// windows at the border, so that the results of a call have windows of one shape. The functions of planes
// compute whole rows of results, borders included.
//
// Memory: accesses only the windows and count results; alignment of the element types; results overlap no
// operand. Windows of float32 that are 1 or 2 elements apart load whole vectors; others are gathered element
// by element.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// The window of result i has the elements x[i * lane + r * row + c * column], r < rows, c < columns.
struct PoolWindow {
  size_t rows;
  size_t columns;
  ptrdiff_t row;
  ptrdiff_t column;
  ptrdiff_t lane;
};

// Index of the element (r, c) of window i: first + i * lane + r * row + c * column.
struct PoolIndices {
  int32_t first;
  int32_t row;
  int32_t column;
  int32_t lane;
};

// y[i] is the maximum and index[i] its index: the first of equal elements, or the last NaN, since NaN counts
// as greater than all. An empty window, or one of only -inf, gives -inf and the index of its first element.
// `index` may be null here and below: then only maxima are computed, which is faster.
RL_UKERNEL(void, max_pool,
           (size_t count, const PoolWindow& window, const PoolIndices& numbers, const float* x, float* y,
            int64_t* index),
           (count, window, numbers, x, y, index))

// The same for bytes: an empty window, or one of only the least value, gives that value and the index of its
// first element.
RL_UKERNEL(void, max_pool_i8,
           (size_t count, const PoolWindow& window, const PoolIndices& numbers, const int8_t* x, int8_t* y,
            int64_t* index),
           (count, window, numbers, x, y, index))
RL_UKERNEL(void, max_pool_u8,
           (size_t count, const PoolWindow& window, const PoolIndices& numbers, const uint8_t* x, uint8_t* y,
            int64_t* index),
           (count, window, numbers, x, y, index))

// y[i] = sum / divisor. Each row is summed in order, then the sums of the rows: bits do not depend on count
// or the position of a result. The divisor is an argument, since PyTorch may count padding or not.
RL_UKERNEL(void, average_pool,
           (size_t count, const PoolWindow& window, float divisor, const float* x, float* y),
           (count, window, divisor, x, y))

// One dimension of a plane's windows: window i has the elements i * step - pad + j * dilation, j < kernel,
// as far as they are inside the plane.
struct PoolAxis {
  size_t in;
  size_t kernel;
  size_t step;
  size_t pad;
  size_t dilation;
  size_t out;  // windows
};

// Rows of results of planes in which columns are adjacent, in x and y:
//
//   y[p * y_plane + i * y_row + j] = pool over the window (first + i, j) of plane p of x
//
// for p < planes, i < count, j < columns.out. Small planes are faster in one call. Rows are combined first,
// then columns: sums add each column of a window from top to bottom, then the columns from left to right.
struct PoolPlanes {
  PoolAxis rows = {};
  PoolAxis columns = {};  // (kernel - 1) * dilation < kPoolReach
  size_t first = 0;
  size_t count = 0;
  size_t planes = 1;
  const float* x = nullptr;  // row 0 of the first plane
  ptrdiff_t x_row = 0;       // floats from row to row
  ptrdiff_t x_plane = 0;     // floats from plane to plane
  float* y = nullptr;        // row `first` of the first plane
  ptrdiff_t y_row = 0;
  ptrdiff_t y_plane = 0;
  // Averages only. Divisor 0: the number of a window's elements, with or without the padding. A window that
  // ends beyond the padding counts no positions there. An empty window gives 0.
  float divisor = 0;
  bool counts_padding = false;
};
inline constexpr size_t kPoolReach = 256;

RL_UKERNEL(void, max_pool_planes, (const PoolPlanes& planes), (planes))
RL_UKERNEL(void, average_pool_planes, (const PoolPlanes& planes), (planes))

}  // namespace rushlight::ukernel
