// SPDX-License-Identifier: BSD-3-Clause
// Problems of float32 linear layers whose weights are integers with one scale for each group of inputs, and
// their backs. Input, bias and `out` are float32, and `out` has its shape: input [..., depth], out [...,
// features].
#pragma once

#include <optional>

#include "kernels/quantization/dynamic_range.h"
#include "kernels/quantization/grouped_weight.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = input weight^T + bias, with the weight dequantized to float32: a weight times the scale of its group.
struct WeightOnlyLinearProblem {
  static constexpr bool kDtypeIsSelected = true;

  const Tensor& input;
  const GroupedWeight& weight;
  const Tensor& numbers;  // the weight's tensors
  const Tensor& scales;
  const float* bias;  // null: zeros
  const Tensor& out;

  [[nodiscard]] ScalarType type() const { return input.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

// The input is quantized to int8 first, with one range for the tensor or one for each row (`per_token`).
//
//   out[i][j] = scale[i] * (sum over groups g of weight_scale[j][g] * sum[i][j][g]) + bias[j]
//
// sum[i][j][g] is an exact integer. All else is float32, added in the order of the groups and rounded at each
// step, so that every back gives the same bits.
struct DynamicLinearProblem : WeightOnlyLinearProblem {
  DynamicRange range;
  bool per_token;
};

namespace host {

// weight_only_linear.cpp, dynamic_linear.cpp: float32. They decline if scratch memory is too small, or if the
// rows of a tensor have no common stride. Prepare functions pack constant weights into panels; a weight that
// is not packed then is packed by every call, in scratch memory.
std::optional<Error> weight_only_linear(KernelContext& context, const WeightOnlyLinearProblem& problem);
Error weight_only_linear_prepare(KernelContext& context, const WeightOnlyLinearProblem& problem);
std::optional<Error> dynamic_linear(KernelContext& context, const DynamicLinearProblem& problem);
Error dynamic_linear_prepare(KernelContext& context, const DynamicLinearProblem& problem);

}  // namespace host

}  // namespace rushlight::kernels
