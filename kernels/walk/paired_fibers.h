// SPDX-License-Identifier: BSD-3-Clause
// The fibers of an input along one dimension, each with the fiber of an output of the same shape at the same
// position. The inlined form of fibers.h, for fast operators of known dtypes such as softmax.
#pragma once

#include <cstddef>

#include "kernels/walk/paired_axes.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// An input fiber and the output fiber at the same position. Valid during the visit.
template <class In, class Out>
struct FiberPair {
  const In* input;
  Out* output;
  ptrdiff_t input_stride;  // in elements
  ptrdiff_t output_stride;
  size_t size;

  [[nodiscard]] In get(size_t i) const { return input[static_cast<ptrdiff_t>(i) * input_stride]; }
  [[nodiscard]] Out& at(size_t i) const { return output[static_cast<ptrdiff_t>(i) * output_stride]; }
};

// The plan of a walk over fibers. Holds addresses, not the tensors.
class PairedFibers {
 public:
  // Plans the fibers of `self` along `dim` (negative: from the end), and resizes `out` to the shape of
  // `self`. Visits them in the order of the input's memory. A 0-dim tensor is one fiber of one element.
  // Errors: InvalidArgument (dim, shape of out).
  Error plan(const Tensor& self, int64_t dim, const Tensor& out);

  // For kernels with their own loops: the axis of the fibers, the other axes, and the base addresses.
  [[nodiscard]] const Axis& fiber() const { return fiber_; }
  [[nodiscard]] const PairedAxes& others() const { return others_; }
  [[nodiscard]] const char* input() const { return input_; }
  [[nodiscard]] char* output() const { return output_; }

  // Calls f(FiberPair<In, Out>) for every fiber. No call for empty tensors. Precondition: the tensors have
  // the dtypes In and Out.
  template <class In, class Out, class F>
  void for_each(F f) const {
    // A fiber without elements has nothing to visit, although the other dimensions may be large.
    if (fiber_.size == 0) return;
    others_.walk(input_, output_, 0, [&](const char* input, char* output) {
      f(FiberPair<In, Out>{reinterpret_cast<const In*>(input), reinterpret_cast<Out*>(output),
                           fiber_.input / static_cast<ptrdiff_t>(sizeof(In)),
                           fiber_.output / static_cast<ptrdiff_t>(sizeof(Out)), fiber_.size});
    });
  }

 private:
  Axis fiber_{1, 0, 0};
  PairedAxes others_;
  const char* input_ = nullptr;
  char* output_ = nullptr;
};

}  // namespace rushlight::kernels
