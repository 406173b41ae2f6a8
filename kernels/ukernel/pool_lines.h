// SPDX-License-Identifier: BSD-3-Clause
// Pools of float32 for cores with little memory: windows of one shape at a constant distance, in any memory
// layout. Padding is not part of a window.
//
// Memory: accesses only the windows and the results; alignment of the element types; results overlap no
// operand. Steps and strides are in bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// Window i has the elements in + i * in_step + r * row_stride + c * column_stride, r < rows, c < columns; its
// result is at out + i * out_step.
struct PoolLine {
  size_t rows;  // any number
  size_t columns;
  ptrdiff_t row_stride;
  ptrdiff_t column_stride;
  const char* in;
  ptrdiff_t in_step;
  char* out;
  ptrdiff_t out_step;
  size_t count;  // windows, any number
};

// Index of the element (r, c) of window i: first + i * step + r * down + c * across. All are below 2^31. The
// int64 index of window i is at out + i * out_step; `out` may be null.
struct PoolNumbers {
  int32_t first;
  int32_t down;
  int32_t across;
  int32_t step;
  char* out;
  ptrdiff_t out_step;
};

// The largest element and its index: the first of equal elements, or the last NaN, since NaN counts as
// greater than all. An empty window, or one of only -inf, gives -inf and the index of its first element.
RL_UKERNEL_NATIVE(void, max_line, (const PoolLine& line, const PoolNumbers& numbers), (line, numbers))

// The sum in order divided by the divisor; 0 / divisor for an empty window.
RL_UKERNEL_NATIVE(void, average_line, (const PoolLine& line, float divisor), (line, divisor))

}  // namespace rushlight::ukernel
