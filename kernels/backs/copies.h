// SPDX-License-Identifier: BSD-3-Clause
// Problems of copies, conversions and constant padding, and their backs, which take every dtype.
#pragma once

#include "kernels/geometry/constant_pad.h"
#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = source. The copy gives `out` the shape of the source. InvalidType where dtypes differ,
// InvalidArgument.
struct CopyProblem {
  const View& source;
  const Tensor& out;
};

// out = self, the n-th element in row major order as the n-th. `out` has its shape, and the dtype of self.
struct ReshapeProblem {
  const Tensor& self;
  const Tensor& out;
};

// out = self, converted to the dtype of `out`. The conversion gives `out` the shape of self. InvalidType
// where this build cannot convert between the dtypes, InvalidArgument.
struct ConversionProblem {
  const Tensor& self;
  const Tensor& out;
};

// out = what stays of the input, and the value around it. `out` has its shape.
struct ConstantPadProblem {
  const ConstantPad& plan;
  const Scalar& value;
  const Tensor& out;
};

namespace host {

// copies.cpp
Error copy(KernelContext& context, const CopyProblem& problem);
Error reshape(KernelContext& context, const ReshapeProblem& problem);

// conversion.cpp
Error convert(KernelContext& context, const ConversionProblem& problem);

// constant_pad_nd.cpp
Error constant_pad_nd(KernelContext& context, const ConstantPadProblem& problem);

}  // namespace host

}  // namespace rushlight::kernels
