// SPDX-License-Identifier: BSD-3-Clause
// Element by element in row-major order in any layout, for operators whose result depends on that order, or
// whose indices count in it. A step costs a few instructions for each element; joint_axes.h costs them for
// each span.
#pragma once

#include "kernels/walk/view.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Visits the elements of a tensor in row-major order. Holds a copy of the view. Cheap if the last dimension
// is long; after the last element it is at the first again.
class RowMajorCursor {
 public:
  // Not inlined, as skip(): once for a loop, they would only repeat code.
  [[gnu::noinline]] explicit RowMajorCursor(const Tensor& tensor) : view_(View::of(tensor)) {
#ifndef __OPTIMIZE_SIZE__
    // A row-major tensor is one dimension.
    if (view_.dim > 1 && is_contiguous_dim_order(tensor.dim_order())) {
      view_.dim = 1;
      view_.sizes[0] = static_cast<SizesType>(tensor.numel());
      view_.strides[0] = static_cast<ptrdiff_t>(tensor.element_size());
    }
#endif
  }
  explicit RowMajorCursor(const View& view) : view_(view) {}

  // True if the elements are adjacent, in order.
  [[nodiscard]] bool is_line() const {
    return view_.dim == 0 ||
           (view_.dim == 1 && view_.strides[0] == static_cast<ptrdiff_t>(element_size(view_.type)));
  }

  [[nodiscard]] char* get() const { return view_.data; }
  // Advances the last index, and the ones before it where it ends.
  void advance() {
    for (size_t d = view_.dim; d-- > 0;) {
      view_.data += view_.strides[d];
      if (++index_[d] < view_.sizes[d]) return;
      view_.data -= view_.strides[d] * view_.sizes[d];
      index_[d] = 0;
    }
  }

  // Loops over spans take no step of the cursor for each element: the elements from this one to the end of
  // its last dimension, and the bytes between them; 1 and 0 for a tensor without dimensions.
  // Builds for size make each element a span.
  [[nodiscard]] ptrdiff_t span() const {
#ifdef __OPTIMIZE_SIZE__
    return 1;
#else
    return view_.dim == 0 ? 1 : view_.sizes[view_.dim - 1] - index_[view_.dim - 1];
#endif
  }
  [[nodiscard]] ptrdiff_t stride() const { return view_.dim == 0 ? 0 : view_.strides[view_.dim - 1]; }
  // Advances `count` times. Precondition: count is from 1 to span().
#ifdef __OPTIMIZE_SIZE__
  void skip(ptrdiff_t) { advance(); }
#else
  [[gnu::noinline]] void skip(ptrdiff_t count) {
    if (view_.dim > 0) {
      view_.data += (count - 1) * view_.strides[view_.dim - 1];
      index_[view_.dim - 1] += static_cast<SizesType>(count - 1);
    }
    advance();
  }
#endif

 private:
  View view_;
  SizesType index_[kTensorDimensionLimit] = {};
};

// Elements by their row-major positions, which are below the number of elements. Cost of an access: one
// division for each dimension, unless the tensor is row-major itself; use a cursor for consecutive positions.
class RowMajorElements {
 public:
  explicit RowMajorElements(const Tensor& tensor)
      : view_(View::of(tensor)),
        element_(tensor.element_size()),
        is_row_major_(is_contiguous_dim_order(tensor.dim_order())) {}

  [[nodiscard]] bool is_row_major() const { return is_row_major_; }
  [[nodiscard]] char* at(size_t position) const {
    if (is_row_major_) return view_.data + position * element_;
    // The last dimension is the lowest digit of the position.
    char* at = view_.data;
    for (size_t d = view_.dim; d-- > 0;) {
      const auto size = static_cast<size_t>(view_.sizes[d]);
      at += static_cast<ptrdiff_t>(position % size) * view_.strides[d];
      position /= size;
    }
    return at;
  }

 private:
  View view_;
  size_t element_;
  bool is_row_major_;
};

// One of them.
inline char* element_at(const Tensor& tensor, size_t position) {
  return RowMajorElements(tensor).at(position);
}

}  // namespace rushlight::kernels
