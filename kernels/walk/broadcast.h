// SPDX-License-Identifier: BSD-3-Clause
// Loop planning for elementwise kernels (kernels/walk/elementwise.h, kernels/host/elementwise.h): broadcasts
// tensors and merges dimensions into the fewest nested loops over all elements in the output's memory order.
// Inline, because a call for each operator would slow down small ones. Dense tensors of one shape and layout
// become a single loop, and so does a tensor with a scalar.
#pragma once

#include <cstddef>

#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Most inputs of an elementwise operator.
inline constexpr size_t kMaxElementwiseInputs = 3;

// One loop: its size and each operand's stride in bytes. Operand 0 is the output. Stride 0 repeats the
// element of a broadcast operand.
struct BroadcastAxis {
  size_t size;
  ptrdiff_t strides[kMaxElementwiseInputs + 1];

  // True if this axis and the next outer one, `outer`, can be merged for the first `operands` operands: one
  // step of the outer axis is as far as all steps of this one.
  [[nodiscard]] bool continues_in(const BroadcastAxis& outer, size_t operands) const {
    for (size_t k = 0; k < operands; ++k) {
      if (outer.strides[k] != strides[k] * static_cast<ptrdiff_t>(size)) return false;
    }
    return true;
  }
};

// The stride in bytes of a dimension counted from the last (0 is the last); 0 if it is broadcast, as are
// dimensions that the tensor does not have.
inline ptrdiff_t broadcast_stride(const Tensor& tensor, size_t from_last) {
  const auto rank = static_cast<size_t>(tensor.dim());
  if (from_last >= rank) return 0;
  const size_t d = rank - 1 - from_last;
  if (tensor.sizes()[d] == 1) return 0;
  return static_cast<ptrdiff_t>(tensor.strides()[d]) * static_cast<ptrdiff_t>(tensor.element_size());
}

// Writes up to kTensorDimensionLimit axes to `axes`, innermost first, and returns their number; 0 if the
// output has one element. Merges adjacent axes if every operand allows it. operands[0] is the output, which
// has the broadcast shape; a null operand is a scalar, with stride 0 everywhere. Strides of operands from
// `count` on stay 0. Reads no elements. Cost: rank * count steps.
inline size_t plan_broadcast(const Tensor* const* operands, size_t count, BroadcastAxis* axes) {
  const Tensor& out = *operands[0];
  const auto rank = static_cast<size_t>(out.dim());
  size_t dim = 0;
  // From the output's innermost dimension outwards; dimensions of size 1 have no step.
  for (size_t i = rank; i-- > 0;) {
    const size_t d = out.dim_order()[i];
    const auto size = static_cast<size_t>(out.sizes()[d]);
    if (size == 1) continue;
    BroadcastAxis axis{size, {}};
    for (size_t k = 0; k < count; ++k) {
      if (operands[k] != nullptr) axis.strides[k] = broadcast_stride(*operands[k], rank - 1 - d);
    }
    if (dim > 0 && axes[dim - 1].continues_in(axis, count)) {
      axes[dim - 1].size *= size;
    } else {
      axes[dim++] = axis;
    }
  }
  return dim;
}

// Calls row(addresses, axis) for each row of the innermost axis, with the addresses of all operands at the
// row's start. operands[0] is the output, which has the broadcast shape; it is written by `row` alone. Does
// nothing for an empty output.
template <size_t kOperands, class Row>
void for_each_row(const Tensor* const (&operands)[kOperands], const Row& row) {
  if (operands[0]->numel() == 0) return;
  BroadcastAxis axes[kTensorDimensionLimit];
  const size_t count = plan_broadcast(operands, kOperands, axes);
  if (count == 0) axes[0] = {1, {}};
  char* at[kOperands];
  for (size_t k = 0; k < kOperands; ++k) at[k] = static_cast<char*>(operands[k]->mutable_data_ptr());
  size_t index[kTensorDimensionLimit] = {};
  while (true) {
    row(at, axes[0]);
    size_t d = 1;
    // Advances the outer axes like the digits of a counter: an axis that ends goes back to its start.
    for (; d < count; ++d) {
      const BroadcastAxis& axis = axes[d];
      const bool goes_on = ++index[d] < axis.size;
      const auto steps = goes_on ? ptrdiff_t{1} : 1 - static_cast<ptrdiff_t>(axis.size);
      for (size_t k = 0; k < kOperands; ++k) at[k] += steps * axis.strides[k];
      if (goes_on) break;
      index[d] = 0;
    }
    if (d >= count) return;
  }
}

// True if both tensors have equal sizes and strides, so one flat loop serves them. Dense tensors then have
// their elements at equal offsets.
inline bool has_layout_of(const Tensor& a, const Tensor& out) {
  if (a.dim() != out.dim()) return false;
  for (size_t d = 0; d < a.sizes().size(); ++d) {
    if (a.sizes()[d] != out.sizes()[d] || a.strides()[d] != out.strides()[d]) return false;
  }
  return true;
}

}  // namespace rushlight::kernels
