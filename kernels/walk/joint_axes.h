// SPDX-License-Identifier: BSD-3-Clause
// Walks a fixed number of tensors in step along some of their dimensions, merged where all step evenly.
// paired_axes.h is the same for an input and an output, with less code for each use.
#pragma once

#include <cstddef>

#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

template <size_t kOperands>
class JointAxes {
 public:
  struct Axis {
    size_t size;
    ptrdiff_t strides[kOperands];  // steps in bytes
  };

  // Adds the next outer dimension. Dimensions of size 1 vanish, neighbours that all tensors step
  // through evenly become one.
  void add(const Axis& axis) {
    if (axis.size == 1) return;
    if (dim_ > 0 && continues(axes_[dim_ - 1], axis)) {
      axes_[dim_ - 1].size *= axis.size;
    } else {
      axes_[dim_++] = axis;
    }
  }

  // The innermost dimension; of size 1 when there is none.
  [[nodiscard]] const Axis& inner() const { return axes_[0]; }

  // Steps of a walk from `first` on; 0 when any size is.
  [[nodiscard]] size_t count(size_t first) const {
    size_t count = 1;
    for (size_t d = 0; d < dim_; ++d) count *= d >= first || axes_[d].size == 0 ? axes_[d].size : 1;
    return count;
  }

  // f(char* const* pointers) at every step of the dimensions from `first` on (1 leaves the innermost
  // one to f), with the pointers moved there. Nothing when a size is 0.
  template <class F>
  void walk(char* const* start, size_t first, F f) const {
    char* pointers[kOperands];
    for (size_t k = 0; k < kOperands; ++k) pointers[k] = start[k];
    for (size_t d = 0; d < dim_; ++d) {
      if (axes_[d].size == 0) return;
    }
    size_t index[kTensorDimensionLimit] = {};
    do {
      f(static_cast<char* const*>(pointers));
    } while (advance(first, index, pointers));
  }

  // The steps from `begin` to `end` of those, by their number; no size is 0.
  template <class F>
  void walk_part(char* const* start, size_t first, size_t begin, size_t end, F f) const {
    char* pointers[kOperands];
    for (size_t k = 0; k < kOperands; ++k) pointers[k] = start[k];
    size_t index[kTensorDimensionLimit];
    size_t step = begin;
    for (size_t d = first; d < dim_; ++d) {
      index[d] = step % axes_[d].size;
      step /= axes_[d].size;
      move(pointers, axes_[d], static_cast<ptrdiff_t>(index[d]));
    }
    for (; begin < end; ++begin) {
      f(static_cast<char* const*>(pointers));
      advance(first, index, pointers);
    }
  }

 private:
  // Whether there is a next step.
  bool advance(size_t first, size_t* index, char** pointers) const {
    for (size_t d = first; d < dim_; ++d) {
      const Axis& axis = axes_[d];
      move(pointers, axis, 1);
      if (++index[d] < axis.size) return true;
      move(pointers, axis, -static_cast<ptrdiff_t>(axis.size));
      index[d] = 0;
    }
    return false;
  }

  static bool continues(const Axis& inner, const Axis& outer) {
    for (size_t k = 0; k < kOperands; ++k) {
      if (outer.strides[k] != inner.strides[k] * static_cast<ptrdiff_t>(inner.size)) return false;
    }
    return true;
  }

  static void move(char** pointers, const Axis& axis, ptrdiff_t steps) {
    for (size_t k = 0; k < kOperands; ++k) pointers[k] += axis.strides[k] * steps;
  }

  Axis axes_[kTensorDimensionLimit] = {{1, {}}};  // innermost first
  size_t dim_ = 0;
};

}  // namespace rushlight::kernels
