// SPDX-License-Identifier: BSD-3-Clause
// Walking any fixed number of tensors in step; for two, axes.h has less to write.
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
    while (true) {
      f(static_cast<char* const*>(pointers));
      size_t d = first;
      for (; d < dim_; ++d) {
        const Axis& axis = axes_[d];
        move(pointers, axis, 1);
        if (++index[d] < axis.size) break;
        move(pointers, axis, -static_cast<ptrdiff_t>(axis.size));
        index[d] = 0;
      }
      if (d >= dim_) return;
    }
  }

 private:
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
