// SPDX-License-Identifier: BSD-3-Clause
// Walking two tensors in step along some of their dimensions.
#pragma once

#include <cstddef>

#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

struct Axis {
  size_t size;
  ptrdiff_t input;  // steps in bytes
  ptrdiff_t output;
};

class PairedAxes {
 public:
  // Adds the next outer dimension. Dimensions of size 1 vanish, neighbours that both tensors step
  // through evenly become one.
  void add(const Axis& axis);

  // The innermost dimension; of size 1 when there is none.
  [[nodiscard]] const Axis& inner() const { return axes_[0]; }

  // Steps of the whole walk, or of that over the dimensions from `first` on.
  [[nodiscard]] size_t count(size_t first = 0) const;

  // f(input, output) at every step of the dimensions from `first` on (1 leaves the innermost one to
  // f), with the pointers moved there. Nothing when a size is 0.
  template <class F>
  void walk(const char* input, char* output, size_t first, F f) const {
    if (count() == 0) return;
    size_t index[kTensorDimensionLimit] = {};
    do {
      f(input, output);
    } while (advance(first, index, &input, &output));
  }

  // The steps from `begin` to `end` of those, by their number; no size is 0.
  template <class F>
  void walk_part(const char* input, char* output, size_t first, size_t begin, size_t end, F f) const {
    size_t index[kTensorDimensionLimit];
    move_to(begin, first, index, &input, &output);
    for (; begin < end; ++begin) {
      f(input, output);
      advance(first, index, &input, &output);
    }
  }

 private:
  // Whether there is a next step.
  bool advance(size_t first, size_t* index, const char** input, char** output) const {
    for (size_t d = first; d < dim_; ++d) {
      const Axis& axis = axes_[d];
      *input += axis.input;
      *output += axis.output;
      if (++index[d] < axis.size) return true;
      *input -= axis.input * static_cast<ptrdiff_t>(axis.size);
      *output -= axis.output * static_cast<ptrdiff_t>(axis.size);
      index[d] = 0;
    }
    return false;
  }
  void move_to(size_t step, size_t first, size_t* index, const char** input, char** output) const;

  Axis axes_[kTensorDimensionLimit] = {{1, 0, 0}};  // innermost first
  size_t dim_ = 0;
};

// Bytes from one element of dimension `d` to the next.
inline ptrdiff_t byte_stride(const Tensor& tensor, size_t d) {
  return static_cast<ptrdiff_t>(tensor.strides()[d]) * static_cast<ptrdiff_t>(tensor.element_size());
}

}  // namespace rushlight::kernels
