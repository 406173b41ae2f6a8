// SPDX-License-Identifier: BSD-3-Clause
// Loops over a fixed number of tensors along some of their dimensions, which are merged where all strides
// allow it. paired_axes.h is the same for an input and an output, with less code for each use. The caller
// adds dimensions in the order of one tensor's memory, so that walks follow that memory.
#pragma once

#include <cstddef>

#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The plan of such a loop: axes, innermost first. Built with add(), executed with walk() or walk_part().
// Holds strides only; the caller passes the addresses. kOperands is the number of tensors.
template <size_t kOperands>
class JointAxes {
 public:
  // A stride of 0 repeats an operand's element along the axis.
  struct Axis {
    size_t size;
    ptrdiff_t strides[kOperands];  // in bytes
  };

  // Adds the next outer dimension. Size 1 is dropped; a dimension that continues the one before with constant
  // strides in all tensors is merged. At most kTensorDimensionLimit dimensions.
  void add(const Axis& axis) {
    if (axis.size == 1) return;
    if (dim_ > 0 && continues(axes_[dim_ - 1], axis)) {
      axes_[dim_ - 1].size *= axis.size;
    } else {
      axes_[dim_++] = axis;
    }
  }

  // The innermost axis; of size 1 if all dimensions were dropped.
  [[nodiscard]] const Axis& inner() const { return axes_[0]; }

  // Steps of a walk over the axes from `first` on; 0 if any size is 0, also that of a skipped axis.
  [[nodiscard]] size_t count(size_t first) const {
    size_t count = 1;
    for (size_t d = 0; d < dim_; ++d) count *= d >= first || axes_[d].size == 0 ? axes_[d].size : 1;
    return count;
  }

  // Calls f(char* const* pointers) at every step over the axes from `first` on (1 leaves the innermost axis
  // to f), with the pointers advanced. Does nothing if a size is 0. Cost: kOperands additions for each step.
  template <class F>
  void walk(char* const* start, size_t first, F f) const {
    char* pointers[kOperands];
    for (size_t k = 0; k < kOperands; ++k) pointers[k] = start[k];
    // Only the indices in use are set: walks of one step are frequent.
    size_t index[kTensorDimensionLimit];
    for (size_t d = 0; d < dim_; ++d) {
      if (axes_[d].size == 0) return;
      index[d] = 0;
    }
    do {
      f(static_cast<char* const*>(pointers));
    } while (advance(first, index, pointers));
  }

  // Steps [begin, end) of such a walk, numbered with the innermost axis fastest, for a thread's part of the
  // work. One division for each axis at the beginning, then as walk(). Precondition: no size is 0.
  template <class F>
  void walk_part(char* const* start, size_t first, size_t begin, size_t end, F f) const {
    char* pointers[kOperands];
    for (size_t k = 0; k < kOperands; ++k) pointers[k] = start[k];
    size_t index[kTensorDimensionLimit];
    // The index of the first step; the innermost axis is the lowest digit.
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
  // Advances the pointers; returns false after the last step.
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

  // True if `outer` starts where `inner` ends, in every tensor.
  static bool continues(const Axis& inner, const Axis& outer) {
    for (size_t k = 0; k < kOperands; ++k) {
      if (outer.strides[k] != inner.strides[k] * static_cast<ptrdiff_t>(inner.size)) return false;
    }
    return true;
  }

  // `steps` may be negative: advance() goes back to the start of an axis that has ended.
  static void move(char** pointers, const Axis& axis, ptrdiff_t steps) {
    for (size_t k = 0; k < kOperands; ++k) pointers[k] += axis.strides[k] * steps;
  }

  // A plan without axes has one step, at the start addresses.
  Axis axes_[kTensorDimensionLimit] = {{1, {}}};  // innermost first
  size_t dim_ = 0;
};

}  // namespace rushlight::kernels
