// SPDX-License-Identifier: BSD-3-Clause
// Weights for ukernel::multiply_int8(): where they are if they lie as its loops take them, else some columns
// at a time, copied together on the stack.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/int8_product.h"

namespace rushlight::kernels::board {

// Element k of column j is data[j * column_stride + k * depth_stride].
struct Int8Weights {
  const int8_t* data;
  ptrdiff_t column_stride;
  ptrdiff_t depth_stride;
  size_t columns;
  size_t depth;

  // Whether the loops take them where they are.
  [[nodiscard]] bool lie_well() const {
    return ukernel::kInt8RightByColumns ? depth_stride == 1 || depth <= 1
                                        : column_stride == 1 || columns <= 1;
  }
};

inline constexpr size_t kBlockBytes = 2048;

// The blocks of weights that have to be copied, see for_each_block. Its stack is taken where that is needed
// alone.
template <class Multiply>
[[nodiscard]] [[gnu::noinline]] bool copy_blocks(const Int8Weights& weights, Multiply multiply) {
  int8_t block[kBlockBytes];
  const size_t most = std::min(kBlockBytes / std::max<size_t>(weights.depth, 1), weights.columns);
  if (most == 0) return weights.columns == 0;
  for (size_t first = 0; first < weights.columns; first += most) {
    const size_t columns = std::min(most, weights.columns - first);
    const size_t to_column = ukernel::kInt8RightByColumns ? weights.depth : 1;
    const size_t to_depth = ukernel::kInt8RightByColumns ? 1 : columns;
    for (size_t j = 0; j < columns; ++j) {
      const int8_t* from = weights.data + static_cast<ptrdiff_t>(first + j) * weights.column_stride;
      int8_t* to = block + j * to_column;
      for (size_t k = 0; k < weights.depth; ++k, from += weights.depth_stride, to += to_depth) *to = *from;
    }
    multiply(first, columns, static_cast<const int8_t*>(block),
             static_cast<ptrdiff_t>(ukernel::kInt8RightByColumns ? weights.depth : columns));
  }
  return true;
}

// Calls multiply(first, columns, right, right_stride) for blocks of columns that together are all of them.
// False if a column does not fit on the stack, where it has to be copied.
template <class Multiply>
[[nodiscard]] bool for_each_block(const Int8Weights& weights, Multiply multiply) {
  if (!weights.lie_well()) return copy_blocks(weights, multiply);
  const ptrdiff_t stride = ukernel::kInt8RightByColumns ? weights.column_stride : weights.depth_stride;
  multiply(size_t{0}, weights.columns, weights.data, stride);
  return true;
}

}  // namespace rushlight::kernels::board
