// SPDX-License-Identifier: BSD-3-Clause
// Weights for ukernel::multiply_int8() and multiply_int16(): used in place if their depth is contiguous,
// otherwise copied to the stack, some columns at a time. A column is all weights of one output feature or
// channel; copying transposes blocks of them to [columns][depth].
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/int8_product.h"

namespace rushlight::kernels {

// Element k of column j is data[j * column_stride + k * depth_stride].
struct Int8Weights {
  const int8_t* data;
  ptrdiff_t column_stride;
  ptrdiff_t depth_stride;
  size_t columns;
  size_t depth;

  // True if the microkernels can read the weights in place.
  [[nodiscard]] bool is_contiguous() const { return depth_stride == 1 || depth <= 1; }
};

// Calls compute(elements, count) with memory on the stack: at least `wanted` elements if they are at most
// kFewElements, and kMostElements otherwise. The noinline functions take the stack memory only while they
// run. Two sizes, because most layers of small models need little; the larger one holds 9 taps of 256
// channels.
inline constexpr size_t kFewElements = 256;
inline constexpr size_t kMostElements = 2304;
// The memory is not initialized. noinline: the frame exists only during compute().
template <class T, size_t kCount, class Compute>
[[nodiscard]] [[gnu::noinline]] bool with_stack(Compute compute) {
  T numbers[kCount];
  return compute(numbers, kCount);
}
template <class T, class Compute>
[[nodiscard]] bool with_memory(size_t wanted, Compute compute) {
  return wanted <= kFewElements ? with_stack<T, kFewElements>(compute)
                                : with_stack<T, kMostElements>(compute);
}

// Copies blocks of columns and multiplies them, see for_each_block(). `block` has `bytes` bytes. Cost: one
// strided read for each weight, once a call.
template <class Multiply>
[[nodiscard]] [[gnu::noinline]] bool copy_blocks(const Int8Weights& weights, Multiply multiply, int8_t* block,
                                                 size_t bytes) {
  const size_t most = std::min(bytes / std::max<size_t>(weights.depth, 1), weights.columns);
  if (most == 0) return weights.columns == 0;
  for (size_t first = 0; first < weights.columns; first += most) {
    const size_t columns = std::min(most, weights.columns - first);
    for (size_t j = 0; j < columns; ++j) {
      const int8_t* from = weights.data + static_cast<ptrdiff_t>(first + j) * weights.column_stride;
      int8_t* to = block + j * weights.depth;
      // A column of the block is contiguous, as the microkernel reads it.
      for (size_t k = weights.depth; k > 0; --k, from += weights.depth_stride) *to++ = *from;
    }
    multiply(first, columns, static_cast<const int8_t*>(block), static_cast<ptrdiff_t>(weights.depth));
  }
  return true;
}

// Calls multiply(first, columns, right, right_stride) for blocks of columns until all are covered: element k
// of column first + j is right[j * right_stride + k]. `right` is valid during the call only. Returns false,
// before any call, if a column has to be copied and exceeds the stack buffer.
template <class Multiply>
[[nodiscard]] bool for_each_block(const Int8Weights& weights, Multiply multiply) {
  if (!weights.is_contiguous()) {
    // Uses as few blocks as possible: a convolution gathers its patches again for each.
    return with_memory<int8_t>(weights.depth * weights.columns, [&](int8_t* block, size_t bytes) {
      return copy_blocks(weights, multiply, block, bytes);
    });
  }
  multiply(size_t{0}, weights.columns, weights.data, weights.column_stride);
  return true;
}

}  // namespace rushlight::kernels
