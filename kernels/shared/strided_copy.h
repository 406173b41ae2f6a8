// SPDX-License-Identifier: BSD-3-Clause
// Moving elements between layouts. A view describes elements in memory by sizes and strides, free of
// the rule that a tensor is dense: slices, permutations and expansions are views of a tensor, and an
// operator that copies one is a line:
//
//   return copy_view(View::of(out), View::of(self).select(dim, index));
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/shared/checks.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

struct View {
  char* data;
  ScalarType type;
  size_t dim;
  SizesType sizes[kTensorDimensionLimit];
  ptrdiff_t strides[kTensorDimensionLimit];  // in bytes; 0 repeats an element

  // A tensor's elements where they are. What is reached through a const tensor is only read.
  [[nodiscard]] static View of(const Tensor& tensor);
  // Elements of shape `sizes` that lie row major from `data` on.
  [[nodiscard]] static View row_major(void* data, ScalarType type, Span<const SizesType> sizes);

  // Each returns *this. Callers have checked that dimensions and positions exist.
  View& select(size_t d, ptrdiff_t index);  // removes the dimension
  View& slice(size_t d, ptrdiff_t start, ptrdiff_t length, ptrdiff_t step = 1);
  View& insert(size_t d, SizesType size, ptrdiff_t stride);  // a new dimension before d
  View& swap(size_t a, size_t b);
};

// Copies all elements, converting them as PyTorch's `to` does where types differ. Both have the same
// sizes. InvalidType when this build cannot convert between the two types.
Error copy_view(const View& target, const View& source);

// Copies between different shapes of the same number and type of elements: the n-th element in row
// major order of the one becomes the n-th of the other, wherever each lies.
void copy_reshaped(const Tensor& target, const Tensor& source);

}  // namespace rushlight::kernels
