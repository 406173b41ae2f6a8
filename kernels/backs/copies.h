// SPDX-License-Identifier: BSD-3-Clause
// Problems of copies, conversions and constant padding, and their backs, which take every dtype. Therefore
// these problems have no is_in().
#pragma once

#include "kernels/geometry/constant_pad.h"
#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = source. The copy resizes `out` to the shape of the source. Errors: InvalidType if the dtypes differ,
// InvalidArgument if `out` cannot have that shape.
struct CopyProblem {
  const View& source;
  const Tensor& out;
};

// out = self with another shape: element n of `self` in row-major order becomes element n of `out`. `out` has
// its shape, and the dtype of `self`.
struct ReshapeProblem {
  const Tensor& self;
  const Tensor& out;
};

// out = self, converted to the dtype of `out`. The conversion resizes `out` to the shape of `self`. Errors:
// InvalidType if this build cannot convert between the dtypes, InvalidArgument if `out` cannot have that
// shape.
struct ConversionProblem {
  const Tensor& self;
  const Tensor& out;
};

// out = the input, cropped where a pad is negative, inside a border of `value`. `out` has its shape, and the
// dtype of the input, which can hold `value`.
struct ConstantPadProblem {
  const ConstantPad& plan;
  const Scalar& value;
  const Tensor& out;
};

namespace host {

// None of the backs needs scratch memory; none declines.
// copies.cpp
Error copy(KernelContext& context, const CopyProblem& problem);
Error reshape(KernelContext& context, const ReshapeProblem& problem);

// conversion.cpp
Error convert(KernelContext& context, const ConversionProblem& problem);

// constant_pad_nd.cpp
Error constant_pad_nd(KernelContext& context, const ConstantPadProblem& problem);

}  // namespace host

}  // namespace rushlight::kernels
