// SPDX-License-Identifier: BSD-3-Clause
// Problems of means and average pools of integers, and their backs. Input and `out` have one dtype of
// kQuantizedNumbers, the outs have their shapes; what `to` says was proven, for one scale and sums of the
// most elements that a mean is of.
#pragma once

#include "kernels/geometry/region.h"
#include "kernels/reduction/reduce.h"
#include "kernels/ukernel/requantize.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = quantized(sum of (element - input_zero_point)), whose scale is divided by the number of elements.
struct QuantizedAverage {
  static constexpr bool kDtypeIsSelected = true;

  ScalarType dtype;
  int32_t input_zero_point;
  const ukernel::Requantization& to;

  [[nodiscard]] ScalarType type() const { return dtype; }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, dtype); }
};

// Each element of the output is of all that the plan reduces to it, one at least.
struct QuantizedMeanProblem : QuantizedAverage {
  const Reduction& reduction;
};

// Each is of a window; the divisor is as the pool says. The pool sees two dimensions.
struct QuantizedAveragePoolProblem : QuantizedAverage {
  const Pool& pool;
};

namespace host {

// quantized_average.cpp: int8.
Error quantized_mean(KernelContext& context, const QuantizedMeanProblem& problem);
Error quantized_avg_pool2d(KernelContext& context, const QuantizedAveragePoolProblem& problem);

}  // namespace host

namespace board {

// quantized_average.cpp: int8.
Error quantized_mean(KernelContext& context, const QuantizedMeanProblem& problem);
Error quantized_avg_pool2d(KernelContext& context, const QuantizedAveragePoolProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
