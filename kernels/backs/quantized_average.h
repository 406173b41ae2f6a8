// SPDX-License-Identifier: BSD-3-Clause
// Problems of means and average pools of quantized tensors, and their backs. Input and `out` have one dtype
// of kQuantizedElements, and every result has its shape. The front has proven that `to` has one scale and
// that it does not overflow for the sum of the most elements that one mean covers.
#pragma once

#include "kernels/geometry/region.h"
#include "kernels/reduction/reduce.h"
#include "kernels/ukernel/requantize.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = requantize(sum of (element - input_zero_point)), with the scale divided by the number of elements.
// The division happens at run time, see DividedScale, so that windows at a border need no table of scales.
struct QuantizedAverage {
  static constexpr bool kDtypeIsSelected = true;

  ScalarType dtype;
  int32_t input_zero_point;
  const ukernel::Requantization& to;

  [[nodiscard]] ScalarType type() const { return dtype; }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, dtype); }
};

// Each output is the mean of every input element that the plan reduces to it; at least one.
struct QuantizedMeanProblem : QuantizedAverage {
  const Reduction& reduction;
};

// Each output is the mean of one window, with the divisor that the pool specifies. The pool has two
// dimensions.
struct QuantizedAveragePoolProblem : QuantizedAverage {
  const Pool& pool;
};

namespace host {

// quantized_average.cpp: int8; threads divide the lines of the output.
Error quantized_mean(KernelContext& context, const QuantizedMeanProblem& problem);
Error quantized_avg_pool2d(KernelContext& context, const QuantizedAveragePoolProblem& problem);

}  // namespace host

namespace board {

// quantized_average.cpp: int8, by the same code in kernels/int8/average.h.
Error quantized_mean(KernelContext& context, const QuantizedMeanProblem& problem);
Error quantized_avg_pool2d(KernelContext& context, const QuantizedAveragePoolProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
