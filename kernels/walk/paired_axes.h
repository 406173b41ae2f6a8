// SPDX-License-Identifier: BSD-3-Clause
// Loops over an input and an output along some of their dimensions, which are merged where strides allow it.
// The basis of reductions and of the operators along one dimension.
#pragma once

#include <cstddef>

#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// One loop: its size and the strides of input and output, in bytes. A stride of 0 repeats an element.
struct Axis {
  size_t size;
  ptrdiff_t input;  // strides in bytes
  ptrdiff_t output;
};

// The plan of such a loop: axes, innermost first. Built with add(), executed with walk() or walk_part().
// Holds strides only; the caller passes the addresses.
class PairedAxes {
 public:
  // Adds the next outer dimension. Size 1 is dropped; a dimension that continues the one before with constant
  // strides in both tensors is merged.
  void add(const Axis& axis);

  // The innermost axis; of size 1 if all dimensions were dropped.
  [[nodiscard]] const Axis& inner() const { return axes_[0]; }

  // Steps of a walk over the axes from `first` on; 1 without such axes, 0 if one of them is empty.
  [[nodiscard]] size_t count(size_t first = 0) const;

  // Calls f(input, output) at every step over the axes from `first` on (1 leaves the innermost axis to f),
  // with the pointers advanced. Does nothing if any size is 0. `output` may be null if its strides are 0.
  template <class F>
  void walk(const char* input, char* output, size_t first, F f) const {
    size_t index[kTensorDimensionLimit];
    if (!begin(index)) return;
    do {
      f(input, output);
    } while (advance(first, index, &input, &output));
  }

  // Steps [begin, end) of such a walk, numbered with the innermost axis fastest, for a thread's part of the
  // work. Precondition: no size is 0.
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
  // Sets the indices of the axes to 0; returns false if a size is 0. Others stay unset: walks of one step are
  // frequent.
  bool begin(size_t* index) const;
  // Advances the pointers; returns false after the last step.
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
  // Sets the index and advances both pointers to step `step`: one division for each axis.
  void move_to(size_t step, size_t first, size_t* index, const char** input, char** output) const;

  Axis axes_[kTensorDimensionLimit] = {{1, 0, 0}};  // innermost first
  size_t dim_ = 0;
};

// The stride of dimension `d` in bytes.
inline ptrdiff_t byte_stride(const Tensor& tensor, size_t d) {
  return static_cast<ptrdiff_t>(tensor.strides()[d]) * static_cast<ptrdiff_t>(tensor.element_size());
}

}  // namespace rushlight::kernels
