// SPDX-License-Identifier: BSD-3-Clause
// Pools of float32 and of bytes over windows of rows and columns, `count` results at a time that lie side by
// side: of neighbouring channels, whose windows lie one element apart (channels last), or of neighbouring
// windows in a row, which lie as far apart as windows step (channels first).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// Result i is of x[i * lane + r * row + c * column], r < rows, c < columns.
struct PoolWindow {
  size_t rows;
  size_t columns;
  ptrdiff_t row;
  ptrdiff_t column;
  ptrdiff_t lane;
};

// What result i has found at (r, c) has the number first + i * lane + r * row + c * column.
struct PoolNumbers {
  int32_t first;
  int32_t row;
  int32_t column;
  int32_t lane;
};

// y[i] is the largest, index[i] its number: of equals the first, of NaN, which beat everything, the last. A
// window of -inf alone, or of nothing, is -inf and has the first element's.
RL_UKERNEL(void, max_pool,
           (size_t count, const PoolWindow& window, const PoolNumbers& numbers, const float* x, float* y,
            int64_t* index),
           (count, window, numbers, x, y, index))

// The same of bytes: a window of the least number alone, or of nothing, is that and has the first element's.
RL_UKERNEL(void, max_pool_i8,
           (size_t count, const PoolWindow& window, const PoolNumbers& numbers, const int8_t* x, int8_t* y,
            int64_t* index),
           (count, window, numbers, x, y, index))
RL_UKERNEL(void, max_pool_u8,
           (size_t count, const PoolWindow& window, const PoolNumbers& numbers, const uint8_t* x, uint8_t* y,
            int64_t* index),
           (count, window, numbers, x, y, index))

// y[i] is the sum divided by `divisor`: rows are summed each by itself, in order.
RL_UKERNEL(void, average_pool,
           (size_t count, const PoolWindow& window, float divisor, const float* x, float* y),
           (count, window, divisor, x, y))

}  // namespace rushlight::ukernel
