// SPDX-License-Identifier: BSD-3-Clause
// Visiting a tensor lane by lane: a lane is all elements along one dimension, the other indices fixed.
#pragma once

#include <cstddef>

#include "kernels/walk/paired_axes.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// One lane of an input and the output lane beside it.
template <class In, class Out>
struct Lane {
  const In* input;
  Out* output;
  ptrdiff_t input_stride;  // in elements
  ptrdiff_t output_stride;
  size_t size;

  [[nodiscard]] In get(size_t i) const { return input[static_cast<ptrdiff_t>(i) * input_stride]; }
  [[nodiscard]] Out& at(size_t i) const { return output[static_cast<ptrdiff_t>(i) * output_stride]; }
};

class Lanes {
 public:
  // Lanes of `self` along `dim`, negative counted from the end, and of `out`, which is given the same
  // shape. A 0-dim tensor is one lane of one element. Errors: InvalidArgument (dim; the shape of out).
  Error plan(const Tensor& self, int64_t dim, const Tensor& out);

  // For kernels that walk by themselves: the dimension of the lanes, the others, and where both start.
  [[nodiscard]] const Axis& lane() const { return lane_; }
  [[nodiscard]] const PairedAxes& others() const { return others_; }
  [[nodiscard]] const char* input() const { return input_; }
  [[nodiscard]] char* output() const { return output_; }

  // f(Lane<In, Out>) for every lane. The tensors' element types are In and Out.
  template <class In, class Out, class F>
  void for_each(F f) const {
    if (lane_.size == 0) return;
    others_.walk(input_, output_, 0, [&](const char* input, char* output) {
      f(Lane<In, Out>{reinterpret_cast<const In*>(input), reinterpret_cast<Out*>(output),
                      lane_.input / static_cast<ptrdiff_t>(sizeof(In)),
                      lane_.output / static_cast<ptrdiff_t>(sizeof(Out)), lane_.size});
    });
  }

 private:
  Axis lane_{1, 0, 0};
  PairedAxes others_;
  const char* input_ = nullptr;
  char* output_ = nullptr;
};

}  // namespace rushlight::kernels
