// SPDX-License-Identifier: BSD-3-Clause
// Axes of a walk over a few tensors that are broadcast against each other.
#pragma once

#include <cstddef>

#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// One dimension of the walk: its size and each operand's step in bytes.
template <size_t kOperands>
struct BroadcastAxis {
  size_t size;
  ptrdiff_t strides[kOperands];

  // True if one axis can stand for this one and `outer` around it, of the first `operands` operands.
  [[nodiscard]] bool continues_in(const BroadcastAxis& outer, size_t operands) const {
    for (size_t k = 0; k < operands; ++k) {
      if (outer.strides[k] != strides[k] * static_cast<ptrdiff_t>(size)) return false;
    }
    return true;
  }
};

// The tensor's step in bytes in a dimension counted from the last; 0 where the tensor is broadcast.
inline ptrdiff_t broadcast_stride(const Tensor& tensor, size_t from_last) {
  const auto rank = static_cast<size_t>(tensor.dim());
  if (from_last >= rank) return 0;
  const size_t d = rank - 1 - from_last;
  if (tensor.sizes()[d] == 1) return 0;
  return static_cast<ptrdiff_t>(tensor.strides()[d]) * static_cast<ptrdiff_t>(tensor.element_size());
}

}  // namespace rushlight::kernels
