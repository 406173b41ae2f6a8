// SPDX-License-Identifier: BSD-3-Clause
// Problems of linear layers of integers, and their backs. Input and `out` have one dtype of
// kQuantizedNumbers, the weight is int8, and `out` has its shape; what `to` says was proven.
#pragma once

#include <optional>

#include "kernels/ukernel/requantize.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = quantized(input weight^T + bias); weight is [features, depth].
struct QuantizedLinearProblem {
  static constexpr bool kDtypeIsSelected = true;

  const Tensor& input;
  const Tensor& weight;
  const std::optional<Tensor>& bias;
  const Tensor& out;
  const ukernel::Requantization& to;  // by features; not set to prepare

  [[nodiscard]] ScalarType type() const { return input.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

namespace host {

// quantized_linear.cpp: int8 and int16. They decline when there is too little scratch memory, and where rows
// do not lie at equal steps.
std::optional<Error> quantized_linear(KernelContext& context, const QuantizedLinearProblem& problem);
Error quantized_linear_prepare(KernelContext& context, const QuantizedLinearProblem& problem);

}  // namespace host

namespace board {

// quantized_linear.cpp: int8 and int16. It declines where the numbers of a row are apart, and where weights
// that have to be copied together are too long for the stack.
std::optional<Error> quantized_linear(KernelContext& context, const QuantizedLinearProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
